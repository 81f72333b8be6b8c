import crypto = require('node:crypto');
import { subscribe } from 'node:diagnostics_channel';
import type { Signal } from '../../src/util/cancellation';
import { sleepOn, type Clock } from '../../src/util/clock';
import { watched } from './watched';

interface Timer {
  due: number;
  callback: () => void;
}

/**
 * Each request on the wire, and for how many more milliseconds its answer is waited for: a server
 * that answers later, by the clock of the test, is not waited for. Milliseconds in which this
 * process did not run do not count.
 */
const requests = new Map<unknown, number>();
const requestOf = (message: unknown): unknown => (message as { request: unknown }).request;
// The bundle of the nodes has its own undici, which has the same channels.
subscribe('undici:request:create', (message) => void requests.set(requestOf(message), 200));
for (const end of ['undici:request:trailers', 'undici:request:error'])
  subscribe(end, (message) => void requests.delete(requestOf(message)));
// The client of a shared store: its messages of a call are one object. Its server waits for its
// disk, and up to a second for a replica.
for (const call of ['command', 'connect']) {
  subscribe(`tracing:node-redis:${call}:start`, (message) => void requests.set(message, 1_500));
  subscribe(`tracing:node-redis:${call}:asyncEnd`, (message) => void requests.delete(message));
}

/** The key of a folder is derived in another thread. */
const derivations = new Set<unknown>();
/** Whether a key is being derived: the system does not report it. */
export const isDeriving = (): boolean => derivations.size > 0;
const { scrypt } = crypto;
/**
 * By the arguments: the stores of the tests have few secrets and salts, and each
 * derivation takes 60 ms.
 */
const derived = new Map<string, unknown[]>();
crypto.scrypt = ((...args: unknown[]) => {
  const done = args.pop() as (...results: unknown[]) => void;
  const key = JSON.stringify(args);
  const known = derived.get(key);
  if (known !== undefined) return setImmediate(done, ...known);
  derivations.add(args);
  return Reflect.apply(scrypt, crypto, [
    ...args,
    (...results: unknown[]) => {
      derivations.delete(args);
      derived.set(key, results);
      done(...results);
    },
  ]) as unknown;
  // A cast: all its overloads end with a callback.
}) as typeof scrypt;

/**
 * What the system was asked to do in another thread: files, their end, and look-ups of names. It
 * ends without the clock of the test.
 */
const systemRequest = /^(FSReq|CloseReq|GetAddrInfoReq)/;

/** Whether this process waits for its disk or for another thread. */
const awaitsSystem = (): boolean =>
  isDeriving() || process.getActiveResourcesInfo().some((name) => systemRequest.test(name));

/** Whether it waits for an answer that can come without the clock of the test. */
const awaitsAnswer = (): boolean => [...requests.values()].some((left) => left > 0);

/** Waits, in real time, until everything that runs waits for the clock of the test. */
async function whenDone(): Promise<void> {
  // What one answer brings about may begin some turns of the event loop later.
  for (let quiet = 0; quiet < quietTurns; quiet += 1) {
    await settled();
    for (let isHere = awaitsSystem(); isHere || awaitsAnswer(); isHere = awaitsSystem()) {
      quiet = 0;
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (isHere) continue;
      for (const [request, left] of requests) requests.set(request, left - 1);
    }
  }
}
const quietTurns = 4;

/**
 * How many steps `advanceUntil` takes at most. A minute of waiting has 120, the
 * longest of a test 1,200.
 */
const mostSteps = 10_000;

/** A clock that a test moves by hand: nothing passes until `advance` is called. */
export class ManualClock implements Clock {
  #now: number;
  /** How far the wall clock was set forward or back. */
  #set = 0;
  /** In milliseconds. */
  #slept = 0;
  #timers = new Set<Timer>();
  /** What an error shows if a test waits for something that does not come. */
  happened: () => unknown = () => undefined;

  constructor(start: number | string = '2026-06-01T08:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now + this.#set;
  }

  monotonic(): number {
    return this.#now;
  }

  uptime(): number {
    return this.#now + this.#slept;
  }

  /**
   * The machine sleeps: wall time and the time since it was started continue,
   * monotonic time does not.
   */
  sleepMachine(ms: number): void {
    this.#slept += ms;
    this.#set += ms;
  }

  /** Sets the machine's clock, as NTP does: no time passes. */
  setTime(now: number): void {
    this.#set = now - this.#now;
  }

  /**
   * Lets time pass at once: everything that is due in it happens late, as on a
   * machine that was busy.
   */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** How many timers and sleeps are pending. */
  get sleeping(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, in monotonic time; Infinity without one. */
  get nextDue(): number {
    return Math.min(Infinity, ...[...this.#timers].map(({ due }) => due));
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { due: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  sleep(ms: number, signal?: Signal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /**
   * Moves time on, firing timers in the order they are due and letting each one's work
   * run before the next.
   */
  async advance(ms: number, whenReady = settled): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await whenReady();
      const next = [...this.#timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
    }
    this.#now = end;
    await whenReady();
  }

  /**
   * Moves time on in steps until it is so. Each step leaves real time to what is on
   * the wire or on disk.
   * @throws Error with what happened instead
   */
  async advanceUntil(isSo: () => boolean, stepMs = 500): Promise<void> {
    for (let steps = 0; !isSo(); steps += 1) {
      if (steps === mostSteps)
        throw new Error(
          `Not so after ${mostSteps} steps of ${stepMs} ms: ${isSo.toString()}\n${JSON.stringify(this.happened(), undefined, 1)}`,
        );
      await this.#step(stepMs);
    }
  }

  /** Moves time on in the same steps until the work has ended. @returns its result */
  async until<Result>(work: Promise<Result>, stepMs?: number): Promise<Result> {
    const seen = watched(work);
    await this.advanceUntil(() => seen.done, stepMs);
    return work;
  }

  /** Moves time on in the same steps, regardless of what happens. */
  async advanceInSteps(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) await this.#step(stepMs);
  }

  async #step(ms: number): Promise<void> {
    await this.advance(ms, whenDone);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await whenDone();
  }

  /** Waits, in real time and without guessing how long, until so much sleeps on this clock. */
  async whenSleeping(count = 1): Promise<void> {
    while (this.#timers.size < count) await settled();
  }
}

/** Lets every promise and socket event that is ready run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
