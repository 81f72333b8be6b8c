import { strict as assert } from 'node:assert';
import { isRecord, Pack, type Account, type AccountOptions, type Reading, type ReadName } from '../../src/index';
import { Overview } from '../../nodes/runtime';
import { lasted, type StateRun } from '../../src/car/state-runs';
import { ManualClock } from '../support/manual-clock';
import { AwayStore, scriptedAccount } from '../support/scripted-account';
import { itMetEverything, itOnHistories, times, type Random } from '../support/random';

const start = Date.parse('2026-06-01T12:00:30Z');
const vins = ['YV1CT9551B1570001', 'YV1CT9551B1570002'] as const;
const windows = ['CLOSED', 'OPEN', 'AJAR', 'UNSPECIFIED', null] as const;
const warnings = ['NO_WARNING', 'VERY_LOW_PRESSURE', 'UNSPECIFIED'] as const;

const charging = {
  batteryChargeLevel: [60, 64, 80, 'NOT_SUPPORTED'],
  chargingStatus: ['CHARGING', 'IDLE', 'DONE', 'NOT_SUPPORTED'],
} as const;

interface Member {
  value: unknown;
  timestamp: string | null;
}
type Members = Record<string, Member>;

const units: Record<string, string> = {
  odometer: 'km',
  batteryChargeLevel: '%',
  fuelAmount: 'l',
  tripMeterAutomatic: 'km',
  averageEnergyConsumptionAutomatic: 'kWh/100km',
};
const each = (data: Members, answer: (one: Member, name: string) => object): object =>
  Object.fromEntries(Object.entries(data).map(([name, one]) => [name, answer(one, name)]));

/** How the service answers, by the names of the shapes. */
const bodies = {
  connected: (data: Members) => ({ data: each(data, (one, name) => ({ ...one, unit: units[name] })) }),
  energy: (data: Members) =>
    each(data, ({ value, timestamp: updatedAt }, name) =>
      value === 'NOT_SUPPORTED'
        ? { status: 'ERROR', code: value }
        : { status: 'OK', value, updatedAt, ...(name === 'batteryChargeLevel' && { unit: 'percentage' }) },
    ),
  accessibility: ({ reason = nothing }: Members) => {
    const { value, timestamp } = reason;
    const isAvailable = value === null;
    const status = { value: isAvailable ? 'AVAILABLE' : 'UNAVAILABLE', unavailableReason: value, timestamp };
    return { data: { availabilityStatus: status } };
  },
  location: ({ longitude = nothing }: Members) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude.value, 57.7] },
    properties: { timestamp: longitude.timestamp, heading: '90' },
  }),
  sessions: ({ kWh = nothing, minute = nothing }: Members) => {
    const [begin, end] = [1, 2].map((times) => new Date(start + times * Number(minute.value) * 60_000).toISOString());
    const ended = Number(minute.value) < 0 ? null : end;
    return { sessions: [{ transactionId: 'one', start: begin, end: ended, chargedEnergy: kWh.value, connectorId: 1 }] };
  },
};
const nothing: Member = { value: null, timestamp: null };

interface Asked {
  read: ReadName;
  choice: 'auto' | 'v1' | 'v2';
  shape: keyof typeof bodies;
  /** The values of each member in the words of the service. */
  members: Record<string, readonly [unknown, ...unknown[]]>;
}
const asked = (
  read: ReadName,
  members: Asked['members'],
  choice: Asked['choice'] = 'v2',
  shape: Asked['shape'] = 'connected',
): Asked => ({ read, choice, shape, members });

const distances = [12_000, 12_012, 12_090] as const;
const reads: readonly [Asked, ...Asked[]] = [
  asked('windows', { frontLeftWindow: windows, rearRightWindow: windows, sunroof: windows }),
  asked('doors', { centralLock: ['LOCKED', 'UNLOCKED', null], hood: windows, tankLid: windows }),
  asked('engineRunning', { engineStatus: ['STOPPED', 'RUNNING'] }),
  asked('odometer', { odometer: distances }),
  asked('fuel', { batteryChargeLevel: [60, 55, 80], fuelAmount: [30, 12.5, null] }),
  asked('tyres', { frontLeft: warnings, rearLeft: warnings }),
  asked('statistics', { tripMeterAutomatic: [0, 12, 90], averageEnergyConsumptionAutomatic: [17.5, 20] }),
  asked('accessibility', { reason: [null, 'CAR_IN_USE', 'NO_INTERNET', 'POWER_SAVING_MODE'] }, 'v2', 'accessibility'),
  // Others of the service can disagree with the reads above.
  asked('windows', { frontLeft: windows, rearRight: windows }, 'v1'),
  asked('engineRunning', { engineRunning: [true, false] }, 'v1'),
  asked('odometer', { odometer: distances }, 'v1'),
  asked('charging', charging, 'auto', 'energy'),
  asked('chargingStatus', charging, 'auto', 'energy'),
  asked('location', { longitude: [11.9, 12.1, 0] }, 'auto', 'location'),
  // One that began before the history is open, and counts as such for three days.
  asked('wallboxCharging', { kWh: [3], minute: [-4_318, -4_300, 20] }, 'auto', 'sessions'),
  asked('wallboxSessions', { kWh: [0, 3, 11.5, 14], minute: [20, 60, 120] }, 'auto', 'sessions'),
];
const states = [
  'windows.allClosed',
  'windows.frontLeft',
  'windows.sunroof',
  'doors.locked',
  'doors.hood',
  'engineRunning',
  'odometer',
  'accessibility',
  'location',
  'batteryChargeLevel',
  'chargingStatus',
  'tripMeterAutomatic',
  'wallboxCharging',
];

/** Two readers of one sign-in, one of another one, and what the logbook knows from each of them. */
const accounts: readonly Partial<AccountOptions>[] = [
  {},
  { places: [{ name: 'home', latitude: 57.7, longitude: 11.9, radius: 200 }] },
  { tokenOwner: 'another', tariff: () => Promise.resolve({ price: 0.5, currency: 'SEK' }) },
];

/** One of two processes that get the same answers; to the second one, no two texts are equal. */
class Side {
  readonly store = new AwayStore();
  readonly #clock: ManualClock;
  readonly #overview = new Overview('custom', () => undefined);
  #pack: Pack;
  #accounts: readonly Account[];
  text = '';
  /** The requests whose answers are still to come; null: each is answered at once. */
  inProgress: ((body: string) => void)[] | null = null;
  /** How far the clock of the service is ahead of that of the machine. */
  skewMs = 0;
  price = 0.3;
  remembered = 0;

  constructor(clock: ManualClock) {
    this.#clock = clock;
    [this.#pack, this.#accounts] = this.#opened();
  }

  #opened(): [Pack, readonly Account[]] {
    const pack = new Pack({ clock: this.#clock, store: this.store });
    return [pack, accounts.map((options) => this.#account(pack, options))];
  }

  #account(pack: Pack, options: Partial<AccountOptions>): Account {
    const body = (): string | Promise<string> => {
      const { inProgress } = this;
      return inProgress === null ? this.text : new Promise((resolve) => void inProgress.push(resolve));
    };
    return scriptedAccount(
      pack,
      { body, now: () => this.#clock.now() + this.skewMs },
      {
        tokenOwner: 'somebody',
        tariff: () => Promise.resolve({ price: this.price, currency: 'EUR' }),
        remember: (...reading) => {
          this.remembered += 1;
          return this.#overview.remember(...reading);
        },
        ...options,
      },
    );
  }

  read({ read, choice }: Pick<Asked, 'read' | 'choice'>, vin: string, reader = 0, isUrgent = false): Promise<Reading> {
    const urgent = isUrgent && { forCommand: true, maxAgeMs: 0 };
    return openedAt(this.#accounts, reader).client.read(read, { vin, interface: choice, ...urgent });
  }

  async restart(): Promise<void> {
    for (const account of this.#accounts) await account.close();
    [this.#pack, this.#accounts] = this.#opened();
  }

  /** All that is remembered of a car, and the cars of the tab. @param first what is asked first */
  async known(vin: string, first: Known) {
    const { facts, logbook, repeats } = this.#pack;
    const now = this.#clock.now() + this.skewMs;
    const ask = {
      facts: () => facts.known(vin),
      log: () => logbook.records(vin).catch(() => ({ trips: [], charges: [] })),
      states: async () => {
        const runs = await Promise.all(states.map((name) => facts.statesOf(vin, name)));
        return runs.map((one) => lastedIn(one, now));
      },
      cars: () => {
        repeats.catchUp();
        return this.#overview.cars.map((car) => car.vin).sort();
      },
    };
    await ask[first]();
    const shown = structuredClone(this.#overview.car(vin).facts);
    return { shown, facts: await ask.facts(), log: await ask.log(), states: await ask.states(), cars: ask.cars() };
  }

  /** What a process that is killed now leaves of the trips and charges, without their times. */
  async stored(): Promise<unknown> {
    const all = (await this.store.entries('logbook/')).sort((one, other) => (one.key < other.key ? -1 : 1));
    return all.map(({ value }) => {
      const { trips, charges } = value as Record<'trips' | 'charges', unknown>; // As the logbook writes it.
      return withoutTimes([trips, charges]);
    });
  }
}

const asks = ['facts', 'log', 'states', 'cars'] as const;
type Known = (typeof asks)[number];

const openedAt = (opened: readonly Account[], reader: number): Account => {
  const account = opened[reader];
  assert.ok(account);
  return account;
};

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isRecord(value)) return value;
  const others = Object.entries(value).filter(([name]) => !['at', 'bounds', 'minutes'].includes(name));
  return Object.fromEntries(others.map(([name, member]) => [name, withoutTimes(member)]));
}

/** What a condition finds of each value that the car had. */
const lastedIn = (runs: readonly StateRun[], now: number): object[] =>
  [...new Set(runs.map(({ value }) => JSON.stringify(value)))].flatMap((value) =>
    [1, 5, 15, 30, 60, 180].map((minutes) => ({
      value,
      minutes,
      ...lasted(runs, (one) => JSON.stringify(one) === value, { now, ms: minutes * 60_000 }),
    })),
  );

/** A flow may change all of a message. */
function spoil(value: unknown): void {
  if (Array.isArray(value)) value.push('flow');
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value)) {
    spoil(member);
    if (typeof member !== 'object') value[name] = 'flow';
  }
}

const met = {
  repeats: 0,
  changes: 0,
  'values with other times': 0,
  restarts: 0,
  trips: 0,
  'charges with a cost': 0,
  'answers that were dropped': 0,
  'clocks that are set': 0,
  'answers that were overtaken': 0,
  'stores that fail': 0,
  'more cars than the tab shows': 0,
};

/** The answers of the cars: mostly the same again. */
class Answers {
  readonly #last = new Map<string, Members>();

  constructor(
    readonly repeats: number,
    /** How many lack a timestamp. */
    readonly timeless: number,
  ) {}

  next(random: Random, vin: string, { read, choice, members, shape }: Asked, now: number): string {
    const key = `${vin} ${read} ${choice}`;
    const timestamp = random.chance(this.timeless)
      ? null
      : new Date(now - random.between(-20_000, 90_000)).toISOString();
    const before = this.#last.get(key);
    const isRepeat = before !== undefined && random.chance(this.repeats);
    const data = { ...before };
    for (const [name, values] of Object.entries(members)) {
      if (isRepeat || (before !== undefined && random.chance(0.4))) continue;
      const value = random.chance(0.3) && before !== undefined ? before[name]?.value : random.pick(values);
      data[name] = { value, timestamp };
      if (before !== undefined) met[value === before[name]?.value ? 'values with other times' : 'changes'] += 1;
    }
    if (isRepeat) met.repeats += 1;
    this.#last.set(key, data);
    return JSON.stringify(bodies[shape](data));
  }
}

/** Lets every promise that is ready run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

/** The reads of both sides that wait for their answers, which come in any order. */
class Flights {
  readonly #texts: [same: string, other: string][] = [];
  readonly #sides: readonly [Side, Side];

  constructor(sides: readonly [Side, Side]) {
    this.#sides = sides;
    for (const side of sides) side.inProgress = [];
  }

  get count(): number {
    return this.#texts.length;
  }

  async begin(texts: [same: string, other: string], check: Promise<void>): Promise<void> {
    // A fault of an answer ends the history when it comes.
    void check;
    await settled();
    const [same = 0, other = 0] = this.#sides.map(({ inProgress }) => inProgress?.length);
    assert.equal(same, other);
    // Another read of the same can be in progress already.
    if (same > this.#texts.length) this.#texts.push(texts);
  }

  async answerOne(index: number): Promise<void> {
    if (index > 0) met['answers that were overtaken'] += 1;
    const [texts] = this.#texts.splice(index, 1);
    for (const [which, side] of this.#sides.entries()) side.inProgress?.splice(index, 1)[0]?.(texts?.[which] ?? '');
    await settled();
  }
}

const histories = times(30);

describe('Answers that equal the one before', () => {
  itOnHistories(
    'leave the facts, the logbook and the tab as they would if none were equal',
    histories,
    async (random) => {
      const clock = new ManualClock(start);
      const sides = [new Side(clock), new Side(clock)] as const;
      const [same, other] = sides;
      const many = random.chance(0.4) ? 20 : 0;
      const all = [...vins, ...Array.from({ length: many }, (_, index) => `YV1CT9551B15800${10 + index}`)];
      const cars = all as [string, ...string[]]; // There are two at least.
      for (const side of sides) {
        side.text = JSON.stringify({ data: { batteryCapacityKWH: 69, fuelType: 'PETROL/ELECTRIC' } });
        for (const vin of cars) await side.read({ read: 'details', choice: 'v2' }, vin);
      }
      if (many > 0) met['more cars than the tab shows'] += 1;
      const answers = new Answers(random.pick([0.6, 0.95, 0.99]), random.pick([0.2, 0.2, 1]));
      const looks = random.pick([0.03, 0.2, 1]);
      const pauses = random.pick([0, 1, 12]);
      const flights = random.chance(0.3) ? new Flights(sides) : null;
      // The tab shows the cars that were read last, which a clock that is set does not tell.
      const isSet = many === 0 && random.chance(0.5);
      const mayFail = random.chance(0.2);
      const some: [Asked, ...Asked[]] = [random.pick(reads), random.pick(reads), ...(random.chance(0.5) ? reads : [])];
      const look = async (title: string): Promise<void> => {
        const vin = random.pick(cars);
        const first = random.pick(asks);
        const known = await same.known(vin, first);
        met.trips += Math.sign(known.log.trips.length);
        met['charges with a cost'] += known.log.charges.filter(({ cost }) => cost !== null).length;
        assert.deepEqual(known, await other.known(vin, first), title);
      };
      for (let step = 1; step <= 200; step += 1) {
        await clock.advance(random.between(0, pauses) * 60_000 + random.between(1, 9_000));
        if (isSet && random.chance(0.03)) {
          met['clocks that are set'] += 1;
          const minutes = random.between(-30, 30);
          if (random.chance(0.5)) clock.setTime(clock.now() + minutes * 60_000);
          else same.skewMs = other.skewMs = minutes * 60_000;
        }
        if (mayFail && random.chance(0.05)) {
          met['stores that fail'] += 1;
          same.store.isAway = other.store.isAway = !same.store.isAway;
        }
        if (random.chance(0.05)) same.price = other.price = random.between(1, 50) / 100;
        const [vin, read] = [random.pick(cars), random.pick(some)];
        same.text = answers.next(random, vin, read, clock.now());
        other.text = same.text + ' '.repeat(step);
        const reader = random.chance(0.2) ? random.between(1, accounts.length - 1) : 0;
        const isUrgent = flights !== null && random.chance(0.2);
        const title = `${read.read} of step ${step}`;
        const readings = Promise.all(sides.map((side) => side.read(read, vin, reader, isUrgent)));
        const check = readings.then(([one, two]) => {
          assert.deepEqual(one, two, title);
          [one, two].forEach(spoil);
        });
        await (flights === null ? check : flights.begin([same.text, other.text], check));
        while (flights !== null && flights.count > 0 && (flights.count > 5 || random.chance(0.6)))
          await flights.answerOne(random.between(0, flights.count - 1));
        await settled();
        if (!mayFail) assert.deepEqual(await same.stored(), await other.stored(), `stored at step ${step}`);
        if (!same.store.isAway && flights === null && random.chance(0.01)) {
          met.restarts += 1;
          await Promise.all([same.restart(), other.restart()]);
        }
        if (random.chance(looks)) await look(`after ${title}`);
      }
      while (flights !== null && flights.count > 0) await flights.answerOne(0);
      await look('at the end');
      await Promise.all([same.restart(), other.restart()]);
      met['answers that were dropped'] += other.remembered - same.remembered;
    },
  );

  itMetEverything(histories >= 30, 3, () => met);
});
