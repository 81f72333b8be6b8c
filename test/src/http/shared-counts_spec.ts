import { strict as assert } from 'node:assert';
import { Membership } from '../../../src/index';
import { asSentence } from '../../../src/sentence';
import { SharedQuota, type Quota, type SharedCounts } from '../../../src/http/shared-quota';
import { StateFault } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { SharedMemory } from '../../support/shared-memory';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const key = 'quota/key';
const limits: Quota = { requestsPerDay: 1_000, requestsPerMinute: 100, commandsPerMinute: 10 };
/** Five seconds before a step of half an hour, in which the requests of a day are counted. */
const begin = Date.parse('2026-06-01T08:29:55Z');
const firstStep = Date.parse('2026-06-02T08:30:00Z');
const nextStep = Date.parse('2026-06-02T09:00:00Z');

describe('the counts of a key in the store', () => {
  let clock: ManualClock;
  let store: SharedMemory;
  let reads: number;
  let ends: (() => Promise<void>)[];

  beforeEach(() => {
    // Monotonic time and the clock of the store differ.
    clock = new ManualClock(5e9);
    clock.setTime(begin);
    store = new SharedMemory(clock);
    const read = store.read;
    reads = 0;
    store.read = (name) => {
      if (name === key) reads += 1;
      return read(name);
    };
    ends = [];
  });
  afterEach(async () => {
    store.fault = null;
    await Promise.all(ends.map((end) => end()));
  });

  /** What the process was told last. */
  let told: { counts: SharedCounts; toMonotonic: (time: number) => number };
  const start = async (own: Quota | null = limits): Promise<SharedQuota> => {
    const membership = new Membership({ store, group: 'flows', clock, uptime: () => clock.monotonic() / 1_000 });
    ends.push(membership.use());
    await clock.advance(0);
    const onCounts = (counts: SharedCounts, toMonotonic: (time: number) => number): void => {
      told = { counts, toMonotonic };
    };
    return new SharedQuota({ membership, key, clock, limits: () => own, onCounts });
  };
  // A cast: only the quota writes the record.
  const stored = async (): Promise<SharedCounts> => (await store.read(key))?.value as SharedCounts;
  const sizes = async (): Promise<number[]> => (await stored()).minute.map(({ count }) => count);
  const shares = async (): Promise<number[]> => (await stored()).shares.map(({ share }) => share);
  const take = async (quota: SharedQuota, count = 1, room = 1_000): Promise<void> => {
    for (let taken = 0; taken < count; taken += 1) assert.equal(await quota.take('connected', false, () => room), true);
  };
  const away = (): void => {
    store.fault = new StateFault('unavailable', asSentence('Away.'));
  };

  it('are those of blocks, of which each is twice as large as the one before, up to a quarter of a minute', async () => {
    const quota = await start();
    await take(quota);
    const single = { until: begin + 61 * second, count: 1, id: '' };
    assert.deepEqual(await stored(), {
      minute: [single],
      commands: [],
      day: { connected: [[firstStep, 1]], energy: [], location: [] },
      pauses: { connected: null, energy: null, location: null },
      limits: [{ ...limits, until: begin + 15 * minute }],
      shares: [{ id: (await stored()).shares[0]?.id, until: begin + day, share: 0.5 }],
    });
    assert.equal(told.toMonotonic(begin + 7), 5e9 + 7);
    assert.deepEqual(told.counts, await stored());
    await take(quota, 56);
    const { minute: blocks, day: ofDay, limits: known } = await stored();
    assert.deepEqual(await sizes(), [1, 2, 4, 8, 16, 25, 25]);
    assert.deepEqual(ofDay.connected, [[firstStep, 81]]);
    assert.deepEqual(blocks[0], single);
    assert.deepEqual(new Set(blocks.slice(1).map(({ until }) => until)), new Set([begin + 70 * second]));
    assert.equal(new Set(blocks.map(({ id }) => id)).size, 7);
    assert.equal(known.length, 1);
    await clock.advance(61 * second);
    await take(quota);
    const left = told.counts.minute.map(({ count }) => count);
    assert.deepEqual(left, [2, 4, 8, 16, 25, 1, 1], 'the last block was used once');
  });

  it('leave out what was not used of a block, in the half hour in which it was taken', async () => {
    const quota = await start();
    await take(quota, 4);
    assert.deepEqual([await sizes(), (await stored()).day.connected], [[1, 2, 4], [[firstStep, 7]]]);
    await clock.advance(8_999);
    assert.deepEqual([quota.hasBlock('connected'), quota.hasBlock('energy')], [true, false]);
    await clock.advance(1);
    assert.equal(quota.hasBlock('connected'), false);
    await take(quota);
    assert.deepEqual(await sizes(), [1, 2, 1, 1]);
    const expected = [
      [firstStep, 4],
      [nextStep, 1],
    ];
    assert.deepEqual((await stored()).day.connected, expected);
  });

  it('have each command by itself, which takes nothing of a block', async () => {
    const quota = await start();
    await take(quota, 2);
    assert.equal(await quota.take('connected', true, () => 1), true);
    const { minute: all, commands } = await stored();
    assert.deepEqual(commands, [begin + 61 * second]);
    assert.deepEqual(told.counts.commands, commands);
    assert.deepEqual(all.at(-1), { until: begin + 61 * second, count: 1, id: '' });
    await take(quota, 2);
    assert.deepEqual(await sizes(), [1, 2, 1, 4]);
    await clock.advance(61 * second);
    await take(quota);
    assert.deepEqual(told.counts.commands, []);
  });

  it('have the limits of each process for a quarter of an hour, and no block where one of them is 30 a minute', async () => {
    const quota = await start();
    await take(quota);
    const strict = { ...limits, requestsPerMinute: 30 };
    const other = await start(strict);
    await take(other, 3);
    assert.deepEqual(await sizes(), [1, 1, 1, 1]);
    await quota.load();
    assert.deepEqual(
      quota.limits.map(({ requestsPerMinute }) => requestsPerMinute),
      [100, 30],
    );
    await take(quota, 2);
    assert.deepEqual(await sizes(), [1, 1, 1, 1, 1, 1]);
    await clock.advance(15 * minute - 1);
    assert.equal(quota.limits.length, 2);
    await clock.advance(1);
    assert.deepEqual(quota.limits, []);
    await take(quota, 3);
    assert.deepEqual(await sizes(), [1, 2]);
    assert.equal((await stored()).limits.length, 1);
    for (const own of [{ requestsPerDay: 2_000 }, { commandsPerMinute: 20 }])
      await take(await start({ ...limits, ...own }));
    assert.equal((await stored()).limits.length, 3);
    const { length } = (await stored()).shares;
    await (await start(null)).take('energy', true, () => 1);
    assert.equal((await stored()).shares.length, length, 'an account without limits has no share');
  });

  it('leave a tenth to processes that do not reach the store, and a part of it to one more process', async () => {
    const [one, other, third] = [await start(), await start(), await start()];
    await take(one);
    assert.equal(one.size('requestsPerMinute', 'connected', 96, 0), 96);
    await take(other);
    await one.load();
    assert.equal(one.size('requestsPerMinute', 'connected', 96, 0), 87);
    assert.equal(one.size('commandsPerMinute', 'connected', 10, 0), 10);
    assert.deepEqual(await shares(), [1 / 2, 1 / 3]);
    await take(third);
    assert.deepEqual(await shares(), [1 / 2, 1 / 3, 1 - (1 / 2 + 1 / 3)]);
    await take(one, 2);
    assert.deepEqual((await shares()).at(-1), 1 / 4);
    // Each block is at most a quarter of a minute, divided by the three processes.
    await clock.advance(15 * second);
    await take(one, 40);
    assert.equal(Math.max(...(await sizes())), 8);
    clock.skip(day);
    await one.load();
    await take(one);
    assert.deepEqual(await shares(), [1 / 2], 'the others were silent for a day');
  });

  it('hold at most 100 shares, whose sum is at most 1', async () => {
    const quota = await start();
    await take(quota);
    const many = Array.from({ length: 120 }, (_, count) => ({ id: String(count), until: begin + day, share: 0.01 }));
    await store.write(key, { ...(await stored()), shares: many });
    await take(quota);
    assert.deepEqual(
      (await stored()).shares.slice(0, -1).map(({ id }) => id),
      many.slice(21).map(({ id }) => id),
    );
    await store.write(key, { ...(await stored()), shares: many.map((one) => ({ ...one, share: 0.02 })) });
    await clock.advance(9 * second);
    await take(quota);
    assert.equal((await shares()).at(-1), 0);
  });

  it('are read again where they are 200 ms old and leave no room, and not before', async () => {
    const quota = await start();
    await quota.load();
    const readsOf = async (): Promise<number> => {
      const before = reads;
      assert.equal(await quota.take('connected', false, () => 0), false);
      return reads - before;
    };
    await clock.advance(199);
    assert.equal(await readsOf(), 0);
    await clock.advance(1);
    assert.equal(await readsOf(), 1);
  });

  it('are written by no process that has never read them, and by none for a command, while the store is away', async () => {
    const [quota, late] = [await start(), await start()];
    await take(quota);
    away();
    await assert.rejects(
      late.take('connected', false, () => 1),
      StateFault,
    );
    await assert.rejects(
      quota.take('connected', true, () => 1),
      StateFault,
    );
    assert.equal(await quota.take('connected', false, () => 1), true);
    assert.deepEqual(told.counts.commands, []);
    assert.equal(await quota.take('connected', false, () => 0), false);
    store.fault = new StateFault('newer', 'quota');
    await assert.rejects(
      quota.take('connected', false, () => 1),
      { fault: 'newer' },
    );
    await assert.rejects(quota.load(), StateFault);
  });

  it('allow a process that does not reach the store its share, of each minute and of each day', async () => {
    const [one, other] = [await start(), await start()];
    await take(other);
    await take(one);
    assert.deepEqual(await shares(), [1 / 2, 1 / 3]);
    const sizesOf = (used: number): number[] =>
      (
        [
          ['requestsPerMinute', 'connected', 96],
          ['requestsPerMinute', 'energy', 96],
          ['requestsPerDay', 'connected', 960],
          ['requestsPerDay', 'energy', 960],
        ] as const
      ).map(([of, api, limit]) => one.size(of, api, limit, used));
    away();
    await take(one);
    assert.deepEqual(told.counts.minute.at(-1), { until: begin + 61 * second, count: 1, id: '' });
    assert.deepEqual(sizesOf(5), [7, 7, 36, 37]);
    assert.deepEqual(sizesOf(95), [96, 96, 126, 127], 'never more than the limit');
    await clock.advance(61 * second - 1);
    assert.deepEqual(sizesOf(0), [2, 2, 31, 32]);
    await clock.advance(1);
    assert.deepEqual(sizesOf(0), [3, 3, 31, 32]);
    clock.skip(day - 61 * second - 1);
    assert.deepEqual(sizesOf(0), [3, 3, 31, 32]);
    clock.skip(1);
    assert.deepEqual(sizesOf(0), [0, 0, -1, 0], 'a share lasts a day');
    clock.skip(second);
    assert.deepEqual(sizesOf(0), [0, 0, 0, 0]);
  });

  it('have what was sent while the store was away once, at its time', async () => {
    const quota = await start();
    await take(quota);
    away();
    await take(quota);
    await clock.advance(10 * second);
    await quota.take('energy', false, () => 1);
    await clock.advance(5 * second);
    store.fault = null;
    await quota.load();
    assert.deepEqual(await sizes(), [1], 'not yet written');
    for (let count = 0; count < 2; count += 1) {
      assert.equal(await quota.take('location', true, () => 1), true);
      const { minute: all, day: ofDay } = await stored();
      const times = [begin, begin, begin + 10 * second, ...Array<number>(count + 1).fill(begin + 15 * second)];
      assert.deepEqual(
        all.map(({ until, id }) => [until, id]).sort(),
        times.map((time) => [time + 61 * second, '']),
      );
      assert.deepEqual(ofDay, {
        connected: [[firstStep, 2]],
        energy: [[nextStep, 1]],
        location: [[nextStep, count + 1]],
      });
      await quota.load();
    }
    // What is older than a day, and a second for the way, is not counted any more.
    await store.remove(key);
    away();
    await take(quota);
    store.fault = null;
    for (const [ms, count] of [
      [day, 1],
      [second, 0],
    ] as const) {
      clock.skip(ms);
      await quota.load();
      assert.equal(told.counts.day.connected.length, count);
    }
  });

  it('have a pause until the latest time that was asked for, by the clock of the store', async () => {
    const quota = await start();
    // The clock of this machine is set.
    clock.setTime(clock.now() + 3_600 * second);
    await quota.pause('QUOTA_SPENT', clock.now() + 5 * minute, ['energy']);
    const pause = { code: 'QUOTA_SPENT', until: begin + 5 * minute };
    assert.deepEqual((await stored()).pauses, { connected: null, energy: pause, location: null });
    await quota.pause('RATE_LIMITED', clock.now() + 5 * minute, ['connected', 'energy']);
    assert.deepEqual((await stored()).pauses.energy, pause);
    assert.deepEqual((await stored()).pauses.connected, { ...pause, code: 'RATE_LIMITED' });
    await quota.pause('RATE_LIMITED', clock.now() + 6 * minute, ['energy']);
    assert.deepEqual((await stored()).pauses.energy, { code: 'RATE_LIMITED', until: begin + 6 * minute });
  });

  it('end the blocks of a process with a pause of another one, unless that is over', async () => {
    const [one, other] = [await start(), await start()];
    await take(one, 2);
    assert.equal(one.hasBlock('connected'), true);
    await other.pause('RATE_LIMITED', clock.now(), ['connected']);
    await one.load();
    assert.equal(one.hasBlock('connected'), true);
    await other.pause('RATE_LIMITED', clock.now() + 1, ['connected']);
    await one.load();
    assert.equal(one.hasBlock('connected'), false);
    for (const api of ['energy', 'energy', 'location', 'location'] as const) await one.take(api, false, () => 9);
    await one.pause('RATE_LIMITED', clock.now(), ['energy']);
    assert.deepEqual([one.hasBlock('energy'), one.hasBlock('location')], [false, true]);
  });

  it('have neither the share nor the unused requests of a process that has ended', async () => {
    const [quota, other, idle] = [await start(), await start(), await start()];
    await take(quota, 4);
    for (let count = 0; count < 2; count += 1) await quota.take('energy', false, () => 9);
    await take(other);
    await quota.end();
    assert.deepEqual([await sizes(), await shares()], [[1, 2, 1, 1, 1, 1], [1 / 3]]);
    const { connected, energy } = (await stored()).day;
    assert.deepEqual([connected, energy], [[[firstStep, 5]], [[firstStep, 2]]]);
    assert.equal(quota.hasBlock('connected'), false);
    const { version } = (await store.read(key)) ?? {};
    await idle.load();
    for (const one of [quota, idle]) await one.end();
    assert.equal((await store.read(key))?.version, version);
    await take(quota);
    assert.deepEqual((await stored()).day.connected, [[firstStep, 6]], 'nothing is returned twice');
  });

  it('begin again where the record is damaged', async () => {
    const quota = await start();
    await store.write(key, { minute: 'none' });
    await take(quota);
    assert.deepEqual(await sizes(), [1]);
  });
});
