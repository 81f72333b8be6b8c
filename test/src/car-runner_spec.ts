import { strict as assert } from 'node:assert';
import { asSentence, CarEvents, CarRunner, Guard, MemoryStateStore, type StateStore } from '../../src/index';
import { StateFault } from '../../src/state/state-store';
import { ManualClock } from '../support/manual-clock';
import { clientOf, unsentOf, vin } from './events/event-runners';

const { signal } = new AbortController();
const minute = 60_000;

const away = (): StateFault => new StateFault('unavailable', asSentence('The shared store is away.'));

/** A store whose writes are counted, and that fails as long as a test wants it to. */
class CountingStore extends MemoryStateStore {
  writes = 0;
  fails = false;
  /** A shared store is away; `after-writing`: only its answer is lost. */
  away: boolean | 'after-writing' = false;
  /** Before each write, another process writes. */
  interferes = false;

  override async read(...args: Parameters<StateStore['read']>): ReturnType<StateStore['read']> {
    if (this.away !== false) throw away();
    return super.read(...args);
  }

  override async write(...args: Parameters<StateStore['write']>): Promise<string | null> {
    // A disk takes longer than a caller that does not wait for it.
    await new Promise(setImmediate);
    if (this.fails) throw new Error('no space');
    if (this.interferes) await super.write(args[0], (await this.read(args[0]))?.value);
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
    it(`sends nothing while a shared store is unavailable, and each event once when it is back${lost === true ? '' : ', also one that the store took'}`, async () => {
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
      assert.deepEqual(await unsentOf(await openEvents()), []);
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
    assert.deepEqual(await unsentOf(next), []);
  });

  describe('with other copies of the flow', () => {
    /** The process of a copy: paused, it has beaten for the last time more than ten seconds ago. */
    class OtherProcess {
      isPaused = false;
      isLeading = true;
      static ended = new Set<string>();
      constructor(public id: string) {}
      isStill = (id: string): boolean => id === this.id && !this.isPaused;
      sharedId = (key: string, car?: string): string => `${key}/${car}`;
      hasEnded = async (id: string): Promise<boolean> => id === '' || OtherProcess.ended.has(id);
      /** After 15 seconds, another one ends it. */
      end(): void {
        OtherProcess.ended.add(this.id);
      }
    }
    let one: OtherProcess;
    let other: OtherProcess;
    beforeEach(() => {
      OtherProcess.ended.clear();
      [one, other] = [new OtherProcess('one'), new OtherProcess('other')];
    });
    const openAs = (presence: OtherProcess) =>
      CarRunner.open(new CarEvents({ events: ['window-opened', 'window-closed'] }), { ...options(), presence });

    it('leaves what another process has stored to that one until it has ended, also when another one reads the car', async () => {
      const first = await openAs(one);
      await first.poll(['windows'], signal);
      const second = await openAs(other);
      windows = 'OPEN';
      const { events } = await first.poll(['windows'], signal);
      assert.deepEqual(names(events), ['window-opened']);
      for (let polls = 0; polls < 3; polls += 1) assert.deepEqual((await second.poll(['windows'], signal)).events, []);
      assert.ok(first.mayBeSent(events));
      one.end();
      assert.deepEqual((await second.poll(['windows'], signal)).events, events);
      assert.ok(second.mayBeSent(events));
      await second.markSent(events);
      assert.deepEqual(await unsentOf(await openAs(new OtherProcess('third'))), []);
    });

    it('lets a process that was paused before it sent say whether it still may, and returns what was not sent once more', async () => {
      const first = await openAs(one);
      await first.poll(['windows'], signal);
      windows = 'OPEN';
      const { events } = await first.poll(['windows'], signal);
      one.isPaused = true;
      assert.ok(!first.mayBeSent(events));
      one.isPaused = false;
      assert.ok(first.mayBeSent(events), 'nobody has ended it');
      first.release(events);
      assert.deepEqual(await unsentOf(first), events);
      // Another process has ended it, and it continues under another id.
      one.end();
      one.id = 'one again';
      assert.ok(!first.mayBeSent(events));
      first.release(events);
      const second = await openAs(other);
      assert.deepEqual(await unsentOf(second), events);
      assert.deepEqual([await unsentOf(first), await unsentOf(first)], [[], []]);
      await second.markSent(events);
      assert.deepEqual(await unsentOf(first), []);
    });

    it('leaves what was not sent at a deploy to the process that reads the car', async () => {
      one.isLeading = false;
      const first = await openAs(one);
      await first.poll(['windows'], signal);
      windows = 'OPEN';
      const { events } = await first.poll(['windows'], signal);
      await first.end();
      assert.deepEqual(await unsentOf(await openAs(other)), events);
    });

    it('sends nothing that is not stored if others change the record each time, and reports it', async () => {
      const runner = await openAs(one);
      await runner.poll(['windows'], signal);
      windows = 'OPEN';
      store.interferes = true;
      const { events, failure } = await runner.poll(['windows'], signal);
      assert.deepEqual([events, failure?.code], [[], 'STORE_UNAVAILABLE']);
      assert.match(String(failure?.message), /refused the same change 100 times/);
      store.interferes = false;
      assert.deepEqual(names(await unsentOf(runner)), []);
      assert.deepEqual(names((await runner.poll(['windows'], signal)).events), ['window-opened']);
    });
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
    // The process is killed here, and the next one also.
    assert.deepEqual(await (await openGuard()).step({ type: 'tick' }), events);
    const restarted = await openGuard();
    assert.deepEqual(await restarted.step({ type: 'tick' }), events);
    assert.deepEqual(await restarted.step({ type: 'tick' }), []);
    await restarted.markSent(events);
    const last = await openGuard();
    assert.deepEqual(await last.step({ type: 'tick' }), [], 'it was alerted');
    for (const runner of [guard, restarted, last]) await runner.end();
  });

  it('continues without a disk, reports that once, and stores everything when it can again', async () => {
    const events = await openEvents();
    await events.poll(['windows'], signal);
    store.fails = true;
    for (const state of ['OPEN', 'CLOSED', 'OPEN']) {
      windows = state;
      await clock.advance(minute);
      const polled = await events.poll(['windows'], signal);
      assert.equal(polled.events.length, 1);
      await events.markSent(polled.events);
    }
    assert.equal(saveFailures, 1);
    store.fails = false;
    await clock.advance(minute);
    await events.poll(['windows'], signal);
    windows = 'CLOSED';
    assert.deepEqual(names((await (await openEvents()).poll(['windows'], signal)).events), ['window-closed']);
  });
});
