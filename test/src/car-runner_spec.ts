import { strict as assert } from 'node:assert';
import { CarEvents, CarRunner, Guard, MemoryStateStore, type StateStore } from '../../src/index';
import { ManualClock } from '../support/manual-clock';
import { clientOf, vin } from './events/event-runners';

const { signal } = new AbortController();
const minute = 60_000;

/** A store whose writes are counted, and that fails as long as a test wants it to. */
class CountingStore extends MemoryStateStore {
  writes = 0;
  fails = false;

  override async write(...args: Parameters<StateStore['write']>): Promise<string | null> {
    // A disk takes longer than whoever does not wait for it.
    await new Promise(setImmediate);
    if (this.fails) throw new Error('no space');
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
