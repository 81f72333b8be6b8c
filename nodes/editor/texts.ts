/** A text of a message catalogue, without the prefix of its node. */
export type Say = (key: string, values?: Record<string, unknown>) => string;

/** With the namespace spelled out: validators and label functions run where no node is at hand. */
export const wordsOf =
  (type: string): Say =>
  (key, values) =>
    RED._(`@connected-vehicle/node-red/${type}:${key}`, values);

/** Shared texts are in the catalogue of the configuration, because all nodes need it. */
export const sharedText = wordsOf('connected-vehicle');

/** In the language of the editor, which need not be that of the browser. */
export const editorLanguage = (): string => RED.i18n.lang();

export const textLanguages = ['de', 'en-US', 'fr', 'nl', 'nb', 'sv'] as const;

/** The editor's language for a new configuration; empty if the nodes do not have it. */
export const presetLanguage = (): string =>
  textLanguages.find((language) => editorLanguage().slice(0, 2) === language.slice(0, 2)) ?? '';

/** `14:05` today, `23 Nov, 14:05` on any other day: the format of `clockTime` for a browser. */
export function timeText(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(editorLanguage().replace(/^en.*/, 'en-GB'), {
    ...(!isToday && { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
}

export const numberText = (value: number, digits = 0): string =>
  value.toLocaleString(editorLanguage(), { maximumFractionDigits: digits });
