/** When the service allows the next request, as far as an answer says so (docs/field-notes.md 1.11, 5). */

const second = 1000;
const day = 24 * 60 * 60 * second;

/** The default pauses: a sliding minute for the rate limit, and an hour for a quota that refills once a day. */
export const defaultPauses = { RATE_LIMITED: 60 * second, QUOTA_SPENT: 60 * 60 * second } as const;

/** "Quota will be replenished in 03:30:56.", with days in front as 1.03:30:56; the words vary. */
const refillPattern =
  /(?:replenish|refill|renew|reset)[a-z]{0,8}\s{1,9}(?:in|after)\s{1,9}(?:(\d{1,4})\.)?(\d{1,2}):(\d{2}):(\d{2})/i;
/** The gateway's wording for a rate limit. */
const againPattern = /try\s{1,9}again\s{1,9}in\s{1,9}(\d{1,9})\s{1,9}second/i;

/** An answer that names a time does so in its first sentences. */
const maxTextLength = 2_000;

/** The time that an error text names; null where it names none. */
export function refillTime(body: string, now: number): Date | null {
  const text = body.slice(0, maxTextLength);
  const refill = refillPattern.exec(text);
  if (refill !== null) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = refill.slice(1).map((part) => Number(part ?? 0));
    return later((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * second, now);
  }
  const again = againPattern.exec(text);
  return again === null ? null : later(Number(again[1]) * second, now);
}

/** `Retry-After` in seconds or as an HTTP date, which counts from the answer's own `Date`; null where there is none or it cannot be read. */
export function retryAfter(
  header: string | string[] | undefined,
  { now, date: answered }: { now: number; date?: string | string[] | undefined },
): Date | null {
  const value = (typeof header === 'string' ? header : header?.[0])?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return later(Number(value) * second, now);
  // Date.parse accepts many numbers as dates; an HTTP date begins with the name of a day.
  const date = /^[a-z]{3,9},? /i.test(value) ? Date.parse(value) : Number.NaN;
  const answeredAt = typeof answered === 'string' ? Date.parse(answered) : Number.NaN;
  return Number.isNaN(date) ? null : later(date - (Number.isNaN(answeredAt) ? now : answeredAt), now);
}

/** At least a second, so that a retry never comes at once; at most a day, the longest window of a limit. */
const later = (ms: number, now: number): Date => new Date(now + Math.min(Math.max(ms, second), day));
