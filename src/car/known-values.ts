import * as z from 'zod/mini';
import { hourMs, minuteMs } from '../util/durations';
import { receiptAsOf, type ValueTimes } from './times';

/** A value as it was last known, with its newest timestamp and its other times. */
export interface KnownValue<Value = unknown> extends ValueTimes {
  value: Value;
  /**
   * When the car is known to have had the value: the service's timestamp, or when the
   * answer was received.
   */
  at: number;
  /** When the first answer with this value was received. */
  since: number;
  /** The end of the last poll that read it. */
  readAt: number;
}

/** Milliseconds since 1970, as far as a Date reaches. */
export const time = z.number().check(z.minimum(0), z.maximum(8.64e15));
/** A stored position. */
export const positionShape = z.lazy(() => z.object({ latitude: z.number(), longitude: z.number() }));

/** A stored one. */
export const knownValueShapeOf = <Value>(value: z.ZodMiniType<Value>): z.ZodMiniType<KnownValue<Value>> =>
  z.object({
    value,
    at: time,
    measuredAt: z.nullable(time),
    receivedAt: time,
    askedAt: z.catch(time, 0),
    since: time,
    readAt: time,
  }) as unknown as z.ZodMiniType<KnownValue<Value>>; // A type that is a parameter is not followed through the object.

/** @param old the last known value, equal or not */
export const knownValueOf = <Value>(
  value: Value,
  times: ValueTimes,
  at: number,
  old: KnownValue<Value> | undefined,
): KnownValue<Value> => ({
  value,
  at: Math.min(times.measuredAt ?? times.receivedAt, at),
  measuredAt: times.measuredAt ?? old?.measuredAt ?? null,
  receivedAt: times.receivedAt,
  askedAt: times.askedAt,
  since: old !== undefined && sameValue(old.value, value) ? old.since : times.receivedAt,
  readAt: at,
});

/**
 * Times after `at` come from a clock that was set back since.
 * @param skewMs how far the clock behind the timestamps is ahead of `at`
 */
export const asOf = <Value>(fact: KnownValue<Value>, at: number, skewMs = 0): KnownValue<Value> => ({
  ...fact,
  at: Math.min(fact.at, at),
  measuredAt: fact.measuredAt === null ? null : Math.min(fact.measuredAt, at + Math.max(0, skewMs)),
  receivedAt: receiptAsOf(fact.receivedAt, at),
  askedAt: receiptAsOf(fact.askedAt, at),
  since: receiptAsOf(fact.since, at),
  readAt: Math.min(fact.readAt, at),
});

export const sameValue = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

/** Whether a second answer has the same value: one alone can be wrong. */
export const isConfirmed = ({ since, receivedAt }: KnownValue): boolean => receivedAt > since;

/** Answers this close together show the car at one moment, whichever of them came first. */
export const sameMomentMs = 5_000;

/**
 * One source may be read rarely, or not again: its use of the car is over if the other source shows
 * none that much later.
 */
const maxUseAgeMs = 15 * minuteMs;

/**
 * Whether somebody uses the car, as the sources show it, without what one of them
 * showed too long ago.
 */
export function usageOf<Value>(sources: readonly (KnownValue<Value> | undefined)[]): KnownValue<Value>[] {
  const known = sources.filter((fact) => fact !== undefined);
  const unusedAt = Math.max(...known.map(({ value, receivedAt }) => (value === false ? receivedAt : -Infinity)));
  return known.filter(({ value, receivedAt }) => value === false || unusedAt - receivedAt < maxUseAgeMs);
}

/** Kilometers or miles: times of the service can be wrong by minutes. */
const alwaysDriven = 50;
const mostPerHour = 300;

/** The odometer of a parked car, and the last time at which it is known to have stood there. */
interface Stand {
  odometer: number;
  at: number;
}

/**
 * A number that is lower than before, or higher than a car can have come since, can be wrong: it
 * needs a second answer.
 */
export function isCredible(odometer: KnownValue, { odometer: before, at }: Stand): boolean {
  const driven = Number(odometer.value) - before;
  const most = alwaysDriven + (mostPerHour * Math.max(0, odometer.at - at)) / hourMs;
  return (driven >= 0 && driven <= most) || isConfirmed(odometer);
}

/**
 * The odometer, if the car was parked before it was read and still after it: one that was read on
 * the way does not count, nor one that cannot be right.
 * @param sources whether somebody uses the car, as far as that is known
 * @param before where the car was parked; null: not known
 */
export function parkedOdometer<Value>(
  odometer: KnownValue<Value> | undefined,
  sources: readonly (KnownValue<Value> | undefined)[],
  before: Stand | null,
): KnownValue<Value> | null {
  const usage = usageOf(sources);
  if (odometer === undefined || usage.length === 0 || usage.some(({ value }) => value === true)) return null;
  const parkedSince = Math.max(...usage.map(({ since }) => since));
  const parkedUntil = Math.max(...usage.map(({ receivedAt }) => receivedAt));
  const isOnTheWay = odometer.receivedAt < parkedSince - sameMomentMs || odometer.since > parkedUntil + sameMomentMs;
  return isOnTheWay || (before !== null && !isCredible(odometer, before)) ? null : odometer;
}
