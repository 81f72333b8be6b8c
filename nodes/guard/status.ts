import { guardText, openingKeyOf, openings, type GuardView, type VehicleError } from '../../src/index';
import { showFailure } from '../node-red/input-handler';
import type { FlowNode } from '../node-red/flow-node';

/**
 * Shows the state of a guard: what has been open since when, and the last alert about it; else why the last read failed; else what is
 * closed, in words, because not everything need be watched.
 */
export function showGuardState(
  own: FlowNode,
  { open, allClosed, closed, everything, snoozedUntil, alertedAt }: GuardView,
  failure: VehicleError | null,
): void {
  const { say, status: nodeStatus } = own;
  const [first, ...others] = open;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` +${others.length}`;
    const isLock = first.kind === 'lock';
    const text = say(`status.${isLock ? 'unlockedSince' : 'openSince'}`, {
      names: say(`part.${openingKeyOf(first.name, first.kind)}`) + more,
      time: nodeStatus.time(Date.parse(first.since)) + (isLock ? more : ''),
    });
    if (snoozedUntil === null && alertedAt !== null)
      return nodeStatus.show('attention', 'alerted', { text, time: nodeStatus.time(alertedAt) });
    if (snoozedUntil === null) return nodeStatus.show('attention', 'value', { value: text });
    if (snoozedUntil === Infinity) return nodeStatus.show('waiting', 'silentUntilClosed', { text });
    return nodeStatus.show('waiting', 'silentUntil', { text, time: nodeStatus.time(snoozedUntil) });
  }
  if (failure !== null) return showFailure(nodeStatus, failure);
  if (!allClosed) return nodeStatus.showWithTime('unclear', 'unknown');
  const text = guardText({ type: 'clear', at: '', reason: 'closed', openings: closed, everything }, guardWordsOf(own));
  nodeStatus.showWithTime('good', 'value', { value: text });
}

/** The words for the guard's sentences. */
export const guardWordsOf = ({ language, say }: FlowNode) => ({
  language,
  text: (key: string): string => say(`${Object.hasOwn(openings, key) ? 'part' : 'guard'}.${key}`),
});
