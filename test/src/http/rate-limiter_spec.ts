import { strict as assert } from 'node:assert';
import { getEventListeners } from 'node:events';
import { VehicleError, type ErrorCode } from '../../../src/errors';
import { RateLimiter, type AcquireOptions, type RequestKind } from '../../../src/http/rate-limiter';
import type { Quota, RateLimitCode } from '../../../src/http/quota-counts';
import type { ApiName } from '../../../src/catalogue/reads';
import { DirectoryInUse } from '../../../src/state/owner';
import { MemoryStateStore } from '../../../src/state/state-store';
import { countWrites } from '../../support/count-writes';
import { ManualClock } from '../../support/manual-clock';
import { firstSeed, Random, times } from '../../support/random';
import { watched } from '../../support/watched';
import { failureOf } from '../../support/failure';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const start = Date.parse('2026-06-01T08:00:00Z');
/**
 * How late a place may become free: the windows count in whole seconds, and a second more for
 * the way to the service.
 */
const nextMinute = 62 * second;
/** The same for a day, which is counted in steps of five minutes. */
const nextDay = 24 * hour + 5 * minute + second;

describe('the rate limiter of an API key', () => {
  let clock: ManualClock;
  const usual: Quota = { requestsPerDay: 10_000, requestsPerMinute: 100, commandsPerMinute: 10 };
  /** The limiters with the end of their use. */
  const limiters = new Map<RateLimiter, () => Promise<void>>();
  const limiterOf = ({
    store = new MemoryStateStore(),
    reserveForCommands = 0,
    ...limits
  }: Partial<Quota> & { store?: MemoryStateStore; reserveForCommands?: number } = {}): RateLimiter => {
    const limiter = new RateLimiter({ reserveForCommands, clock, store, key: 'quota/key' });
    limiters.set(limiter, limiter.use({ ...usual, ...limits }));
    return limiter;
  };
  const close = async (limiter: RateLimiter): Promise<void> => limiters.get(limiter)?.();
  /**
   * Asks for a request to the connected API that waits 30 seconds at most, unless `options`
   * define another wait.
   */
  const acquire = (
    limiter: RateLimiter,
    kind: RequestKind,
    { maxWaitMs = 30 * second, ...options }: Partial<AcquireOptions> & { maxWaitMs?: number } = {},
  ): Promise<void> => limiter.acquire(kind, { api: 'connected', deadline: clock.monotonic() + maxWaitMs, ...options });
  const block = (limiter: RateLimiter, code: RateLimitCode, until: Date, api: ApiName = 'connected'): void =>
    limiter.pauseUntil(code, until, api);

  beforeEach(() => {
    clock = new ManualClock(start);
  });
  afterEach(async () => {
    for (const limiter of limiters.keys()) await close(limiter);
    limiters.clear();
  });

  describe('counting', () => {
    it('reports the age of what was sent in the last 24 hours to each API, the oldest first', async () => {
      const limiter = limiterOf();
      for (let i = 0; i < 3; i += 1) {
        await acquire(limiter, 'read', { api: 'energy' });
        await clock.advance(10 * hour);
      }
      const rounded = limiter.sentToday('energy').map(([age, count]) => [Math.ceil(age / hour), count]);
      assert.deepEqual(rounded, [
        [20, 1],
        [10, 1],
      ]);
      assert.deepEqual(limiter.sentToday('connected'), []);
    });
  });

  describe('waiting', () => {
    it('rejects with QUOTA_SPENT when the day is used up', async () => {
      const limiter = limiterOf({ requestsPerDay: 2 });
      await acquire(limiter, 'read');
      await clock.advance(hour);
      await acquire(limiter, 'read');
      const error = await refused(acquire(limiter, 'read'), 'QUOTA_SPENT');
      assert.equal(error.retryAt?.getTime(), start + nextDay);
    });

    it('lets requests through in the order of asking, commands first', async () => {
      const limiter = limiterOf({ requestsPerMinute: 1 });
      await acquire(limiter, 'read');
      const served: string[] = [];
      const ask = (kind: RequestKind, name: string): void =>
        void acquire(limiter, kind, { maxWaitMs: hour }).then(() => served.push(name));
      ask('read', 'read 1');
      ask('read', 'read 2');
      ask('command', 'command 1');
      ask('forCommand', 'follow 1');
      ask('command', 'command 2');
      await clock.advance(10 * minute);
      assert.deepEqual(served, ['command 1', 'command 2', 'follow 1', 'read 1', 'read 2']);
    });

    it('leaves no listener on the signal of a caller', async () => {
      const limiter = limiterOf({ requestsPerMinute: 1 });
      const { signal } = new AbortController();
      await acquire(limiter, 'read', { signal });
      await refused(acquire(limiter, 'read', { signal }), 'RATE_LIMITED');
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    });

    it('holds a thousand waiting requests with one timer and loses none', async () => {
      const limiter = limiterOf({ requestsPerDay: 1e6, requestsPerMinute: 100 });
      let served = 0;
      for (let i = 0; i < 1_100; i += 1) void acquire(limiter, 'read', { maxWaitMs: hour }).then(() => (served += 1));
      await clock.advance(0);
      assert.equal(limiter.snapshot().waiting, 1_000);
      assert.equal(clock.sleeping, 1);
      await clock.advance(10 * nextMinute);
      assert.equal(served, 1_100);
      assert.equal(clock.sleeping, 0);
    });
  });

  describe('the reserve', () => {
    it('leaves reads at least half of a tiny limit', async () => {
      const limiter = limiterOf({ requestsPerDay: 1, reserveForCommands: 0.9 });
      await acquire(limiter, 'read', { maxWaitMs: 0 });
    });
  });

  describe('a stop by the service', () => {
    it('lasts at most a day, and a minute if its time makes no sense', () => {
      const long = limiterOf();
      block(long, 'QUOTA_SPENT', new Date(start + 400 * hour));
      assert.equal(long.snapshot().pausedUntil, '2026-06-02T08:00:00.000Z');
      const odd = limiterOf();
      block(odd, 'RATE_LIMITED', new Date(Number.NaN));
      assert.equal(odd.snapshot().pausedUntil, '2026-06-01T08:01:00.000Z');
    });
  });

  describe('over restarts', () => {
    let store: MemoryStateStore;
    let writes: () => number;

    beforeEach(() => {
      store = new MemoryStateStore();
      writes = countWrites(store);
    });

    it('knows after a clean end exactly what was used, the stop included', async () => {
      const before = limiterOf({ store });
      for (let i = 0; i < 50; i += 1) await acquire(before, i < 3 ? 'command' : 'read');
      await acquire(before, 'read', { api: 'energy' });
      block(before, 'QUOTA_SPENT', new Date(start + 2 * hour));
      await close(before);
      await clock.advance(5 * second);
      const after = limiterOf({ store });
      await refused(acquire(after, 'read'), 'QUOTA_SPENT');
      const { usedToday, usedThisMinute, commandsThisMinute, pausedUntil, apis } = after.snapshot();
      assert.deepEqual(
        { usedToday, usedThisMinute, commandsThisMinute, pausedUntil, energy: apis.energy },
        {
          usedToday: 50,
          usedThisMinute: 51,
          commandsThisMinute: 3,
          pausedUntil: '2026-06-01T10:00:00.000Z',
          energy: { usedToday: 1, pausedUntil: null },
        },
      );
    });

    it('sends nothing while another process uses the directory or after it took over, and continues when that has ended', async () => {
      const read = store.read.bind(store);
      store.read = () => Promise.reject(new DirectoryInUse('standby'));
      const limiter = limiterOf({ store });
      for (let tries = 0; tries < 2; tries += 1) await refused(acquire(limiter, 'read'), 'CONFIG');
      store.read = read;
      await acquire(limiter, 'read');
      store.write = () => Promise.reject(new DirectoryInUse('lost'));
      await refused(acquire(limiter, 'command'), 'CONFIG');
      assert.equal(limiter.snapshot().usedToday, 1);
    });

    /** Like a killed process: nothing of it still runs. */
    const crash = (limiter: RateLimiter): void => {
      limiters.delete(limiter);
      clock = new ManualClock(clock.now());
    };

    it('charges a process that crashes again and again for what it sent, at most twice, however soon it crashes', async () => {
      for (const each of [1, 2, 3, 4, 8, 12, 15, 27, 50]) {
        await store.remove('quota/key');
        let sent = 0;
        for (let crashes = 0; crashes < 10; crashes += 1) {
          const limiter = limiterOf({ store });
          for (let i = 0; i < each; i += 1) await acquire(limiter, i === 0 ? 'command' : 'read');
          sent += each;
          crash(limiter);
          // Longer than the counts of a minute.
          await clock.advance(2 * minute);
        }
        const after = limiterOf({ store });
        await acquire(after, 'read');
        const { usedToday } = after.snapshot();
        assert.ok(
          usedToday > sent && usedToday <= 2 * sent + 1,
          `${each} at a time: ${sent} sent, ${usedToday} counted`,
        );
      }
    });

    it('is not exceeded as the service counts, in random histories of crashes and of requests that are long on their way', async () => {
      for (let seed = firstSeed; seed < firstSeed + times(30); seed += 1) {
        const random = new Random(seed);
        clock = new ManualClock(start);
        store = new MemoryStateStore();
        const limits = { requestsPerMinute: 30, requestsPerDay: 150, commandsPerMinute: 4 };
        const arrived: { at: number; kind: RequestKind }[] = [];
        let limiter = limiterOf({ store, ...limits });
        for (let step = 0; step < 200; step += 1) {
          if (random.chance(0.1)) {
            crash(limiter);
            await clock.advance(random.pick([0, second, 20 * second, 5 * minute]));
            limiter = limiterOf({ store, ...limits });
          }
          const kind = random.pick<RequestKind>(['read', 'read', 'read', 'forCommand', 'command']);
          const sent = await acquire(limiter, kind, { maxWaitMs: 0 }).then(
            () => true,
            () => false,
          );
          if (sent) arrived.push({ at: clock.now() + random.between(0, 900), kind });
          await clock.advance(random.pick([0, 0, 100, second, 7 * second]));
        }
        const most = (spanMs: number, kinds: readonly RequestKind[]): number => {
          const of = arrived.filter((one) => kinds.includes(one.kind));
          return Math.max(0, ...of.map(({ at }) => of.filter((one) => one.at >= at && one.at < at + spanMs).length));
        };
        const all: RequestKind[] = ['read', 'forCommand', 'command'];
        assert.ok(most(minute, all) <= limits.requestsPerMinute, `seed ${seed}: ${most(minute, all)} in a minute`);
        assert.ok(most(24 * hour, all) <= limits.requestsPerDay, `seed ${seed}: ${most(24 * hour, all)} in a day`);
        const commands = most(minute, ['command']);
        assert.ok(commands <= limits.commandsPerMinute, `seed ${seed}: ${commands} commands in a minute`);
      }
    });

    it('is not exceeded if the store is slow at times', async () => {
      const store = new MemoryStateStore();
      const write = store.write.bind(store);
      let takesMs = 0;
      store.write = async (...given) => {
        if (takesMs > 0) await clock.sleep(takesMs);
        return write(...given);
      };
      const limiter = limiterOf({ store, requestsPerMinute: 10 });
      await clock.advance(0);
      const sent: number[] = [];
      const ask = (): void =>
        void acquire(limiter, 'read', { maxWaitMs: 5 * minute }).then(
          () => sent.push(clock.monotonic()),
          () => undefined,
        );
      takesMs = 40 * second;
      for (let i = 0; i < 40; i += 1) ask();
      await clock.advance(40 * second);
      takesMs = 0;
      await clock.advance(5 * minute);
      const most = Math.max(...sent.map((first) => sent.filter((at) => at >= first && at - first < minute).length));
      assert.ok(most <= 10, `${most} in a minute`);
      assert.ok(sent.length >= 40, String(sent.length));
    });

    it('sends nothing before it is stored, nor what was waiting for a place', async () => {
      let isStored = (): void => undefined;
      const write = store.write.bind(store);
      store.write = async (...given) => {
        await new Promise<void>((resolve) => (isStored = resolve));
        return write(...given);
      };
      const limiter = limiterOf({ store, requestsPerMinute: 1 });
      const first = watched(acquire(limiter, 'read'));
      const second = watched(acquire(limiter, 'read', { maxWaitMs: 2 * minute }));
      await clock.advance(minute / 2);
      assert.equal(first.done, false);
      isStored();
      await clock.advance(0);
      assert.equal(first.done, true);
      await clock.advance(nextMinute);
      assert.equal(second.done, false);
      isStored();
      await clock.advance(0);
      assert.equal(second.done, true);
      limiters.clear();
    });

    it('stores the next requests while it sends the last ones, so that a read rarely waits for the disk', async () => {
      const limiter = limiterOf({ store });
      for (let i = 0; i < 40; i += 1) await acquire(limiter, 'read');
      const write = store.write.bind(store);
      let finishWrite = (): unknown => undefined;
      store.write = (...given) => new Promise((resolve) => (finishWrite = () => resolve(write(...given))));
      const before = writes();
      for (let i = 0; i < 60; i += 1) {
        const read = watched(acquire(limiter, 'read'));
        await clock.advance(0);
        assert.equal(read.done, true, `read ${i + 1} waits`);
        finishWrite();
        await clock.advance(0);
      }
      assert.ok(writes() > before);
      store.write = write;
    });

    it('writes rarely, however much is sent', async () => {
      const limiter = limiterOf({ store });
      for (let i = 0; i < 10; i += 1) {
        for (let j = 0; j < 100; j += 1) await acquire(limiter, 'read', { maxWaitMs: 0 });
        await clock.advance(nextMinute);
      }
      assert.ok(writes() <= 5 + 1_000 / 20, `${writes()} writes for 1,000 requests`);
      const size = JSON.stringify(await store.read('quota/key')).length;
      assert.ok(size < 2_000, `${size} characters`);
    });

    it('counts commands that wait for the same write together, within the limits, and no more than it has sent', async () => {
      const limiter = limiterOf({ store, commandsPerMinute: 55 });
      const send = (count: number): Promise<unknown>[] =>
        Array.from({ length: count }, () => acquire(limiter, 'command'));
      await Promise.all(send(20));
      assert.ok(writes() <= 6, `${writes()} writes for 20 commands`);
      const before = writes();
      const givesUp = new AbortController();
      const canceled = acquire(limiter, 'command', { signal: givesUp.signal });
      const read = acquire(limiter, 'read');
      const sent = send(19);
      givesUp.abort();
      await refused(canceled, 'CANCELLED');
      await Promise.all([read, ...sent]);
      assert.equal(writes() - before, 2, 'one for the read');
      const { usedToday, commandsThisMinute } = limiter.snapshot();
      assert.deepEqual([usedToday, commandsThisMinute], [40, 39]);
      const results = await Promise.allSettled(send(20));
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 16);
      assert.equal(limiter.snapshot().commandsThisMinute, 55);
    });

    it('sends no read that is not stored, also if the next ones are planned while a command is stored', async () => {
      const limiter = limiterOf({ store });
      for (let i = 0; i < 40; i += 1) await acquire(limiter, 'read');
      const write = store.write.bind(store);
      const begun: (() => void)[] = [];
      store.write = (...given) => new Promise((resolve) => begun.push(() => resolve(write(...given))));
      let sent = 40;
      const ask = async (kind: RequestKind): Promise<void> =>
        acquire(limiter, kind).then(
          () => void (sent += 1),
          () => undefined,
        );
      void ask('command');
      await clock.advance(0);
      for (let i = 0; i < 30; i += 1) void ask('read');
      await clock.advance(0);
      begun.shift()?.();
      await clock.advance(0);
      for (let i = 0; i < 30; i += 1) void ask('read');
      await clock.advance(0);
      store.write = write;
      crash(limiter);
      const after = limiterOf({ store });
      await acquire(after, 'read');
      const { usedToday } = after.snapshot();
      assert.ok(usedToday > sent, `${sent} sent, ${usedToday} counted`);
    });

    it('sends what an earlier command has counted at once, also if a slow write is next', async () => {
      const limiter = limiterOf({ store });
      for (let i = 0; i < 5; i += 1) await acquire(limiter, 'command');
      const write = store.write.bind(store);
      const asked = [
        watched(acquire(limiter, 'command')),
        watched(acquire(limiter, 'read')),
        watched(acquire(limiter, 'command')),
      ];
      let begun = 0;
      let finish = (): unknown => undefined;
      store.write = (...given) =>
        (begun += 1) === 2 ? new Promise((resolve) => (finish = () => resolve(write(...given)))) : write(...given);
      await clock.advance(0);
      // Sent later, it would leave the window of the service later than that of the limiter.
      assert.deepEqual(
        asked.map(({ done }) => done),
        [true, false, true],
      );
      finish();
      await clock.advance(0);
      assert.equal(asked[1]?.done, true);
      store.write = write;
    });

    it('counts no command again that another one has counted, if the write has failed once', async () => {
      const limiter = limiterOf({ store });
      for (let i = 0; i < 3; i += 1) await acquire(limiter, 'command');
      const write = store.write.bind(store);
      store.write = () => {
        store.write = write;
        return Promise.reject(new DirectoryInUse('lost'));
      };
      const asked = Array.from({ length: 3 }, () => acquire(limiter, 'command'));
      const [first, ...others] = await Promise.allSettled(asked);
      assert.deepEqual([first?.status, ...others.map(({ status }) => status)], ['rejected', 'fulfilled', 'fulfilled']);
      assert.equal(limiter.snapshot().commandsThisMinute, 5);
    });

    it('continues if the store fails, and tries again later, not with every request', async () => {
      let tries = 0;
      store.write = () => Promise.reject(new Error(`no disk ${(tries += 1)}`));
      const limiter = limiterOf({ store });
      for (let i = 0; i < 63; i += 1) await acquire(limiter, 'read');
      assert.equal(tries, 7);
    });

    it('continues if the store cannot be read, and adds the stored counts as soon as it can', async () => {
      const before = limiterOf({ store });
      for (let i = 0; i < 5; i += 1) await acquire(before, 'read');
      await close(before);
      const read = store.read.bind(store);
      let tries = 0;
      store.read = () => Promise.reject(new Error(`no disk ${(tries += 1)}`));
      const limiter = limiterOf({ store });
      for (let i = 0; i < 63; i += 1) await acquire(limiter, 'read');
      assert.equal(tries, 8);
      assert.equal(limiter.snapshot().usedToday, 63);
      store.read = read;
      for (let i = 0; i < 20; i += 1) await acquire(limiter, 'read');
      assert.equal(limiter.snapshot().usedToday, 88);
      await close(limiter);
      const after = limiterOf({ store });
      await acquire(after, 'read');
      assert.equal(after.snapshot().usedToday, 89);
    });
  });

  describe('with several APIs', () => {
    it('stops one API for a spent quota and all for a rate limit', async () => {
      const limiter = limiterOf();
      block(limiter, 'QUOTA_SPENT', new Date(start + hour), 'energy');
      await refused(acquire(limiter, 'read', { api: 'energy' }), 'QUOTA_SPENT');
      await acquire(limiter, 'read', { maxWaitMs: 0 });
      assert.equal(limiter.snapshot().apis.energy.pausedUntil, '2026-06-01T09:00:00.000Z');
      assert.equal(limiter.snapshot().pausedUntil, null);
      block(limiter, 'RATE_LIMITED', new Date(start + minute), 'energy');
      await refused(acquire(limiter, 'read', { maxWaitMs: 0 }), 'RATE_LIMITED');
    });
  });

  describe('a clock that is set', () => {
    it('back or forward neither frees what was sent nor blocks for longer', async () => {
      for (const days of [-400, 400]) {
        const limiter = limiterOf({ requestsPerMinute: 1 });
        await acquire(limiter, 'read');
        clock.setTime(clock.now() + days * 24 * hour);
        const error = await refused(acquire(limiter, 'read', { maxWaitMs: 0 }), 'RATE_LIMITED');
        const wait = (error.retryAt?.getTime() ?? 0) - clock.now();
        assert.ok(wait > 0 && wait <= nextMinute, `${wait} ms`);
        await clock.advance(wait);
        await acquire(limiter, 'read', { maxWaitMs: 0 });
      }
    });
  });

  describe('closing', () => {
    it('cancels what waits and refuses what comes, without a timer left', async () => {
      const limiter = limiterOf({ requestsPerMinute: 1, store: new MemoryStateStore() });
      await acquire(limiter, 'read');
      const waiting = watched(acquire(limiter, 'read', { maxWaitMs: hour }));
      await close(limiter);
      assert.equal(code(waiting.error), 'CANCELLED');
      await refused(acquire(limiter, 'read'), 'CANCELLED');
      assert.equal(clock.sleeping, 0);
      await close(limiter);
    });
  });

  it('keeps the limits on random histories of requests, cancellations and stops', async () => {
    for (let seed = firstSeed; seed < firstSeed + times(10); seed += 1) {
      clock = new ManualClock(start);
      const random = new Random(seed);
      const limits = {
        requestsPerMinute: random.between(1, 12),
        requestsPerDay: random.between(20, 60),
        commandsPerMinute: random.between(1, 4),
      };
      const limiter = limiterOf({ ...limits, reserveForCommands: random.pick([0, 0.1, 0.4]) });
      const sent: { at: number; kind: RequestKind; order: number }[] = [];
      const stops: [number, number][] = [];
      let open = 0;
      for (let order = 0; order < 150; order += 1) {
        const kind = random.pick<RequestKind>(['read', 'read', 'read', 'forCommand', 'command']);
        const abort = new AbortController();
        const asked = clock.now();
        const maxWaitMs = random.pick([0, 10 * second, 5 * minute, 26 * hour]);
        open += 1;
        acquire(limiter, kind, { maxWaitMs, signal: abort.signal }).then(
          () => {
            open -= 1;
            assert.ok(clock.now() <= asked + maxWaitMs, 'served after its patience');
            sent.push({ at: clock.now(), kind, order });
          },
          (error: unknown) => {
            open -= 1;
            assert.ok(error instanceof VehicleError);
            if (error.code !== 'CANCELLED')
              assert.ok((error.retryAt?.getTime() ?? 0) > clock.now(), 'refused without a time to come back');
          },
        );
        if (random.chance(0.1)) abort.abort();
        if (random.chance(0.03)) {
          const until = clock.now() + random.between(1, 3 * hour);
          block(limiter, random.pick(['RATE_LIMITED', 'QUOTA_SPENT']), new Date(until));
          stops.push([clock.now(), until]);
        }
        await clock.advance(random.pick([0, 0, 100, 7 * second, 40 * second, 20 * minute]));
      }
      await clock.advance(60 * hour);
      assert.equal(open, 0, `seed ${seed}: ${open} requests were forgotten`);
      assert.equal(clock.sleeping, 0, `seed ${seed}`);
      for (const { at } of sent) {
        const within = (span: number): typeof sent => sent.filter((other) => other.at >= at && other.at < at + span);
        assert.ok(within(minute).length <= limits.requestsPerMinute, `seed ${seed}`);
        assert.ok(within(24 * hour).length <= limits.requestsPerDay, `seed ${seed}`);
        assert.ok(
          within(minute).filter(({ kind }) => kind === 'command').length <= limits.commandsPerMinute,
          `seed ${seed}`,
        );
        assert.ok(
          stops.every(([from, until]) => at <= from || at >= until),
          `seed ${seed}: sent during a stop`,
        );
      }
      await close(limiter);
    }
  });
});

async function refused(promise: Promise<void>, expected: ErrorCode): Promise<VehicleError> {
  const error = await failureOf(promise);
  assert.equal(error.code, expected);
  return error;
}

const code = (error: unknown): unknown => (error instanceof VehicleError ? error.code : error);
