/** The time at which events leave the span, and their number. */
export type Pair = readonly [until: number, count: number];

/**
 * Counts events of a sliding time window in buckets: bounded memory however many are counted. A
 * bucket leaves as a whole when its last event has left, so the count is never too low, and too
 * high by at most one bucket of time.
 */
export class SlidingWindow {
  readonly #spanMs: number;
  readonly #bucketMs: number;
  /**
   * The number of events by the time at which the last one of their bucket leaves
   * the span, in no order.
   */
  readonly #counts = new Map<number, number>();
  /** The sum of all counts, as long as the first of them has not left. */
  #total = 0;
  /** The sum of all calls of `add`, also of events that have left. */
  added = 0;
  #firstEnd = Infinity;

  constructor(spanMs: number, bucketMs: number) {
    this.#spanMs = spanMs;
    this.#bucketMs = bucketMs;
  }

  /** The number of events in the span that ends at `time`. Times must be monotonic. */
  total(time: number): number {
    if (time >= this.#firstEnd) this.replace([...this.#counts].filter(([end]) => end > time));
    return this.#total;
  }

  add(time: number, count = 1): void {
    this.added += count;
    this.#count((Math.floor(time / this.#bucketMs) + 1) * this.#bucketMs + this.#spanMs, count);
  }

  /** Adds what another window counted. */
  merge(pairs: readonly Pair[]): void {
    for (const [until, count] of pairs) this.#count(until, count);
  }

  /** Takes the place of what was counted. */
  replace(pairs: readonly Pair[]): void {
    this.#counts.clear();
    this.#total = 0;
    this.#firstEnd = Infinity;
    this.merge(pairs);
  }

  #count(end: number, count: number): void {
    this.#counts.set(end, (this.#counts.get(end) ?? 0) + count);
    this.#total += count;
    this.#firstEnd = Math.min(this.#firstEnd, end);
  }

  /** When fewer than `size` events are left, if none is added. */
  freeAt(size: number, time: number): number {
    let left = this.total(time);
    if (left < size) return time;
    for (const [end, count] of this.entries(time)) {
      left -= count;
      if (left < size) return end;
    }
    return time + this.#spanMs;
  }

  /** The pairs, the first to leave first. */
  entries(time: number): Pair[] {
    this.total(time);
    return [...this.#counts].sort(([one], [other]) => one - other);
  }

  /** Pairs of the least possible age in milliseconds and count, the oldest first. */
  ages(time: number): [ageMs: number, count: number][] {
    return this.entries(time).map(([end, count]) => [Math.max(0, Math.floor(time - end + this.#spanMs)), count]);
  }
}

/** The last `count` events of `SlidingWindow.entries`; none if `count` is less than 0. */
export function lastOf(entries: readonly Pair[], count: number): Pair[] {
  let left = count;
  return entries
    .toReversed()
    .map(([until, events]): Pair => {
      const taken = Math.min(events, left);
      left -= taken;
      return [until, taken];
    })
    .filter(([, events]) => events > 0);
}
