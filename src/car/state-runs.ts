import * as z from 'zod/mini';
import { positionShape, sameValue, time } from './known-values';
import type { Position } from './places';
import { isOlder, type ValueTimes } from './times';

/** A value of the car whose changes are kept. */
export type StateValue = string | boolean | number | Position;

/** Consecutive answers with the same value; for a number that changes, the answers of some minutes. All times are milliseconds since 1970 by the clock of the service. */
export interface StateRun {
  value: StateValue;
  /** The highest number, if `value` is lower; only numbers have it. */
  highest?: number | undefined;
  /** The service's time of the first answer, or when it was received. */
  from: number;
  /** When the last answer with this value was received. */
  to: number;
  measuredAt: number | null;
  askedAt: number;
}

export const stateRunShape: z.ZodMiniType<StateRun> = z.lazy(() =>
  z.object({
    value: z.union([z.string(), z.boolean(), z.number(), positionShape]),
    highest: z.optional(z.number()),
    from: time,
    to: time,
    measuredAt: z.nullable(time),
    askedAt: time,
  }),
);

/** If two answers are further apart, it is not known what happened between them. */
const maxGapMs = 60 * 60_000;
/** Numbers that change within this time are one run. */
const numbersMs = 20 * 60_000;
const maxRuns = 30;
/** Two times of one clock differ by less than this. */
const clockSlackMs = 5_000;

/**
 * Adds a known value to the runs of a state. If the clock was set back, nothing before is known. Returns the same array if
 * the answer shows nothing new.
 * @param at now, by the clock of the service
 */
export function withValue(
  runs: readonly StateRun[],
  value: StateValue,
  times: ValueTimes,
  at: number,
): readonly StateRun[] {
  const last = runs.at(-1);
  const { measuredAt, askedAt, receivedAt } = times;
  const run: StateRun = {
    value,
    from: Math.min(measuredAt ?? receivedAt, receivedAt),
    to: receivedAt,
    measuredAt,
    askedAt,
  };
  if (last === undefined || Math.max(last.to, last.askedAt) > at + clockSlackMs) return [run];
  if (isOlder(times, last)) return runs;
  const seen = { to: Math.max(last.to, receivedAt), measuredAt: measuredAt ?? last.measuredAt, askedAt };
  if (run.from - last.to <= maxGapMs) {
    if (last.highest === undefined && sameValue(last.value, value)) {
      const isSeen = seen.to === last.to && seen.measuredAt === last.measuredAt && askedAt === last.askedAt;
      return isSeen ? runs : [...runs.slice(0, -1), { ...last, ...seen }];
    }
    if (typeof last.value === 'number' && typeof value === 'number' && receivedAt - last.from < numbersMs)
      return [
        ...runs.slice(0, -1),
        {
          ...last,
          ...seen,
          value: Math.min(last.value, value),
          highest: Math.max(last.highest ?? last.value, value),
        },
      ];
  }
  // The service gives the time of the change.
  const from = Math.max(run.from, last.from);
  return [...runs.slice(0, -1), { ...last, to: Math.min(last.to, from) }, { ...run, from }].slice(-maxRuns);
}

/**
 * Whether a state has lasted for so long: no if an answer in that time shows something else, yes if the answers show it from before
 * that time on, or the service has its time, and otherwise null.
 * @param isMet whether a value is of that state; of numbers, all between two that are
 * @param now by the clock of the service
 * @returns also since when it is known to last; null: it does not
 */
export function lasted(
  runs: readonly StateRun[],
  isMet: (value: StateValue) => boolean,
  { now, ms }: { now: number; ms: number },
): { result: boolean | null; since: number | null } {
  const begin = now - ms;
  const isWhole = ({ value, highest }: StateRun): boolean => isMet(value) && isMet(highest ?? value);
  let since: number | null = null;
  for (const run of runs.toReversed()) {
    if (!isWhole(run) || (since ?? now) - run.to > maxGapMs) break;
    since = run.from;
  }
  if (since !== null && since <= begin) return { result: true, since };
  // If a run holds several numbers, the time of each is not known.
  const isBroken = runs.some((run) => !isWhole(run) && (run.highest === undefined ? run.to : run.from) >= begin);
  return { result: isBroken ? false : null, since };
}
