import type { Clock } from './clock';

/** A timer may fire this much early. */
const slack = 1_000;

/**
 * Time that never runs backwards: where the machine's clock is set back, what was done lately stays as long ago as it was. All
 * times that a poller keeps are of this clock.
 */
export class SteadyClock implements Pick<Clock, 'now' | 'after'> {
  readonly #clock: Clock;
  #last = Number.NEGATIVE_INFINITY;
  #shift = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#at(this.#last);
  }

  /** What the machine's clock calls a time of this one. */
  wallOf(time: number): number {
    return time - this.#shift;
  }

  /** What this clock calls a time of the machine's. */
  ofWall(time: number): number {
    return time + this.#shift;
  }

  /** When it calls back, that much has passed, whatever the machine's clock says. */
  after(ms: number, callback: () => void): () => void {
    const due = this.now() + ms;
    return this.#clock.after(ms, () => {
      if (due - this.now() > slack) this.#at(due);
      callback();
    });
  }

  #at(least: number): number {
    const time = this.#clock.now() + this.#shift;
    if (time < least) this.#shift += least - time;
    return (this.#last = Math.max(time, least));
  }
}
