import { timeOf } from '../util/clock';
import { dayMs, minuteMs } from '../util/durations';

/** An older timestamp comes from a clock that was never set. */
const maxStampAgeMs = 366 * dayMs;

/** Clocks that differ by as much as two time zones do: it is not known which of them is wrong. */
const maxSkewMs = 15 * minuteMs;

/**
 * Whether the offset between the clock of the service and that of this machine is known, so that
 * the age of its timestamps is known.
 */
export const isClockKnown = (skewMs: number): boolean => Math.abs(skewMs) < maxSkewMs;

/** The times of a value, in milliseconds since 1970. */
export interface ValueTimes {
  /**
   * The timestamp of the service, when the car was asked (docs/internals/service.md 2.3); null if
   * it is missing or not credible.
   */
  measuredAt: number | null;
  /** When the answer was received. */
  receivedAt: number;
  /**
   * When it was asked for. An answer can be overtaken by one that was asked for later, by minutes.
   */
  askedAt: number;
}

/**
 * The times of a value of an answer. A timestamp cannot lie after the moment at which it is read.
 * @param at now
 * @param skewMs how far the clock behind the timestamps is ahead of `at`, if that is known
 */
export function timesOf(
  timestamp: unknown,
  {
    at,
    receivedAt = at,
    askedAt = receivedAt,
    skewMs = 0,
  }: { at: number; receivedAt?: number | undefined; askedAt?: number | undefined; skewMs?: number | undefined },
): ValueTimes {
  const time = typeof timestamp === 'string' ? timeOf(timestamp) : Number.NaN;
  // NaN fails the comparison.
  const measuredAt = time > at - maxStampAgeMs ? Math.min(time, at + Math.max(0, skewMs)) : null;
  return { measuredAt, receivedAt: Math.min(receivedAt, at), askedAt: Math.min(askedAt, at) };
}

/**
 * Whether a value is older than what is known, and so changes nothing: timestamps may run backwards
 * between two answers (docs/internals/vendor-api.md 6.2), and a slow answer may arrive after one
 * that was asked for later.
 * @param known with the newest timestamp so far
 */
export const isOlder = (value: Order, known: Order): boolean =>
  value.askedAt < known.askedAt ||
  (value.measuredAt !== null && known.measuredAt !== null && value.measuredAt < known.measuredAt);

type Order = Pick<ValueTimes, 'measuredAt' | 'askedAt'>;

/**
 * When a known value was asked for or received, for comparisons: a time in the future was taken
 * before the clock was set back.
 */
export const receiptAsOf = (receivedAt: number, at: number): number => (receivedAt > at ? 0 : receivedAt);

/**
 * Whether a trip has ended between two readings of the odometer: that of a car that is not in use
 * has moved. Null: not known.
 */
export const isTripEnd = (before: number | null, now: number | null, inUse: boolean | null): boolean =>
  inUse !== true && before !== null && now !== null && now > before;
