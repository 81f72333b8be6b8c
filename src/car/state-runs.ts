import * as z from 'zod/mini';
import { hourMs, minuteMs } from '../util/durations';
import { positionShape, sameValue, time } from './known-values';
import type { Position } from './places';
import { isOlder, type ValueTimes } from './times';

/** A value of the car whose changes are kept. */
export type StateValue = string | boolean | number | Position;

/**
 * Consecutive answers with the same value; for a number that changes, the answers of some minutes.
 * All times are milliseconds since 1970 by the clock of the service.
 */
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
const maxGapMs = hourMs;
/** Numbers that change within this time are one run. */
const numbersMs = 20 * minuteMs;
const maxRuns = 30;
/** Two times of one clock differ by less than this. */
const clockSlackMs = 5_000;

/**
 * Adds a known value to the runs of a state. If the clock was set back, nothing before is known.
 * Changes the last run in place if it only continues: the caller must own the runs.
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
  const begin = Math.min(measuredAt ?? receivedAt, receivedAt);
  if (last === undefined || Math.max(last.to, last.askedAt) > at + clockSlackMs)
    return [{ value, from: begin, to: receivedAt, measuredAt, askedAt }];
  if (isOlder(times, last)) return runs;
  if (begin - last.to <= maxGapMs) {
    const seen = { to: Math.max(last.to, receivedAt), measuredAt: measuredAt ?? last.measuredAt, askedAt };
    // In place: most answers show nothing else, and a copy of all runs takes time.
    if (last.highest === undefined && sameValue(last.value, value)) {
      Object.assign(last, seen);
      return runs;
    }
    if (typeof last.value === 'number' && typeof value === 'number' && receivedAt - last.from < numbersMs) {
      const range = { value: Math.min(last.value, value), highest: Math.max(last.highest ?? last.value, value) };
      return runs.with(runs.length - 1, { ...last, ...seen, ...range });
    }
  }
  // The service reports the time of the change.
  const from = Math.max(begin, last.from);
  const run: StateRun = { value, from, to: receivedAt, measuredAt, askedAt };
  return [...runs.slice(0, -1), { ...last, to: Math.min(last.to, from) }, run].slice(-maxRuns);
}

/**
 * The runs that two readers of a car have seen, in the order of time. Of a run that the other one
 * has seen interrupted, only the last answer counts on.
 */
export function mergedRuns(one: readonly StateRun[], other: readonly StateRun[]): readonly StateRun[] {
  const byTime = (first: StateRun, second: StateRun): number => first.from - second.from || first.to - second.to;
  const left = [...one, ...other].sort(byTime);
  const runs: StateRun[] = [];
  for (let run = left.shift(); run !== undefined; run = left.shift()) {
    const last = runs.at(-1);
    const joined = last && joinedRun(last, run);
    if (joined !== undefined) runs[runs.length - 1] = joined;
    else if (last === undefined || run.from >= last.to) runs.push(run);
    else {
      runs[runs.length - 1] = { ...last, to: run.from };
      runs.push(run);
      // A copy, because this run can also be cut.
      if (last.to > run.to) left.push({ ...last, from: last.to });
      left.sort(byTime);
    }
  }
  return runs.slice(-maxRuns);
}

/** Two runs as one, if they have one value, or are numbers of one time. */
function joinedRun(last: StateRun, run: StateRun): StateRun | undefined {
  const isOne = sameValue(last.value, run.value) && last.highest === run.highest && run.from - last.to <= maxGapMs;
  const [low, value] = [last.value, run.value];
  // One that begins with another one can be the same, stored earlier.
  const isAtOnce = run.from < last.to || run.from === last.from;
  const areNumbers = typeof low === 'number' && typeof value === 'number' && isAtOnce;
  if (!isOne && !areNumbers) return undefined;
  const highest = areNumbers ? Math.max(last.highest ?? low, run.highest ?? value) : last.highest;
  const joined = areNumbers ? Math.min(low, value) : last.value;
  const times = [last.measuredAt, run.measuredAt].filter((time) => time !== null);
  return {
    value: joined,
    ...(highest !== undefined && highest !== joined && { highest }),
    from: last.from,
    to: Math.max(last.to, run.to),
    measuredAt: times.length === 0 ? null : Math.max(...times),
    askedAt: Math.max(last.askedAt, run.askedAt),
  };
}

/**
 * Whether a state has lasted for so long: no if an answer in that time shows something else, yes if
 * the answers show it from before that time on, or the service has its time, and otherwise null.
 * @param isMet whether a value is of that state, null if that is not known; of numbers, all
 * between two that are
 * @param now by the clock of the service
 * @returns also since when it is known to last; null: it does not
 */
export function lasted(
  runs: readonly StateRun[],
  isMet: (value: StateValue) => boolean | null,
  { now, ms }: { now: number; ms: number },
): { result: boolean | null; since: number | null } {
  const begin = now - ms;
  const isWhole = ({ value, highest }: StateRun): boolean | null => {
    const [low, high] = [isMet(value), isMet(highest ?? value)];
    return low === false || high === false ? false : low && high;
  };
  let since: number | null = null;
  for (const run of runs.toReversed()) {
    if (isWhole(run) !== true || (since ?? now) - run.to > maxGapMs) break;
    since = run.from;
  }
  if (since !== null && since <= begin) return { result: true, since };
  // If a run holds several numbers, the time of each is not known.
  const isBroken = runs.some(
    (run) => isWhole(run) === false && (run.highest === undefined ? run.to : run.from) >= begin,
  );
  return { result: isBroken ? false : null, since };
}
