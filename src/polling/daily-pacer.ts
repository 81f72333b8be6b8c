const bucketMs = 5 * 60_000;
const buckets = (24 * 60 * 60_000) / bucketMs;
const hour = 60 * 60_000;

/** How many times longer than asked for it takes until a group is read again, because the day's quota runs short. */
export interface Stretch {
  /** Doors and windows: last. */
  watch: number;
  others: number;
}

export const unstretched: Stretch = { watch: 1, others: 1 };

/** Requests an hour. */
export interface Demand {
  watch: number;
  others: number;
}

/** While what is left lasts so long at the present pace, nothing is stretched. */
const plentyHours = 6;
const mostForOthers = 4;
const mostStretch = 64;

/**
 * At which pace the reads' share of the day lasts. The count of the last 24 hours is all that is told; what was sent when, and so
 * what comes back when, is noted here. What was sent before the start counts as spread over the day.
 */
export class Allowance {
  readonly #sent = new Float64Array(buckets);
  #bucket: number | null = null;

  /** @param used requests of the last 24 hours */
  note(used: number, now: number): void {
    const bucket = Math.floor(now / bucketMs);
    if (this.#bucket === null) this.#sent.fill(used / buckets);
    for (let next = Math.max(this.#bucket ?? bucket, bucket - buckets) + 1; next <= bucket; next += 1)
      this.#sent[next % buckets] = 0;
    this.#bucket = bucket;
    const noted = this.#sent.reduce((sum, count) => sum + count, 0);
    if (noted <= used) this.#sent[bucket % buckets] = (this.#sent[bucket % buckets] ?? 0) + used - noted;
    else for (const [i, count] of this.#sent.entries()) this.#sent[i] = (count * used) / noted;
  }

  /** Requests an hour that can be kept up for a day. @param left how many may be sent now */
  pace(left: number): number {
    let free = Math.max(0, left);
    let pace = Number.POSITIVE_INFINITY;
    for (let i = 1; i <= buckets; i += 1) {
      pace = Math.min(pace, (free * hour) / (i * bucketMs));
      free += this.#sent[((this.#bucket ?? 0) + i) % buckets] ?? 0;
    }
    return pace;
  }
}

/** The others wait first, four times as long at most; doors and windows only where that is not enough. */
export function stretchFor({ watch, others }: Demand, left: number, pace: number): Stretch {
  if (watch + others <= pace || (watch + others) * plentyHours <= left) return unstretched;
  const spared = others / mostForOthers;
  if (watch + spared < pace) return { watch: 1, others: Math.min(mostForOthers, step(others / (pace - watch))) };
  const least = step((watch + spared) / pace);
  return { watch: least, others: least * mostForOthers };
}

/** In quarters, so that intervals that divide each other still do, and their moments meet. */
const step = (stretch: number): number => Math.min(mostStretch, Math.ceil(stretch * 4) / 4);
