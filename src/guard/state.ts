import * as z from 'zod/mini';
import { openingKeys, openings, type OpeningKey } from './openings';

/** Milliseconds since 1970, UTC, as far as a Date reaches. */
const time = z.number().check(z.minimum(0), z.maximum(8.64e15));
const instant = z.nullable(time);

const openingState = z.lazy(() =>
  z.object({
    /** Open since then; null: not open as far as was told. */
    openSince: instant,
    /** The last instant at which it is known to have been closed; with `openSince` null too: never told. */
    closedAt: instant,
    /** The newest timestamp among the values that counted. */
    measuredAt: instant,
    /** Since then it cannot be told; null: the last answer told it. */
    untoldSince: instant,
    /** That it cannot be told has been said. */
    untoldSaid: z.boolean(),
    /** An alert named it since it was opened (or since the car was last in use, where only parked time counts). */
    alerted: z.boolean(),
  }),
);

/** `minutes` null: until what is still open of `open` is closed, or something else opens. */
const snooze = z.object({
  from: time,
  minutes: z.nullable(z.number().check(z.minimum(0))),
  open: z._default(z.array(z.string()), []),
});

const guardState = z.lazy(() =>
  z.object({
    /** When the last step was taken. */
    at: z.catch(instant, null),
    openings: z.catch(z.record(z.string(), z.unknown()), {}),
    inUse: z.catch(z.nullable(z.boolean()), null),
    /** When the car was last seen to change from in use to anything else. */
    parkedAt: z.catch(instant, null),
    /** When the last unasked alert was given. */
    alertedAt: z.catch(instant, null),
    /** Kept after its time until an alert follows it, because that one is due even where nothing is repeated. */
    snooze: z.catch(z.nullable(snooze), null),
    /** Something was said to be open: the all clear is owed. */
    clearOwed: z.catch(z.boolean(), false),
  }),
);

export type OpeningState = z.infer<typeof openingState>;

/** Plain JSON: what the guard remembers, to be kept wherever the caller likes. */
export type GuardState = Omit<z.infer<typeof guardState>, 'openings'> & {
  openings: Partial<Record<OpeningKey, OpeningState>>;
};

export const neverTold = (): OpeningState => ({
  openSince: null,
  closedAt: null,
  measuredAt: null,
  untoldSince: null,
  untoldSaid: false,
  alerted: false,
});

/** What was stored of these openings, as far as it can be read: a broken part is forgotten, the rest stays. */
export function parseGuardState(stored: unknown, keys: readonly OpeningKey[]): GuardState {
  const parsed = guardState.safeParse(stored);
  const found = parsed.success ? parsed.data : guardState.parse({});
  const state: GuardState = { ...found, openings: {} };
  for (const key of keys) {
    const opening = openingState.safeParse(found.openings[key]);
    if (opening.success) state.openings[key] = opening.data;
  }
  return state;
}

/**
 * A copy to change, in which nothing lies after `at`: a clock that was set back would otherwise leave an opening "open
 * since tomorrow" and the guard silent until then.
 */
export function copyAsOf(state: GuardState, at: number): GuardState {
  const copy: GuardState = { ...state, at, openings: {} };
  for (const key of openingKeys) {
    const opening = state.openings[key];
    if (opening !== undefined) copy.openings[key] = { ...opening };
  }
  if (state.at !== null && at < state.at) rewind(copy, at);
  return copy;
}

function rewind(state: GuardState, at: number): void {
  const past = (when: number | null): number | null => (when === null ? null : Math.min(when, at));
  state.parkedAt = past(state.parkedAt);
  state.alertedAt = past(state.alertedAt);
  if (state.snooze !== null) state.snooze = { ...state.snooze, from: Math.min(state.snooze.from, at) };
  for (const opening of Object.values(state.openings)) {
    opening.openSince = past(opening.openSince);
    opening.closedAt = past(opening.closedAt);
    opening.measuredAt = past(opening.measuredAt);
    opening.untoldSince = past(opening.untoldSince);
  }
}

export const openOnes = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => (state.openings[key]?.openSince ?? null) !== null);

export const closedOnes = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => isTold(state, key) && state.openings[key]?.openSince === null);

/** What cannot be told now, what was last told open among it; without equipment that this car seems not to have. */
export const untoldOnes = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => !isTold(state, key) && (wasTold(state, key) || !('ifFitted' in openings[key])));

/** What cannot be told now and was not open when it was last told. */
export const unknownOnes = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  untoldOnes(state, keys).filter((key) => openOnes(state, [key]).length === 0);

/** Told, not assumed: each one, and at least one. */
export const isAllClosed = (state: GuardState, keys: readonly OpeningKey[]): boolean =>
  closedOnes(state, keys).length > 0 && openOnes(state, keys).length === 0 && untoldOnes(state, keys).length === 0;

/** Whether these closed ones are all that the car has; the lock aside. Equipment that was not asked about counts where the car tells of it. */
export const isEverything = (state: GuardState, closed: readonly OpeningKey[]): boolean =>
  openingKeys.every(
    (key) =>
      key === 'carLocked' ||
      closed.includes(key) ||
      ('ifFitted' in openings[key] && (!wasTold(state, key) || closedOnes(state, [key]).length > 0)),
  );

const isTold = (state: GuardState, key: OpeningKey): boolean => state.openings[key]?.untoldSince === null;

const wasTold = (state: GuardState, key: OpeningKey): boolean =>
  (state.openings[key]?.openSince ?? state.openings[key]?.closedAt ?? null) !== null;
