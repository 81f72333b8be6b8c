import type { NodeAPI } from 'node-red';
import type { GuardView, GuardWords, NamedOpening, VehicleError } from '../../../src/index';
import { clockTime, type NodeStatus } from '../status/node-status';
import { showFailure } from '../input/input-handler';
import { runtime } from '../load';
import { languageOf, word } from '../node-red/i18n';

/** The words for the guard's sentences, in the language of the runtime. */
export function guardWordsOf(RED: NodeAPI): GuardWords {
  const { guardWordKeys, openings } = runtime();
  const language = languageOf(RED);
  const words = guardWordKeys(language).map((key) => [
    key,
    Object.hasOwn(openings, key) ? nameOf(RED, openings[key as keyof typeof openings]) : word(RED, `guard.${key}`),
  ]);
  return Object.fromEntries([...words, ['language', language]]) as GuardWords;
}

/** `front-left window`, from the words that all nodes share. */
function nameOf(RED: NodeAPI, { kind, name }: NamedOpening): string {
  const place = { window: 'windows.', door: 'doors.' }[kind as string] ?? '';
  return word(RED, `members.${place}${name}`, { defaultValue: name });
}

/** Shows what is open since when, else why the last read failed, else what is closed, in words: not everything need be watched. */
export function showState(
  nodeStatus: NodeStatus,
  RED: NodeAPI,
  { open, allClosed, closed, everything, snoozedUntil }: GuardView,
  failure: VehicleError | null,
): void {
  const [first, ...others] = open;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` +${others.length}`;
    const isLock = first.kind === 'lock';
    return nodeStatus.show(snoozedUntil === null ? 'attention' : 'waiting', isLock ? 'unlockedSince' : 'openSince', {
      names: nameOf(RED, first) + more,
      time: clockTime(new Date(first.since)) + (isLock ? more : ''),
    });
  }
  if (failure !== null) return showFailure(nodeStatus, failure);
  if (!allClosed) return nodeStatus.showWithTime('unclear', 'unknown');
  const text = runtime().guardText(
    { type: 'clear', at: '', reason: 'closed', openings: closed, everything },
    guardWordsOf(RED),
  );
  nodeStatus.showWithTime('good', 'value', { value: text });
}
