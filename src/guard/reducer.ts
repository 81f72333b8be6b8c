import { VehicleError } from '../errors';
import type { GuardEvent, GuardInput, GuardView, NamedOpening, OpenOpening } from './events';
import { hear } from './apply-reading';
import {
  openingKeys,
  openings,
  openingsNamed,
  watchNames,
  type OpeningKey,
  type OpeningRead,
  type WatchName,
} from './openings';
import { minutesSchema, parseGuardSettings, type GuardOptions, type GuardSettings } from './options';
import {
  closedOnes,
  copyAsOf,
  isAllClosed,
  isEverything,
  openOnes,
  parseGuardState,
  unknownOnes,
  untoldOnes,
  type GuardState,
} from './state';

export type {
  GuardEvent,
  GuardInput,
  GuardReading,
  GuardView,
  NamedOpening,
  OpeningMembers,
  OpenOpening,
} from './events';
export {
  defaultWatch,
  openingKinds,
  openings as openingRows,
  watchNames,
  type OpeningKind,
  type OpeningRead,
  type WatchName,
} from './openings';
export type { GuardSettings } from './options';
export type { GuardState } from './state';
export { guardText, guardWordKeys, type GuardWords } from './text';

/**
 * Says when something stays open: a reducer of readings and times to events, without timers and without memory of its
 * own. Call `step` with whatever happens, keep the state that it returns, and call it again with a `tick` at `nextDue`.
 *
 * What is said is decided at each step, from what is known then:
 * - An alert when an opening has been open for its time; it names all whose time is up. Again after `repeat`.
 * - `since` is the timestamp of the first value that said open, for it is when the car itself was asked (specification
 *   2.3), or the time of that reading where the timestamp is missing, in the future, over a year old, or before the
 *   opening was last known to be closed.
 * - A value with an older timestamp than one already heard is old news and changes nothing (field notes 6.2); one from the
 *   future counts as of the time of its reading.
 * - What was open before a restart counts on, unconfirmed until it is told again.
 * - What cannot be told is neither closed nor newly open: an opening stays open through it, unconfirmed. When it could
 *   not be told for as long as it may be open, the guard has gone blind and says so, once.
 * - The all clear needs every watched opening to be told closed. It comes at once, in quiet hours too: it ends an alarm.
 * - Alerts and `cannot-tell` wait while it is quiet, snoozed or (where so chosen) the car is in use. Then time counts
 *   from when the car was left, and each time it is left anew.
 */
export class Guard {
  readonly #options: GuardOptions;

  /** @throws VehicleError CONFIG */
  constructor(settings: GuardSettings = {}) {
    this.#options = parseGuardSettings(settings);
  }

  /** The reads that tell of what is watched, and of what is asked besides. */
  readsFor(only: readonly WatchName[] = []): OpeningRead[] {
    return [...new Set([...this.#options.watched, ...openingsNamed(only)].map((key) => openings[key].read))];
  }

  /** Whether it must be told that the car is in use. */
  get mindsUse(): boolean {
    return this.#options.onlyWhileNotInUse;
  }

  /** How things stand, at the time of the last step. */
  view(state: GuardState): GuardView {
    const { watched } = this.#options;
    const snoozed = snoozedUntil(state);
    const at = state.at ?? 0;
    const closed = closedOnes(state, watched);
    return {
      open: describe(state, openOnes(state, watched), at),
      unknown: unknownOnes(state, watched).map(named),
      allClosed: isAllClosed(state, watched),
      closed: closed.map(named),
      everything: isEverything(state, closed),
      snoozedUntil: snoozed > at ? snoozed : null,
    };
  }

  /** A state to go on from: what `stored` holds of one, else a new one. Never throws. */
  restore(stored?: unknown): GuardState {
    return parseGuardState(stored, openingKeys);
  }

  /** The same, after a time in which nobody looked: what was open then may be closed now, and what was closed may be open. */
  resume(stored: unknown, at: number): GuardState {
    const state = this.restore(stored);
    for (const opening of Object.values(state.openings)) {
      opening.untoldSince ??= at;
      // That goes without saying: an alert calls it unconfirmed, and nothing is called closed.
      opening.untoldSaid = true;
    }
    return state;
  }

  /** What `input` makes of a state, which itself is left as it is. */
  step(before: GuardState, input: GuardInput): { state: GuardState; events: GuardEvent[] } {
    const state = copyAsOf(before, input.at);
    const events = this.#take(state, input);
    this.#endSnooze(state);
    events.push(...this.#allClear(state, input.at));
    if (!this.#mustWait(state, input.at))
      events.push(...this.#alert(state, input.at), ...this.#goneBlind(state, input.at));
    return { state, events };
  }

  /** When a tick matters next, in milliseconds since 1970; null: not before something else happens. A tick too many does no harm. */
  nextDue(state: GuardState): number | null {
    if (state.at === null || this.#heldByUse(state)) return null;
    const due = Math.max(this.#firstDue(state), snoozedUntil(state));
    if (due === Infinity) return null;
    if (due > state.at) return due;
    return this.#options.quiet.holdsAt(state.at) ? this.#options.quiet.lookAgain(state.at) : state.at;
  }

  #take(state: GuardState, input: GuardInput): GuardEvent[] {
    if (input.type === 'ask') return [this.#answer(state, input.at, input.only ?? [])];
    if (input.type === 'snooze')
      state.snooze = { from: input.at, minutes: input.minutes, open: openOnes(state, this.#options.watched) };
    if (input.type === 'reading') {
      hear(state, input);
      if (input.inUse !== undefined) this.#hearUse(state, input.at, input.inUse);
    }
    return [];
  }

  #hearUse(state: GuardState, at: number, inUse: boolean | null): void {
    if (state.inUse === true && inUse !== true) state.parkedAt = at;
    state.inUse = inUse;
    if (this.#heldByUse(state)) mark(state, this.#options.watched, { alerted: false });
  }

  #answer(state: GuardState, at: number, only: readonly WatchName[]): GuardEvent {
    const asked = only.length === 0 ? this.#options.watched : openingsNamed(only);
    const open = openOnes(state, asked);
    if (open.length > 0) {
      state.clearOwed ||= open.some((key) => this.#options.watched.includes(key));
      mark(state, untoldOnes(state, asked), { untoldSaid: true });
      return {
        type: 'alert',
        at: iso(at),
        reason: 'asked',
        openings: describe(state, open, at),
        unknown: unknownOnes(state, asked).map(named),
      };
    }
    if (isAllClosed(state, asked)) return clear(state, at, 'asked', asked);
    const unknown = untoldOnes(state, asked);
    mark(state, unknown, { untoldSaid: true });
    return {
      type: 'cannot-tell',
      at: iso(at),
      reason: 'asked',
      openings: (unknown.length > 0 ? unknown : asked).map(named),
    };
  }

  /** Of a snooze until closed: what it was for is closed, or something else opened. What never can be told does not keep it. */
  #endSnooze(state: GuardState): void {
    if (state.snooze?.minutes !== null) return;
    const { snooze } = state;
    const open = openOnes(state, this.#options.watched);
    state.snooze = open.length > 0 && open.every((key) => snooze.open.includes(key)) ? { ...snooze, open } : null;
  }

  #allClear(state: GuardState, at: number): GuardEvent[] {
    const { watched } = this.#options;
    if (!isAllClosed(state, watched)) return [];
    if (!state.clearOwed) return [];
    state.clearOwed = false;
    return [clear(state, at, 'closed', watched)];
  }

  #alert(state: GuardState, at: number): GuardEvent[] {
    const { watched } = this.#options;
    const overdue = openOnes(state, watched).filter((key) => at >= this.#dueAt(state, key));
    const fresh = overdue.some((key) => state.openings[key]?.alerted === false);
    if (overdue.length === 0 || (!fresh && at < this.#repeatDue(state))) return [];
    mark(state, overdue, { alerted: true });
    // The alert says it already.
    mark(state, untoldOnes(state, [...overdue, ...unknownOnes(state, watched)]), { untoldSaid: true });
    Object.assign(state, { alertedAt: at, snooze: null, clearOwed: true } satisfies Partial<GuardState>);
    const reason = fresh ? 'open-too-long' : 'repeat';
    return [
      {
        type: 'alert',
        at: iso(at),
        reason,
        openings: describe(state, overdue, at),
        unknown: unknownOnes(state, watched).map(named),
      },
    ];
  }

  #goneBlind(state: GuardState, at: number): GuardEvent[] {
    const blind = untoldOnes(state, this.#options.watched).filter((key) => at >= this.#blindAt(state, key));
    mark(state, blind, { untoldSaid: true });
    return blind.length === 0
      ? []
      : [{ type: 'cannot-tell', at: iso(at), reason: 'untold-too-long', openings: blind.map(named) }];
  }

  #mustWait(state: GuardState, at: number): boolean {
    return this.#heldByUse(state) || at < snoozedUntil(state) || this.#options.quiet.holdsAt(at);
  }

  #heldByUse(state: GuardState): boolean {
    return this.#options.onlyWhileNotInUse && state.inUse === true;
  }

  /** When the time of an open opening is up. */
  #dueAt(state: GuardState, key: OpeningKey): number {
    const since = state.openings[key]?.openSince ?? Infinity;
    const left = this.#options.onlyWhileNotInUse ? (state.parkedAt ?? 0) : 0;
    return Math.max(since, left) + this.#options.allowed(openings[key].kind);
  }

  /** When what was alerted is to be said again: after `repeat`, or when a snooze that followed the alert is over. */
  #repeatDue(state: GuardState): number {
    const repeated =
      this.#options.repeat > 0 && state.alertedAt !== null ? state.alertedAt + this.#options.repeat : Infinity;
    return state.snooze === null ? repeated : Math.min(repeated, snoozedUntil(state));
  }

  /** When it has to be said that an opening cannot be told. */
  #blindAt(state: GuardState, key: OpeningKey): number {
    const opening = state.openings[key];
    if (opening === undefined || opening.untoldSince === null || opening.untoldSaid) return Infinity;
    return opening.untoldSince + this.#options.allowed(openings[key].kind);
  }

  #firstDue(state: GuardState): number {
    const { watched } = this.#options;
    const again = this.#repeatDue(state);
    const alerts = openOnes(state, watched).map((key) =>
      Math.max(this.#dueAt(state, key), state.openings[key]?.alerted === true ? again : 0),
    );
    const blind = untoldOnes(state, watched).map((key) => this.#blindAt(state, key));
    return Math.min(...alerts, ...blind);
  }
}

/**
 * The minutes of a snooze from a message: a number, or `until-closed` (null).
 * @throws VehicleError INPUT_INVALID
 */
export function parseSnooze(input: unknown): number | null {
  if (input === 'until-closed') return null;
  const minutes = minutesSchema('A snooze').safeParse(input);
  if (minutes.success) return minutes.data;
  throw new VehicleError(
    'INPUT_INVALID',
    `${minutes.error.issues[0]?.message ?? 'This is not a snooze.'} Send minutes, or "until-closed".`,
  );
}

/**
 * What a question is about, from a message: one name or a list; nothing given: all that is watched.
 * @throws VehicleError INPUT_INVALID
 */
export function parseWatchNames(input: unknown): WatchName[] {
  if (input === undefined || input === null || input === '') return [];
  return (Array.isArray(input) ? input : [input]).map((given: unknown) => {
    const name = watchNames.find((known) => known === given);
    if (name === undefined)
      throw new VehicleError(
        'INPUT_INVALID',
        `There is no such opening. Send one of these names, or a list: ${watchNames.join(', ')}.`,
      );
    return name;
  });
}

function mark(
  state: GuardState,
  keys: readonly OpeningKey[],
  marks: { alerted: boolean } | { untoldSaid: boolean },
): void {
  for (const key of keys) {
    const opening = state.openings[key];
    if (opening !== undefined) Object.assign(opening, marks);
  }
}

/** 0 where nothing is snoozed, Infinity until it is closed. */
const snoozedUntil = ({ snooze }: GuardState): number =>
  snooze === null ? 0 : snooze.minutes === null ? Infinity : snooze.from + snooze.minutes * 60_000;

const named = (key: OpeningKey): NamedOpening => ({ kind: openings[key].kind, name: openings[key].name });

const describe = (state: GuardState, keys: readonly OpeningKey[], at: number): OpenOpening[] =>
  keys.map((key) => {
    const opening = state.openings[key];
    const since = opening?.openSince ?? at;
    return {
      ...named(key),
      since: iso(since),
      minutes: Math.floor((at - since) / 60_000),
      confirmed: opening?.untoldSince === null,
    };
  });

function clear(state: GuardState, at: number, reason: 'closed' | 'asked', keys: readonly OpeningKey[]): GuardEvent {
  const closed = closedOnes(state, keys);
  return { type: 'clear', at: iso(at), reason, openings: closed.map(named), everything: isEverything(state, closed) };
}

const iso = (at: number): string => new Date(at).toISOString();
