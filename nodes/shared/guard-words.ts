import type { NodeAPI } from 'node-red';
import type { GuardView, GuardWords, NamedOpening } from '../../src/index';
import { clockTime, sharedWord, type Badge } from './badge';
import { runtime } from './load';

const wordsKey = '@connected-vehicle/node-red/connected-vehicle-guard:connected-vehicle-guard.words';

/** The words of the guard's sentences, in the language of the runtime. */
export function guardWordsOf(RED: NodeAPI): GuardWords {
  const own = (key: string): string => RED._(`${wordsKey}.${key}`);
  const { guardWordKeys, openingRows } = runtime();
  const language = own('language');
  const words = guardWordKeys(language).map((key) => [key, Object.hasOwn(openingRows, key) ? nameOf(RED, openingRows[key as keyof typeof openingRows]) : own(key)]);
  return Object.fromEntries([...words, ['language', language]]) as GuardWords;
}

/** `front-left window`, from the words that all nodes share. */
function nameOf(RED: NodeAPI, { kind, name }: NamedOpening): string {
  const place = { window: 'windows.', door: 'doors.' }[kind as string] ?? '';
  return sharedWord(RED, `members.${place}${name}`, { defaultValue: name });
}

/** What is open since when; else whether all is closed. */
export function showView(badge: Badge, RED: NodeAPI, { open, allClosed, snoozedUntil }: GuardView): void {
  const [first, ...others] = open;
  if (first !== undefined) {
    const names = first.kind === 'lock' ? sharedWord(RED, 'status.unlocked') : nameOf(RED, first);
    const more = others.length === 0 ? '' : ` +${others.length}`;
    return badge.show(snoozedUntil === null ? 'attention' : 'waiting', 'since', { names: names + more, time: clockTime(new Date(first.since)) });
  }
  badge.stamp(allClosed ? 'good' : 'unclear', allClosed ? 'closed' : 'unknown');
}
