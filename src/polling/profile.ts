import type { Reading } from '../car/reading';
import { isTripEnd } from '../car/times';
import { inUseOf } from '../catalogue/accessibility';
import { openingsOf, type OpeningRead } from '../catalogue/openings';
import { apiOfRead, reads, type ReadName, type ReadRow } from '../catalogue/reads';
import type { VehicleError } from '../errors';
import { hourMs, minuteMs } from '../util/durations';
import { memberOf } from '../util/json';
import { noSlowdown, type Slowdown } from './slowdown';
import { firstReadSpreadMs, nextPoll, phaseOf, timerSlackMs } from './schedule';

/**
 * `active`: unlocked, a door open, changed lately, or not known. The parked ones are
 * locked and not in use.
 */
export type VehicleActivity = 'commandPending' | 'active' | 'driving' | 'parked' | 'parkedNight';

/**
 * How many times longer than its own interval a read waits, 1 if the table has no number. A number
 * of `parked` also holds at night if the night has no number. A
 * parked, locked car shows the next change in its doors first, so the doors are never slowed, and a
 * change makes the reads in `dueAfterChange` due at once. While the car charges or is about to, its
 * energy is not slowed. The position only changes with a trip, whose end makes the reads in
 * `dueAfterTrip` due.
 */
export const activityFactors = {
  doors: { commandPending: 1 / 4 },
  windows: { parked: 30, parkedNight: 60 },
  engine: { parked: 5, parkedNight: 15 },
  levels: { commandPending: 30, active: 30, driving: 15, parked: 90, parkedNight: 180 },
  fuel: { active: 4, parked: 8, parkedNight: 12 },
  accessibility: { parked: 4, parkedNight: 8 },
  energy: { commandPending: 5, active: 5, driving: 15, parked: 15, parkedNight: 30 },
  location: { driving: 24, parked: 24 },
  odometer: { parked: 6 },
  rest: { parked: 6 },
  model: { commandPending: 6, active: 6, driving: 6, parked: 6 },
} as const satisfies Record<string, Partial<Record<VehicleActivity, number>>>;

/** The same for the windows of a parked car while one of them is open. */
const openWindowFactor = 5;

/** Reads that follow the same schedule. */
export type PollGroup = keyof typeof activityFactors;

export function activityFactorOf(group: PollGroup, activity: VehicleActivity): number {
  const factors: Partial<Record<VehicleActivity, number>> = activityFactors[group];
  return factors[activity] ?? (activity === 'parkedNight' ? factors.parked : undefined) ?? 1;
}

const dueAfterChange: ReadonlySet<PollGroup> = new Set(['windows', 'engine', 'accessibility', 'energy']);
const dueAfterTrip: ReadonlySet<PollGroup> = new Set(['location', 'odometer', 'fuel']);

const commandPendingMs = 2 * minuteMs;
const activeMs = 10 * minuteMs;
/**
 * A car locks itself when it drives off: "not in use" counts only if it was read this long after
 * the last change.
 */
const settleMs = 5 * minuteMs;
const maxIntervalMs = 6 * hourMs;
/**
 * What happens to the car makes a read due before its interval has passed, but never before a
 * quarter of it or a minute.
 */
export const leastPauseMs = (everyMs: number): number => Math.min(everyMs / 4, minuteMs);
/**
 * A read that has failed so often in a row for a lasting reason (no scope, not offered) is tried
 * once an hour; doors and windows keep their interval.
 */
const maxLastingFailures = 3;
const lastingRetryMs = hourMs;
const night = { from: 22, to: 6 };

/** A reading as the client returns it. */
export interface PolledReading {
  payload: unknown;
  /** Default of `receivedAt`: when it is observed. */
  vehicle: Partial<Pick<Reading['vehicle'], 'receivedAt' | 'locked' | 'open' | 'unknown'>>;
}

/** The reason of a failed poll. */
export type PolledFailure = Pick<VehicleError, 'retryable' | 'retryAt'>;

/** How the last polls of one reader failed. */
export interface LastFailure {
  /** When the service allows the next try, on the profile's clock. */
  retryAt: number | null;
  /** How many failures in a row were not retryable. */
  lasting: number;
}

export interface DueOptions extends PolledRead {
  read: ReadName;
  now: number;
  /** The reader's own interval. */
  everyMs: number;
  /** Milliseconds from one poll of the doors to the next; null if the doors are not polled. */
  doorsMs: number | null;
  /** When this reader began. */
  since: number;
  /** How much the quota of its API slows the read, and the doors. */
  slowdown?: Slowdown;
  doorsSlowdown?: number;
}

/** The polls of a read by one reader; null: never. */
export interface PolledRead {
  lastRead: number | null;
  /** When the last one was answered, which shows the changes up to then. */
  answeredAt?: number | null;
  /** Null: the last one did not fail. */
  lastFailure: LastFailure | null;
}

/** The facts about the car that a reading shows; null: not known. */
const nothing = {
  locked: null as boolean | null,
  allClosed: null as boolean | null,
  inUse: null as boolean | null,
  /** It charges, or waits at the plug for its time. */
  isCharging: null as boolean | null,
  kilometers: null as number | null,
  /** The whole answer, timestamps included, if they show that something happened in between. */
  answer: null as string | null,
};

interface Observation extends Readonly<typeof nothing> {
  at: number;
  receivedAt: number;
}

/** What a reading of each group shows. */
const shownBy = {
  doors: ({ payload, vehicle }) => ({
    locked: vehicle.locked ?? null,
    allClosed: allClosed(vehicle, 'doors'),
    answer: JSON.stringify(payload),
  }),
  windows: ({ vehicle }) => ({ allClosed: allClosed(vehicle, 'windows') }),
  engine: ({ payload }) => ({ inUse: isRunning(payload) }),
  accessibility: ({ payload }) => ({ inUse: inUseOf(payload) }),
  energy: ({ payload }) => ({ isCharging: isChargingOf(payload) }),
  odometer: ({ payload }) => ({ kilometers: numberOf(payload) }),
} as const satisfies Partial<Record<PollGroup, (reading: PolledReading) => Partial<typeof nothing>>>;

type ObservedGroup = keyof typeof shownBy;

const observedReads: Partial<Record<string, ObservedGroup>> = {
  doors: 'doors',
  windows: 'windows',
  engineRunning: 'engine',
  'engine-status': 'engine',
  accessibility: 'accessibility',
  charging: 'energy',
  odometer: 'odometer',
};

/**
 * The adaptive profile of one vehicle: from what was last observed it decides when each read is
 * due. Time is a parameter, in milliseconds of a clock that never goes back. What is not known
 * never counts as parked, locked or closed.
 */
export class PollingProfile {
  readonly #id: string;
  readonly #hourOf: (now: number) => number;
  readonly #observed = new Map<ObservedGroup, Observation>();
  readonly #failing = new Set<ObservedGroup>();
  #changedAt = Number.NEGATIVE_INFINITY;
  #tripEndedAt = Number.NEGATIVE_INFINITY;
  #commandAt = Number.NEGATIVE_INFINITY;

  /**
   * @param id readers with the same id poll at the same moments, different ids are
   * spread over the interval
   */
  constructor(id: string, hourOf: (now: number) => number) {
    this.#id = id;
    this.#hourOf = hourOf;
  }

  /**
   * A reading arrived, from any reader. One that was received before the known one changes nothing.
   * @param receivedAt on the same clock as `now`
   */
  observe(read: ReadName, reading: PolledReading, now: number, receivedAt = now): void {
    const group = observedReads[read];
    if (group === undefined) return;
    const before = this.#observed.get(group);
    if (before !== undefined && receivedAt < before.receivedAt) return;
    const observation = { ...nothing, ...shownBy[group](reading), at: now, receivedAt };
    // After a failure, the state of the doors is unknown.
    const isNews = before === undefined || group === 'doors' ? this.#failing.has(group) : false;
    if (isNews || (before !== undefined && differs(before, observation))) this.#changedAt = now;
    if (before !== undefined && this.#isTripEnd(before, observation)) this.#tripEndedAt = now;
    this.#failing.delete(group);
    this.#observed.set(group, observation);
  }

  fail(read: ReadName, { retryable }: PolledFailure): void {
    const group = observedReads[read];
    if (group === undefined) return;
    this.#failing.add(group);
    // A read that may never answer again has no last value to go by.
    if (!retryable) this.#observed.delete(group);
  }

  commandSent(now: number): void {
    this.#commandAt = now;
    this.#changedAt = now;
  }

  activity(now: number, doorsMs: number | null): VehicleActivity {
    if (now - this.#commandAt < commandPendingMs) return 'commandPending';
    const inUse = this.#inUse();
    if (inUse === true) return 'driving';
    const doors = this.#freshDoors(now, doorsMs);
    const isParked =
      inUse === false && this.#windowsClosed() !== null && doors?.locked === true && doors.allClosed === true;
    if (!isParked || now - this.#changedAt < activeMs) return 'active';
    const hourNow = this.#hourOf(now);
    return hourNow >= night.from || hourNow < night.to ? 'parkedNight' : 'parked';
  }

  /**
   * When a read is due; `now` or earlier means at once. Ask again after each observation, failure
   * and command, and poll the doors first: what they show decides about the others.
   */
  dueAt(options: DueOptions): number {
    const { read, since, everyMs, lastRead, answeredAt, lastFailure } = options;
    const notBefore = lastFailure?.retryAt ?? Number.NEGATIVE_INFINITY;
    if (lastRead === null) return Math.max(notBefore, since + phaseOf(this.#id, firstReadSpreadMs));
    const group = pollGroupOf(read);
    const dueSince = dueAfterTrip.has(group)
      ? this.#tripEndedAt
      : dueAfterChange.has(group)
        ? this.#changedAt
        : lastRead;
    const regular = nextPoll(this.#id, this.interval(options), lastRead);
    if (Math.max(lastRead, answeredAt ?? 0) >= dueSince) return Math.max(notBefore, regular);
    return Math.max(notBefore, dueSince, Math.min(regular, lastRead + leastPauseMs(everyMs)));
  }

  /** Milliseconds from one read to the next in the present state. */
  interval({
    read,
    now,
    everyMs,
    doorsMs,
    lastFailure,
    slowdown = noSlowdown,
    doorsSlowdown = slowdown.security,
  }: Omit<DueOptions, 'since' | 'lastRead' | 'answeredAt'>): number {
    const group = pollGroupOf(read);
    const isSecurity = isSecurityRead(read);
    const activity = this.activity(now, doorsMs === null ? null : doorsMs * doorsSlowdown);
    const isWindowOpen = group === 'windows' && activity.startsWith('parked') && this.#windowsClosed() === false;
    const factor = isWindowOpen ? openWindowFactor : activityFactorOf(group, activity);
    // A failed read is tried again at its own interval. Windows are slowed only if the doors are
    // polled at least as often.
    const isUnslowed =
      lastFailure !== null ||
      (group === 'windows' && (doorsMs === null || doorsMs > everyMs)) ||
      (group === 'energy' && this.#observed.get('energy')?.isCharging === true);
    const longer = (isUnslowed ? Math.min(factor, 1) : factor) * (isSecurity ? slowdown.security : slowdown.others);
    const interval = Math.min(everyMs * longer, Math.max(everyMs, maxIntervalMs));
    const isLasting = (lastFailure?.lasting ?? 0) >= maxLastingFailures && !isSecurity;
    return isLasting ? Math.max(interval, lastingRetryMs) : interval;
  }

  /**
   * It is no longer in use, or its odometer has moved: an electric car may never report its engine.
   */
  #isTripEnd(before: Observation, now: Observation): boolean {
    const hasStopped = before.inUse === true && now.inUse === false;
    return hasStopped || isTripEnd(before.kilometers, now.kilometers, this.#inUse());
  }

  /** The doors as last observed, while somebody polls them and they answer. */
  #freshDoors(now: number, doorsMs: number | null): Observation | undefined {
    const doors = this.#observed.get('doors');
    if (doors === undefined || doorsMs === null || this.#failing.has('doors')) return undefined;
    return now - doors.at <= 2 * doorsMs + timerSlackMs ? doors : undefined;
  }

  /** Null: not known since the last change. Windows that are not polled delay nothing. */
  #windowsClosed(): boolean | null {
    const windows = this.#observed.get('windows');
    if (windows === undefined) return this.#failing.has('windows') ? null : true;
    return windows.at >= this.#changedAt ? windows.allClosed : null;
  }

  /** The engine status shows it; for a car without one, the accessibility. */
  #inUse(): boolean | null {
    for (const group of ['engine', 'accessibility'] as const) {
      const { inUse, at } = this.#observed.get(group) ?? { inUse: null, at: 0 };
      if (inUse === true || (inUse === false && at >= this.#changedAt + settleMs)) return inUse;
      if (inUse === false) return null;
    }
    return null;
  }
}

const differs = (before: Observation, now: Observation): boolean =>
  (['locked', 'allClosed', 'inUse', 'answer'] as const).some((fact) => before[fact] !== now[fact]);

/**
 * A car without a sunroof or a tank lid never reports them (docs/internals/vendor-api.md 1.6), so
 * they do not count.
 */
function allClosed({ open, unknown }: PolledReading['vehicle'], read: OpeningRead): boolean | null {
  if (open === undefined || unknown === undefined) return null;
  if (open.length > 0) return false;
  return openingsOf[read].some(({ name, ifFitted }) => !ifFitted && unknown.includes(name)) ? null : true;
}

/** From `engineRunning` or the group `engine-status`. */
function isRunning(payload: unknown): boolean | null {
  const value = memberOf(payload, 'value') ?? memberOf(memberOf(payload, 'engineStatus'), 'value');
  if (typeof value === 'boolean') return value;
  return value === 'RUNNING' ? true : value === 'STOPPED' ? false : null;
}

function numberOf(payload: unknown): number | null {
  const value = memberOf(payload, 'value');
  return typeof value === 'number' ? value : null;
}

/**
 * A car that waits for its start time reports SCHEDULED; without a plug it cannot begin
 * (docs/internals/vendor-api.md 12.3).
 */
function isChargingOf(payload: unknown): boolean | null {
  const status = memberOf(memberOf(payload, 'chargingStatus'), 'value');
  if (typeof status !== 'string') return null;
  const isPluggedIn = memberOf(memberOf(payload, 'chargerConnectionStatus'), 'value') === 'CONNECTED';
  return status === 'CHARGING' || (status === 'SCHEDULED' && isPluggedIn);
}

const groupOfTheme: Partial<Record<ReadRow['theme'], PollGroup>> = {
  doors: 'doors',
  lock: 'doors',
  windows: 'windows',
  engine: 'levels',
  fuel: 'fuel',
};

/** What these say belongs to the model of the car, so it does not change with its use. */
const modelReads: ReadonlySet<ReadName> = new Set(['details', 'vehicles', 'commands', 'chargingCapabilities']);

export function pollGroupOf(read: ReadName): PollGroup {
  const observed = observedReads[read];
  if (observed !== undefined) return observed;
  if (modelReads.has(read)) return 'model';
  const api = apiOfRead(read);
  if (api === 'energy-device') return 'energy';
  return api === 'connected' ? (groupOfTheme[reads[read].theme] ?? 'rest') : api;
}

/** Doors and windows: never tried less often because they fail, and slowed last for the quota. */
export const isSecurityRead = (read: ReadName): boolean => ['doors', 'windows'].includes(pollGroupOf(read));
