import type { Clock } from '../../src/clock';

interface Sleeper {
  due: number;
  wake: () => void;
}

/** A clock that a test moves by hand: nothing passes until `advance` is called. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start: number | string = '2026-06-01T08:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  /** How many sleeps are pending. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason as Error);
      };
      const sleeper: Sleeper = {
        due: this.#now + Math.max(0, ms),
        wake: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Moves time on, waking sleepers in the order they are due and letting each one's work run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settled();
      const next = this.#sleepers.filter((sleeper) => sleeper.due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
      this.#now = Math.max(this.#now, next.due);
      next.wake();
    }
    this.#now = end;
    await settled();
  }

  /** Waits, in real time and without guessing how long, until something sleeps on this clock. */
  async whenSleeping(count = 1): Promise<void> {
    while (this.#sleepers.length < count) await settled();
  }
}

/** Lets every promise and socket event that is ready run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
