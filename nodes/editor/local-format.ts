/** In the language of the editor, which need not be that of the browser. */
export const editorLanguage = (): string => RED.i18n.lang();

/** `14:05` today, with the date on any other day. */
export function timeText(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(editorLanguage(), { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleString(editorLanguage(), { dateStyle: 'medium', timeStyle: 'short' });
}

export const numberText = (value: number, digits = 0): string =>
  value.toLocaleString(editorLanguage(), { maximumFractionDigits: digits });
