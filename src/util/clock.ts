import { uptime } from 'node:os';
import type { Signal } from './cancellation';
import { secondMs } from './durations';

/**
 * Time is a parameter: code that waits or reads the time has a `Clock` as a parameter, so that
 * tests control it and never sleep.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /**
   * Milliseconds since an arbitrary moment of this process. It never goes back or jumps when the
   * machine's clock is set: durations within a process are measured with it. `now` is for what is
   * shown, stored or compared with the service.
   */
  monotonic(): number;
  /**
   * Milliseconds since the machine was started. They count on while it sleeps, which those of
   * `monotonic` need not.
   */
  uptime(): number;
  /** Calls back once after `ms`, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: Signal): Promise<void>;
}

/**
 * The last time that became a text. The parts of the pack format and parse the time of the same
 * reading one after the other, so one is enough.
 */
let last = { at: Number.NaN, text: '' };

/** ISO-8601, of milliseconds since 1970. */
export function iso(at: number): string {
  // Whole milliseconds, as in the text: `timeOf` returns what `Date.parse` would.
  if (at !== last.at) last = { at: Math.trunc(at), text: new Date(at).toISOString() };
  return last.text;
}

/** The values of an answer mostly have one time, and several parts of the pack read it. */
const parsedTimes = new Map<string, number>();
const maxParsedTimes = 200;
/** A longer text is no time, and would take memory for nothing. */
const longestTime = 40;

/** Milliseconds since 1970, of ISO-8601; NaN for a text that is none. */
export function timeOf(text: string): number {
  if (text === last.text) return last.at;
  const known = parsedTimes.get(text);
  if (known !== undefined) return known;
  const time = Date.parse(text);
  if (text.length > longestTime) return time;
  if (parsedTimes.size >= maxParsedTimes) parsedTimes.clear();
  parsedTimes.set(text, time);
  return time;
}

/** `setTimeout` counts in 32 bits: a longer wait would fire at once. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * secondMs,
  after(ms, callback) {
    if (ms <= longestTimer) {
      const handle = setTimeout(callback, Math.max(0, ms));
      return () => clearTimeout(handle);
    }
    let cancel = systemClock.after(longestTimer, () => (cancel = systemClock.after(ms - longestTimer, callback)));
    return () => cancel();
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};

/** A sleep made of a clock's `after`. */
export function sleepOn(clock: Pick<Clock, 'after'>, ms: number, signal?: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error); // Passed on as it is.
    const stop = (): void => {
      cancel();
      reject(signal?.reason as Error); // Passed on as it is.
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}
