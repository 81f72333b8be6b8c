import { strict as assert } from 'node:assert';
import { demoCar } from '../../../src/simulator/index';
import { Processes, type Process } from '../../support/processes';
import { failureOf } from '../../support/failure';

const { vin } = demoCar;
const second = 1_000;
const minute = 60 * second;
const limits = { requestsPerDay: 1e6, requestsPerMinute: 100, commandsPerMinute: 10 };

/** The most requests in any span of this length. */
function most(times: readonly number[], spanMs: number): number {
  let [first, found] = [0, 0];
  times.forEach((time, index) => {
    while (time - (times[first] ?? 0) >= spanMs) first += 1;
    found = Math.max(found, index - first + 1);
  });
  return found;
}

describe('the quota of a key that several processes share', () => {
  let all: Processes;
  /** When each request reached the service. */
  let reads: number[];
  let commands: number[];

  beforeEach(() => {
    [reads, commands] = [[], []];
    all = new Processes(({ method }) => {
      (method === 'POST' ? commands : reads).push(all.clock.now());
      return null;
    });
  });
  afterEach(() => all.end());

  const read = ({ account }: Process): Promise<unknown> => account.client.read('windows', { vin, maxAgeMs: 0 });
  /** Reads as often as it may, several at a time. */
  const readAlways = (process: Process, until: number, atATime = 5): void => {
    const next = async (): Promise<void> => {
      while (all.clock.now() < until) await read(process).catch(() => all.clock.sleep(second));
    };
    for (let count = 0; count < atATime; count += 1) void next();
  };

  it('is used by 5 processes that always read, and is not exceeded in any minute', async () => {
    const processes = Array.from({ length: 5 }, () => all.start('flows', limits));
    await all.clock.advance(2 * second);
    const until = all.clock.now() + 4 * minute;
    for (const process of processes) readAlways(process, until);
    await all.clock.advance(4 * minute);
    assert.ok(most(reads, minute) <= 96, `${most(reads, minute)} in a minute`);
    // 4 of the 100 are kept for commands, and a request counts for 63 seconds at most.
    assert.ok(reads.length >= 4 * 90, `${reads.length} in 4 minutes`);
  });

  it('counts a request for no longer, however differently processes measure the clock of the store', async () => {
    const [near, far] = [all.start('flows', limits), all.start('flows', limits)];
    await all.clock.advance(10 * second);
    for (let sent = 0; sent < 200; sent += 1) {
      // An answer is late when the process is busy, and so is its clock.
      far.line.answersInMs = sent % 8 < 4 ? 400 : 0;
      void read(far).catch(() => undefined);
      if (sent % 5 === 0) void read(near).catch(() => undefined);
      await all.clock.advance(1.3 * second);
    }
    await all.clock.advance(minute + 3 * second);
    const { limiter } = near.pack.stateOfKey(all.service.url, 'demo-key');
    const used = async (): Promise<unknown> => {
      limiter.refresh();
      await all.clock.advance(second);
      const { usedThisMinute, usedToday } = limiter.snapshot();
      return [usedThisMinute, usedToday];
    };
    assert.deepEqual(await used(), [0, 240]);
    await all.clock.advance(24 * 60 * minute + 10 * minute);
    assert.deepEqual(await used(), [0, 0]);
  });

  describe('while the store is unavailable', () => {
    it('reads nothing, and continues when it is back', async () => {
      const [one, other] = [all.start('flows', limits), all.start('flows', limits)];
      await all.clock.advance(2 * second);
      await Promise.all([read(one), read(other)]);
      one.line.isCut = true;
      for (let minutes = 0; minutes < 5; minutes += 1) {
        assert.equal((await failureOf(read(one))).code, 'STORE_UNAVAILABLE');
        await read(other);
        await all.clock.advance(minute);
      }
      assert.equal(reads.length, 7);
      one.line.isCut = false;
      await all.clock.advance(6 * second);
      await read(one);
      assert.equal(one.account.quota().usedToday, 8);
    });

    it('passes on to the others a pause that the service asked for, when the store is back', async () => {
      const [one, other] = [all.start('flows', limits), all.start('flows', limits)];
      await all.clock.advance(2 * second);
      await Promise.all([read(one), read(other)]);
      one.line.isCut = true;
      const { limiter } = one.pack.stateOfKey(all.service.url, 'demo-key');
      limiter.pauseUntil('RATE_LIMITED', new Date(all.clock.now() + 10 * minute), 'connected');
      await all.clock.advance(minute);
      await read(other);
      one.line.isCut = false;
      await all.clock.advance(15 * second);
      assert.equal((await failureOf(read(other))).code, 'RATE_LIMITED');
    });
  });

  it('costs a read one round trip to the store, and two if another process has sent since', async () => {
    const [one, other] = [all.start('flows', limits), all.start('flows', limits)];
    await all.clock.advance(2 * second);
    await read(one);
    const callsOf = async ({ line }: Process, work: () => Promise<unknown>): Promise<number> => {
      line.calls.length = 0;
      await work();
      return line.calls.filter((key) => key.startsWith('quota/')).length;
    };
    assert.equal(await callsOf(one, () => read(one)), 1);
    await read(other);
    await callsOf(one, () => read(one));
    for (let count = 0; count < 5; count += 1) {
      await read(other);
      await all.clock.advance(3 * second);
      assert.equal(await callsOf(one, () => read(one)), 2);
    }
    await read(one);
    assert.equal(await callsOf(one, () => read(one)), 1);
  });
});
