/**
 * Counts what happened in the last stretch of time, in a ring of buckets: constant memory and no allocation however many
 * are counted. A bucket leaves as a whole and late, so the count is never too low (by one bucket of time it is too high).
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
    // One more than the span has: the present bucket is only partly over.
    this.#counts = new Float64Array(spanMs / bucketMs + 1);
  }

  /** How many were counted in the span that ends at `time`. Time never runs backwards here. */
  total(time: number): number {
    this.#advance(Math.floor(time / this.#bucketMs));
    return this.#total;
  }

  add(time: number, count = 1): void {
    this.#addTo(Math.floor(time / this.#bucketMs), count);
  }

  /**
   * When the request with this rank, counted from the one that leaves next, has left the window, if from now on every
   * place that becomes free is taken again at once.
   * @param limit how many the window holds when it is full
   */
  placeAt(rank: number, limit: number, time: number): number {
    this.#advance(Math.floor(time / this.#bucketMs));
    const size = this.#counts.length;
    // Above the limit, the first to leave make room for nobody.
    const excess = Math.min(rank, Math.max(0, this.#total - limit));
    const cycle = Math.floor((rank - excess) / limit) * size * this.#bucketMs;
    let left = excess + ((rank - excess) % limit);
    for (let bucket = this.#newest - size + 1; bucket <= this.#newest; bucket += 1) {
      left -= this.#at(bucket);
      if (left < 0) return (bucket + size) * this.#bucketMs + cycle;
    }
    // A place that is taken right now comes back after one span.
    return time + this.#spanMs + this.#bucketMs + cycle;
  }

  /** The buckets that hold something, as pairs of bucket number and count: what is stored over a restart. */
  entries(time: number): [number, number][] {
    this.#advance(Math.floor(time / this.#bucketMs));
    const pairs: [number, number][] = [];
    for (let bucket = this.#newest - this.#counts.length + 1; bucket <= this.#newest; bucket += 1) {
      if (this.#at(bucket) > 0) pairs.push([bucket, this.#at(bucket)]);
    }
    return pairs;
  }

  /** Takes stored pairs in again, oldest first, moved by `shiftMs`; none of them lies in the future. */
  restore(pairs: readonly (readonly [number, number])[], time: number, shiftMs: number): void {
    const shift = Math.ceil(shiftMs / this.#bucketMs);
    const present = Math.floor(time / this.#bucketMs);
    for (const [bucket, count] of pairs) this.#addTo(Math.min(bucket + shift, present), count);
  }

  #at(bucket: number): number {
    return this.#counts[this.#slot(bucket)] ?? 0;
  }

  #slot(bucket: number): number {
    const size = this.#counts.length;
    return ((bucket % size) + size) % size;
  }

  #addTo(bucket: number, count: number): void {
    this.#advance(bucket);
    const slot = this.#slot(this.#newest);
    this.#counts[slot] = (this.#counts[slot] ?? 0) + count;
    this.#total += count;
  }

  #advance(bucket: number): void {
    if (bucket <= this.#newest) return;
    const size = this.#counts.length;
    if (bucket - this.#newest >= size) {
      this.#counts.fill(0);
      this.#total = 0;
    } else {
      for (let next = this.#newest + 1; next <= bucket; next += 1) {
        this.#total -= this.#at(next);
        this.#counts[this.#slot(next)] = 0;
      }
    }
    this.#newest = bucket;
  }
}
