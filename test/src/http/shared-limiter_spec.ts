import { strict as assert } from 'node:assert';
import { RedisPresence, VehicleError } from '../../../src/index';
import { asSentence } from '../../../src/sentence';
import { RateLimiter, type RequestKind } from '../../../src/http/rate-limiter';
import type { Quota } from '../../../src/http/quota-counts';
import { StateFault, type Stored } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { SharedMemory } from '../../support/shared-memory';
import { failureOf } from '../../support/failure';

const second = 1_000;
const minute = 60 * second;
const begin = Date.parse('2026-06-01T08:10:00Z');
const limits: Quota = { requestsPerDay: 1_000, requestsPerMinute: 20, commandsPerMinute: 3 };

describe('a limiter that shares its counts', () => {
  let clock: ManualClock;
  let store: SharedMemory;
  /** How far the clock of the store was set. */
  let storeSet: number;
  let ends: (() => Promise<void>)[];

  beforeEach(() => {
    // Monotonic time and the clock of the store differ.
    clock = new ManualClock(5e9);
    clock.setTime(begin);
    storeSet = 0;
    store = new SharedMemory({ now: () => clock.now() + storeSet });
    ends = [];
  });
  afterEach(async () => {
    store.fault = null;
    await Promise.all(ends.map((end) => end()));
  });

  const start = async (own = limits): Promise<RateLimiter & { end: () => Promise<void> }> => {
    const presence = new RedisPresence({ store, group: 'flows', clock });
    ends.push(presence.use());
    const limiter = new RateLimiter({ clock, store, presence, key: 'quota/key' });
    const end = limiter.use(own);
    ends.unshift(end);
    await clock.advance(0);
    return Object.assign(limiter, { end });
  };
  /** Takes a slot if there is one before the deadline. */
  const take = (
    limiter: RateLimiter,
    kind: RequestKind = 'read',
    waitMs = 0,
    signal?: AbortSignal,
    api: 'connected' | 'energy' = 'connected',
  ): Promise<void> => {
    const taken = limiter.acquire(kind, { api, deadline: clock.monotonic() + waitMs, signal });
    taken.catch(() => undefined);
    return taken;
  };
  /** Takes slots until there is none. @returns how many, and the refusal */
  const takeAll = async (limiter: RateLimiter, kind: RequestKind): Promise<[number, VehicleError]> => {
    for (let count = 0; ; count += 1)
      try {
        await take(limiter, kind);
      } catch (error) {
        return error instanceof VehicleError ? [count, error] : assert.fail(String(error));
      }
  };
  /** Lets limiters read what others have counted. */
  const refresh = async (...limiters: readonly RateLimiter[]): Promise<void> => {
    for (const limiter of limiters) limiter.refresh();
    await clock.advance(0);
  };
  const isDone = async (work: Promise<unknown>): Promise<boolean> => {
    let done = false;
    const note = (): void => void (done = true);
    void work.then(note, note);
    await clock.advance(0);
    return done;
  };

  it('shows what the others have sent as soon as it reads the counts, and sends commands into their reserve', async () => {
    const [one, other] = [await start(), await start()];
    const [reads, refusal] = await takeAll(one, 'read');
    assert.equal(reads, 19);
    assert.equal(refusal.code, 'RATE_LIMITED');
    // The limiter counts in steps of a second.
    assert.equal(refusal.retryAt?.getTime(), begin + 62 * second);
    assert.equal(other.snapshot().usedThisMinute, 0);
    await refresh(other);
    const { usedThisMinute, usedToday, commandsThisMinute } = other.snapshot();
    assert.deepEqual([usedThisMinute, usedToday, commandsThisMinute], [19, 19, 0]);
    // One of the twenty is kept for commands.
    assert.equal((await takeAll(other, 'command'))[0], 1);
    await clock.advance(62 * second);
    const [commands, late] = await takeAll(other, 'command');
    assert.deepEqual([commands, late.code], [3, 'RATE_LIMITED']);
    assert.equal(late.retryAt?.getTime(), begin + 124 * second);
    await refresh(one);
    assert.deepEqual([one.snapshot().commandsThisMinute, one.snapshot().usedThisMinute], [3, 3]);
    await take(one, 'forCommand');
    assert.equal(one.snapshot().commandsThisMinute, 3);
  });

  it('waits if another one has taken the room that was left, and ends that wait with its signal', async () => {
    const [one, other] = [await start(), await start()];
    await take(one);
    // The first process does not know of these.
    await takeAll(other, 'read');
    await takeAll(other, 'command');
    const patient = take(one, 'command', 2 * minute);
    const abort = new AbortController();
    const aborted = take(one, 'command', 2 * minute, abort.signal);
    assert.deepEqual([await isDone(patient), await isDone(aborted)], [false, false]);
    assert.equal(one.snapshot().waiting, 2);
    abort.abort(new VehicleError('CANCELLED', 'By the test.'));
    await assert.rejects(aborted, /By the test/);
    await assert.rejects(take(one, 'command', minute / 2), { code: 'RATE_LIMITED' });
    await clock.advance(62 * second - 1);
    assert.equal(await isDone(patient), false);
    await clock.advance(1);
    await patient;
    await clock.advance(2 * minute);
    assert.equal(one.snapshot().waiting, 0);
  });

  it('pauses with the others until the time that the service has named to one of them', async () => {
    const [one, other] = [await start(), await start()];
    await take(other);
    one.pauseUntil('QUOTA_SPENT', new Date(begin + 5 * minute), 'connected');
    await clock.advance(0);
    await take(other, 'read', 0, undefined, 'energy');
    const error = await failureOf(take(other));
    assert.deepEqual([error.code, error.retryAt?.getTime()], ['QUOTA_SPENT', begin + 5 * minute]);
    assert.equal(other.snapshot().pausedUntil, new Date(begin + 5 * minute).toISOString());
    // A shorter pause changes nothing.
    one.pauseUntil('RATE_LIMITED', new Date(begin + minute), 'energy');
    await clock.advance(0);
    await assert.rejects(take(other, 'read', 0, undefined, 'energy'), { code: 'RATE_LIMITED' });
    assert.equal(other.snapshot().rateLimitCode, 'QUOTA_SPENT');
    await clock.advance(5 * minute);
    await take(other);
    assert.equal(other.snapshot().pausedUntil, null);
  });

  it('sends nothing without the store, and counts only what it sent', async () => {
    const one = await start();
    for (let count = 0; count < 4; count += 1) await take(one);
    store.fault = new StateFault('unavailable', asSentence('Away.'));
    for (const kind of ['command', 'forCommand', 'read'] as const)
      await assert.rejects(take(one, kind), { code: 'STORE_UNAVAILABLE' });
    store.fault = null;
    await take(one, 'command');
    assert.deepEqual([one.snapshot().usedToday, one.snapshot().commandsThisMinute], [5, 1]);
    await one.end();
    await one.end();
    await assert.rejects(take(one), { code: 'CANCELLED' });
  });

  it('adds what each process sent to a record that the store lost, before any of them sends again', async () => {
    const [one, other] = [await start(), await start()];
    for (let count = 0; count < 6; count += 1) await take(one);
    for (let count = 0; count < 5; count += 1) await take(other);
    await clock.advance(6 * second);
    // All keys, those of the processes too.
    for (const prefix of ['quota/', 'process/'])
      for (const { key } of await store.entries(prefix)) await store.remove(key);
    const early = await Promise.allSettled([take(one), take(other)]);
    await clock.advance(6 * second);
    const sent = early.filter(({ status }) => status === 'fulfilled').length;
    for (const limiter of [one, other]) {
      await refresh(limiter);
      assert.equal(limiter.snapshot().usedToday, 11 + sent);
    }
    await assert.rejects(take(other), { code: 'RATE_LIMITED' });
    await clock.advance(20 * second);
    await take(other);
    assert.ok(sent <= 1, `${sent} sent before`);
  });

  /**
   * Restores an earlier copy of the counts, as a server that was restarted without its last writes.
   */
  const goBackTo = async ({ value }: Stored): Promise<void> => {
    await store.write('quota/key', value);
    store.fault = new StateFault('unavailable', asSentence('Restarted.'));
    store.fault = null;
    await clock.advance(0);
  };

  for (const asks of ['both', 'one', 'the other'])
    it(`adds what each process sent since the copy to which the store went back, before it is asked again: ${asks} sent more`, async () => {
      const many = { ...limits, requestsPerMinute: 50, commandsPerMinute: 30 };
      const [one, other] = [await start(many), await start(many)];
      for (let count = 0; count < 4; count += 1)
        await Promise.all([take(one, 'command'), take(other), take(other, 'command')]);
      const copy = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
      for (let count = 0; count < 3; count += 1) {
        if (asks !== 'the other') await take(one, 'command');
        if (asks !== 'one') await Promise.all([take(other), take(other, 'command')]);
      }
      const sent = { both: 14, one: 11, 'the other': 11 }[asks];
      await goBackTo(copy);
      // Once more: what was added is not added again.
      await goBackTo((await store.read('quota/key')) ?? copy);
      await take(one, 'command');
      await refresh(other);
      assert.equal(other.snapshot().commandsThisMinute, (sent ?? 0) + 1);
      assert.equal(other.snapshot().usedToday, (sent ?? 0) + 1 + (asks === 'one' ? 4 : 7));
    });

  it('adds what was lost once, however often it reads the earlier copy, and again if it never wrote it', async () => {
    const one = await start();
    for (let count = 0; count < 3; count += 1) await take(one);
    const { value } = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    for (let count = 0; count < 4; count += 1) await take(one);
    for (let times = 0; times < 2; times += 1) {
      await store.write('quota/key', value);
      await refresh(one, one, one);
      assert.deepEqual([one.snapshot().usedToday, one.snapshot().usedThisMinute], [7, 7]);
    }
  });

  it('adds what it sent if the earlier copy is from before its first request, or from when it was silent', async () => {
    const [one, other] = [await start(), await start()];
    await take(one);
    const { value } = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    for (let count = 0; count < 4; count += 1) await take(other);
    await store.write('quota/key', value);
    for (let times = 0; times < 2; times += 1) {
      await refresh(other);
      assert.deepEqual([other.snapshot().usedToday, other.snapshot().usedThisMinute], [5, 5]);
    }
    await take(other);
    await clock.advance(4 * minute);
    await take(one);
    // It is no longer named, and nothing of it was lost.
    const silent = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    await refresh(other);
    assert.equal(other.snapshot().usedToday, 7);
    for (let count = 0; count < 3; count += 1) await take(other);
    await store.write('quota/key', silent.value);
    await refresh(other);
    assert.deepEqual([other.snapshot().usedToday, other.snapshot().usedThisMinute], [10, 4]);
  });

  it('adds what it has read of a process that is paused, and nothing twice when that one returns', async () => {
    const [paused, one, third] = [await start(), await start(), await start()];
    await take(paused);
    const { value } = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    for (let count = 0; count < 3; count += 1) await take(paused);
    await refresh(one, third);
    // Nobody reads this one.
    await take(paused);
    await store.write('quota/key', value);
    await refresh(one);
    assert.deepEqual([one.snapshot().usedToday, one.snapshot().usedThisMinute], [4, 4]);
    await take(third);
    await take(one);
    assert.deepEqual([one.snapshot().usedToday, one.snapshot().usedThisMinute], [6, 6]);
    await refresh(paused);
    await take(paused);
    await refresh(one, third);
    assert.deepEqual([one.snapshot().usedToday, third.snapshot().usedThisMinute], [8, 8]);
  });

  it('adds what it has read of another process if the earlier copy does not name that one, or if that one was silent', async () => {
    const [other, one] = [await start(), await start()];
    await take(one);
    const first = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    for (let count = 0; count < 4; count += 1) await take(other, 'read', 0, undefined, 'energy');
    await refresh(one);
    await store.write('quota/key', first.value);
    await refresh(one);
    assert.deepEqual([one.snapshot().usedThisMinute, one.snapshot().apis.energy.usedToday], [5, 4]);
    await take(one);
    const second = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    await refresh(other);
    for (let count = 0; count < 3; count += 1) await take(other, 'read', 0, undefined, 'energy');
    await refresh(one);
    await clock.advance(3 * minute);
    await store.write('quota/key', second.value);
    await refresh(one);
    assert.deepEqual([one.snapshot().usedThisMinute, one.snapshot().apis.energy.usedToday], [0, 7]);
  });

  it('adds what others have lost once, not for each of them, and keeps it for a third one that reads later', async () => {
    const many = { ...limits, requestsPerMinute: 100 };
    const [one, ...others] = [await start(many), await start(many), await start(many), await start(many)];
    for (const limiter of [one, ...others]) await take(limiter);
    const { value } = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    for (const other of others) for (let count = 0; count < 4; count += 1) await take(other);
    await clock.advance(70 * second);
    for (let count = 0; count < 4; count += 1) await take(one);
    for (let times = 0; times < 2; times += 1) {
      await store.write('quota/key', value);
      await refresh(one);
      const { usedThisMinute, usedToday } = one.snapshot();
      assert.ok(usedThisMinute >= 4 && usedThisMinute <= 20, String(usedThisMinute));
      assert.equal(usedToday, 20);
    }
    const fresh = await start(many);
    await take(fresh);
    await clock.advance(30 * second);
    await take(fresh);
    await refresh(one);
    assert.equal(one.snapshot().usedToday, 22);
  });

  it('adds once what a process sent that was silent before the store lost all', async () => {
    const [silent, one] = [await start(), await start()];
    for (let count = 0; count < 10; count += 1) await take(silent);
    await take(one);
    await clock.advance(3 * minute);
    await take(one);
    await store.remove('quota/key');
    await refresh(one, silent);
    await clock.advance(15 * second);
    await take(one);
    await refresh(silent);
    await take(silent);
    await refresh(one);
    assert.deepEqual([one.snapshot().usedToday, silent.snapshot().usedToday], [14, 14]);
  });

  it('counts once a request whose write was stored and not answered', async () => {
    const [one, other] = [await start(), await start()];
    await take(one);
    await refresh(other);
    const answer = store.write.bind(store);
    store.write = async (...given) => {
      await answer(...given);
      store.write = answer;
      throw new StateFault('unavailable', asSentence('No answer.'));
    };
    assert.equal((await failureOf(take(one, 'command'))).code, 'STORE_UNAVAILABLE');
    for (let times = 0; times < 3; times += 1) {
      await take(one);
      await take(other);
    }
    await refresh(one, other);
    assert.deepEqual([one.snapshot().usedToday, other.snapshot().usedThisMinute], [8, 8]);
    assert.deepEqual([one.snapshot().commandsThisMinute, other.snapshot().commandsThisMinute], [1, 1]);
  });

  it('adds what it sent to a new record until it has written it, and not to the former one', async () => {
    const all = [await start(), await start()] as const;
    const [one, other] = all;
    for (let count = 0; count < 4; count += 1) await Promise.all([take(one), take(other)]);
    const former = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    await store.remove('quota/key');
    other.pauseUntil('RATE_LIMITED', new Date(begin + second), 'connected');
    await clock.advance(0);
    for (let times = 0; times < 2; times += 1) {
      await refresh(one);
      assert.equal(one.snapshot().usedToday, 8);
      other.pauseUntil('RATE_LIMITED', new Date(begin + (times + 2) * second), 'connected');
      await clock.advance(0);
    }
    await refresh(one);
    assert.equal(one.snapshot().usedToday, 8);
    // A failover to an empty replica, and back.
    await store.write('quota/key', former.value);
    await refresh(...all);
    assert.deepEqual([one.snapshot().usedToday, other.snapshot().usedToday], [8, 8]);
  });

  it('counts once what it wrote after its last account was closed', async () => {
    const [one, other] = [await start(), await start()];
    await take(one);
    const late = take(one);
    await one.end();
    await late.catch(() => undefined);
    await take(other);
    ends.unshift(one.use(limits));
    await refresh(one);
    await refresh(other);
    assert.equal(one.snapshot().usedToday, other.snapshot().usedToday);
  });

  it('counts a request from when it was sent, for the others too, if its write was answered late', async () => {
    const [one, other] = [await start(), await start()];
    await take(one, 'command');
    await clock.advance(2 * minute);
    const answer = store.write.bind(store);
    store.write = async (...given) => {
      const version = await answer(...given);
      await clock.sleep(3 * second);
      return version;
    };
    const late = take(one, 'command');
    await clock.advance(3 * second);
    await late;
    store.write = answer;
    await clock.advance(3 * second);
    const sentAt = begin + 2 * minute + 3 * second;
    const [more, refusal] = await takeAll(other, 'command');
    assert.equal(more, limits.commandsPerMinute - 1);
    assert.ok((refusal.retryAt?.getTime() ?? 0) > sentAt + minute, `${refusal.retryAt?.toISOString()}`);
  });

  it('counts a request from when it was sent if another one counts before its write was answered', async () => {
    const [one, other] = [await start(), await start()];
    await take(one, 'command');
    await clock.advance(2 * minute);
    const answer = store.write.bind(store);
    store.write = async (...given) => {
      if (given[0] !== 'quota/key') return answer(...given);
      store.write = answer;
      const version = await answer(...given);
      await clock.sleep(4 * second);
      return version;
    };
    const late = take(one, 'command');
    await clock.advance(second);
    await take(other);
    await clock.advance(3 * second);
    await late;
    const sentAt = begin + 2 * minute + 4 * second;
    const [more, refusal] = await takeAll(other, 'command');
    assert.equal(more, limits.commandsPerMinute - 1);
    assert.ok((refusal.retryAt?.getTime() ?? 0) > sentAt + minute, `${refusal.retryAt?.toISOString()}`);
    assert.equal(other.snapshot().usedToday, 5);
    await clock.advance(5 * second);
    await refresh(one);
    assert.deepEqual([one.snapshot().usedToday, one.snapshot().usedThisMinute], [5, 4]);
  });

  it('stores once what a store that fails again and again has refused', async () => {
    const one = await start();
    await take(one);
    const write = store.write.bind(store);
    const away = new StateFault('unavailable', asSentence('Away.'));
    store.write = (...given) => (given[0] === 'quota/key' ? Promise.reject(away) : write(...given));
    for (let times = 0; times < 10; times += 1) {
      store.fault = away;
      store.fault = null;
      await clock.advance(0);
    }
    let stored = 0;
    store.write = (...given) => {
      if (given[0] === 'quota/key') stored += 1;
      return write(...given);
    };
    await clock.advance(6 * second);
    assert.equal(stored, 1);
  });

  it('adds nothing to a record from which an earlier version has removed the names of the processes', async () => {
    const [one, other] = [await start(), await start()];
    for (let count = 0; count < 3; count += 1) await Promise.all([take(one), take(other)]);
    const { value } = (await store.read('quota/key')) ?? assert.fail('nothing is stored');
    const isName = (name: string): boolean => name === 'process' || name === 'counted';
    await store.write(
      'quota/key',
      JSON.parse(JSON.stringify(value, (name, part: unknown) => (isName(name) ? undefined : part))),
    );
    for (const limiter of [one, other, one]) {
      await refresh(limiter);
      assert.deepEqual([limiter.snapshot().usedToday, limiter.snapshot().usedThisMinute], [6, 6]);
    }
    await take(one);
    await refresh(other);
    assert.equal(other.snapshot().usedToday, 7);
  });

  for (const step of [-3_600_000, 30_000, 300_000, 3_600_000])
    it(`keeps to the limits when the clock of the store is set by ${step / second} s`, async () => {
      const [one, other] = [await start(), await start()];
      for (let count = 0; count < 9; count += 1) await take(count % 2 === 0 ? one : other);
      storeSet = step;
      await clock.advance(6 * second);
      const [[ofOne], [ofOther]] = [await takeAll(one, 'read'), await takeAll(other, 'read')];
      assert.equal(ofOne + ofOther + 9, 19);
    });

  it('keeps to the strictest limits of all processes and of all its own accounts', async () => {
    const [one, other] = [await start(), await start({ ...limits, requestsPerMinute: 10, requestsPerDay: 50 })];
    ends.unshift(one.use({ ...limits, commandsPerMinute: 2 }));
    await take(other);
    await refresh(one);
    assert.deepEqual([one.snapshot().perDay, one.snapshot().readsPerMinute], [50, 9]);
    await take(one);
    await refresh(other);
    assert.equal((await takeAll(other, 'command'))[0], 2);
  });

  it('uses limits that were raised at once', async () => {
    const one = await start();
    await takeAll(one, 'command');
    ends.unshift(one.use({ ...limits, commandsPerMinute: 5 }));
    await one.end();
    assert.equal((await takeAll(one, 'command'))[0], 2);
  });
});
