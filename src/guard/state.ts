import * as z from 'zod/mini';
import { receiptAsOf } from '../car/times';
import { openingKeys, openings, type OpeningKey } from '../catalogue/openings';

/** Milliseconds since 1970, UTC, as far as a Date reaches. */
const time = z.number().check(z.minimum(0), z.maximum(8.64e15));
const instant = z.nullable(time);

const openingShape = z.lazy(() =>
  z.object({
    /** null: not known to be open. */
    openSince: z._default(instant, null),
    /**
     * The last instant at which it is known to have been closed; if `openSince` is
     * also null: never known.
     */
    closedAt: z._default(instant, null),
    /** The newest timestamp among the values that counted. */
    measuredAt: z._default(instant, null),
    /** When the last answer with it was asked for. */
    askedAt: z.catch(instant, null),
    /** null: the last answer contained a known state. */
    unknownSince: z._default(instant, null),
    /** An event has reported that it is unknown. */
    unknownReported: z._default(z.boolean(), false),
    /** The car is known to have it, though its state may never have been known to this guard. */
    isFitted: z.catch(z.boolean(), false),
    /**
     * An alert named it since it was opened (or since the car was last in use, if only parked time
     * counts).
     */
    alerted: z._default(z.boolean(), false),
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
    /** When `inUse` was asked for. */
    inUseAskedAt: z.catch(instant, null),
    /** When the car was last seen to change from in use to anything else. */
    parkedAt: z.catch(instant, null),
    /** When the last alert was sent without a question. */
    alertedAt: z.catch(instant, null),
    /**
     * Kept after its time until an alert follows it, because that one is due even if nothing is
     * repeated.
     */
    snooze: z.catch(z.nullable(snooze), null),
    /** An alert was sent, and no all clear since. */
    clearPending: z.catch(z.boolean(), false),
  }),
);

export type GuardedOpening = z.infer<typeof openingShape>;

/** Plain JSON: everything that the guard remembers. */
export type GuardState = Omit<z.infer<typeof guardState>, 'openings'> & {
  openings: Partial<Record<OpeningKey, GuardedOpening>>;
};

export const unknownOpening = (): GuardedOpening => openingShape.parse({});

/** The stored state as far as it can be read: a broken part is forgotten, the rest stays. */
export function parseGuardState(stored?: unknown): GuardState {
  const parsed = guardState.safeParse(stored);
  const found = parsed.success ? parsed.data : guardState.parse({});
  const state: GuardState = { ...found, openings: {} };
  for (const key of openingKeys) {
    const opening = openingShape.safeParse(found.openings[key]);
    if (opening.success) state.openings[key] = opening.data;
  }
  return state;
}

/**
 * A copy to change, as of `at`. Stored times after `at` come from a clock that was wrong: they
 * would silence the guard until then.
 */
export function copyAsOf(state: GuardState, at: number): GuardState {
  if (at >= (state.at ?? 0)) return { ...structuredClone(state), at };
  return mapTimes(state, (when, name) => (/askedAt/i.test(name) ? receiptAsOf(when, at) : Math.min(when, at)));
}

/**
 * The state after the machine's clock was set: times since the start of the process move with the
 * clock, so that durations stay right.
 * Earlier ones, and those that the service measured, were not taken from that clock.
 */
export function withClockSet(
  state: GuardState,
  { since, byMs, at }: { since: number; byMs: number; at: number },
): GuardState {
  return mapTimes(state, (when, name) =>
    Math.min(at, name === 'measuredAt' || when < since ? when : Math.max(0, when + byMs)),
  );
}

/** A deep copy. Every number of the state is a time, but for the minutes of a snooze. */
const mapTimes = (state: GuardState, move: (when: number, name: string) => number): GuardState =>
  JSON.parse(
    JSON.stringify(state, (name, value: unknown) =>
      typeof value === 'number' && name !== 'minutes' ? move(value, name) : value,
    ),
  ) as GuardState; // The copy has the members of the state.

export const openKeys = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => (state.openings[key]?.openSince ?? null) !== null);

export const closedKeys = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => isKnown(state, key) && state.openings[key]?.openSince === null);

/**
 * Unknown now, including those that were last known open; without equipment that this
 * car seems not to have.
 */
export const unconfirmedKeys = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  keys.filter((key) => !isKnown(state, key) && (wasEverKnown(state, key) || !('ifFitted' in openings[key])));

/** Unknown now, and not open when last known. */
export const unknownKeys = (state: GuardState, keys: readonly OpeningKey[]): OpeningKey[] =>
  unconfirmedKeys(state, keys).filter((key) => openKeys(state, [key]).length === 0);

/** Each one is known to be closed, and there is at least one. */
export const isAllClosed = (state: GuardState, keys: readonly OpeningKey[]): boolean =>
  closedKeys(state, keys).length > 0 && openKeys(state, keys).length === 0 && unconfirmedKeys(state, keys).length === 0;

/**
 * Whether these closed ones are everything that the car has, except the lock. Optional equipment
 * counts only if its state was known once.
 */
export const isEverything = (state: GuardState, closed: readonly OpeningKey[]): boolean =>
  openingKeys.every(
    (key) =>
      key === 'carLocked' ||
      closed.includes(key) ||
      ('ifFitted' in openings[key] && (!wasEverKnown(state, key) || closedKeys(state, [key]).length > 0)),
  );

const isKnown = (state: GuardState, key: OpeningKey): boolean => state.openings[key]?.unknownSince === null;

const wasEverKnown = (state: GuardState, key: OpeningKey): boolean =>
  state.openings[key]?.isFitted === true ||
  (state.openings[key]?.openSince ?? state.openings[key]?.closedAt ?? null) !== null;
