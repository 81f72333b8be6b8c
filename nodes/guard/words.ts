import type { NodeAPI } from 'node-red';
import { openings } from '../../src/index';
import { languageOf, translate } from '../node-red/i18n';

/** The words for the guard's sentences, in the language of the runtime. */
export const guardWordsOf = (RED: NodeAPI) => ({
  language: languageOf(RED),
  text: (key: string): string =>
    Object.hasOwn(openings, key)
      ? openingName(RED, openings[key as keyof typeof openings])
      : translate(RED, `guard.${key}`),
});

/** `front-left window`, from the words that all nodes share. */
export function openingName(RED: NodeAPI, { kind, name }: { kind: string; name: string }): string {
  const place = { window: 'windows.', door: 'doors.' }[kind] ?? '';
  return translate(RED, `members.${place}${name}`, { defaultValue: name });
}
