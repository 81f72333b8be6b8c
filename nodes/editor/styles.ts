/** Adds the rules of a part that only an open form has. */
export const addStyles = (rules: string): void => void $('<style>').text(rules).appendTo(document.head);
