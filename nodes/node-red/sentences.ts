/**
 * The sentences of errors in the language of the reader. The library has them in English; `sentences.json` of a language has their
 * translations by the English template.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'express';
import type { NodeAPI } from 'node-red';
import { isRecord, wordSentence, type Sentence } from '../../src/index';
import { languageOf, localesFolder } from './i18n';

/** The languages of the pack, first the one that the sentences are written in. */
const languages = [...new Set(['en-US', ...readdirSync(localesFolder)])];

/** The language of the pack that a browser prefers. */
export const languageOfRequest = (request: Request): string => String(request.acceptsLanguages(languages) || 'en-US');

/** The translations of each language by English template; none for English. */
const translations = new Map(languages.map((language) => [language, readTranslations(language)]));

function readTranslations(language: string): ReadonlyMap<string, string> {
  const path = join(localesFolder, language, 'sentences.json');
  return new Map(
    existsSync(path) ? Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>) : [],
  );
}

/** A sentence in a language; English where a translation is missing. */
export const wordIn = (language: string, sentence: Sentence): string =>
  wordSentence(sentence, translations.get(language) ?? new Map());

/** A line in the log of Node-RED, in its language. */
export const logWarning = (RED: NodeAPI, warning: Sentence): void =>
  RED.log.warn(`[connected-vehicle] ${wordIn(languageOf(RED), warning)}`);

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
export const inLanguage = (language: string, answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (isSentence(value)) return wordIn(language, value);
      return name === 'reason' && typeof value === 'string' ? sentenceIn(language, value) : value;
    }),
  );

const isSentence = (value: unknown): value is Sentence =>
  isRecord(value) && typeof value['template'] === 'string' && Array.isArray(value['values']);

/** No reason of a command says more. A longer text is the service's own, and searching it for sentences could take seconds. */
const maxLength = 2_000;

/** The reason of a command in the journal, one or several English sentences, in a language; unchanged where a translation is missing. */
export function sentenceIn(language: string, text: string): string {
  if (text.length > maxLength) return text;
  const known = patterns.get(language) ?? [];
  return translated(known, text);
}

interface Pattern {
  english: RegExp;
  text: string;
}

/** By language: each has some 250 patterns, and the tab “Cars” asks for the reasons of its commands again and again. */
const patterns: ReadonlyMap<string, readonly Pattern[]> = new Map(
  [...translations].map(([language, texts]) => [
    language,
    [...texts].map(([english, text]) => ({ english: patternOf(english), text })),
  ]),
);

/** Matches the sentence at the beginning of a text, with the blanks behind it. */
function patternOf(english: string): RegExp {
  const parts = english.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // A value at the end of a sentence reaches to the end of the text.
  const whole = parts.join('(.*?)').replace(/\(\.\*\?\)$/, '(.*)');
  return new RegExp(`^${whole}(?:\\s+|$)`, 's');
}

function translated(known: readonly Pattern[], text: string): string {
  const sentences: string[] = [];
  let rest = text;
  while (rest !== '') {
    const found = known
      .map(({ english, text: own }) => ({ own, match: english.exec(rest) }))
      .find(({ match }) => match);
    if (!found?.match) return text;
    const [whole, ...values] = found.match;
    sentences.push(found.own.replace(/\{(\d)\}/g, (_, place) => listIn(known, values[Number(place)] ?? '')));
    rest = rest.slice(whole.length);
  }
  return sentences.join(' ');
}

/** Translates a value of a sentence: another sentence, or names with commas between them. */
function listIn(known: readonly Pattern[], text: string): string {
  const whole = translated(known, text);
  return whole === text
    ? text
        .split(', ')
        .map((name) => translated(known, name))
        .join(', ')
    : whole;
}
