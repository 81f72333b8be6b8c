/**
 * The sentences of errors in the language of the reader. The library has them in English; `sentences.json` of a language has their
 * translations by the English template.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'express';
import { isRecord, type Sentence } from '../../src/index';

/** The build puts the locales beside the bundle. */
export const localesFolder = join(__dirname, 'locales');

/** The language that the sentences are written in. */
export const english = 'en-US';

/** The languages of the pack, first English. */
export const languages: readonly string[] = [...new Set([english, ...readdirSync(localesFolder)])];

/** The language of the pack that a browser prefers. */
export const languageOfRequest = (request: Request): string =>
  String(request.acceptsLanguages([...languages]) || english);

/** The translations of a language by English template, and the labels of the vehicle configuration by property. */
export function readTranslations(language: string): ReadonlyMap<string, string> {
  const read = <Content>(of: string, name: string): Content =>
    JSON.parse(readFileSync(join(localesFolder, of, name), 'utf8')) as Content;
  // A sentence that names a property is shown with the label of its field. The editor has fewer languages than the runtime.
  const ofEditor = existsSync(join(localesFolder, language, 'connected-vehicle.json')) ? language : english;
  const { label } = read<{ label: Record<string, string> }>(ofEditor, 'connected-vehicle.json');
  const sentences = language === english ? {} : read<Record<string, string>>(language, 'sentences.json');
  return new Map(Object.entries({ ...label, ...sentences }));
}

/** A value as a browser gets it: each sentence is a text in the language of the editor. */
export type Worded<Value> = Value extends Sentence
  ? string
  : Value extends object
    ? {
        [Member in keyof Value]: Value[Member] extends ReadonlySet<unknown> | undefined
          ? Value[Member]
          : Worded<Value[Member]>;
      }
    : Value;

/** An answer to a browser with every sentence in its language. */
export const inLanguage = (word: (sentence: Sentence) => string, answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (_name, value: unknown) => (isSentence(value) ? word(value) : value)));

const isSentence = (value: unknown): value is Sentence =>
  isRecord(value) && typeof value['template'] === 'string' && Array.isArray(value['values']);
