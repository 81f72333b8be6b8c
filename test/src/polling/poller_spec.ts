import { strict as assert } from 'node:assert';
import { isReadName, Poller, services, type AnyReadName, type PollerOptions, type ReadName } from '../../../src/index';
import { ManualClock } from '../../support/manual-clock';

const second = 1_000;
const minute = 60 * second;
const vin = 'YV4952NA4F120DEMO';

/** What the car looks like to each read, unless a test says otherwise. */
const parked: Partial<Record<ReadName, { payload: unknown; vehicle: { locked?: boolean; open?: string[]; unknown?: string[] } }>> = {
  doors: { payload: { state: 'closed' }, vehicle: { locked: true, open: [], unknown: [] } },
  windows: { payload: { state: 'closed' }, vehicle: { open: [], unknown: [] } },
  engineRunning: { payload: { value: false }, vehicle: {} },
};

describe('the poller of an account', () => {
  let clock: ManualClock;
  let poller: Poller;
  /** Who was called back when, and with what. */
  let polls: { name: string; at: number; due: readonly AnyReadName[] }[];
  let car: typeof parked;

  beforeEach(() => {
    clock = new ManualClock('2026-06-01T12:00:00Z');
    polls = [];
    car = { ...parked };
  });
  afterEach(() => {
    poller.close();
    assert.equal(clock.sleeping, 0);
  });

  const open = (changes: Partial<PollerOptions> = {}): void => {
    poller = new Poller({ id: 'account', adaptive: false, alive: services['volvo-cars'].alive, usedShare: () => 0, clock, ...changes });
  };
  /** A node that polls and answers at once. */
  const node = (name: string, reads: readonly AnyReadName[], everyMs: number, whose = vin): (() => void) =>
    poller.start({ vin: whose, reads, everyMs }, (due) => {
      polls.push({ name, at: clock.now(), due });
      for (const read of due) if (isReadName(read)) poller.saw(read, whose, car[read] ?? { payload: { value: 1 }, vehicle: {} });
    });
  const timesOf = (name: string): number[] => polls.filter((poll) => poll.name === name).map(({ at }) => at);
  const within = (name: string, from: number): number => timesOf(name).filter((at) => at >= from).length;

  it('calls back for what the pack keeps itself as often as it is asked for, in the adaptive profile too', async () => {
    open({ adaptive: true });
    node('journal', ['journal'], minute, '');
    await clock.advance(60 * minute);
    assert.equal(within('journal', clock.now() - 30 * minute), 30);
  });

  it('calls back soon, and then at its interval', async () => {
    open();
    node('doors', ['doors'], minute);
    await clock.advance(10 * second);
    assert.equal(timesOf('doors').length, 1);
    await clock.advance(10 * minute);
    assert.equal(timesOf('doors').length, 11);
    const gaps = timesOf('doors').slice(2).map((at, i) => at - (timesOf('doors')[i + 1] ?? 0));
    assert.ok(gaps.every((gap) => gap === minute), gaps.join());
  });

  it('lets those meet that one request serves, and nobody else', async () => {
    open();
    node('doors', ['doors'], minute);
    // On a service without the extended interface, the doors' own group has it.
    node('hood', ['hoodOpen'], minute);
    node('every other time', ['doors'], 2 * minute);
    node('windows', ['windows'], minute);
    node('other car', ['doors'], minute, 'YV4952NA4F120TEST');
    await clock.advance(20 * minute);
    assert.deepEqual(timesOf('hood'), timesOf('doors'));
    assert.ok(timesOf('every other time').slice(1).every((at) => timesOf('doors').includes(at)));
    for (const name of ['windows', 'other car']) assert.ok(!timesOf(name).some((at) => timesOf('doors').includes(at)), name);
  });

  it('spreads a thousand cars over the minute', async () => {
    open();
    for (let i = 0; i < 1_000; i += 1) node(`${i}`, ['doors'], minute, `YV4952NA4F120${1000 + i}`);
    await clock.advance(2 * minute);
    polls = [];
    await clock.advance(minute);
    const perSecond = Array.from({ length: 60 }, (_, i) => polls.filter(({ at }) => Math.floor(at / second) % 60 === i).length);
    assert.equal(polls.length, 1_000);
    assert.ok(Math.max(...perSecond) < 40, perSecond.join());
  });

  it('ends with its node', async () => {
    open();
    const stop = node('doors', ['doors'], minute);
    stop();
    await clock.advance(5 * minute);
    assert.deepEqual(polls, []);
  });

  describe('with the adaptive profile', () => {
    beforeEach(() => open({ adaptive: true }));

    it('asks a parked car for its doors as ever, and for the rest seldom', async () => {
      node('doors', ['doors'], minute);
      node('windows', ['windows'], minute);
      node('engine', ['engineRunning'], 2 * minute);
      await clock.advance(60 * minute);
      const from = clock.now();
      await clock.advance(60 * minute);
      assert.equal(within('doors', from), 60);
      assert.ok(within('windows', from) <= 3, `${within('windows', from)}`);
      assert.ok(within('engine', from) <= 7, `${within('engine', from)}`);
    });

    it('asks for the windows at once when the doors show a sign of life', async () => {
      node('doors', ['doors'], minute);
      node('windows', ['windows'], minute);
      node('engine', ['engineRunning'], 2 * minute);
      await clock.advance(60 * minute);
      car['doors'] = { payload: { state: 'open' }, vehicle: { locked: false, open: ['frontLeft'], unknown: [] } };
      await clock.advance(minute);
      const seen = timesOf('doors').at(-1) ?? 0;
      assert.equal(timesOf('windows').at(-1), seen);
      assert.equal(timesOf('engine').at(-1), seen);
      const order = polls.filter(({ at }) => at === seen).map(({ name }) => name);
      assert.equal(order[0], 'doors');
    });

    it('asks more often after a command', async () => {
      node('doors', ['doors'], minute);
      await clock.advance(30 * minute);
      const from = clock.now();
      poller.commanded(vin);
      await clock.advance(minute);
      assert.ok(within('doors', from) >= 4);
    });

    it('calls a node of several reads with those that are due', async () => {
      node('all', ['doors', 'windows', 'odometer'], minute);
      node('engine', ['engineRunning'], 2 * minute);
      await clock.advance(60 * minute);
      const last = polls.filter(({ name }) => name === 'all').slice(-5);
      assert.deepEqual(last.map(({ due }) => due), Array.from({ length: 5 }, () => ['doors']));
    });

    it('waits for the time that a failure names', async () => {
      const at = clock.now();
      poller.start({ vin, reads: ['doors'], everyMs: minute }, (due) => {
        polls.push({ name: 'doors', at: clock.now(), due });
        poller.failed('doors', vin, { retryable: true, retryAt: new Date(at + 30 * minute) });
      });
      await clock.advance(29 * minute);
      assert.equal(polls.length, 1);
      await clock.advance(3 * minute);
      assert.ok(polls.length >= 2);
    });
  });
});
