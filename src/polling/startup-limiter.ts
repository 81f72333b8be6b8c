const minuteMs = 60_000;
/** Shares of the requests of a minute: so many may start at once, and then so many per minute. The rest is left for polls and messages. */
const burstShare = 1 / 2;
const sustainedShare = 1 / 3;

/** A leaky bucket that spreads the first reads after a start, so that they fit the service's limit per minute (docs/field-notes.md 5). */
export class StartupLimiter {
  readonly #perMinute: () => number;
  #level = 0;
  #at = 0;

  constructor(perMinute: () => number) {
    this.#perMinute = perMinute;
  }

  /** @returns how long these requests should wait, in ms */
  reserve(requests: number, now: number): number {
    const limit = this.#perMinute();
    const perMs = (limit * sustainedShare) / minuteMs;
    this.#level = Math.max(0, this.#level - (now - this.#at) * perMs) + requests;
    this.#at = now;
    return Math.max(0, this.#level - limit * burstShare) / perMs;
  }
}
