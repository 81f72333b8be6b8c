import { dayMs, hourMs } from '../util/durations';

/**
 * How many times longer the intervals become because the day's quota would not last. Doors and
 * windows (`security`) are slowed last.
 */
export type Slowdown = Readonly<Record<'security' | 'others', number>>;

export const noSlowdown: Slowdown = { security: 1, others: 1 };

/** While the rest of the quota covers the present demand for so many hours, nothing is slowed. */
const plentyHours = 6;
const maxOthersFirst = 4;
const maxSlowdown = 64;

/** Pairs of age in milliseconds and count, the oldest first. */
export type SentRequests = readonly (readonly [ageMs: number, count: number])[];

/**
 * How many requests per hour can be sent so that the quota of the day lasts. Each request of the
 * last 24 hours leaves the count when it is 24 hours old.
 * @param left how many requests may be sent now
 */
export function sustainableRate(sent: SentRequests, left: number): number {
  let available = Math.max(0, left);
  let rate = Infinity;
  for (const [ageMs, count] of [...sent, [0, 0] as const]) {
    rate = Math.min(rate, (available * hourMs) / Math.max(1, dayMs - ageMs));
    available += count;
  }
  return rate;
}

/** Requests per hour if nothing were slowed. */
export type Demand = Record<'security' | 'others', number>;

/**
 * Other reads are slowed first, at most fourfold; doors and windows only if that is not enough.
 * @param rate how many per hour can be sent
 */
export function slowdownFor({ security, others }: Demand, left: number, rate: number): Slowdown {
  if (security + others <= rate || (security + others) * plentyHours <= left) return noSlowdown;
  const minOthers = others / maxOthersFirst;
  if (security + minOthers < rate)
    return { security: 1, others: Math.min(maxOthersFirst, inQuarters(others / (rate - security))) };
  const all = inQuarters((security + minOthers) / rate);
  return { security: all, others: all * maxOthersFirst };
}

/**
 * In steps of a quarter, so that intervals that divide each other still do and
 * their reads are shared.
 */
const inQuarters = (slowdown: number): number => Math.min(maxSlowdown, Math.ceil(slowdown * 4) / 4);
