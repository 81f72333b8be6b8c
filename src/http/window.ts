/**
 * Counts events of a sliding time window in a ring of buckets: constant memory however many are counted. A bucket leaves as a
 * whole when its last event has left, so the count is never too low, and too high by at most one bucket of time.
 */
export class SlidingWindow {
  readonly #spanMs: number;
  readonly #bucketMs: number;
  readonly #counts: Float64Array;
  #newest = Number.NEGATIVE_INFINITY;
  #total = 0;

  /** @param spanMs a multiple of `bucketMs` */
  constructor(spanMs: number, bucketMs: number) {
    this.#spanMs = spanMs;
    this.#bucketMs = bucketMs;
    // One bucket more than the span holds, because the newest one is only partly over.
    this.#counts = new Float64Array(spanMs / bucketMs + 1);
  }

  /** The number of events in the span that ends at `time`. Times must be monotonic. */
  total(time: number): number {
    this.#advance(this.#bucketOf(time));
    return this.#total;
  }

  add(time: number, count = 1): void {
    this.#advance(this.#bucketOf(time));
    const index = this.#indexOf(Math.max(this.#bucketOf(time), this.#oldest));
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
    this.#total += count;
  }

  /** When fewer than `size` events are left, if none is added. */
  freeAt(size: number, time: number): number {
    let left = this.total(time);
    if (left < size) return time;
    for (let bucket = this.#oldest; bucket <= this.#newest; bucket += 1) {
      left -= this.#at(bucket);
      if (left < size) return (bucket + this.#counts.length) * this.#bucketMs;
    }
    return time + this.#spanMs;
  }

  /** Pairs of the least possible age in milliseconds and count, oldest first: the form in which the counts are stored. */
  entries(time: number): [ageMs: number, count: number][] {
    this.#advance(this.#bucketOf(time));
    const pairs: [number, number][] = [];
    for (let bucket = this.#oldest; bucket <= this.#newest; bucket += 1) {
      const age = Math.max(0, Math.floor(time - (bucket + 1) * this.#bucketMs));
      if (this.#at(bucket) > 0) pairs.push([age, this.#at(bucket)]);
    }
    return pairs;
  }

  /** Adds stored pairs, except those that have left the span since. */
  restore(pairs: readonly (readonly [ageMs: number, count: number])[], time: number): void {
    for (const [ageMs, count] of pairs) if (ageMs <= this.#spanMs + this.#bucketMs) this.add(time - ageMs, count);
  }

  get #oldest(): number {
    return this.#newest - this.#counts.length + 1;
  }

  #bucketOf(time: number): number {
    return Math.floor(time / this.#bucketMs);
  }

  #at(bucket: number): number {
    return this.#counts[this.#indexOf(bucket)] ?? 0;
  }

  #indexOf(bucket: number): number {
    const size = this.#counts.length;
    return ((bucket % size) + size) % size;
  }

  #advance(bucket: number): void {
    if (bucket <= this.#newest) return;
    for (let next = Math.max(this.#newest, bucket - this.#counts.length) + 1; next <= bucket; next += 1) {
      this.#total -= this.#at(next);
      this.#counts[this.#indexOf(next)] = 0;
    }
    this.#newest = bucket;
  }
}
