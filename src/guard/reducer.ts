import { iso } from '../util/clock';
import {
  eventShape,
  type GuardEvent,
  type GuardInput,
  type GuardRead,
  type GuardReading,
  type GuardStep,
  type GuardView,
  type NamedOpening,
  type OpenOpening,
} from './types';
import type { CarReducer, PolledCar } from '../car-runner';
import { applyReading, guardReadingOf } from './apply-reading';
import { openings, openingsNamed, type OpeningKey, type WatchName } from '../catalogue/openings';
import { parseGuardSettings, type GuardOptions, type GuardSettings, type Unchecked } from './options';
import {
  closedKeys,
  copyAsOf,
  isAllClosed,
  isEverything,
  openKeys,
  parseGuardState,
  unknownKeys,
  unconfirmedKeys,
  withClockSet,
  type GuardState,
} from './state';
import { minuteMs } from '../util/durations';

/**
 * Reports when something stays open: a pure reducer of readings and times to events, without
 * timers. Call `step` with each input, keep the state that it returns, and call it again with a
 * `tick` at `nextDue`.
 *
 * Each step decides from what is known then:
 * - An alert is sent when an opening has been open for its time. It names all such openings, and
 *   comes again after `repeat`.
 * - `since` is the timestamp of the first value that reports it open, because the car was asked
 *   then (docs/internals/service.md 2.3). If the timestamp is missing, in the future, over a year
 *   old, or before the opening was last known closed, it is the time of the reading.
 * - A value with an older timestamp than one already applied changes nothing
 *   (docs/internals/vendor-api.md 6.2).
 * - An opening that was open before a restart counts on, unconfirmed until it is read again.
 * - Unknown is neither closed nor newly open: an open opening stays open, unconfirmed. An opening
 *   that is unknown for as long as it may be open is reported once.
 * - The all clear needs every watched opening to be known closed. It comes at once, also in quiet
 *   hours, because it ends an alarm.
 * - Alerts and `cannot-tell` wait during quiet hours, a snooze, or (if chosen) while the car is in
 *   use. In that case time counts from when the car was last left.
 */
export class Guard implements CarReducer<GuardRead, GuardState, GuardStep, GuardEvent> {
  readonly #options: GuardOptions;

  /** @throws VehicleError CONFIG */
  constructor(settings: Unchecked<GuardSettings> = {}) {
    this.#options = parseGuardSettings(settings);
  }

  /**
   * The reads for the watched openings, for those that a question asks about, and for the use of
   * the car if that matters.
   */
  readsFor(only: readonly WatchName[] = []): GuardRead[] {
    const { watched, onlyWhileNotInUse } = this.#options;
    const reads = new Set<GuardRead>([...watched, ...openingsNamed(only)].map((key) => openings[key].read));
    return [...reads, ...(onlyWhileNotInUse ? (['accessibility'] as const) : [])];
  }

  /** The present state, as of the last step. */
  view(state: GuardState): GuardView {
    const { watched } = this.#options;
    const snoozed = snoozedUntil(state);
    const at = state.at ?? 0;
    const closed = closedKeys(state, watched);
    const open = openKeys(state, watched);
    return {
      open: describe(state, open, at),
      allClosed: isAllClosed(state, watched),
      closed: closed.map(named),
      everything: isEverything(state, closed),
      snoozedUntil: snoozed > at ? snoozed : null,
      alertedAt: open.some((key) => state.openings[key]?.alerted === true) ? state.alertedAt : null,
    };
  }

  /** An alert for the first watched opening, to try what a flow does with one. */
  sample(at: number): GuardEvent {
    const { watched, allowed } = this.#options;
    const openings = watched.slice(0, 1).map((key): OpenOpening => {
      const { kind, name } = named(key);
      const since = at - allowed(kind);
      return { kind, name, since: iso(since), minutes: Math.floor((at - since) / minuteMs), confirmed: true };
    });
    return { type: 'alert', at: iso(at), reason: 'open-too-long', openings, unknown: [] };
  }

  /**
   * The stored state after a restart, as far as it can be read: nothing is confirmed until it is
   * read again. Never throws.
   */
  resume(stored: unknown, at: number): GuardState {
    const state = parseGuardState(stored);
    for (const opening of Object.values(state.openings)) {
      opening.unknownSince ??= at;
      // A restart alone is nothing to report: an alert calls it unconfirmed, and
      // nothing is called closed.
      opening.unknownReported = true;
    }
    return state;
  }

  parseEvent(stored: unknown): GuardEvent | null {
    return eventShape.safeParse(stored).data ?? null;
  }

  inputOf({ readings, failed }: PolledCar<GuardRead>): GuardStep {
    return guardReadingOf(readings, failed);
  }

  /**
   * When an answer was asked for, and when it was last closed, matters only while the process runs.
   */
  essence(state: GuardState): unknown {
    return [
      { ...state, at: null, inUseAskedAt: null, openings: null },
      Object.entries(state.openings).map(([key, opening]) => [
        key,
        { ...opening, askedAt: null, closedAt: opening.closedAt !== null },
      ]),
    ];
  }

  schedules(seconds: number): { reads: GuardRead[]; seconds: number }[] {
    return [{ reads: this.readsFor(), seconds }];
  }

  readonly withClockSet = withClockSet;

  /** Applies an input to a copy of the state. */
  step(before: GuardState, input: GuardInput): { state: GuardState; events: GuardEvent[] } {
    const state = copyAsOf(before, input.at);
    const events = this.#apply(state, input);
    this.#endSnooze(state);
    events.push(...this.#allClear(state, input.at));
    if (!this.#mustWait(state, input.at))
      events.push(...this.#alert(state, input.at), ...this.#reportUnknown(state, input.at));
    return { state, events };
  }

  /**
   * When a tick matters next, in milliseconds since 1970; null: not before something else happens.
   * A tick too many does no harm.
   */
  nextDue(state: GuardState): number | null {
    if (state.at === null || this.#heldByUse(state)) return null;
    const due = Math.max(this.#firstDue(state), snoozedUntil(state));
    if (due === Infinity) return null;
    if (due > state.at) return due;
    return this.#options.quiet.holdsAt(state.at) ? this.#options.quiet.nextCheck(state.at) : state.at;
  }

  #apply(state: GuardState, input: GuardInput): GuardEvent[] {
    if (input.type === 'ask') return [this.#answer(state, input.at, input.only ?? [])];
    if (input.type === 'snooze')
      state.snooze = { from: input.at, minutes: input.minutes, open: openKeys(state, this.#options.watched) };
    if (input.type === 'reading') {
      applyReading(state, input);
      if (input.inUse !== undefined) this.#applyUsage(state, input, input.inUse);
    }
    return [];
  }

  #applyUsage(state: GuardState, reading: GuardReading, inUse: boolean | null): void {
    const { at } = reading;
    const askedAt = Math.min(reading.askedAt?.accessibility ?? reading.receivedAt?.accessibility ?? at, at);
    if (askedAt < (state.inUseAskedAt ?? 0)) return;
    state.inUseAskedAt = askedAt;
    if (state.inUse === true && inUse !== true) state.parkedAt = at;
    state.inUse = inUse;
    if (this.#heldByUse(state)) mark(state, this.#options.watched, { alerted: false });
  }

  #answer(state: GuardState, at: number, only: readonly WatchName[]): GuardEvent {
    const asked = only.length === 0 ? this.#options.watched : openingsNamed(only);
    const open = openKeys(state, asked);
    if (open.length > 0) {
      state.clearPending ||= open.some((key) => this.#options.watched.includes(key));
      mark(state, unconfirmedKeys(state, asked), { unknownReported: true });
      return {
        type: 'alert',
        at: iso(at),
        reason: 'asked',
        openings: describe(state, open, at),
        unknown: unknownKeys(state, asked).map(named),
      };
    }
    if (isAllClosed(state, asked)) return clear(state, at, 'asked', asked);
    const unknown = unconfirmedKeys(state, asked);
    mark(state, unknown, { unknownReported: true });
    return {
      type: 'cannot-tell',
      at: iso(at),
      reason: 'asked',
      openings: (unknown.length > 0 ? unknown : asked).map(named),
    };
  }

  /**
   * Ends a snooze until closed when its openings are closed or another one opens. An unknown
   * opening does not keep it.
   */
  #endSnooze(state: GuardState): void {
    if (state.snooze?.minutes !== null) return;
    const { snooze } = state;
    const open = openKeys(state, this.#options.watched);
    state.snooze = open.length > 0 && open.every((key) => snooze.open.includes(key)) ? { ...snooze, open } : null;
  }

  #allClear(state: GuardState, at: number): GuardEvent[] {
    const { watched } = this.#options;
    if (!isAllClosed(state, watched)) return [];
    if (!state.clearPending) return [];
    state.clearPending = false;
    return [clear(state, at, 'closed', watched)];
  }

  #alert(state: GuardState, at: number): GuardEvent[] {
    const { watched } = this.#options;
    const overdue = openKeys(state, watched).filter((key) => at >= this.#dueAt(state, key));
    const fresh = overdue.some((key) => state.openings[key]?.alerted === false);
    if (overdue.length === 0 || (!fresh && at < this.#repeatDue(state))) return [];
    mark(state, overdue, { alerted: true });
    // The alert has reported these already.
    mark(state, unconfirmedKeys(state, [...overdue, ...unknownKeys(state, watched)]), { unknownReported: true });
    Object.assign(state, { alertedAt: at, snooze: null, clearPending: true } satisfies Partial<GuardState>);
    const reason = fresh ? 'open-too-long' : 'repeat';
    return [
      {
        type: 'alert',
        at: iso(at),
        reason,
        openings: describe(state, overdue, at),
        unknown: unknownKeys(state, watched).map(named),
      },
    ];
  }

  #reportUnknown(state: GuardState, at: number): GuardEvent[] {
    const overdue = unconfirmedKeys(state, this.#options.watched).filter((key) => at >= this.#reportDueAt(state, key));
    mark(state, overdue, { unknownReported: true });
    return overdue.length === 0
      ? []
      : [{ type: 'cannot-tell', at: iso(at), reason: 'unknown-too-long', openings: overdue.map(named) }];
  }

  #mustWait(state: GuardState, at: number): boolean {
    return this.#heldByUse(state) || at < snoozedUntil(state) || this.#options.quiet.holdsAt(at);
  }

  #heldByUse(state: GuardState): boolean {
    return this.#options.onlyWhileNotInUse && state.inUse === true;
  }

  #dueAt(state: GuardState, key: OpeningKey): number {
    const since = state.openings[key]?.openSince ?? Infinity;
    const left = this.#options.onlyWhileNotInUse ? (state.parkedAt ?? 0) : 0;
    return Math.max(since, left) + this.#options.allowed(openings[key].kind);
  }

  /** When an alert is repeated: after `repeat`, or when a snooze that followed it is over. */
  #repeatDue(state: GuardState): number {
    const repeated =
      this.#options.repeat > 0 && state.alertedAt !== null ? state.alertedAt + this.#options.repeat : Infinity;
    return state.snooze === null ? repeated : Math.min(repeated, snoozedUntil(state));
  }

  /** When an unknown opening is to be reported. */
  #reportDueAt(state: GuardState, key: OpeningKey): number {
    const opening = state.openings[key];
    if (opening === undefined || opening.unknownSince === null || opening.unknownReported) return Infinity;
    return opening.unknownSince + this.#options.allowed(openings[key].kind);
  }

  #firstDue(state: GuardState): number {
    const { watched } = this.#options;
    const again = this.#repeatDue(state);
    const alerts = openKeys(state, watched).map((key) =>
      Math.max(this.#dueAt(state, key), state.openings[key]?.alerted === true ? again : 0),
    );
    const reports = unconfirmedKeys(state, watched).map((key) => this.#reportDueAt(state, key));
    return Math.min(...alerts, ...reports);
  }
}

function mark(
  state: GuardState,
  keys: readonly OpeningKey[],
  marks: { alerted: boolean } | { unknownReported: boolean },
): void {
  for (const key of keys) {
    const opening = state.openings[key];
    if (opening !== undefined) Object.assign(opening, marks);
  }
}

/** 0 if nothing is snoozed, Infinity until it is closed. */
const snoozedUntil = ({ snooze }: GuardState): number =>
  snooze === null ? 0 : snooze.minutes === null ? Infinity : snooze.from + snooze.minutes * minuteMs;

const named = (key: OpeningKey): NamedOpening => ({ kind: openings[key].kind, name: openings[key].name });

const describe = (state: GuardState, keys: readonly OpeningKey[], at: number): OpenOpening[] =>
  keys.map((key) => {
    const opening = state.openings[key];
    const since = opening?.openSince ?? at;
    return {
      ...named(key),
      since: iso(since),
      minutes: Math.floor((at - since) / minuteMs),
      confirmed: opening?.unknownSince === null,
    };
  });

function clear(state: GuardState, at: number, reason: 'closed' | 'asked', keys: readonly OpeningKey[]): GuardEvent {
  const closed = closedKeys(state, keys);
  return { type: 'clear', at: iso(at), reason, openings: closed.map(named), everything: isEverything(state, closed) };
}
