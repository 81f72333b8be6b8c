export const addStyles = (rules: string): void => void $('<style>').text(rules).appendTo(document.head);
