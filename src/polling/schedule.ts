import { minuteMs } from '../util/durations';

/** A timer may fire a little early; the same moment is not due twice. */
export const timerSlackMs = 1_000;
/** The first reads of one id are spread over this time after the start. */
export const firstReadSpreadMs = 10_000;

/** FNV-1a: the same phase of an interval for the same id, on every machine. */
export function phaseOf(id: string, interval: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return hash % interval;
}

/**
 * The next moment of a fixed interval after the last read. Intervals that divide each other
 * coincide for one id, so that readers share their requests.
 */
export function nextPoll(id: string, interval: number, lastRead: number): number {
  const phase = phaseOf(id, interval);
  return (Math.floor((lastRead + Math.min(timerSlackMs, interval / 4) - phase) / interval) + 1) * interval + phase;
}

/** A longer pause would keep a guard blind for as long after an outage. */
const maxOutagePauseMs = 5 * minuteMs;

/**
 * The interval of a read that has failed so often in a row. The first failure changes nothing: the
 * next poll is its retry.
 */
export const intervalAfter = (failuresInARow: number, everyMs: number): number =>
  Math.max(everyMs, Math.min(everyMs * 2 ** Math.max(0, failuresInARow - 1), maxOutagePauseMs));
