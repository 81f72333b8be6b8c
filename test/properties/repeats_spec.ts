import { strict as assert } from 'node:assert';
import {
  isRecord,
  MemoryStateStore,
  openAccount,
  Pack,
  pastedToken,
  resolveService,
  type Account,
  type Reading,
  type ReadName,
} from '../../src/index';
import { ManualClock } from '../support/manual-clock';
import { itMetEverything, itOnHistories, times, type Random } from '../support/random';

const start = Date.parse('2026-06-01T12:00:30Z');
const vins = ['YV1CT9551B1570001', 'YV1CT9551B1570002'] as const;
const windows = ['CLOSED', 'OPEN', 'AJAR', 'UNSPECIFIED', null] as const;
const warnings = ['NO_WARNING', 'VERY_LOW_PRESSURE', 'UNSPECIFIED'] as const;

/** The values of each read in the answers of a car, in the words of the service. */
const members = {
  windows: { frontLeftWindow: windows, rearRightWindow: windows, sunroof: windows },
  doors: { centralLock: ['LOCKED', 'UNLOCKED', null], hood: windows, tankLid: windows },
  engineRunning: { engineStatus: ['STOPPED', 'RUNNING'] },
  odometer: { odometer: [12_000, 12_012, 12_090] },
  fuel: { batteryChargeLevel: [60, 55, 80], fuelAmount: [30, 12.5, null] },
  tyres: { frontLeft: warnings, rearLeft: warnings },
} as const satisfies Partial<Record<ReadName, Record<string, readonly [unknown, ...unknown[]]>>>;
type Read = keyof typeof members;
const reads = Object.keys(members) as [Read, ...Read[]]; // The names of the table.
const states = ['windows.allClosed', 'windows.sunroof', 'doors.locked', 'doors.hood', 'engineRunning', 'odometer'];

/** One of two processes that are told the same; the texts of the second one are never equal. */
class Side {
  readonly #store = new MemoryStateStore();
  readonly #clock: ManualClock;
  #pack: Pack;
  #account: Account;
  text = '';

  constructor(clock: ManualClock) {
    this.#clock = clock;
    [this.#pack, this.#account] = this.#opened();
  }

  #opened(): [Pack, Account] {
    const pack = new Pack({ clock: this.#clock, store: this.#store });
    const date = (): string => new Date(this.#clock.now()).toUTCString();
    const account = openAccount({
      pack,
      service: resolveService('custom', { baseUrl: 'https://car.example' }),
      apiKey: 'demo-key',
      tokens: pastedToken('demo-token'),
      tokenOwner: 'somebody',
      limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
      shareForMs: 0,
      transport: {
        send: () => Promise.resolve({ status: 200, headers: { date: date() }, body: this.text }),
        close: () => Promise.resolve(),
      },
    });
    return [pack, account];
  }

  read(name: Read, vin: string): Promise<Reading> {
    return this.#account.read(name, { vin, interface: 'v2' });
  }

  async restart(): Promise<void> {
    await this.#account.close();
    [this.#pack, this.#account] = this.#opened();
  }

  /** All that is kept of a car. */
  async known(vin: string): Promise<unknown> {
    const { facts, logbook } = this.#pack;
    const runs = await Promise.all(states.map(async (name) => structuredClone(await facts.statesOf(vin, name))));
    return { facts: await facts.known(vin), runs, log: await logbook.records(vin) };
  }
}

/** A flow may change all of a message. */
function spoil(value: unknown): void {
  if (Array.isArray(value)) value.push('flow');
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value)) {
    spoil(member);
    if (typeof member !== 'object') value[name] = 'flow';
  }
}

const met = { repeats: 0, changes: 0, 'values with other times': 0, restarts: 0, trips: 0 };

/** The answers of the two cars: mostly the same again. */
class Answers {
  readonly #last = new Map<string, Record<string, { value: unknown; timestamp: string }>>();

  next(random: Random, vin: string, read: Read, now: number): object {
    const timestamp = new Date(now - random.between(0, 90_000)).toISOString();
    const before = this.#last.get(vin + read);
    const isRepeat = before !== undefined && random.chance(0.6);
    const data = { ...before };
    for (const [name, values] of Object.entries<readonly [unknown, ...unknown[]]>(members[read])) {
      if (isRepeat || (before !== undefined && random.chance(0.4))) continue;
      const value = random.chance(0.3) && before !== undefined ? before[name]?.value : random.pick(values);
      data[name] = { value, timestamp };
      if (before !== undefined) met[value === before[name]?.value ? 'values with other times' : 'changes'] += 1;
    }
    if (isRepeat) met.repeats += 1;
    this.#last.set(vin + read, data);
    const units = { odometer: 'km', batteryChargeLevel: '%', fuelAmount: 'l' };
    const withUnit = ([name, one]: [string, object]) => [name, { ...one, unit: (units as object)[name as never] }];
    return { data: Object.fromEntries(Object.entries(data).map(withUnit)) };
  }
}

const histories = times(12);

describe('Answers that equal the one before', () => {
  itOnHistories('mean what they would mean if they were the first of their text', histories, async (random) => {
    const clock = new ManualClock(start);
    const [same, other] = [new Side(clock), new Side(clock)];
    const answers = new Answers();
    for (let step = 1; step <= 150; step += 1) {
      await clock.advance(random.between(0, 12) * 60_000 + random.between(1, 9_000));
      const [vin, read] = [random.pick(vins), random.pick(reads)];
      same.text = JSON.stringify(answers.next(random, vin, read, clock.now()));
      other.text = same.text + ' '.repeat(step);
      const [one, two] = [await same.read(read, vin), await other.read(read, vin)];
      assert.deepEqual(one, two, `${read} of step ${step}`);
      [one, two].forEach(spoil);
      if (random.chance(0.03)) {
        met.restarts += 1;
        await Promise.all([same.restart(), other.restart()]);
      }
      const known = (await same.known(vin)) as { log: { trips: object[] } }; // As `known` makes it.
      met.trips += Math.sign(known.log.trips.length);
      assert.deepEqual(known, await other.known(vin), `after ${read} of step ${step}`);
    }
    await Promise.all([same.restart(), other.restart()]);
  });

  itMetEverything(histories >= 12, 10, () => met);
});
