const bucketMs = 5 * 60_000;
const buckets = (24 * 60 * 60_000) / bucketMs;
const hourMs = 60 * 60_000;

/** How many times longer the intervals become because the day's quota would not last. */
export interface Slowdown {
  /** The slowdown of doors and windows, which are slowed last. */
  security: number;
  others: number;
}

/** Requests per hour if nothing were slowed. */
export interface Demand {
  /** Those of doors and windows. */
  security: number;
  others: number;
}

export const noSlowdown: Slowdown = { security: 1, others: 1 };

/** While the rest of the quota covers the present demand for so many hours, nothing is slowed. */
const plentyHours = 6;
const maxOthersFirst = 4;
const maxSlowdown = 64;

/**
 * Computes how many requests per hour can be sent so that the quota of the day lasts. The service counts the last 24 hours, so this records
 * when requests were sent, to know when they leave the count. Requests from before the start count as spread over the day.
 */
export class DailyPacer {
  readonly #sent = new Float64Array(buckets);
  #bucket: number | null = null;

  /** @param used requests of the last 24 hours */
  record(used: number, now: number): void {
    const bucket = Math.floor(now / bucketMs);
    if (this.#bucket === null) this.#sent.fill(used / buckets);
    for (let next = Math.max(this.#bucket ?? bucket, bucket - buckets) + 1; next <= bucket; next += 1)
      this.#sent[next % buckets] = 0;
    this.#bucket = bucket;
    const recorded = this.#sent.reduce((sum, count) => sum + count, 0);
    if (recorded <= used) this.#sent[bucket % buckets] = (this.#sent[bucket % buckets] ?? 0) + used - recorded;
    else for (const [i, count] of this.#sent.entries()) this.#sent[i] = (count * used) / recorded;
  }

  /** @param left how many requests may be sent now */
  sustainableRate(left: number): number {
    let available = Math.max(0, left);
    let rate = Number.POSITIVE_INFINITY;
    for (let i = 1; i <= buckets; i += 1) {
      rate = Math.min(rate, (available * hourMs) / (i * bucketMs));
      available += this.#sent[((this.#bucket ?? 0) + i) % buckets] ?? 0;
    }
    return rate;
  }
}

/** Other reads are slowed first, at most fourfold; doors and windows only where that is not enough. */
export function slowdownFor({ security, others }: Demand, left: number, rate: number): Slowdown {
  if (security + others <= rate || (security + others) * plentyHours <= left) return noSlowdown;
  const minOthers = others / maxOthersFirst;
  if (security + minOthers < rate)
    return { security: 1, others: Math.min(maxOthersFirst, inQuarters(others / (rate - security))) };
  const all = inQuarters((security + minOthers) / rate);
  return { security: all, others: all * maxOthersFirst };
}

/** In steps of a quarter, so that intervals that divide each other still do and their reads are shared. */
const inQuarters = (slowdown: number): number => Math.min(maxSlowdown, Math.ceil(slowdown * 4) / 4);
