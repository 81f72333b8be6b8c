import { doorMembers, windowMembers } from '../catalogue/members';
import { isResourceName, resources, type ReadName, type Theme } from '../catalogue/reads';
import { unstretched, type Stretch } from './daily-pacer';
import { callsOfRequests, type PolledNode } from './calls';

/**
 * When to read what again: the adaptive profile of a vehicle. It holds what the car was last seen like and decides from
 * that alone; time comes in as a parameter, and nothing here waits, reads or writes.
 *
 * What makes the saving honest: a parked, locked, closed car shows the next change in its doors first. So the doors are
 * read as often as without the profile, always, and the rest is read seldom until the doors show a sign of life, which
 * makes it due at once. That holds only while somebody reads the doors and they answer. What is not known is never taken for
 * parked, locked or closed.
 */
export const pollGroups = ['doors', 'windows', 'engine', 'levels', 'fuel', 'accessibility', 'rest'] as const;
export type PollGroup = (typeof pollGroups)[number];

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The fixed schedule that the profile stretches: ms between two reads of a group (field notes 5). */
export const baseIntervals = {
  doors: minute,
  windows: minute,
  /** Whether it runs. */
  engine: 2 * minute,
  /** What only a running engine changes: oil, coolant. */
  levels: 2 * minute,
  fuel: 15 * minute,
  accessibility: 15 * minute,
  rest: hour,
} as const satisfies Record<PollGroup, number>;

/**
 * What the car seems to be about.
 * `commanded`: a command was sent in the last minutes. `stirring`: unlocked, a door open, changed lately, or not known.
 * `driving`: in use. `airing`: left locked with a window open. `resting`: parked, locked, closed. `sleeping`: that, at night.
 */
export type Mood = 'commanded' | 'stirring' | 'driving' | 'airing' | 'resting' | 'sleeping';

/** How many times longer than the fixed schedule. Never above 1 for the doors: they keep watch for the others. */
export const moodFactors = {
  commanded: { doors: 1 / 4, windows: 1, engine: 1, levels: 5, fuel: 1, accessibility: 1, rest: 1 },
  stirring: { doors: 1, windows: 1, engine: 1, levels: 5, fuel: 1, accessibility: 1, rest: 1 },
  driving: { doors: 1, windows: 1, engine: 1, levels: 1, fuel: 1, accessibility: 1, rest: 1 },
  airing: { doors: 1, windows: 5, engine: 5, levels: 90, fuel: 8, accessibility: 4, rest: 6 },
  resting: { doors: 1, windows: 30, engine: 5, levels: 90, fuel: 8, accessibility: 4, rest: 6 },
  sleeping: { doors: 1, windows: 60, engine: 15, levels: 180, fuel: 12, accessibility: 8, rest: 6 },
} as const satisfies Record<Mood, Record<PollGroup, number>>;

const commandedFor = 2 * minute;
/** How long a car is watched closely after its last change. */
const stirringFor = 10 * minute;
/** "Not in use" counts once it was read this long after the last change: a car locks itself when it drives off. */
const settledAfter = 5 * minute;
const longestInterval = 6 * hour;
/** What failed so often in a row for a reason that lasts (no scope, not offered) is tried again this seldom: never doors and windows. */
const lastingFrom = 3;
const lastingPause = hour;
/** A timer may fire a little early; the same moment is not due twice. */
const slack = second;
/** First reads are spread over this long. */
const firstSpread = 10 * second;

export interface PollingOptions {
  /** Spreads the reads: equal ids fire together (and are one request), different ones apart. */
  id: string;
  /** First and last hour of the night, as 22 and 6. */
  night?: { from: number; to: number };
  /** Hour of the day, 0 to 23; default: this machine's local time. */
  hourOf?(now: number): number;
}

/** A reading as the client gives it: only what tells of the car's state is looked at. */
export interface PolledReading {
  payload: unknown;
  vehicle: { locked?: boolean | null; open?: readonly string[]; unknown?: readonly string[] };
}

/** Why a poll failed: any VehicleError fits. */
export interface PolledFailure {
  retryable: boolean;
  retryAt: Date | null;
}

/** How the last polls of a reader failed. */
export interface LastFailure extends PolledFailure {
  /** How many in a row were not retryable. */
  lasting: number;
}

export interface DueOptions {
  read: ReadName;
  /** Milliseconds since 1970, as all times here. */
  now: number;
  /** When this reader began; spreads the first reads. */
  since: number;
  /** When this reader last tried; null: never. */
  lastRead: number | null;
  /** How the last try failed; null: it did not. */
  lastFailure?: LastFailure | null;
  /** The reader's own interval in place of the fixed schedule's. */
  baseMs?: number;
  /** How often somebody reads the doors; null: nobody does. Default: as the fixed schedule. */
  doorsMs?: number | null;
  /** What the day's quota calls for. */
  stretch?: Stretch;
}

export type IntervalOptions = Pick<DueOptions, 'read' | 'now' | 'lastFailure' | 'baseMs' | 'doorsMs' | 'stretch'>;

/** What a reading tells of the car; null: it cannot tell. */
interface Sighting {
  at: number;
  /** Differs whenever the answer does, timestamps included. */
  mark: string;
  locked: boolean | null;
  allClosed: boolean | null;
  inUse: boolean | null;
}

/** The reads that tell what the car is about. */
const watchReads = {
  doors: 'doors',
  windows: 'windows',
  engineRunning: 'engine',
  accessibility: 'accessibility',
} as const satisfies Partial<Record<ReadName, PollGroup>>;
type Watch = (typeof watchReads)[keyof typeof watchReads];
const watchOf = (read: ReadName): Watch | null =>
  Object.hasOwn(watchReads, read) ? watchReads[read as keyof typeof watchReads] : null;

export class PollingProfile {
  readonly #options: PollingOptions;
  readonly #hourOf: (now: number) => number;
  readonly #seen = new Map<Watch, Sighting>();
  readonly #failing = new Set<Watch>();
  /** When something was last seen to change. */
  #stirredAt = Number.NEGATIVE_INFINITY;
  /** When there was last a sign of life: what was read before then is due. */
  #signAt = Number.NEGATIVE_INFINITY;
  #commandedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollingOptions) {
    this.#options = options;
    this.#hourOf = options.hourOf ?? ((now) => new Date(now).getHours());
  }

  /** A reading came, whoever asked for it. */
  saw(read: ReadName, reading: PolledReading, now: number): void {
    const watch = watchOf(read);
    if (watch === null) return;
    const before = this.#seen.get(watch);
    const sighting = sightingOf(watch, reading, now);
    if (before !== undefined && differs(before, sighting)) this.#stirredAt = now;
    // New timestamps alone show that the doors moved: opened and closed again in between. After a failure nobody knows
    // what happened meanwhile.
    if (watch === 'doors' && (this.#failing.has(watch) || (before !== undefined && before.mark !== sighting.mark))) {
      this.#stirredAt = now;
      this.#signAt = now;
    }
    this.#failing.delete(watch);
    this.#seen.set(watch, sighting);
  }

  /** A poll failed. */
  failed(read: ReadName, failure: PolledFailure): void {
    const watch = watchOf(read);
    if (watch === null) return;
    this.#failing.add(watch);
    // What may never answer again has no last word.
    if (!failure.retryable) this.#seen.delete(watch);
  }

  /** A command was sent: the car is about to change. */
  commanded(now: number): void {
    this.#commandedAt = now;
    this.#stirredAt = now;
    this.#signAt = now;
  }

  /** @param doorsMs how often somebody reads the doors; null: nobody does */
  mood(now: number, doorsMs: number | null = baseIntervals.doors): Mood {
    if (now - this.#commandedAt < commandedFor) return 'commanded';
    const inUse = this.#inUse();
    if (inUse === true) return 'driving';
    const doors = this.#watchedDoors(now, doorsMs);
    const windowsClosed = this.#windowsClosed();
    const left = inUse === false && windowsClosed !== null && doors?.locked === true && doors.allClosed === true;
    if (!left || now - this.#stirredAt < stirringFor) return 'stirring';
    if (!windowsClosed) return 'airing';
    return this.#isNight(now) ? 'sleeping' : 'resting';
  }

  /**
   * When a read is due: `now` or earlier means at once. To be asked again whenever something was seen, failed or commanded.
   * Where several are due, the doors go first: what they show decides about the others.
   */
  dueAt(options: DueOptions): number {
    const { read, since, lastRead, lastFailure = null } = options;
    const group = pollGroupOf(read);
    const notBefore = lastFailure?.retryAt?.getTime() ?? 0;
    if (lastRead === null) return Math.max(notBefore, since + phaseOf(this.#options.id, firstSpread));
    if (lastRead < this.#signAt && followsDoors(group)) return Math.max(notBefore, this.#signAt);
    return Math.max(notBefore, nextPoll(this.#options.id, this.interval(options), lastRead));
  }

  /** Ms from one read to the next, as things stand. */
  interval({
    read,
    now,
    lastFailure = null,
    baseMs,
    doorsMs = baseIntervals.doors,
    stretch = unstretched,
  }: IntervalOptions): number {
    const group = pollGroupOf(read);
    const base = baseMs ?? baseIntervals[group];
    const factor = moodFactors[this.mood(now, doorsMs === null ? null : doorsMs * stretch.watch)][group];
    // What failed is tried again at the plain pace, whatever the car is about; and doors that are read less often than the
    // windows keep no watch for them.
    const plain = lastFailure !== null || (group === 'windows' && (doorsMs === null || doorsMs > base));
    const longer = (plain ? Math.min(factor, 1) : factor) * (watches(group) ? stretch.watch : stretch.others);
    const interval = Math.min(base * longer, Math.max(base, longestInterval));
    return (lastFailure?.lasting ?? 0) >= lastingFrom && !watches(group) ? Math.max(interval, lastingPause) : interval;
  }

  /** What is known of the doors, as long as somebody looks and they answer. */
  #watchedDoors(now: number, doorsMs: number | null): Sighting | undefined {
    const doors = this.#seen.get('doors');
    if (doors === undefined || doorsMs === null || this.#failing.has('doors')) return undefined;
    return now - doors.at <= 2 * doorsMs + slack ? doors : undefined;
  }

  /** Null: not known since the last change. A car whose windows nobody reads has none to look after. */
  #windowsClosed(): boolean | null {
    const windows = this.#seen.get('windows');
    if (windows === undefined) return this.#failing.has('windows') ? null : true;
    return windows.at >= this.#stirredAt ? windows.allClosed : null;
  }

  /** Told by the engine or, of a car that has none, by its accessibility. */
  #inUse(): boolean | null {
    for (const watch of ['engine', 'accessibility'] as const) {
      const { inUse, at } = this.#seen.get(watch) ?? { inUse: null, at: 0 };
      if (inUse === true || (inUse === false && at >= this.#stirredAt + settledAfter)) return inUse;
      if (inUse === false) return null;
    }
    return null;
  }

  #isNight(now: number): boolean {
    const { from, to } = this.#options.night ?? { from: 22, to: 6 };
    const at = this.#hourOf(now);
    return from <= to ? at >= from && at < to : at >= from || at < to;
  }
}

/** What tells of an opening: never read less often than asked for because it fails, and the last to be stretched for the quota. */
export const watches = (group: PollGroup): boolean => group === 'doors' || group === 'windows';

/** What a sign of life in the doors makes due. */
const followsDoors = (group: PollGroup): boolean =>
  group === 'windows' || group === 'engine' || group === 'accessibility';

const differs = (before: Sighting, now: Sighting): boolean =>
  before.locked !== now.locked || before.allClosed !== now.allClosed || before.inUse !== now.inUse;

function sightingOf(watch: Watch, { payload, vehicle }: PolledReading, at: number): Sighting {
  const blank: Sighting = { at, mark: JSON.stringify(payload), locked: null, allClosed: null, inUse: null };
  switch (watch) {
    case 'doors':
      return { ...blank, locked: vehicle.locked ?? null, allClosed: allClosed(vehicle, Object.keys(doorMembers)) };
    case 'windows':
      return { ...blank, allClosed: allClosed(vehicle, Object.keys(windowMembers)) };
    case 'engine':
      return { ...blank, inUse: booleanOf(payload) };
    case 'accessibility':
      return { ...blank, inUse: inUseOf(payload) };
  }
}

/** A sunroof or a tank lid that the car does not have cannot be told (field notes 1.6): only the named members count. */
function allClosed({ open, unknown }: PolledReading['vehicle'], members: readonly string[]): boolean | null {
  if (open === undefined || unknown === undefined) return null;
  if (open.length > 0) return false;
  return unknown.some((member) => members.includes(member)) ? null : true;
}

const member = (payload: unknown, name: string): unknown =>
  typeof payload === 'object' && payload !== null ? new Map(Object.entries(payload)).get(name) : undefined;

function booleanOf(payload: unknown): boolean | null {
  const value = member(payload, 'value');
  return typeof value === 'boolean' ? value : null;
}

/** Available or in power saving: nobody drives it (specification 2.7, field notes 1.8). */
function inUseOf(payload: unknown): boolean | null {
  const reason = member(payload, 'unavailableReason');
  if (reason === 'CAR_IN_USE') return true;
  return member(payload, 'value') === 'AVAILABLE' || reason === 'POWER_SAVING_MODE' ? false : null;
}

/** FNV-1a: the same place in every interval for the same id, on every machine. */
export function phaseOf(id: string, interval: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return hash % interval;
}

/**
 * The next moment of a fixed interval after the last read, spread by id: readers of one id and of intervals that divide
 * each other meet, so that their reads are shared; others do not fire together.
 */
export function nextPoll(id: string, interval: number, lastRead: number): number {
  const phase = phaseOf(id, interval);
  return (Math.floor((lastRead + Math.min(slack, interval / 4) - phase) / interval) + 1) * interval + phase;
}

const groupOfTheme: Partial<Record<Theme, PollGroup>> = {
  doors: 'doors',
  lock: 'doors',
  windows: 'windows',
  engine: 'levels',
  fuel: 'fuel',
};

/** The group that a read goes with. */
export function pollGroupOf(read: ReadName): PollGroup {
  const watch = watchOf(read);
  if (watch !== null) return watch;
  return (isResourceName(read) ? groupOfTheme[resources[read].theme] : undefined) ?? 'rest';
}

/** Hours of an ordinary day, for an estimate only. */
const typicalDay = [
  ['driving', 1.5],
  ['stirring', 2.5],
  ['resting', 12],
  ['sleeping', 8],
] as const satisfies readonly (readonly [Mood, number])[];

/**
 * How many requests a day the nodes will cost.
 * @param requestOf reads that one request answers have the same name here (catalogue/groups); default: each its own
 * @returns `fixed`: without the profile, and about the most it costs with it; `adaptive`: an ordinary day with it
 */
export function callsPerDay(
  nodes: readonly PolledNode<ReadName>[],
  requestOf?: (read: ReadName, iface?: string) => string,
): { fixed: number; adaptive: number } {
  const total = { fixed: 0, adaptive: 0 };
  for (const { read, calls } of callsOfRequests(nodes, requestOf)) {
    total.fixed += calls;
    total.adaptive += calls * typicalShare(pollGroupOf(read));
  }
  return { fixed: Math.round(total.fixed), adaptive: Math.round(total.adaptive) };
}

const typicalShare = (group: PollGroup): number =>
  typicalDay.reduce((sum, [mood, hours]) => sum + hours / moodFactors[mood][group], 0) / 24;
