const minute = 60_000;
/** Of the requests of a minute: as many at once, and then as many in each minute. The rest is for turns and messages. */
const atOnce = 1 / 2;
const perMinuteShare = 1 / 3;

/** Spreads the first reads after a start by the number of requests, so that they fit the minute (field notes 5). */
export class Starts {
  readonly #perMinute: () => number;
  #level = 0;
  #at = 0;

  constructor(perMinute: () => number) {
    this.#perMinute = perMinute;
  }

  /** @returns how long so many requests should wait, in ms */
  book(requests: number, now: number): number {
    const limit = this.#perMinute();
    const perMs = (limit * perMinuteShare) / minute;
    this.#level = Math.max(0, this.#level - (now - this.#at) * perMs) + requests;
    this.#at = now;
    return Math.max(0, this.#level - limit * atOnce) / perMs;
  }
}
