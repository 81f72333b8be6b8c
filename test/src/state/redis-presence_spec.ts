import { strict as assert } from 'node:assert';
import { RedisPresence } from '../../../src/index';
import { StateFault } from '../../../src/state/state-store';
import { sentence } from '../../../src/sentence';
import { ManualClock } from '../../support/manual-clock';
import { SharedMemory } from '../../support/shared-memory';

/** A process with its own clock: one that is stopped does not advance. */
class Process {
  readonly clock: ManualClock;
  readonly presence: RedisPresence;
  readonly end: () => Promise<void>;
  /** What it has heard about the lead. */
  readonly told: boolean[] = [];

  constructor(
    store: SharedMemory,
    name: string,
    { start = '2026-06-01T08:00:00Z', group = 'flows' }: { start?: string; group?: string | null } = {},
  ) {
    this.clock = new ManualClock(start);
    this.presence = new RedisPresence({ store, name, group, clock: this.clock });
    this.end = this.presence.use();
  }

  /** @returns gives the lead up */
  seekLead(): () => void {
    return this.presence.onLeading((isLeading) => this.told.push(isLeading));
  }
}

const away = (): StateFault => new StateFault('unavailable', sentence`The store is away.`);

describe('the presence of a process in a shared store', () => {
  let store: SharedMemory;
  let a: Process;
  let b: Process;

  const pass = async (ms: number, processes: readonly Process[]): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) for (const { clock } of processes) await clock.advance(500);
  };
  const leaders = (): string[] =>
    Object.entries({ a, b }).flatMap(([name, { presence }]) => (presence.isLeading ? name : []));
  /** The first process leads, and the second waits for its end. */
  const bothSeekLead = async (): Promise<() => void> => {
    const give = a.seekLead();
    await pass(1_000, [a, b]);
    b.seekLead();
    await pass(1_000, [a, b]);
    assert.deepEqual([leaders(), a.told, b.told], [['a'], [false, true], [false]]);
    return give;
  };

  beforeEach(async () => {
    store = new SharedMemory(new ManualClock());
    a = new Process(store, 'first');
    b = new Process(store, 'second');
    await pass(1_000, [a, b]);
  });
  afterEach(async () => {
    for (const { end } of [a, b]) await end();
  });

  it('lets one copy of a group lead, also if two ask at the same time, and keeps it while it lives', async () => {
    a.seekLead();
    b.seekLead();
    await pass(1_000, [a, b]);
    const [leader] = leaders();
    for (let passed = 0; passed < 120; passed += 1) {
      await pass(1_000, [a, b]);
      assert.deepEqual(leaders(), [leader]);
    }
  });

  it('lets one copy of each group lead, and each process that has no group', async () => {
    const others = [
      new Process(store, 'third', { group: 'other flows' }),
      new Process(store, 'fourth', { group: null }),
      new Process(store, 'fifth', { group: null }),
    ] as const;
    try {
      for (const one of [a, b, ...others]) one.seekLead();
      assert.deepEqual(
        others.map(({ told }) => told),
        [[false], [true], [true]],
      );
      await pass(1_000, [a, b, ...others]);
      assert.ok(others.every(({ presence }) => presence.isLeading));
      assert.equal(leaders().length, 1);
      store.fault = away();
      await pass(20_000, others);
      assert.deepEqual(
        others.map(({ told }) => told),
        [[false, true, false], [true], [true]],
      );
      store.fault = null;
    } finally {
      for (const { end } of others) await end();
    }
  });

  it('lets another copy lead within 20 seconds after the leader died, and not before the dead one would doubt it', async () => {
    await bothSeekLead();
    await pass(10_000, [b]);
    assert.deepEqual(b.told, [false]);
    await pass(10_000, [b]);
    assert.deepEqual([b.told, b.presence.others], [[false, true], []]);
  });

  it('does not act after it was stopped, and stands by while the copy leads that took over', async () => {
    await bothSeekLead();
    const { id } = a.presence;
    await pass(40_000, [b]);
    assert.ok(b.presence.isLeading);
    // The process continues: its clock has run on, and nothing else has happened yet.
    a.clock.setTime(a.clock.now() + 41_000);
    assert.equal(a.presence.isStill(id), false);
    await pass(2_000, [a, b]);
    assert.deepEqual([leaders(), a.told], [['b'], [false, true, false]]);
    await pass(60_000, [a, b]);
    assert.deepEqual(leaders(), ['b']);
  });

  it('doubts its id after the machine slept, and continues if no other copy has taken over', async () => {
    await bothSeekLead();
    const { id } = a.presence;
    a.clock.sleepMachine(30_000);
    assert.equal(a.presence.isStill(id), false);
    await a.presence.renew();
    assert.ok(a.presence.isStill(id));
    await pass(2_000, [a, b]);
    assert.deepEqual(leaders(), ['a']);
  });

  it('is not confused by a clock that differs by an hour, nor by one that is set back', async () => {
    const late = new Process(store, 'late', { start: '2026-06-01T09:00:00Z' });
    try {
      late.seekLead();
      await pass(1_000, [a, b, late]);
      a.seekLead();
      await pass(30_000, [a, b, late]);
      late.clock.setTime(Date.parse('2026-06-01T07:00:00Z'));
      await pass(30_000, [a, b, late]);
      assert.deepEqual([late.told, a.told], [[false, true], [false]]);
    } finally {
      await late.end();
    }
  });

  it('asks the store for little while nothing happens', async () => {
    let calls = 0;
    const { read, write, entries, now } = store;
    const counted =
      <Given extends unknown[], Result>(call: (...given: Given) => Result) =>
      (...given: Given): Result => {
        calls += 1;
        return call.apply(store, given);
      };
    Object.assign(store, { read: counted(read), write: counted(write), entries: counted(entries), now: counted(now) });
    await pass(60_000, [a, b]);
    Object.assign(store, { read, write, entries, now });
    // A beat of two calls each 5 seconds, and a look at the others each 3 seconds.
    assert.ok(calls <= 2 * (2 * 12 + 20), `${calls} calls in a minute`);
  });

  it('lets another copy lead within 6 seconds after the last part that waits for the lead has ended, however many there are', async () => {
    const give = await bothSeekLead();
    const giveToo = a.seekLead();
    assert.deepEqual(a.told.splice(0), [false, true, true]);
    give();
    await pass(20_000, [a, b]);
    assert.deepEqual(leaders(), ['a']);
    giveToo();
    await pass(6_000, [a, b]);
    assert.deepEqual([leaders(), a.told, b.told], [['b'], [], [false, true]]);
  });

  it('gives the lead up that it could not give up before, when the store is back', async () => {
    const give = await bothSeekLead();
    store.fault = away();
    give();
    store.fault = null;
    await pass(11_000, [a, b]);
    assert.deepEqual(leaders(), ['b']);
  });

  it('does not give up the lead that it has again meanwhile', async () => {
    const give = await bothSeekLead();
    store.fault = away();
    give();
    store.fault = null;
    a.seekLead();
    await pass(30_000, [a, b]);
    assert.deepEqual([leaders(), b.told], [['a'], [false]]);
  });

  it('lets another copy lead within 3 seconds when it ends', async () => {
    await bothSeekLead();
    await pass(10_000, [a, b]);
    await a.end();
    await pass(3_000, [b]);
    assert.deepEqual(b.told, [false, true]);
  });

  it('stops leading if the store has forgotten the leader and another copy leads', async () => {
    await bothSeekLead();
    await store.remove('leader/flows');
    await pass(11_000, [a, b]);
    assert.equal(leaders().length, 1);
    await store.write('leader/flows', { id: b.presence.id });
    await pass(11_000, [a, b]);
    assert.deepEqual(leaders(), ['b']);
  });

  it('stops leading within 10 seconds if the store is unavailable, and leads again when it is back', async () => {
    a.seekLead();
    await pass(1_000, [a, b]);
    store.fault = away();
    await pass(4_000, [a, b]);
    assert.deepEqual(a.told, [false, true]);
    await pass(7_000, [a, b]);
    assert.deepEqual(a.told, [false, true, false]);
    await pass(50_000, [a, b]);
    store.fault = null;
    await pass(10_000, [a, b]);
    assert.deepEqual(a.told, [false, true, false, true]);
    // No process was ended, because none could be seen.
    assert.deepEqual(b.presence.others, ['first']);
  });

  it('continues to lead if the answers of the store are lost for some seconds', async () => {
    await bothSeekLead();
    const lost = new StateFault('unavailable', sentence`The answer is lost.`);
    const { write } = store;
    const { id } = a.presence;
    store.write = async (...given) => {
      await write(...given);
      throw lost;
    };
    await pass(7_000, [a, b]);
    store.write = write;
    store.now = () => Promise.reject(lost);
    await pass(7_000, [a, b]);
    store.now = () => Promise.resolve(a.clock.now());
    await pass(7_000, [a, b]);
    assert.deepEqual(leaders(), ['a']);
    assert.equal(a.presence.id, id);
    assert.deepEqual(b.presence.others, ['first']);
  });

  it('continues to lead with a store that takes a second for each answer', async () => {
    a.seekLead();
    await pass(1_000, [a, b]);
    const { read, write, entries } = store;
    const slowly =
      <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        await a.clock.sleep(1_000);
        return call(...given);
      };
    Object.assign(store, { read: slowly(read), write: slowly(write), entries: slowly(entries) });
    await pass(120_000, [a, b]);
    Object.assign(store, { read, write, entries });
    assert.deepEqual(a.told, [false, true]);
    // What is on its way arrives.
    await pass(2_000, [a, b]);
  });

  it('joins the commands of other copies if it has a group, unless that is switched off', () => {
    const joins = (more: object): boolean => new RedisPresence({ store, clock: a.clock, ...more }).joinsCommands;
    assert.deepEqual([{}, { joinsCommands: true }, { group: 'g' }, { group: 'g', joinsCommands: false }].map(joins), [
      false,
      false,
      true,
      false,
    ]);
  });

  it('knows who it is, and who has ended', async () => {
    await pass(6_000, [a, b]);
    const { id } = a.presence;
    assert.deepEqual([a.presence.isStill(id), a.presence.isStill(b.presence.id)], [true, false]);
    assert.deepEqual([await b.presence.hasEnded(id), await b.presence.hasEnded('never')], [false, true]);
    await a.end();
    await pass(6_000, [b]);
    assert.deepEqual([await b.presence.hasEnded(id), b.presence.others], [true, []]);
    assert.deepEqual(await store.entries('process/').then((all) => all.length), 1);
  });

  it('calls back when another one is gone, until nobody listens, and not while all live', async () => {
    let calls = 0;
    const end = b.presence.onGone(() => (calls += 1));
    await pass(60_000, [a, b]);
    assert.equal(calls, 0);
    await pass(30_000, [b]);
    assert.equal(calls, 1);
    const third = new Process(store, 'third');
    await pass(6_000, [b, third]);
    end();
    await pass(60_000, [b]);
    assert.deepEqual([calls, b.presence.others], [1, []]);
    await third.end();
  });

  it('has the time of the store from its first beat on, and not that of its own clock', async () => {
    const late = new RedisPresence({ store, clock: new ManualClock('2026-06-02T00:00:00Z') });
    assert.equal(late.now(), Date.parse('2026-06-02T00:00:00Z'));
    const before = a.presence.now();
    a.clock.setTime(a.clock.now() + 3_600_000);
    assert.equal(a.presence.now(), before);
    await late.renew();
    assert.equal(late.now(), await store.now());
    await store.remove(`process/${late.id}`);
  });

  it('keeps the time of the store that a quick answer has shown, until a late one contradicts it', async () => {
    let [setBy, answersInMs] = [0, 0];
    store.now = async () => {
      const told = a.clock.now() + setBy;
      if (answersInMs > 0) await a.clock.sleep(answersInMs);
      return told;
    };
    const ahead = (): number => a.presence.now() - a.clock.now();
    await pass(6_000, [a]);
    assert.equal(ahead(), 0);
    answersInMs = 2_500;
    await pass(20_000, [a]);
    assert.equal(ahead(), 0);
    for (setBy of [3_600_000, -60_000]) {
      await pass(20_000, [a]);
      assert.ok(Math.abs(ahead() - setBy) <= answersInMs, `${ahead()} ms after it was set by ${setBy} ms`);
    }
    answersInMs = 0;
    await pass(5_000, [a]);
  });

  it('waits until the store has settled, and says whether it waited', async () => {
    assert.equal(await a.presence.settled(), false);
    store.settlesInMs = 5_000;
    a.clock.after(5_000, () => (store.settlesInMs = 0));
    const settled = a.presence.settled();
    await pass(10_000, [a]);
    assert.equal(await settled, true);
  });
});
