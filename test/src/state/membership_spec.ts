import { strict as assert } from 'node:assert';
import { Membership } from '../../../src/index';
import { StateFault } from '../../../src/state/state-store';
import { sentence } from '../../../src/sentence';
import { ManualClock } from '../../support/manual-clock';
import { SharedMemory } from '../../support/shared-memory';

/** A process with a clock of its own: one that is stopped does not advance. */
class Process {
  readonly clock: ManualClock;
  readonly membership: Membership;
  readonly end: () => Promise<void>;

  constructor(store: SharedMemory, name: string, start: string | number = '2026-06-01T08:00:00Z') {
    this.clock = new ManualClock(start);
    this.membership = new Membership({
      store,
      name,
      clock: this.clock,
    });
    this.end = this.membership.use();
  }
}

describe('the membership of a process in a shared store', () => {
  let store: SharedMemory;
  let a: Process;
  let b: Process;

  const pass = async (ms: number, processes: readonly Process[]): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) for (const { clock } of processes) await clock.advance(500);
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

  it('gives a claim to one member, and to the next when it was released', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    assert.ok(claim.isHeld());
    assert.equal(await b.membership.claim('node/1'), null);
    assert.equal(await a.membership.claim('node/1'), null);
    assert.ok((await b.membership.claim('node/2'))?.isHeld());
    await claim.release();
    assert.equal(claim.isHeld(), false);
    assert.ok((await b.membership.claim('node/1'))?.isHeld());
  });

  it('gives a claim to one of two that ask at the same time', async () => {
    const claims = await Promise.all([a.membership.claim('refresh'), b.membership.claim('refresh')]);
    assert.equal(claims.filter((claim) => claim?.isHeld()).length, 1);
  });

  it('keeps the claim of a member that lives', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    await pass(120_000, [a, b]);
    assert.ok(claim.isHeld());
    assert.equal(await b.membership.claim('node/1'), null);
    assert.deepEqual(b.membership.others, ['first']);
  });

  it('gives the claim of a member that died to another one within 20 seconds, and not before the dead one would doubt it', async () => {
    const held: string[] = [];
    await a.membership.claim('node/1');
    b.membership.hold('node/1', (isHeld) => held.push(`second ${isHeld}`), new AbortController().signal);
    await pass(1_000, [a, b]);
    await pass(10_000, [b]);
    assert.deepEqual(held, []);
    await pass(10_000, [b]);
    assert.deepEqual(held, ['second true']);
    assert.deepEqual(b.membership.others, []);
  });

  it('takes over from a member that died also where it reaches the store for a second at a time', async () => {
    await a.membership.claim('node/1');
    await pass(1_000, [a, b]);
    for (let cuts = 0; cuts < 4; cuts += 1) {
      store.fault = new StateFault('unavailable', sentence`The store is away.`);
      await pass(6_000, [b]);
      store.fault = null;
      await pass(1_500, [b]);
    }
    assert.ok((await b.membership.claim('node/1'))?.isHeld());
  });

  it('does not believe in its claim after it was stopped, and begins again without it', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    await pass(1_000, [a, b]);
    await pass(40_000, [b]);
    assert.ok((await b.membership.claim('node/1'))?.isHeld());
    // The process goes on: its clock has run on, and nothing else has happened yet.
    a.clock.setTime(a.clock.now() + 41_000);
    assert.equal(claim.isHeld(), false);
    await pass(2_000, [a, b]);
    assert.equal(claim.isHeld(), false);
    assert.equal(await a.membership.claim('node/1'), null);
    assert.ok((await a.membership.claim('node/3'))?.isHeld());
  });

  it('doubts its claim after the machine slept, and holds it again when nobody has taken it', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    a.clock.sleepMachine(30_000);
    assert.equal(claim.isHeld(), false);
    await a.membership.renew();
    assert.ok(claim.isHeld());
  });

  it('is not confused by a clock that differs by an hour, nor by one that is set back', async () => {
    const late = new Process(store, 'late', '2026-06-01T09:00:00Z');
    try {
      const claim = (await late.membership.claim('node/1')) ?? assert.fail();
      await pass(30_000, [a, b, late]);
      assert.ok(claim.isHeld());
      assert.equal(await a.membership.claim('node/1'), null);
      late.clock.setTime(Date.parse('2026-06-01T07:00:00Z'));
      await pass(30_000, [a, b, late]);
      assert.ok(claim.isHeld());
      assert.equal(await a.membership.claim('node/1'), null);
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

  it('gives a claim up that it could not release, when the store is back', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    store.fault = new StateFault('unavailable', sentence`The store is away.`);
    await claim.release();
    store.fault = null;
    await pass(6_000, [a, b]);
    assert.ok((await b.membership.claim('node/1'))?.isHeld());
  });

  it('does not release what it holds again meanwhile', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    store.fault = new StateFault('unavailable', sentence`The store is away.`);
    await claim.release();
    store.fault = null;
    const again = (await a.membership.claim('node/1')) ?? assert.fail();
    await pass(6_000, [a, b]);
    assert.ok(again.isHeld());
    assert.equal(await b.membership.claim('node/1'), null);
  });

  it('gives its claims up within 3 seconds when it ends', async () => {
    const held: boolean[] = [];
    await a.membership.claim('node/1');
    b.membership.hold('node/1', (isHeld) => held.push(isHeld), new AbortController().signal);
    await pass(10_000, [a, b]);
    assert.deepEqual(held, []);
    await a.end();
    await pass(3_000, [b]);
    assert.deepEqual(held, [true]);
  });

  it('lasts as long as one of its users, and begins again with the next one', async () => {
    const [end, again] = [a.membership.use(), a.end];
    await again();
    await pass(20_000, [a, b]);
    assert.deepEqual(b.membership.others, ['first']);
    await end();
    await pass(3_000, [a, b]);
    assert.deepEqual(b.membership.others, []);
    const last = a.membership.use();
    await pass(4_000, [a, b]);
    assert.deepEqual(b.membership.others, ['first']);
    await last();
  });

  it('releases what it holds when the signal is aborted', async () => {
    const closing = new AbortController();
    a.membership.hold('node/1', () => undefined, closing.signal);
    await pass(1_000, [a]);
    assert.equal(await b.membership.claim('node/1'), null);
    closing.abort();
    await pass(1_000, [a]);
    assert.ok((await b.membership.claim('node/1'))?.isHeld());
  });

  it('reports when a claim is lost because the store is away, and takes it again when it is back', async () => {
    const held: boolean[] = [];
    a.membership.hold('node/1', (isHeld) => held.push(isHeld), new AbortController().signal);
    await pass(1_000, [a, b]);
    store.fault = new StateFault('unavailable', sentence`The store is away.`);
    await pass(7_000, [a, b]);
    assert.deepEqual(held, [true]);
    await pass(60_000, [a, b]);
    assert.deepEqual(held, [true, false]);
    store.fault = null;
    await pass(10_000, [a, b]);
    assert.deepEqual(held, [true, false, true]);
    // No member was ended, because no member could be seen.
    assert.deepEqual(b.membership.others, ['first']);
  });

  it('keeps its claim where the answers of the store are lost for some seconds', async () => {
    const claim = (await a.membership.claim('node/1')) ?? assert.fail();
    const lost = new StateFault('unavailable', sentence`The answer is lost.`);
    const { write } = store;
    const { id } = a.membership;
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
    assert.ok(claim.isHeld());
    assert.equal(a.membership.id, id);
    assert.deepEqual(b.membership.others, ['first']);
  });

  it('keeps its claim with a store that takes a second for each answer', async () => {
    const held: boolean[] = [];
    a.membership.hold('node/1', (isHeld) => held.push(isHeld), new AbortController().signal);
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
    assert.deepEqual(held, [true]);
    // What is on its way arrives.
    await pass(2_000, [a, b]);
  });

  it('rejects a claim while the store is away', async () => {
    await pass(1_000, [a]);
    store.fault = new StateFault('unavailable', sentence`The store is away.`);
    await assert.rejects(a.membership.claim('node/1'), { code: 'STORE_UNAVAILABLE' });
  });

  it('joins the commands of other copies where it has a group, unless it does not want to', () => {
    const joins = (more: object): boolean => new Membership({ store, clock: a.clock, ...more }).joinsCommands;
    assert.deepEqual([{}, { joinsCommands: true }, { group: 'g' }, { group: 'g', joinsCommands: false }].map(joins), [
      false,
      false,
      true,
      false,
    ]);
  });

  it('knows who it is, and who has ended', async () => {
    await pass(6_000, [a, b]);
    const { id } = a.membership;
    assert.deepEqual([a.membership.isStill(id), a.membership.isStill(b.membership.id)], [true, false]);
    assert.deepEqual([await b.membership.hasEnded(id), await b.membership.hasEnded('never')], [false, true]);
    await a.end();
    await pass(6_000, [b]);
    assert.deepEqual([await b.membership.hasEnded(id), b.membership.others], [true, []]);
    assert.deepEqual(await store.entries('member/').then((all) => all.length), 1);
  });

  it('calls back when another one is gone, until nobody listens, and not while all live', async () => {
    let calls = 0;
    const listening = new AbortController();
    b.membership.onGone(() => (calls += 1), listening.signal);
    await pass(60_000, [a, b]);
    assert.equal(calls, 0);
    await pass(30_000, [b]);
    assert.equal(calls, 1);
    const third = new Process(store, 'third');
    await pass(6_000, [b, third]);
    listening.abort();
    await pass(60_000, [b]);
    assert.deepEqual([calls, b.membership.others], [1, []]);
    await third.end();
  });

  it('has the time of the store from its first beat on, and not that of its own clock', async () => {
    const late = new Membership({ store, clock: new ManualClock('2026-06-02T00:00:00Z') });
    assert.equal(late.now(), Date.parse('2026-06-02T00:00:00Z'));
    const before = a.membership.now();
    a.clock.setTime(a.clock.now() + 3_600_000);
    assert.equal(a.membership.now(), before);
    await late.renew();
    assert.equal(late.now(), await store.now());
    await store.remove(`member/${late.id}`);
  });

  it('lasts until each use has ended, however often one ends it', async () => {
    const again = a.membership.use();
    await again();
    await again();
    await pass(20_000, [a, b]);
    assert.deepEqual(b.membership.others, ['first']);
  });

  it('takes no claim for a signal that is aborted already, and none again after it was aborted', async () => {
    const held: boolean[] = [];
    const over = new AbortController();
    over.abort();
    a.membership.hold('node/1', (isHeld) => held.push(isHeld), over.signal);
    const holding = new AbortController();
    a.membership.hold('node/2', (isHeld) => held.push(isHeld), holding.signal);
    await pass(6_000, [a, b]);
    assert.deepEqual([held, await b.membership.claim('node/2')], [[true], null]);
    holding.abort();
    await pass(6_000, [a, b]);
    assert.deepEqual(held, [true], 'without a call');
    for (const name of ['node/1', 'node/2']) assert.ok((await b.membership.claim(name))?.isHeld(), name);
  });
});
