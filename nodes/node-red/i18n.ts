/**
 * The texts of the runtime: node statuses with values, warnings, the guard's sentences. They are apart from the message catalogues,
 * because Node-RED sends those to every editor. Node-RED's `RED._` takes as much CPU time as a read, so the runtime looks its texts up in
 * its own map.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { partOf } from '../pack';

/** The values of a text, by the names of their places. */
export type Values = Record<string, string | number>;

/** The parts of a text: words, the name of a place, words, and so on. */
type Text = readonly string[];

const fallback = 'en-US';

/** The texts in the language of the runtime. The message catalogue that Node-RED has loaded names this language. */
class Texts {
  /** BCP 47 tag. */
  readonly language: string;
  readonly texts: ReadonlyMap<string, Text>;

  constructor(RED: NodeAPI) {
    const named = RED._('@connected-vehicle/node-red/connected-vehicle:language');
    this.language = /^[\w-]+$/.test(named) && existsSync(fileOf(named)) ? named : fallback;
    this.texts = new Map([...textsOf(fallback), ...textsOf(this.language)]);
  }
}

/** The build puts the locales beside the bundle. */
export const localesFolder = join(__dirname, 'locales');

const fileOf = (language: string): string => join(localesFolder, language, 'runtime.json');

const textsOf = (language: string): [string, Text][] => flat('', JSON.parse(readFileSync(fileOf(language), 'utf8')));

/** Each text under its whole key, `status.reading`. */
function flat(path: string, value: unknown): [string, Text][] {
  if (typeof value === 'string') return [[path.slice(1), value.split(/__(\w+)__/)]];
  return Object.entries(value as object).flatMap(([key, inner]) => flat(`${path}.${key}`, inner));
}

export const languageOf = (RED: NodeAPI): string => partOf(RED, Texts).language;

/** A text with its places filled, `armed for __seconds__ s`; `defaultValue` where there is none. */
export function translate(RED: NodeAPI, key: string, values: Values = {}): string {
  const text = partOf(RED, Texts).texts.get(key);
  if (text === undefined) return String(values['defaultValue'] ?? key);
  return text.reduce((filled, part, index) => filled + (index % 2 === 0 ? part : (values[part] ?? `__${part}__`)), '');
}
