import { strict as assert } from 'node:assert';
import { Pack, type Account, type ReadName, type StateStore } from '../../../src/index';
import { lasted } from '../../../src/car/state-runs';
import { ManualClock } from '../../support/manual-clock';
import { AwayStore, scriptedAccount } from '../../support/scripted-account';

const vin = 'YV1CT9551B1570001';
const minute = 60_000;
const start = Date.parse('2026-06-01T12:00:30Z');

/** The member of each answer, and its unit, in the words of the service. */
const members = {
  doors: ['centralLock'],
  engineRunning: ['engineStatus'],
  odometer: ['odometer', 'km'],
  fuel: ['batteryChargeLevel', '%'],
  tyres: ['frontLeft'],
} as const satisfies Partial<Record<ReadName, [string, string?]>>;
type Read = keyof typeof members;

/** A process with an account whose service answers what a test says. */
class Process {
  readonly pack: Pack;
  readonly #account: Account;
  readonly remembered: string[] = [];
  #text = '';

  constructor(
    readonly clock: ManualClock,
    store: StateStore,
  ) {
    this.pack = new Pack({ clock, store });
    this.#account = scriptedAccount(
      this.pack,
      { body: () => this.#text, now: () => clock.now() },
      {
        remember: (read, whose, { vehicle: { receivedAt } }) => {
          this.remembered.push(`${whose.at(-1)} ${read} ${receivedAt.slice(14, 19)}`);
        },
      },
    );
  }

  /** The answer of a read, without timestamps. */
  async answer(read: Read, value: unknown, whose = vin): Promise<void> {
    const [member, unit] = members[read];
    this.#text = JSON.stringify({ data: { [member]: { value, timestamp: null, unit } } });
    await this.#account.read(read, { vin: whose, interface: 'v2' });
  }

  /** The answer with a session that has not ended. */
  async answerSession(startedAt: number): Promise<void> {
    const session = { transactionId: 'one', start: new Date(startedAt).toISOString(), end: null, connectorId: 1 };
    this.#text = JSON.stringify({ sessions: [session] });
    await this.#account.read('wallboxCharging', { vin });
  }

  /** The answer of the older interface. */
  async answerV1(lock: string): Promise<void> {
    this.#text = JSON.stringify({ data: { carLocked: { value: lock, timestamp: null } } });
    await this.#account.read('doors', { vin, interface: 'v1' });
  }
}

describe('What is remembered of answers that repeat', () => {
  let clock: ManualClock;
  let store: AwayStore;
  let process: Process;

  beforeEach(() => {
    clock = new ManualClock(start);
    store = new AwayStore();
    process = new Process(clock, store);
  });

  /** Answers, each so many seconds after the one before. */
  const each = async (seconds: number, answers: readonly [Read, unknown][]): Promise<void> => {
    for (const answer of answers) {
      await clock.advance(seconds * 1_000);
      await process.answer(...answer);
    }
  };

  it('is the last one of each read, when somebody asks', async () => {
    await each(10, [
      ['doors', 'LOCKED'],
      ['odometer', 12_000],
      ['odometer', 12_000],
      ['doors', 'LOCKED'],
      ['odometer', 12_000],
      ['doors', 'LOCKED'],
      ['odometer', 12_000],
    ]);
    const before = process.remembered.length;
    await process.pack.facts.known(vin);
    assert.deepEqual(process.remembered.slice(before), ['1 doors 01:30', '1 odometer 01:40']);
    await process.pack.facts.known(vin);
    assert.equal(process.remembered.length, before + 2);
  });

  it('is each that comes after a change of the car, and those before it first', async () => {
    await each(10, [
      ['doors', 'LOCKED'],
      ['engineRunning', 'STOPPED'],
      ['doors', 'LOCKED'],
      ['doors', 'LOCKED'],
      ['engineRunning', 'RUNNING'],
      ['doors', 'LOCKED'],
    ]);
    assert.deepEqual(process.remembered.slice(-3), ['1 doors 01:10', '1 engineRunning 01:20', '1 doors 01:30']);
  });

  it('is one of each five minutes, for the history of each hour', async () => {
    await each(
      60,
      Array.from({ length: 9 }, () => ['doors', 'LOCKED']),
    );
    assert.deepEqual(process.remembered, ['1 doors 01:30', '1 doors 02:30', '1 doors 04:30', '1 doors 05:30']);
  });

  it('is in the order of time also of several cars', async () => {
    const other = 'YV1CT9551B1570002';
    for (const whose of [vin, other, vin, other, other, vin]) {
      await clock.advance(1_000);
      await process.answer('doors', 'LOCKED', whose);
    }
    process.pack.repeats.catchUp();
    assert.deepEqual(process.remembered.slice(-2), ['2 doors 00:35', '1 doors 00:36']);
  });

  it('is each of a car beyond the 20 that were read last', async () => {
    const vins = [...Array(21).keys()].map((n) => `YV1CT9551B15709${String(n).padStart(2, '0')}`);
    const [first = '', second = '', ...others] = vins;
    const last = others.pop() ?? '';
    for (const whose of [first, second, ...others, first, last]) {
      await clock.advance(1_000);
      await process.answer('doors', 'LOCKED', whose);
    }
    const before = process.remembered.length;
    await process.answer('doors', 'LOCKED', first);
    assert.equal(process.remembered.length, before);
    await process.answer('doors', 'LOCKED', second);
    assert.equal(process.remembered.length, before + 2, 'what was deferred, and the second car');
  });

  it('has the time of the second answer, if that confirms the first one', async () => {
    await each(30, [
      ['engineRunning', 'STOPPED'],
      ['odometer', 12_000],
    ]);
    // So that the numbers before the jump are over.
    for (let i = 0; i < 24; i += 1)
      await each(30, [
        ['engineRunning', 'STOPPED'],
        ['odometer', 12_000],
      ]);
    await each(30, [['odometer', 12_500]]);
    await each(1, [['engineRunning', 'STOPPED']]);
    const confirmedAt = clock.now() + 60_000;
    for (let i = 0; i < 5; i += 1)
      await each(30, [
        ['engineRunning', 'STOPPED'],
        ['odometer', 12_500],
      ]);
    const [trip] = (await process.pack.logbook.records(vin)).trips;
    assert.equal(trip?.to.at, new Date(confirmedAt).toISOString());
  });

  it('is stored at once, if it completes a trip', async () => {
    await each(1, [
      ['engineRunning', 'STOPPED'],
      ['odometer', 12_000],
      ['fuel', 60],
    ]);
    await clock.advance(5 * minute);
    await each(1, [
      ['engineRunning', 'RUNNING'],
      ['odometer', 12_012],
      ['fuel', 55],
    ]);
    await clock.advance(minute);
    await each(10, [
      ['engineRunning', 'STOPPED'],
      ['fuel', 55],
      ['odometer', 12_012],
      ['fuel', 55],
    ]);
    // As after a kill: nothing was closed.
    const [trip] = (await new Process(clock, store).pack.logbook.records(vin)).trips;
    assert.equal(trip?.batteryTo, 55);
  });

  it('is stored as soon as a store that was away is back', async () => {
    await each(1, [
      ['engineRunning', 'STOPPED'],
      ['odometer', 12_000],
    ]);
    await clock.advance(25 * minute);
    store.isAway = true;
    await each(10, [
      ['odometer', 12_012],
      ['engineRunning', 'STOPPED'],
      ['odometer', 12_012],
      ['engineRunning', 'STOPPED'],
    ]);
    store.isAway = false;
    await each(10, [['odometer', 12_012]]);
    const { trips } = await new Process(clock, store).pack.logbook.records(vin);
    assert.equal(trips.length, 1);
  });

  it('is stored as soon as the facts of the car can be read', async () => {
    store.isAway = true;
    await each(1, [
      ['tyres', 'NO_WARNING'],
      ['tyres', 'NO_WARNING'],
      ['tyres', 'NO_WARNING'],
    ]);
    store.isAway = false;
    await each(1, [['tyres', 'NO_WARNING']]);
    const { equipment } = await new Process(clock, store).pack.facts.known(vin);
    assert.equal(equipment.tyres, true);
  });

  it('is each of a read whose equal answers mean something else later', async () => {
    // Three days after its begin, an open session was left open.
    const startedAt = start - 3 * 24 * 60 * minute + minute;
    for (let i = 0; i < 8; i += 1) {
      await process.answerSession(startedAt);
      await clock.advance(20_000);
    }
    const [run] = await process.pack.facts.statesOf(vin, 'wallboxCharging');
    assert.equal(run?.to, start + 40_000);
  });

  const lastedOf = async (name: string, value: unknown, minutes: number): Promise<boolean | null> => {
    const runs = await process.pack.facts.statesOf(vin, name);
    return lasted(runs, (one) => one === value, { now: clock.now(), ms: minutes * minute }).result;
  };

  it('is each that shows another value than the one before, if two interfaces disagree', async () => {
    for (let i = 0; i < 3; i += 1) {
      await each(2, [['doors', 'UNLOCKED']]);
      await clock.advance(2_000);
      await process.answerV1('LOCKED');
    }
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(minute);
      await process.answerV1('LOCKED');
    }
    assert.equal(await lastedOf('doors.locked', true, 5), true);
  });

  it('is each that comes after the values of another Node-RED', async () => {
    const other = new Process(clock, store);
    await each(1, [
      ['doors', 'LOCKED'],
      ['doors', 'LOCKED'],
    ]);
    await clock.advance(minute / 2);
    await other.answer('doors', 'UNLOCKED');
    await process.pack.facts.addEvents(vin, [{ at: new Date(clock.now()).toISOString(), text: 'alert' }]);
    await clock.advance(minute / 2);
    const lockedAt = clock.now();
    for (let i = 0; i < 6; i += 1) {
      await process.answer('doors', 'LOCKED');
      await clock.advance(minute / 2);
    }
    const runs = await process.pack.facts.statesOf(vin, 'doors.locked');
    assert.equal(runs.at(-1)?.from, lockedAt);
  });

  it('leaves the values that another Node-RED has stored meanwhile', async () => {
    const other = new Process(clock, store);
    const both = async (lock: string): Promise<void> => {
      await clock.advance(minute);
      await process.answer('doors', lock);
      await other.answer('doors', lock);
    };
    for (const lock of ['UNLOCKED', 'LOCKED', 'UNLOCKED']) await both(lock);
    await each(60, [['doors', 'UNLOCKED']]);
    await clock.advance(minute / 2);
    await other.answer('doors', 'LOCKED');
    await process.pack.facts.addEvents(vin, [{ at: new Date(clock.now()).toISOString(), text: 'alert' }]);
    await each(60, [['doors', 'LOCKED']]);
    const runs = await process.pack.facts.statesOf(vin, 'doors.locked');
    assert.deepEqual(
      runs.map(({ value }) => value),
      [false, true, false, true],
    );
  });
});
