/**
 * The text of an error: an English template with numbered placeholders (`{0}`), and the
 * values that fill them. It is plain data, so it can be stored, sent to a browser, and
 * translated for the reader.
 */
export interface Sentence {
  readonly template: string;
  readonly values: readonly SentenceValue[];
}

/**
 * A text or a number is shown as it is, a sentence is translated for the reader, a list has commas
 * between its items.
 */
type SentenceValue = string | number | Sentence | readonly (string | Sentence)[];

/**
 * The tag of a template literal: each `${value}` becomes a placeholder. The template is the key
 * of the translations.
 */
export const sentence = (strings: TemplateStringsArray, ...values: readonly SentenceValue[]): Sentence => ({
  template: strings.reduce((template, text, index) => `${template}{${index - 1}}${text}`),
  values,
});

/** A text as a sentence without placeholders. */
export const asSentence = (text: string | Sentence): Sentence =>
  typeof text === 'string' ? { template: text, values: [] } : text;

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * A time for a driver, in local time: `14:05`, on another day than now `23 Nov, 14:05`. Both are in
 * milliseconds since 1970.
 */
export function clockTime(at: number, now: number): Sentence {
  const date = new Date(at);
  const time = `${inTwoDigits(date.getHours())}:${inTwoDigits(date.getMinutes())}`;
  return at === now || date.toDateString() === new Date(now).toDateString()
    ? asSentence(time)
    : { template: `{0} ${months[date.getMonth()]}, {1}`, values: [date.getDate(), time] };
}

const inTwoDigits = (number: number): string => String(number).padStart(2, '0');

/** The same sentence with each of its texts changed, for example without secrets. */
export const mapSentence = ({ template, values }: Sentence, change: (text: string) => string): Sentence => {
  const changed = <Item extends string | number | Sentence>(value: Item): Item | string | Sentence =>
    typeof value === 'string' ? change(value) : typeof value === 'number' ? value : mapSentence(value, change);
  const isList = (value: SentenceValue): value is readonly (string | Sentence)[] => Array.isArray(value);
  return {
    // Without placeholders, the whole text may come from elsewhere.
    template: values.length === 0 ? change(template) : template,
    values: values.map((value) => (isList(value) ? value.map(changed) : changed(value))),
  };
};

/**
 * A sentence with its placeholders filled.
 * @param translations by English template; without one, the sentence is English
 */
export function wordSentence({ template, values }: Sentence, translations?: ReadonlyMap<string, string>): string {
  const textOf = (value: SentenceValue | undefined): string => {
    if (Array.isArray(value)) return value.map(textOf).join(', ');
    // `isArray` does not exclude a readonly list for the compiler.
    return typeof value === 'object' ? wordSentence(value as Sentence, translations) : String(value);
  };
  if (values.length === 0) return translations?.get(template) ?? template;
  return (translations?.get(template) ?? template).replace(/\{(\d+)\}/g, (place, index) =>
    Number(index) < values.length ? textOf(values[Number(index)]) : place,
  );
}

/** A text with its named placeholders filled: in braces, because Node-RED fills `__name__`. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

/** A text as the begin of a sentence. @param language BCP 47 tag */
export const capitalized = (text: string, language: string): string =>
  text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
