import { strict as assert } from 'node:assert';
import { VehicleError, type ErrorCode } from '../../../src/errors';
import { createBudget, type Budget, type BudgetOptions, type RequestKind } from '../../../src/limits/rate-limiter';
import { ManualClock } from '../../support/manual-clock';
import { Random } from '../../support/random';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const start = Date.parse('2026-06-01T08:00:00Z');
/** How late a place may become free: the windows count in whole seconds. */
const nextMinute = 61 * second;

describe('the budget of a key', () => {
  let clock: ManualClock;
  const budgets: Budget[] = [];
  const budgetOf = (options: Partial<BudgetOptions> = {}): Budget => {
    const budget = createBudget({
      requestsPerDay: 10_000,
      requestsPerMinute: 100,
      commandsPerMinute: 10,
      reserveForCommands: 0,
      clock,
      ...options,
    });
    budgets.push(budget);
    return budget;
  };

  beforeEach(() => {
    clock = new ManualClock(start);
  });
  afterEach(async () => {
    for (const budget of budgets.splice(0)) await budget.close();
  });

  describe('counting', () => {
    it('lets through at once what fits, and counts it', async () => {
      const budget = budgetOf();
      await budget.take('read');
      await budget.take('command');
      assert.deepEqual(budget.snapshot(), {
        usedToday: 2,
        perDay: 10_000,
        usedThisMinute: 2,
        perMinute: 100,
        commandsThisMinute: 1,
        commandsPerMinute: 10,
        readsPerDay: 10_000,
        readsPerMinute: 100,
        stoppedUntil: null,
        stopCode: null,
        waiting: 0,
      });
    });

    it('never sends more than the limit in any sixty seconds, whenever they begin', async () => {
      const budget = budgetOf({ requestsPerMinute: 10 });
      const sent: number[] = [];
      for (let i = 0; i < 60; i += 1) void budget.take('read', { patienceMs: hour }).then(() => sent.push(clock.now()));
      for (let i = 0; i < 700; i += 1) await clock.advance(first(i % 3, [137, 611, 903]));
      assert.equal(sent.length, 60);
      for (const from of sent) assert.ok(sent.filter((at) => at >= from && at < from + minute).length <= 10);
    });

    it('says when it will go on under a limit that was lowered', async () => {
      const budget = budgetOf({ requestsPerDay: 5_000, requestsPerMinute: 5_000 });
      for (let i = 0; i < 5_000; i += 1) await budget.take('read');
      budget.limit({ requestsPerDay: 1_000, requestsPerMinute: 100, commandsPerMinute: 10 });
      const error = await refused(budget.take('read', { patienceMs: 0 }), 'QUOTA_SPENT');
      const retryAt = error.retryAt?.getTime() ?? 0;
      assert.ok(retryAt <= start + 24 * hour + 5 * minute, error.message);
      assert.match(error.message, /\w{3} \w{3} \d\d \d{4}, \d\d:\d\d:\d\d\.$/);
      await clock.advance(retryAt - start);
      await budget.take('read', { patienceMs: 0 });
    });

    it('forgets the day in the course of the next day', async () => {
      const budget = budgetOf();
      await budget.take('read');
      await clock.advance(24 * hour);
      assert.equal(budget.snapshot().usedToday, 1);
      await clock.advance(5 * minute);
      assert.equal(budget.snapshot().usedToday, 0);
    });

    it('counts commands in their own minute too', async () => {
      const budget = budgetOf({ commandsPerMinute: 2 });
      await budget.take('command');
      await budget.take('command');
      const error = await refused(budget.take('command', { patienceMs: 0 }), 'RATE_LIMITED');
      assert.equal(
        error.message,
        `The limit of 2 commands a minute is reached. The next request can be sent at ${shown(start + nextMinute)}.`,
      );
      assert.equal(error.retryable, true);
      await budget.take('read', { patienceMs: 0 });
    });
  });

  describe('waiting', () => {
    it('waits until a place is free, and no longer', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const later = settled(budget.take('read', { patienceMs: 2 * minute }));
      await clock.advance(nextMinute - 1);
      assert.equal(later.done, false);
      await clock.advance(1);
      assert.equal(later.done, true);
    });

    it('refuses at once what would wait longer than its patience, and says when to come back', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const error = await refused(budget.take('read', { patienceMs: 30 * second }), 'RATE_LIMITED');
      assert.equal(error.retryAt?.getTime(), start + nextMinute);
      assert.match(error.message, /limit of 1 requests a minute/);
      assert.equal(budget.snapshot().waiting, 0);
    });

    it('calls a spent day a spent quota', async () => {
      const budget = budgetOf({ requestsPerDay: 2 });
      await budget.take('read');
      await clock.advance(hour);
      await budget.take('read');
      const error = await refused(budget.take('read'), 'QUOTA_SPENT');
      assert.equal(error.retryAt?.getTime(), start + 24 * hour + 5 * minute);
    });

    it('serves in the order of asking, commands first', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const served: string[] = [];
      const ask = (kind: RequestKind, name: string): void =>
        void budget.take(kind, { patienceMs: hour }).then(() => served.push(name));
      ask('read', 'read 1');
      ask('read', 'read 2');
      ask('command', 'command 1');
      ask('follow', 'follow 1');
      ask('command', 'command 2');
      await clock.advance(10 * minute);
      assert.deepEqual(served, ['command 1', 'command 2', 'follow 1', 'read 1', 'read 2']);
    });

    it('lets a command pass reads that wait for something that it need not wait for', async () => {
      const budget = budgetOf({ requestsPerMinute: 10, reserveForCommands: 0.2 });
      for (let i = 0; i < 8; i += 1) await budget.take('read');
      const read = settled(budget.take('read', { patienceMs: hour }));
      const command = settled(budget.take('command', { patienceMs: 0 }));
      await clock.advance(0);
      assert.equal(command.done, true);
      assert.equal(read.done, false);
    });

    it('does not let a read overtake one that waits', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      void budget.take('read', { patienceMs: 2 * minute });
      const error = await refused(budget.take('read', { patienceMs: 90 * second }), 'RATE_LIMITED');
      assert.equal(error.retryAt?.getTime(), start + 2 * nextMinute);
    });

    it('ends a wait that became too long because commands went first', async () => {
      const budget = budgetOf({ requestsPerMinute: 1, commandsPerMinute: 10 });
      await budget.take('read');
      const read = settled(budget.take('read', { patienceMs: 65 * second }));
      void budget.take('command', { patienceMs: 2 * minute });
      await clock.advance(65 * second + 100);
      assert.equal(code(read.error), 'RATE_LIMITED');
      assert.equal(budget.snapshot().waiting, 0);
    });

    it('ends a wait when its caller gives up, and gives the place to the next', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const abort = new AbortController();
      const given = settled(budget.take('read', { patienceMs: hour, signal: abort.signal }));
      const next = settled(budget.take('read', { patienceMs: hour }));
      abort.abort();
      await clock.advance(0);
      assert.equal(code(given.error), 'CANCELLED');
      await clock.advance(nextMinute);
      assert.equal(next.done, true);
      assert.equal(budget.snapshot().usedToday, 2);
    });

    it('hands on the reason where a time limit of ours was the cause', async () => {
      const reason = new VehicleError('TIMEOUT', 'Too late.');
      const error = await refused(budgetOf().take('read', { signal: AbortSignal.abort(reason) }), 'TIMEOUT');
      assert.equal(error, reason);
    });

    it('leaves no timer behind once nobody waits', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const abort = new AbortController();
      const wait = settled(budget.take('read', { patienceMs: hour, signal: abort.signal }));
      assert.equal(clock.sleeping, 1);
      abort.abort();
      assert.equal(clock.sleeping, 0);
      await clock.advance(0);
      assert.equal(code(wait.error), 'CANCELLED');
    });

    it('holds ten thousand waiting requests with one timer and loses none', async () => {
      const budget = budgetOf({ requestsPerDay: 1e6, requestsPerMinute: 1_000 });
      let served = 0;
      for (let i = 0; i < 11_000; i += 1) void budget.take('read', { patienceMs: hour }).then(() => (served += 1));
      assert.equal(budget.snapshot().waiting, 10_000);
      assert.equal(clock.sleeping, 1);
      await clock.advance(10 * nextMinute);
      assert.equal(served, 11_000);
      assert.equal(clock.sleeping, 0);
    });
  });

  describe('the reserve', () => {
    it('leaves a share of the minute to commands and to what watches them', async () => {
      const budget = budgetOf({ reserveForCommands: 0.04 });
      for (let i = 0; i < 96; i += 1) await budget.take('read', { patienceMs: 0 });
      await refused(budget.take('read', { patienceMs: 0 }), 'RATE_LIMITED');
      for (let i = 0; i < 3; i += 1) await budget.take('follow', { patienceMs: 0 });
      await budget.take('command', { patienceMs: 0 });
      await refused(budget.take('command', { patienceMs: 0 }), 'RATE_LIMITED');
    });

    it('leaves a share of the day to commands', async () => {
      const budget = budgetOf({ requestsPerDay: 10, reserveForCommands: 0.1 });
      for (let i = 0; i < 9; i += 1) await budget.take('read');
      await refused(budget.take('read', { patienceMs: 0 }), 'QUOTA_SPENT');
      await budget.take('command', { patienceMs: 0 });
    });

    it('leaves reads at least half of a tiny limit', async () => {
      const budget = budgetOf({ requestsPerDay: 1, reserveForCommands: 0.9 });
      await budget.take('read', { patienceMs: 0 });
    });
  });

  describe('a stop by the service', () => {
    it('sends nothing until its time, then goes on with what waited', async () => {
      const budget = budgetOf();
      budget.stop('RATE_LIMITED', new Date(start + minute));
      assert.deepEqual(pick(budget), { stoppedUntil: '2026-06-01T08:01:00.000Z', stopCode: 'RATE_LIMITED' });
      const waiting = [
        settled(budget.take('read', { patienceMs: 2 * minute })),
        settled(budget.take('command', { patienceMs: 2 * minute })),
      ];
      await clock.advance(minute - 1);
      assert.deepEqual(
        waiting.map(({ done }) => done),
        [false, false],
      );
      await clock.advance(1);
      assert.deepEqual(
        waiting.map(({ done }) => done),
        [true, true],
      );
      assert.deepEqual(pick(budget), { stoppedUntil: null, stopCode: null });
    });

    it('keeps waiting what has the patience and fails the rest at once, with the time', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const patient = settled(budget.take('read', { patienceMs: 5 * hour }));
      const hasty = settled(budget.take('read', { patienceMs: 3 * minute }));
      budget.stop('QUOTA_SPENT', new Date(start + 4 * hour));
      await clock.advance(0);
      assert.equal(code(hasty.error), 'QUOTA_SPENT');
      assert.equal(hasty.error instanceof VehicleError && hasty.error.retryAt?.getTime(), start + 4 * hour);
      await clock.advance(4 * hour);
      assert.equal(patient.done, true);
    });

    it('refuses what comes meanwhile with the code of the stop', async () => {
      const budget = budgetOf();
      budget.stop('QUOTA_SPENT', new Date(start + 3 * hour));
      const error = await refused(budget.take('command'), 'QUOTA_SPENT');
      assert.equal(error.retryAt?.getTime(), start + 3 * hour);
      assert.equal(
        error.message,
        `The service says that the quota of this API key is spent. The next request can be sent at ${shown(start + 3 * hour)}.`,
      );
    });

    it('is not shortened by a later and shorter one', async () => {
      const budget = budgetOf();
      budget.stop('QUOTA_SPENT', new Date(start + 3 * hour));
      budget.stop('RATE_LIMITED', new Date(start + minute));
      assert.deepEqual(pick(budget), { stoppedUntil: '2026-06-01T11:00:00.000Z', stopCode: 'QUOTA_SPENT' });
    });

    it('lasts at most a day, and a minute where its time makes no sense', () => {
      const long = budgetOf();
      long.stop('QUOTA_SPENT', new Date(start + 400 * hour));
      assert.equal(long.snapshot().stoppedUntil, '2026-06-02T08:00:00.000Z');
      const odd = budgetOf();
      odd.stop('RATE_LIMITED', new Date(Number.NaN));
      assert.equal(odd.snapshot().stoppedUntil, '2026-06-01T08:01:00.000Z');
    });
  });

  describe('over restarts', () => {
    const stored = (): {
      load(): Promise<unknown>;
      save(data: unknown): Promise<void>;
      text: string;
      saves: number;
    } => ({
      text: '',
      saves: 0,
      load() {
        return Promise.resolve(this.text === '' ? undefined : JSON.parse(this.text));
      },
      save(data) {
        this.text = JSON.stringify(data);
        this.saves += 1;
        return Promise.resolve();
      },
    });
    const over = (store: ReturnType<typeof stored>): Partial<BudgetOptions> => ({
      load: () => store.load(),
      save: (data) => store.save(data),
    });

    it('knows a stop after a crash, whenever it comes', async () => {
      const store = stored();
      const before = budgetOf(over(store));
      await before.take('read');
      await clock.advance(0);
      before.stop('QUOTA_SPENT', new Date(start + 2 * hour));
      await clock.advance(0);
      const after = budgetOf({ load: () => store.load() });
      await refused(after.take('read'), 'QUOTA_SPENT');
    });

    it('knows after a clean end exactly what was used, the stop included', async () => {
      const store = stored();
      const before = budgetOf(over(store));
      for (let i = 0; i < 50; i += 1) await before.take(i < 3 ? 'command' : 'read');
      before.stop('QUOTA_SPENT', new Date(start + 2 * hour));
      await before.close();
      await clock.advance(5 * second);
      const after = budgetOf(over(store));
      await refused(after.take('read'), 'QUOTA_SPENT');
      const { usedToday, usedThisMinute, commandsThisMinute, stoppedUntil } = after.snapshot();
      assert.deepEqual(
        { usedToday, usedThisMinute, commandsThisMinute, stoppedUntil },
        { usedToday: 50, usedThisMinute: 50, commandsThisMinute: 3, stoppedUntil: '2026-06-01T10:00:00.000Z' },
      );
    });

    it('counts too many rather than too few after a crash, whenever it comes', async () => {
      const store = stored();
      const before = budgetOf(over(store));
      for (let sent = 1; sent <= 90; sent += 1) {
        await before.take('read');
        await clock.advance(sent % 7 === 0 ? 3 * second : 0);
        const after = createBudget({
          requestsPerDay: 10_000,
          requestsPerMinute: 100,
          commandsPerMinute: 10,
          clock,
          load: () => store.load(),
        });
        await after.take('read');
        const known = after.snapshot().usedToday - 1;
        assert.ok(known >= sent && known <= sent + 17, `${known} known of ${sent} sent`);
        await after.close();
      }
    });

    it('writes seldom however much is sent', async () => {
      const store = stored();
      const budget = budgetOf({ ...over(store), requestsPerMinute: 100_000, requestsPerDay: 10_000_000 });
      for (let i = 0; i < 60; i += 1) {
        for (let j = 0; j < 1_000; j += 1) await budget.take('read');
        await clock.advance(second);
      }
      assert.ok(store.saves <= 8, `${store.saves} writes in a minute`);
      assert.ok(store.text.length < 2_000, `${store.text.length} characters`);
    });

    it('goes on where the store fails, and tries again later, not with every request', async () => {
      let tries = 0;
      const failing = {
        load: () => Promise.reject(new Error('no disk')),
        save: () => Promise.reject(new Error(`no disk ${(tries += 1)}`)),
      };
      const budget = budgetOf(failing);
      for (let i = 0; i < 50; i += 1) await budget.take('read');
      assert.equal(tries, 1);
      await clock.advance(30 * second);
      assert.ok(tries >= 2 && tries <= 5, `${tries} tries`);
    });

    for (const [what, text] of [
      ['nothing', ''],
      ['something else', '{"hello":[1,2,3]}'],
      ['a later version', '{"version":2,"day":[]}'],
      [
        'odd numbers',
        '{"version":1,"savedAt":"yesterday","ahead":-4,"minute":[],"commands":[],"day":[[1]],"stop":null}',
      ],
    ] as const) {
      it(`starts anew where the store holds ${what}`, async () => {
        const store = stored();
        store.text = text;
        const budget = budgetOf(over(store));
        await budget.take('read');
        assert.equal(budget.snapshot().usedToday, 1);
      });
    }

    it('holds requests back until it knows what was used before', async () => {
      let give: (data: unknown) => void = () => undefined;
      const budget = budgetOf({ load: () => new Promise((resolve) => (give = resolve)) });
      const take = settled(budget.take('read'));
      await clock.advance(minute);
      assert.equal(take.done, false);
      give(undefined);
      await clock.advance(0);
      assert.equal(take.done, true);
    });
  });

  describe('a clock that is set', () => {
    it('back does not free what was sent, nor block for ever', async () => {
      const budget = budgetOf({ requestsPerMinute: 1 });
      await budget.take('read');
      const earlier = new ManualClock(start - 400 * 24 * hour);
      Object.assign(clock, {
        now: () => earlier.now(),
        monotonic: () => earlier.monotonic(),
        sleep: (ms: number, signal?: AbortSignal) => earlier.sleep(ms, signal),
      });
      const error = await refused(budget.take('read', { patienceMs: 0 }), 'RATE_LIMITED');
      assert.equal(error.retryAt?.getTime(), earlier.now() + nextMinute);
      await earlier.advance(nextMinute);
      await budget.take('read', { patienceMs: 0 });
    });

    it('back over a restart keeps the age of what was sent', async () => {
      let saved: unknown;
      const before = budgetOf({ save: async (data) => void (saved = data) });
      await before.take('read');
      await clock.advance(23 * hour);
      await before.close();
      clock = new ManualClock(start - 1000 * hour);
      const after = budgetOf({ load: async () => saved });
      await after.take('read');
      assert.equal(after.snapshot().usedToday, 2);
      await clock.advance(hour + 10 * minute);
      assert.equal(after.snapshot().usedToday, 1);
    });
  });

  describe('closing', () => {
    it('cancels what waits and refuses what comes, without a timer left', async () => {
      const budget = budgetOf({ requestsPerMinute: 1, save: async () => undefined });
      await budget.take('read');
      const waiting = settled(budget.take('read', { patienceMs: hour }));
      await budget.close();
      assert.equal(code(waiting.error), 'CANCELLED');
      await refused(budget.take('read'), 'CANCELLED');
      assert.equal(clock.sleeping, 0);
      await budget.close();
    });
  });

  it('keeps every promise on random histories of requests, cancellations and stops', async () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      clock = new ManualClock(start);
      const random = new Random(seed);
      const limits = {
        requestsPerMinute: random.between(1, 12),
        requestsPerDay: random.between(20, 60),
        commandsPerMinute: random.between(1, 4),
      };
      const budget = createBudget({ ...limits, reserveForCommands: random.pick([0, 0.1, 0.4]), clock });
      const sent: { at: number; kind: RequestKind; order: number }[] = [];
      const stops: [number, number][] = [];
      let open = 0;
      for (let order = 0; order < 150; order += 1) {
        const kind = random.pick<RequestKind>(['read', 'read', 'read', 'follow', 'command']);
        const abort = new AbortController();
        const asked = clock.now();
        const patienceMs = random.pick([0, 10 * second, 5 * minute, 26 * hour]);
        open += 1;
        budget.take(kind, { patienceMs, signal: abort.signal }).then(
          () => {
            open -= 1;
            assert.ok(clock.now() <= asked + patienceMs, 'served after its patience');
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
          budget.stop(random.pick(['RATE_LIMITED', 'QUOTA_SPENT']), new Date(until));
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
      await budget.close();
    }
  });

  it('costs next to nothing where nothing has to wait', async () => {
    const budget = budgetOf({ requestsPerDay: 1e12, requestsPerMinute: 1e12, save: async () => undefined });
    const began = process.hrtime.bigint();
    for (let i = 0; i < 200_000; i += 1) void budget.take('read');
    const nanoseconds = Number(process.hrtime.bigint() - began) / 200_000;
    assert.ok(nanoseconds < 5_000, `${nanoseconds} ns each`);
  });
});

interface Watched {
  done: boolean;
  error: unknown;
}

function settled(promise: Promise<void>): Watched {
  const watched: Watched = { done: false, error: null };
  promise.then(
    () => (watched.done = true),
    (error: unknown) => (watched.error = error),
  );
  return watched;
}

async function refused(promise: Promise<void>, expected: ErrorCode): Promise<VehicleError> {
  const error: unknown = await promise.then(
    () => assert.fail('it was let through'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof VehicleError);
  assert.equal(error.code, expected);
  return error;
}

const code = (error: unknown): unknown => (error instanceof VehicleError ? error.code : error);
const pick = (budget: Budget): object => {
  const { stoppedUntil, stopCode } = budget.snapshot();
  return { stoppedUntil, stopCode };
};
const shown = (at: number): string => new Date(at).toTimeString().slice(0, 8);
const first = (index: number, list: readonly number[]): number => list[index] ?? 0;
