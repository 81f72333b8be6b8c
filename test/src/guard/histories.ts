import type { GuardInput, GuardRead, GuardReading, OpeningMembers } from '../../../src/guard/types';
import type { GuardSettings } from '../../../src/guard/options';
import type { OpeningKind, WatchName } from '../../../src/catalogue/openings';
import { openingKinds } from '../../../src/catalogue/openings';
import type { Random } from '../../support/random';
import { changesOf, zoneNames, type History } from './oracle';

const minute = 60_000;
const names = {
  windows: ['frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'sunroof'],
  doors: ['carLocked', 'frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'tailGate', 'hood', 'tankLid'],
} as const;
const oddWords = ['UNSPECIFIED', 'open', 'closed', '', null, undefined, 42, true, {}] as const;
const singles = ['frontLeftWindow', 'rearRightDoor', 'carLocked'] as const;

/**
 * A few hours in the life of a car, often across a night or a change of the clocks, with everything
 * that a service does wrong.
 */
export function randomHistory(random: Random): History {
  const zone = random.pick(zoneNames);
  const minutes = random.between(60, 400);
  const changes = changesOf(zone);
  const middle =
    changes.length > 0 && random.chance(0.5)
      ? (changes[random.between(0, changes.length - 1)] ?? 0)
      : Date.UTC(2026, 5, 1) + random.between(0, 1440) * minute;
  const start = middle - random.between(0, minutes) * minute;
  const allowed = random.between(0, 40);
  return {
    start,
    minutes,
    inputs: inputsOf(random, start, minutes),
    allowed: Object.fromEntries(
      openingKinds.map((kind) => [kind, random.chance(0.3) ? random.between(0, 60) : allowed]),
    ) as Record<OpeningKind, number>,
    repeat: random.chance(0.4) ? 0 : random.between(1, 60),
    quiet: random.chance(0.5) ? null : { ...twoTimes(random), zone },
    watch: watchOf(random),
    onlyWhileNotInUse: random.chance(0.5),
  };
}

/** The same, as a user would set it. */
export const settingsOf = (history: History): GuardSettings => ({
  minutes: 1,
  minutesFor: history.allowed,
  repeat: String(history.repeat),
  quietHours: history.quiet === null ? '' : `${time(history.quiet.from)}-${time(history.quiet.to)}`,
  timeZone: history.quiet?.zone ?? '',
  watch: history.watch,
  onlyWhileNotInUse: history.onlyWhileNotInUse,
});

const time = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

function twoTimes(random: Random): { from: number; to: number } {
  const from = random.between(0, 1439);
  return { from, to: (from + random.between(1, random.chance(0.5) ? 120 : 1439)) % 1440 };
}

function watchOf(random: Random): WatchName[] {
  const chosen: WatchName[] = openingKinds.filter(() => random.chance(0.4));
  return chosen.length === 0 || random.chance(0.2) ? [...chosen, random.pick(singles)] : chosen;
}

function inputsOf(random: Random, start: number, minutes: number): GuardInput[] {
  const car = new Car(random);
  const times = Array.from(
    { length: random.between(1, random.pick([4, 30])) },
    () => start + random.between(0, minutes) * minute,
  ).sort((a, b) => a - b);
  return times.map((at) => {
    car.live();
    if (random.chance(0.08)) return { type: 'snooze', at, minutes: random.pick([null, 0, random.between(1, 90)]) };
    if (random.chance(0.1)) return { type: 'ask', at, ...(random.chance(0.4) ? { only: watchOf(random) } : {}) };
    return car.reading(at);
  });
}

/** Mostly closed, now and then opened; its service mostly reports the true state. */
class Car {
  readonly #random: Random;
  readonly #open = new Set<string>();
  #inUse: boolean | null = false;
  readonly #noise: number;
  /** How far the clock of its service is ahead, and how far the guard thinks that it is. */
  readonly #ahead: number;
  readonly #skewMs: number | undefined;
  readonly #past: GuardReading[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.#noise = random.pick([0, 0, 0.02, 0.2]);
    this.#ahead = random.pick([0, 0, random.between(-20, 60) * minute]);
    this.#skewMs = random.pick([this.#ahead, undefined, random.between(-20, 60) * minute]);
  }

  live(): void {
    const random = this.#random;
    if (random.chance(0.35)) this.#open.clear();
    for (const name of [...names.windows, ...names.doors]) if (random.chance(0.06)) this.#open.add(name);
    if (random.chance(0.3)) this.#inUse = random.pick([true, false, null]);
  }

  /** Now and then an old one arrives late, or once more. */
  reading(at: number): GuardReading {
    const random = this.#random;
    if (this.#past.length > 0 && random.chance(0.1))
      return { ...random.pick(this.#past as [GuardReading, ...GuardReading[]]), at };
    const reading = this.#fresh(at);
    this.#past.push(reading);
    return random.chance(0.1) ? { type: 'reading', at } : reading;
  }

  #fresh(at: number): GuardReading {
    const random = this.#random;
    const reading: GuardReading = { type: 'reading', at, skewMs: this.#skewMs };
    if (random.chance(0.6)) reading.inUse = this.#inUse;
    // A slow answer is applied after newer ones.
    if (random.chance(0.2)) {
      const slow = (): number => at - random.between(0, 20) * minute;
      reading.receivedAt = { windows: slow(), doors: slow(), accessibility: slow() };
    }
    if (random.chance(0.2)) {
      const asked = (read: GuardRead): number => (reading.receivedAt?.[read] ?? at) - random.between(0, 150) * 1_000;
      reading.askedAt = { windows: asked('windows'), doors: asked('doors'), accessibility: asked('accessibility') };
    }
    for (const read of ['windows', 'doors'] as const) {
      if (random.chance(0.85)) reading[read] = this.#members(read, at);
      if (random.chance(0.1 + this.#noise)) reading.failed = [...(reading.failed ?? []), read];
    }
    return reading;
  }

  #members(read: 'windows' | 'doors', at: number): OpeningMembers {
    const members: Record<string, { value?: unknown; timestamp?: unknown } | null | undefined> = {};
    for (const name of names[read]) {
      if (this.#random.chance(this.#noise / 2)) members[name] = this.#random.pick([null, undefined]);
      else members[name] = { value: this.#word(name), timestamp: this.#timestamp(at) };
    }
    return members;
  }

  #word(name: string): unknown {
    if (this.#random.chance(this.#noise)) return this.#random.pick(oddWords);
    const open = this.#open.has(name);
    if (name === 'carLocked') return open ? 'UNLOCKED' : 'LOCKED';
    return open ? this.#random.pick(['OPEN', 'OPEN', 'AJAR']) : 'CLOSED';
  }

  #timestamp(at: number): unknown {
    const random = this.#random;
    if (random.chance(0.8)) return new Date(at + this.#ahead - random.between(0, 3) * minute).toISOString();
    return random.pick([
      null,
      undefined,
      'yesterday',
      17,
      '1970-01-01T00:00:00Z',
      new Date(at + random.between(1, 99) * minute).toISOString(),
      new Date(at - random.between(0, 5000) * minute).toISOString(),
    ]);
  }
}
