/** When the service allows the next request, as far as an answer says so (field notes 1.11, 5). */

const second = 1000;
const day = 24 * 60 * 60 * second;

/** Where nothing is said: a sliding minute for the rate limit, and a look every hour at a quota that refills once a day. */
export const defaultPauses = { RATE_LIMITED: 60 * second, QUOTA_SPENT: 60 * 60 * second } as const;

/** "Quota will be replenished in 03:30:56.", with days in front as 1.03:30:56; at most a day. */
const refillPattern = /replenished in (?:(\d+)\.)?(\d{1,2}):(\d{2}):(\d{2})/i;

export function refillTime(text: string, now: number): Date | null {
  const match = refillPattern.exec(text);
  if (match === null) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number];
  return new Date(now + Math.min(day, ((days * 24 + hours) * 60 + minutes) * 60 * second + seconds * second));
}

/** `Retry-After` in seconds or as an HTTP date; at most a day. */
export function retryAfter(header: string | string[] | undefined, now: number): Date | null {
  if (typeof header !== 'string') return null;
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * second : Date.parse(header) - now;
  return Number.isNaN(wait) ? null : new Date(now + Math.min(day, Math.max(0, wait)));
}
