import { strict as assert } from 'node:assert';
import { asSentence, CarEvents, CarRunner, Guard, MemoryStateStore, type StateStore } from '../../src/index';
import { StateFault } from '../../src/state/state-store';
import { ManualClock } from '../support/manual-clock';
import { clientOf, vin } from './events/event-runners';

const { signal } = new AbortController();
const minute = 60_000;

const away = (): StateFault => new StateFault('unavailable', asSentence('The shared store is away.'));

/** A store whose writes are counted, and that fails as long as a test wants it to. */
class CountingStore extends MemoryStateStore {
  writes = 0;
  fails = false;
  /** A shared store is away; `after-writing`: only its answer is lost. */
  away: boolean | 'after-writing' = false;

  override async read(...args: Parameters<StateStore['read']>): ReturnType<StateStore['read']> {
    if (this.away !== false) throw away();
    return super.read(...args);
  }

  override async write(...args: Parameters<StateStore['write']>): Promise<string | null> {
    // A disk takes longer than whoever does not wait for it.
    await new Promise(setImmediate);
    if (this.fails) throw new Error('no space');
    if (this.away === true) throw away();
    if (this.away === 'after-writing') {
      await super.write(...args);
      throw away();
    }
    this.writes += 1;
    return super.write(...args);
  }
}

describe('The runner of guard and events', () => {
  let clock: ManualClock;
  let store: CountingStore;
  let windows: string;
  let saveFailures: number;

  beforeEach(() => {
    clock = new ManualClock('2026-06-01T08:00:00Z');
    store = new CountingStore();
    windows = 'CLOSED';
    saveFailures = 0;
  });
  afterEach(() => assert.equal(clock.sleeping, 0));

  const client = clientOf(() => ({
    at: clock.now(),
    payloads: { windows: { frontLeft: { value: windows, timestamp: null } } },
    receivedAt: {},
  }));
  const options = () => ({
    client,
    vin,
    store,
    key: 'guard/node',
    clock,
    onSaveFailed: () => void (saveFailures += 1),
    onDropped: () => assert.fail('nothing is dropped'),
  });
  const openEvents = () => CarRunner.open(new CarEvents({ events: ['window-opened', 'window-closed'] }), options());
  const openGuard = () => CarRunner.open(new Guard({ minutes: 5, watch: ['frontLeftWindow'] }), options());
  const names = (events: readonly { event: string }[]): string[] => events.map(({ event }) => event);

  for (const lost of [true, 'after-writing'] as const)
    it(`sends nothing while a shared store is away, and each event once when it is back${lost === true ? '' : ', also one that the store took'}`, async () => {
      const runner = await openEvents();
      await runner.poll(['windows'], signal);
      windows = 'OPEN';
      store.away = lost;
      const first = await runner.poll(['windows'], signal);
      assert.deepEqual([first.events, first.failure?.code, first.isNewFailure], [[], 'STORE_UNAVAILABLE', true]);
      store.away = true;
      const second = await runner.poll(['windows'], signal);
      assert.deepEqual([second.events, second.failure?.code, second.isNewFailure], [[], 'STORE_UNAVAILABLE', false]);
      store.away = false;
      const third = await runner.poll(['windows'], signal);
      assert.deepEqual([names(third.events), third.failure, runner.fault], [['window-opened'], null, null]);
      await runner.markSent(third.events);
      assert.deepEqual((await runner.poll(['windows'], signal)).events, []);
      await runner.end();
      assert.deepEqual((await openEvents()).takeUnsent(), []);
      assert.equal(saveFailures, 0);
    });

  it('does not send again what it sent while the store could not note it', async () => {
    const runner = await openEvents();
    await runner.poll(['windows'], signal);
    windows = 'OPEN';
    const { events } = await runner.poll(['windows'], signal);
    store.away = true;
    await runner.markSent(events);
    store.away = false;
    assert.deepEqual((await runner.poll(['windows'], signal)).events, []);
    const next = await openEvents();
    assert.deepEqual(next.takeUnsent(), []);
  });

  it('leaves what another copy has stored alone until it takes over', async () => {
    const one = await openEvents();
    await one.poll(['windows'], signal);
    let isActive = false;
    const other = await CarRunner.open(new CarEvents({ events: ['window-opened', 'window-closed'] }), {
      ...options(),
      isActive: () => isActive,
    });
    windows = 'OPEN';
    const { events } = await one.poll(['windows'], signal);
    assert.deepEqual(names(events), ['window-opened']);
    assert.deepEqual(other.takeUnsent(), []);
    await other.end();
    assert.deepEqual(other.takeUnsent(), []);
    // The first one was killed before it had sent them.
    isActive = true;
    await other.takeOver();
    assert.deepEqual(names(other.takeUnsent()), ['window-opened']);
  });

  it('sends with its next step what another copy has left, where the store is away when it takes over', async () => {
    const one = await openEvents();
    await one.poll(['windows'], signal);
    let isActive = false;
    const other = await CarRunner.open(new CarEvents({ events: ['window-opened', 'window-closed'] }), {
      ...options(),
      isActive: () => isActive,
    });
    windows = 'OPEN';
    await one.poll(['windows'], signal);
    isActive = true;
    store.away = true;
    await assert.rejects(other.takeOver(), { code: 'STORE_UNAVAILABLE' });
    store.away = false;
    const { events } = await other.poll(['windows'], signal);
    assert.deepEqual(names(events), ['window-opened']);
    await other.markSent(events);
    assert.deepEqual((await other.poll(['windows'], signal)).events, []);
  });

  it('takes a step again on what another process has written meanwhile, so that a change is one event', async () => {
    const one = await openEvents();
    await one.poll(['windows'], signal);
    const other = await openEvents();
    windows = 'OPEN';
    await clock.advance(minute);
    assert.deepEqual(names((await one.poll(['windows'], signal)).events), ['window-opened']);
    assert.deepEqual(names((await other.poll(['windows'], signal)).events), []);
    windows = 'CLOSED';
    await clock.advance(minute);
    assert.deepEqual(names((await other.poll(['windows'], signal)).events), ['window-closed']);
  });

  it('writes nothing while nothing changes, however often the car is read', async () => {
    const guard = await openGuard();
    await guard.poll(['windows'], signal);
    const { writes } = store;
    for (let polls = 0; polls < 10; polls += 1) {
      await clock.advance(minute);
      await guard.poll(['windows'], signal);
    }
    assert.equal(store.writes, writes);
    await guard.end();
    assert.equal(store.writes, writes + 1, 'the times of the last answer');
  });

  it('stores an alert with the state that it follows from, and gives it out again unless it was sent', async () => {
    const guard = await openGuard();
    windows = 'OPEN';
    await guard.poll(['windows'], signal);
    await clock.advance(5 * minute);
    const events = await guard.step({ type: 'tick' });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['alert'],
    );
    // The process is killed here, and the next one is killed, too.
    assert.deepEqual((await openGuard()).takeUnsent(), events);
    const restarted = await openGuard();
    assert.deepEqual(restarted.takeUnsent(), events);
    assert.deepEqual(restarted.takeUnsent(), []);
    await restarted.markSent(events);
    const last = await openGuard();
    assert.deepEqual(last.takeUnsent(), []);
    assert.deepEqual(await last.step({ type: 'tick' }), [], 'it was alerted');
    for (const runner of [guard, restarted, last]) await runner.end();
  });

  it('goes on without a disk, says so once, and stores everything when it can again', async () => {
    const events = await openEvents();
    await events.poll(['windows'], signal);
    store.fails = true;
    for (const state of ['OPEN', 'CLOSED', 'OPEN']) {
      windows = state;
      await clock.advance(minute);
      assert.equal((await events.poll(['windows'], signal)).events.length, 1);
    }
    assert.equal(saveFailures, 1);
    store.fails = false;
    await clock.advance(minute);
    await events.poll(['windows'], signal);
    windows = 'CLOSED';
    assert.deepEqual(names((await (await openEvents()).poll(['windows'], signal)).events), ['window-closed']);
  });
});
