import type { ReadName } from '../../src/catalogue/reads';
import {
  PollingProfile,
  pollGroupOf,
  type PollGroup,
  type LastFailure,
  type PolledReading,
} from '../../src/polling/profile';
import { nextPoll } from '../../src/polling/schedule';

/**
 * A car, its day and its reader, in time that is only a number: how many requests a schedule costs
 * and when it notices what happened. The service reports the state that the car last pushed, with
 * the time of that push.
 */
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;

/** The fixed schedule: ms between two reads of a group (docs/internals/vendor-api.md 5). */
export const baseIntervals = {
  doors: minute,
  windows: minute,
  engine: 2 * minute,
  levels: 2 * minute,
  fuel: 15 * minute,
  accessibility: 15 * minute,
  energy: 2 * minute,
  location: 15 * minute,
  odometer: hour,
  rest: hour,
  model: hour,
} as const satisfies Record<PollGroup, number>;

export interface CarState {
  locked: boolean;
  /** Names of what is open. */
  doors: readonly string[];
  windows: readonly string[];
  running: boolean;
  charging: 'IDLE' | 'SCHEDULED' | 'CHARGING' | 'DONE';
  isPluggedIn: boolean;
  /** The odometer; the position follows from it. */
  kilometers: number;
}

export interface Happening {
  at: number;
  /** In words, for the table. */
  what: string;
  change: Partial<CarState>;
}

export interface Day {
  start: number;
  end: number;
  happenings: readonly Happening[];
  /** From and to: nothing can be read. */
  outages: readonly (readonly [number, number])[];
  /** What alone cannot be read from when to when, and whether that looks lasting. */
  broken?: readonly Breakage[];
  /** What a message asks for when, beside the polls. */
  asked?: readonly { read: ReadName; at: number }[];
  /** How often the doors are read, if not every minute. */
  doorsMs?: number;
}

export interface Breakage {
  read: ReadName;
  from: number;
  to: number;
  lasting: boolean;
}

/**
 * What the fixed schedule reads in one request each: doors and windows every minute, engine and
 * energy every two, 5,592 a day.
 */
export const requests: readonly ReadName[] = [
  'doors',
  'windows',
  'engineRunning',
  'oilLevel',
  'fuelAmount',
  'distanceToEmpty',
  'accessibility',
  'odometer',
  'frontLeftTyrePressure',
  'bulbFailure',
  'kmToService',
  'brakeFluid',
  'details',
  'commands',
  'charging',
  'location',
];

export type Kind = 'door' | 'unlock' | 'window' | 'engine' | 'closed' | 'charging' | 'charged' | 'arrived';

/**
 * These are never noticed later, also when other reads fail. The start and end of charging are not
 * either, while the doors answer.
 */
export const securityKinds: readonly Kind[] = ['door', 'unlock', 'window'];

export interface Notice {
  kind: Kind;
  happening: Happening;
  /**
   * Ms from the happening to the first reading that shows it; null: it was over
   * before anybody looked.
   */
  delay: number | null;
}

export interface Outcome {
  calls: number;
  callsOf: Partial<Record<ReadName, number>>;
  notices: Notice[];
}

export type Schedule = 'fixed' | 'adaptive';

const parked: CarState = {
  locked: true,
  doors: [],
  windows: [],
  running: false,
  charging: 'IDLE',
  isPluggedIn: false,
  kilometers: 0,
};
/** From the car to the service. */
const pushDelay = 2 * second;

/** Runs one schedule for a whole day. */
export function live(day: Day, schedule: Schedule, id: string): Outcome {
  const car = new Cloud(day);
  const profile =
    schedule === 'adaptive' ? new PollingProfile(id, (now) => Math.floor((now % (24 * hour)) / hour)) : null;
  const readers = requests.map((read) => new Reader(read));
  const outcome: Outcome = { calls: 0, callsOf: {}, notices: [] };
  const seen: Partial<Record<ReadName, number[]>> = {};
  const { doorsMs = baseIntervals.doors } = day;
  const dueOf = ({ read, lastRead, failure }: Reader, now: number): number => {
    const everyMs = read === 'doors' ? doorsMs : baseIntervals[pollGroupOf(read)];
    if (profile === null) return nextPoll(id, everyMs, lastRead ?? day.start - second - 1);
    return profile.dueAt({ read, now, since: day.start, lastRead, lastFailure: failure, everyMs, doorsMs });
  };
  const questions = [...(day.asked ?? [])].sort((one, other) => one.at - other.at);

  for (let now = day.start; now < day.end;) {
    for (const reader of readers) {
      // One after the other, the doors first: what one shows counts for the next.
      if (dueOf(reader, now) > now) continue;
      reader.lastRead = now;
      outcome.calls += 1;
      outcome.callsOf[reader.read] = (outcome.callsOf[reader.read] ?? 0) + 1;
      reader.failure = car.failureOf(reader.read, now, reader.failure?.lasting ?? 0);
      if (reader.failure !== null)
        profile?.fail(reader.read, { retryable: reader.failure.lasting === 0, retryAt: null });
      else {
        profile?.observe(reader.read, car.reading(reader.read, now), now);
        (seen[reader.read] ??= []).push(now);
      }
    }
    const next = Math.max(now + 1, Math.min(...readers.map((reader) => dueOf(reader, now))));
    now = Math.min(next, Math.max(now + 1, questions[0]?.at ?? next));
    for (; questions[0] !== undefined && questions[0].at <= now; questions.shift()) {
      // The failure of a message is nothing to the polls.
      const { read } = questions[0];
      if (car.failureOf(read, now, 0) === null) profile?.observe(read, car.reading(read, now), now);
    }
  }
  outcome.notices = [...car.happeningsOfInterest()].map(({ kind, happening, over }) => {
    const told = happening.at + pushDelay;
    const first = seen[readOf[kind]]?.find((at) => at >= told);
    return { kind, happening, delay: first === undefined || first >= over ? null : first - happening.at };
  });
  return outcome;
}

const readOf = {
  door: 'doors',
  unlock: 'doors',
  window: 'windows',
  engine: 'engineRunning',
  closed: 'windows',
  charging: 'charging',
  charged: 'charging',
  arrived: 'location',
} as const satisfies Record<Kind, ReadName>;

class Reader {
  readonly read: ReadName;
  lastRead: number | null = null;
  failure: LastFailure | null = null;

  constructor(read: ReadName) {
    this.read = read;
  }
}

/** What the service reports: the car's last push. */
class Cloud {
  readonly #day: Day;
  readonly #states: {
    at: number;
    state: CarState;
    happening: Happening | null;
    pushed: { doors: number; windows: number; running: number };
  }[];

  constructor(day: Day) {
    this.#day = day;
    this.#states = [
      { at: day.start - hour, state: parked, happening: null, pushed: { doors: 0, windows: 0, running: 0 } },
    ];
    for (const happening of [...day.happenings].sort((a, b) => a.at - b.at)) {
      const before = this.#states.at(-1) ?? fail();
      const at = happening.at + pushDelay;
      const pushed = {
        doors: 'locked' in happening.change || 'doors' in happening.change ? at : before.pushed.doors,
        windows: 'windows' in happening.change ? at : before.pushed.windows,
        running: 'running' in happening.change ? at : before.pushed.running,
      };
      this.#states.push({ at, state: { ...before.state, ...happening.change }, happening, pushed });
    }
  }

  /** @param before how many reads in a row failed for a reason that lasts */
  failureOf(read: ReadName, now: number, before: number): LastFailure | null {
    if (this.#day.outages.some(([from, to]) => now >= from && now < to)) return { retryAt: null, lasting: 0 };
    const broken = this.#day.broken?.find((one) => one.read === read && now >= one.from && now < one.to);
    if (broken === undefined) return null;
    return { retryAt: null, lasting: broken.lasting ? before + 1 : 0 };
  }

  reading(read: ReadName, now: number): PolledReading {
    const { state, pushed } = this.#states.findLast(({ at }) => at <= now) ?? fail();
    switch (read) {
      case 'doors':
        return {
          payload: { ...state, timestamp: pushed.doors },
          vehicle: { locked: state.locked, open: [...state.doors], unknown: ['tankLid'] },
        };
      case 'windows':
        return {
          payload: { open: state.windows, timestamp: pushed.windows },
          vehicle: { open: [...state.windows], unknown: ['sunroof'] },
        };
      case 'engineRunning':
        return { payload: { value: state.running, timestamp: pushed.running }, vehicle: {} };
      case 'accessibility':
        return {
          payload: state.running
            ? { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' }
            : { value: 'AVAILABLE', unavailableReason: null },
          vehicle: {},
        };
      case 'charging':
        return {
          payload: {
            chargingStatus: { value: state.charging },
            chargerConnectionStatus: { value: state.isPluggedIn ? 'CONNECTED' : 'DISCONNECTED' },
          },
          vehicle: {},
        };
      case 'odometer':
      case 'location':
        return { payload: { value: state.kilometers }, vehicle: {} };
      default:
        return { payload: { value: 1 }, vehicle: {} };
    }
  }

  /** Each opening, unlocking and start, each closed window, and when it was over. */
  *happeningsOfInterest(): Generator<{ kind: Kind; happening: Happening; over: number }> {
    for (let i = 1; i < this.#states.length; i += 1) {
      const { state, happening } = this.#states[i] ?? fail();
      const before = (this.#states[i - 1] ?? fail()).state;
      if (happening === null) continue;
      const over = (still: (state: CarState) => boolean): number =>
        this.#states.slice(i).find((later) => !still(later.state))?.at ?? Number.POSITIVE_INFINITY;
      for (const door of state.doors.filter((name) => !before.doors.includes(name)))
        yield { kind: 'door', happening, over: over((later) => later.doors.includes(door)) };
      if (before.locked && !state.locked) yield { kind: 'unlock', happening, over: over((later) => !later.locked) };
      for (const name of state.windows.filter((window) => !before.windows.includes(window)))
        yield { kind: 'window', happening, over: over((later) => later.windows.includes(name)) };
      for (const name of before.windows.filter((window) => !state.windows.includes(window)))
        yield { kind: 'closed', happening, over: over((later) => !later.windows.includes(name)) };
      if (before.charging === 'SCHEDULED' && state.charging === 'CHARGING')
        yield { kind: 'charging', happening, over: over((later) => later.charging === 'CHARGING') };
      if (before.charging === 'CHARGING' && state.charging === 'DONE')
        yield { kind: 'charged', happening, over: over((later) => later.charging === 'DONE') };
      if (state.kilometers > before.kilometers)
        yield { kind: 'arrived', happening, over: over((later) => later.kilometers === state.kilometers) };
      if (!before.running && state.running) yield { kind: 'engine', happening, over: over((later) => later.running) };
    }
  }
}

const fail = (): never => {
  throw new Error('The day has no state.');
};
