/**
 * The sentences of errors in other languages, for the dialogs. The library says them in English; `sentences.json` of a language has
 * their translations by the English sentence, in which `{}` stands for what differs.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'express';
import { localesFolder } from './i18n';

interface Sentence {
  english: RegExp;
  text: string;
}

const byLanguage = new Map<string, readonly Sentence[]>();

/** The languages of the pack, first the one that the sentences are written in. */
const languages = [...new Set(['en-US', ...readdirSync(localesFolder)])];

/** The language of the pack that a browser prefers. */
export const languageOfRequest = (request: Request): string => String(request.acceptsLanguages(languages) || 'en-US');

/** No error says more. A longer text is the service's own, and searching it for sentences could take seconds. */
const maxLength = 2_000;

/** An error's sentence, or several in a row, in a language; unchanged where a translation is missing. */
export function sentenceIn(language: string, text: string): string {
  if (text.length > maxLength) return text;
  let known = byLanguage.get(language);
  if (known === undefined)
    byLanguage.set(language, (known = sentencesOf(join(localesFolder, language, 'sentences.json'))));
  return translated(known, text);
}

function sentencesOf(path: string): Sentence[] {
  const found: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  return Object.entries(found as object).map(([english, text]) => ({
    english: patternOf(english),
    text: String(text),
  }));
}

/** Matches the sentence at the beginning of a text, with the blanks behind it. */
function patternOf(english: string): RegExp {
  const parts = english.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // A value at the end of a sentence reaches to the end of the text.
  const whole = parts.join('(.*?)').replace(/\(\.\*\?\)$/, '(.*)');
  return new RegExp(`^${whole}(?:\\s+|$)`, 's');
}

function translated(known: readonly Sentence[], text: string): string {
  const sentences: string[] = [];
  let rest = text;
  while (rest !== '') {
    const found = known
      .map(({ english, text: own }) => ({ own, match: english.exec(rest) }))
      .find(({ match }) => match);
    if (!found?.match) return text;
    const [whole, ...values] = found.match;
    sentences.push(found.own.replaceAll('{}', () => listIn(known, values.shift() ?? '')));
    rest = rest.slice(whole.length);
  }
  return sentences.join(' ');
}

/** Translates a value of a sentence: another sentence, or names with commas between them. */
function listIn(known: readonly Sentence[], text: string): string {
  const whole = translated(known, text);
  return whole === text
    ? text
        .split(', ')
        .map((name) => translated(known, name))
        .join(', ')
    : whole;
}
