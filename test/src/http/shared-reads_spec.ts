import { strict as assert } from 'node:assert';
import { VehicleError } from '../../../src/errors';
import { SharedReads, type SharedRead, type SharedReadOptions } from '../../../src/http/shared-reads';
import type { Signal } from '../../../src/util/cancellation';
import { ManualClock } from '../../support/manual-clock';

/** A service that answers when the test lets it, and counts what it was asked. */
class Service {
  asked: string[] = [];
  #open: { key: string; signal: Signal; resolve(value: string): void; reject(error: unknown): void }[] = [];

  load =
    (key: string) =>
    (signal: Signal): Promise<string> => {
      this.asked.push(key);
      return new Promise((resolve, reject) => {
        this.#open.push({ key, signal, resolve, reject });
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };

  answer(value: string): void {
    for (const { resolve } of this.#open.splice(0)) resolve(value);
  }

  fail(error: unknown): void {
    for (const { reject } of this.#open.splice(0)) reject(error);
  }

  get aborted(): boolean[] {
    return this.#open.map(({ signal }) => signal.aborted);
  }
}

describe('shared reads', () => {
  let clock: ManualClock;
  let service: Service;
  let reads: SharedReads<string>;
  const ask = (key: string, options: Partial<SharedReadOptions> = {}): Promise<SharedRead<string>> =>
    reads.read(key, { maxAgeMs: 5_000, ...options }, service.load(key));

  beforeEach(() => {
    clock = new ManualClock();
    service = new Service();
    reads = new SharedReads<string>(clock);
  });

  it('are one request if a thousand ask at once', async () => {
    const answers = Array.from({ length: 1_000 }, () => ask('windows'));
    service.answer('CLOSED');
    const all = await Promise.all(answers);
    assert.deepEqual(service.asked, ['windows']);
    assert.deepEqual(all[0], { value: 'CLOSED', source: 'live' });
    assert.ok(all.slice(1).every(({ value, source }) => value === 'CLOSED' && source === 'shared'));
  });

  it('answer later readers while the answer is fresh, with its age', async () => {
    const first = ask('windows');
    service.answer('CLOSED');
    await first;
    await clock.advance(4_999);
    assert.deepEqual(await ask('windows'), { value: 'CLOSED', source: 'shared' });
    await clock.advance(1);
    const again = ask('windows');
    service.answer('OPEN');
    assert.deepEqual(await again, { value: 'OPEN', source: 'live' });
    assert.equal(service.asked.length, 2);
  });

  it('measure the age of an answer in monotonic time', async () => {
    const first = ask('windows');
    service.answer('closed');
    await first;
    clock.setTime(clock.now() - 3_600_000);
    assert.equal((await ask('windows')).source, 'shared');
    await clock.advance(5_000);
    const second = ask('windows');
    service.answer('open');
    assert.equal((await second).value, 'open');
  });

  it('never hold what must not be kept, and still ask once', async () => {
    const both = [ask('details', { keep: false }), ask('details', { keep: false })];
    service.answer('https://image');
    await Promise.all(both);
    assert.equal(service.asked.length, 1);
    void ask('details');
    assert.equal(service.asked.length, 2);
  });

  it('of a command join only reads of the same kind, and answer plain ones', async () => {
    const plain = ask('doors');
    const urgent = [ask('doors', { isUrgent: true }), ask('doors', { isUrgent: true }), ask('doors')];
    assert.equal(service.asked.length, 2);
    service.answer('CLOSED');
    assert.deepEqual(
      (await Promise.all([plain, ...urgent])).map(({ source }) => source),
      ['live', 'live', 'shared', 'shared'],
    );
    assert.equal((await ask('doors', { isUrgent: true })).source, 'shared');
  });

  it('share a failure among those who waited for it, and keep none', async () => {
    const both = [ask('windows'), ask('windows')];
    const failure = new VehicleError('SERVICE_ERROR', 'Broken.');
    service.fail(failure);
    for (const result of await Promise.allSettled(both))
      assert.equal(result.status === 'rejected' && result.reason, failure);
    const again = ask('windows');
    service.answer('CLOSED');
    assert.equal((await again).source, 'live');
  });

  it('end only the wait of the one who gives up', async () => {
    const abort = new AbortController();
    const given = ask('windows', { signal: abort.signal });
    const other = ask('windows');
    abort.abort();
    await assert.rejects(given, { code: 'CANCELLED' });
    assert.deepEqual(service.aborted, [false]);
    service.answer('CLOSED');
    assert.equal((await other).value, 'CLOSED');
  });

  it('cancel the request when the last reader gives up, and send a new one for the next', async () => {
    const aborts = [new AbortController(), new AbortController()];
    const given = aborts.map(({ signal }) => ask('windows', { signal }));
    aborts.forEach((abort) => abort.abort());
    await Promise.allSettled(given);
    assert.deepEqual(service.aborted, [true]);
    const next = ask('windows');
    service.answer('CLOSED');
    assert.deepEqual(await next, { value: 'CLOSED', source: 'live' });
    assert.equal(service.asked.length, 2);
  });

  it('send no request for a reader that is already cancelled', async () => {
    const reason = new VehicleError('TIMEOUT', 'Too late.');
    await assert.rejects(ask('windows', { signal: AbortSignal.abort(reason) }), reason);
    assert.deepEqual(service.asked, []);
  });

  it('do not answer from before a command', async () => {
    const first = ask('car1/doors');
    const other = ask('car2/doors');
    service.answer('UNLOCKED');
    await Promise.all([first, other]);
    reads.invalidate('car1/');
    assert.equal((await ask('car2/doors')).source, 'shared');
    const fresh = ask('car1/doors');
    service.answer('LOCKED');
    assert.deepEqual(await fresh, { value: 'LOCKED', source: 'live' });
  });

  it('do not let a request from before a command answer a reader from after it', async () => {
    const before = ask('car1/doors');
    reads.invalidate('car1/');
    const after = ask('car1/doors');
    assert.equal(service.asked.length, 2);
    service.answer('LOCKED');
    assert.equal((await before).value, 'LOCKED');
    assert.equal((await after).source, 'live');
  });

  it('do not keep what a request from before a command brought', async () => {
    const before = ask('car1/doors');
    reads.invalidate('car1/');
    service.answer('UNLOCKED');
    await before;
    void ask('car1/doors');
    assert.equal(service.asked.length, 2);
  });

  it('are answered all, if there are more than a thousand, and keep the answers of the last', async () => {
    const answers = Array.from({ length: 1_001 }, (_, at) => ask(`windows ${at}`));
    service.answer('CLOSED');
    assert.ok((await Promise.all(answers)).every(({ value, source }) => value === 'CLOSED' && source === 'live'));
    assert.equal((await ask('windows 1000')).source, 'shared');
    const again = ask('windows 0');
    service.answer('OPEN');
    assert.deepEqual(await again, { value: 'OPEN', source: 'live' });
  });

  it('hold the answers of the last thousand reads without a timer', async () => {
    for (let i = 0; i < 1_001; i += 1) await reads.read(`car${i}/doors`, { maxAgeMs: 5_000 }, async () => 'LOCKED');
    assert.equal(clock.sleeping, 0);
    assert.equal((await ask('car1/doors')).source, 'shared');
    void ask('car0/doors');
    assert.deepEqual(service.asked, ['car0/doors']);
  });
});
