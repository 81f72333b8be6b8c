import type { NodeAPI } from 'node-red';
import { guardText, openings, type GuardRunner, type VehicleError } from '../../../src/index';
import { clockTime, type NodeStatus } from '../status/node-status';
import { showFailure } from '../input/input-handler';
import { languageOf, translate } from '../node-red/i18n';

/** The words for the guard's sentences, in the language of the runtime. */
export const guardWordsOf = (RED: NodeAPI) => ({
  language: languageOf(RED),
  text: (key: string): string =>
    Object.hasOwn(openings, key) ? nameOf(RED, openings[key as keyof typeof openings]) : translate(RED, `guard.${key}`),
});

/** `front-left window`, from the words that all nodes share. */
function nameOf(RED: NodeAPI, { kind, name }: { kind: string; name: string }): string {
  const place = { window: 'windows.', door: 'doors.' }[kind] ?? '';
  return translate(RED, `members.${place}${name}`, { defaultValue: name });
}

/** Shows what is open since when and when the last alert of it was, else why the last read failed, else what is closed, in words: not everything need be watched. */
export function showState(
  nodeStatus: NodeStatus,
  RED: NodeAPI,
  { open, allClosed, closed, everything, snoozedUntil, alertedAt }: GuardRunner['view'],
  failure: VehicleError | null,
): void {
  const [first, ...others] = open;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` +${others.length}`;
    const isLock = first.kind === 'lock';
    const text = translate(RED, `status.${isLock ? 'unlockedSince' : 'openSince'}`, {
      names: nameOf(RED, first) + more,
      time: clockTime(new Date(first.since)) + (isLock ? more : ''),
    });
    if (snoozedUntil === null && alertedAt !== null)
      return nodeStatus.showText('attention', 'alerted', { text, time: clockTime(new Date(alertedAt)) });
    if (snoozedUntil === null) return nodeStatus.showText('attention', 'value', { value: text });
    if (snoozedUntil === Infinity) return nodeStatus.showText('waiting', 'silentUntilClosed', { text });
    return nodeStatus.showText('waiting', 'silentUntil', { text, time: clockTime(new Date(snoozedUntil)) });
  }
  if (failure !== null) return showFailure(nodeStatus, failure);
  if (!allClosed) return nodeStatus.showWithTime('unclear', 'unknown');
  const text = guardText({ type: 'clear', at: '', reason: 'closed', openings: closed, everything }, guardWordsOf(RED));
  nodeStatus.showWithTime('good', 'value', { value: text });
}
