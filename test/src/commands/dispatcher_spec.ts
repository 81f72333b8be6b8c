import { strict as assert } from 'node:assert';
import {
  MemoryStateStore,
  type Account,
  type CommandRecord,
  type CommandAttempt,
  type VehicleError,
} from '../../../src/index';
import type { CommandLog } from '../../../src/commands/log';
import { asSentence, wordSentence } from '../../../src/sentence';
import type { FollowOptions, FollowReport, FollowUpdate } from '../../../src/commands/follow';
import type { DispatchOptions } from '../../../src/commands/dispatcher';
import { StateFault } from '../../../src/state/state-store';
import { demoCar, startSimulator, type Simulator } from '../../support/simulator';
import { closeAccounts, follow, openTestAccount, type SendingAccount } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import { failureOf } from '../../support/failure';

const { vin } = demoCar;

async function reportsOf(updates: AsyncIterable<FollowUpdate>): Promise<FollowReport[]> {
  const reports: FollowReport[] = [];
  for await (const { report } of updates) reports.push(report);
  return reports;
}

describe('the dispatcher', () => {
  let clock: ManualClock;
  let service: Simulator;
  let account: SendingAccount & { log: CommandLog };

  beforeEach(async () => {
    clock = new ManualClock();
    service = await startSimulator({ clock });
    account = openTestAccount(service, { clock, id: 'a' });
    service.car().set({ commandPlan: { answerAfterMs: 2_000 } });
  });
  afterEach(async () => {
    await closeAccounts();
    await service.close();
  });

  const send = (command: string, options: DispatchOptions = {}, attempt?: CommandAttempt): Promise<CommandRecord> =>
    account.dispatcher.send(command, { vin, interface: 'v1', ...options }, attempt);
  const posts = (): string[] =>
    service.requests.filter(({ method }) => method === 'POST').map(({ path }) => path.split('/').at(-1) ?? '');
  const failure = (work: Promise<unknown>): Promise<VehicleError> => failureOf(moving(work));
  /** Lets time pass until the work is done. */
  const moving = <Value>(work: Promise<Value>): Promise<Value> => clock.until(work);
  /** Follows a command to its result, as a result node does. */
  const followed = (record: CommandRecord, options: Partial<FollowOptions> = {}): Promise<FollowReport[]> =>
    moving(reportsOf(follow(record, { client: account.client, log: account.log, clock, ...options })));
  /** Lets what is ready on the wire come in, without time passing. */
  const arrive = async (look: () => boolean): Promise<void> => {
    while (!look()) await clock.advance(0);
  };

  describe('one at a time', () => {
    it('waits for a command of another account to the same car, also after that account was closed', async () => {
      const other = openTestAccount(service, { clock });
      await other.dispatcher.send('lock', { vin, interface: 'v1' });
      assert.equal((await failure(send('honk'))).code, 'VEHICLE_UNAVAILABLE');
      await other.close();
      assert.equal((await failure(send('honk'))).code, 'VEHICLE_UNAVAILABLE');
      await clock.advance(5_000);
      await send('honk');
      assert.deepEqual(posts(), ['lock', 'honk']);
    });

    it('is sent 150 s after a command whose link never gives a clear status', async () => {
      service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'UNKNOWN' }] } });
      await send('lock');
      await moving(send('honk', { whenBusy: 'queue' }));
      const [lock, honk] = service.car().invocations;
      assert.ok((honk?.receivedAt ?? 0) - (lock?.receivedAt ?? 0) >= 150_000);
    });

    for (const [what, ms] of [
      ['back by a second', -1_000],
      ['back by a day', -86_400_000],
      ['forward by a day', 86_400_000],
    ] as const)
      it(`stays blocked for 150 s though the clock is set ${what}`, async () => {
        service.car().set({ commandPlan: { answerAfterMs: 0 } });
        service.faults.add({ match: { method: 'POST' }, times: 1, status: 504, body: {} });
        await send('lock', { interface: 'v2' });
        clock.setTime(clock.now() + ms);
        await clock.advance(149_000);
        assert.equal((await failure(send('honk'))).code, 'VEHICLE_UNAVAILABLE');
        await clock.advance(1_000);
        await send('honk');
      });

    it('stays blocked by a command without a known result, whatever the doors say, until no car would still act', async () => {
      service.car().set({ lock: 'UNLOCKED', commandPlan: { answerAfterMs: 1_000 } });
      service.faults.add({ match: { method: 'POST' }, times: 1, cut: 'after-effect' });
      const sentAt = clock.now();
      const record = await moving(send('lock', { interface: 'v2' }));
      assert.equal(record.requestStatus, null);
      assert.equal((await followed(record)).at(-1)?.verified, true);
      assert.match((await failure(send('unlock'))).message, /may still be in progress/);
      await clock.advance(sentAt + 150_000 - clock.now());
      await send('honk');
      assert.deepEqual(posts(), ['lock', 'honk']);
    });

    for (const status of [408, 503]) {
      it(`stays blocked by a command that was answered with HTTP ${status}, which the journal calls undetermined`, async () => {
        service.faults.add({ match: { method: 'POST' }, times: 1, status, body: {} });
        const record = await send('lock');
        assert.deepEqual([record.outcome, record.requestStatus], ['undetermined', null]);
        assert.match(record.message, new RegExp(`HTTP ${status}`));
        assert.match((await failure(send('unlock'))).message, /may still be in progress/);
        assert.equal((await account.journal())[0]?.outcome, 'undetermined');
        await clock.advance(150_000);
        await send('honk');
        assert.deepEqual(posts(), ['lock', 'honk']);
      });
    }

    for (const [what, restart] of [
      ['was lost', 1_000],
      ['is of a time that lies ahead', -600_000],
    ] as const) {
      it(`stays blocked after a restart by a command that ${what}, whichever account sent it`, async () => {
        const store = new MemoryStateStore();
        service.car().set({ commandPlan: { answerAfterMs: 0 } });
        service.faults.add({ match: { method: 'POST' }, times: 1, cut: 'after-effect' });
        await moving(
          openTestAccount(service, { clock, store, id: 'a' }).dispatcher.send('lock', {
            vin,
            interface: 'v2',
          }),
        );
        await clock.advance(0);
        const later = new ManualClock(clock.now() + restart);
        openTestAccount(service, { clock: later, store, id: 'a' });
        const other = openTestAccount(service, { clock: later });
        await assert.rejects(other.dispatcher.send('unlock', { vin, interface: 'v1' }), {
          code: 'VEHICLE_UNAVAILABLE',
        });
        await later.advance(150_000);
        await other.dispatcher.send('unlock', { vin, interface: 'v1' });
        assert.deepEqual(posts(), ['lock', 'unlock']);
      });
    }

    it('stays blocked by a command from before a restart though the journal cannot be read at first', async () => {
      const store = new MemoryStateStore();
      service.car().set({ commandPlan: { answerAfterMs: 0 } });
      service.faults.add({ match: { method: 'POST' }, times: 1, cut: 'after-effect' });
      await moving(
        openTestAccount(service, { clock, store, id: 'a' }).dispatcher.send('unlock', { vin, interface: 'v2' }),
      );
      const entries = store.entries.bind(store);
      store.entries = () => Promise.reject(new StateFault('inaccessible', 'command', 'here', 'EBUSY'));
      clock = new ManualClock(clock.now() + 20_000);
      const { dispatcher } = openTestAccount(service, { clock, store, id: 'a' });
      await clock.advance(0);
      const sent = dispatcher.send('lock', { vin, interface: 'v1' });
      await clock.whenSleeping(2);
      store.entries = entries;
      assert.match((await failure(sent)).message, /may still be in progress.*unlock/);
      assert.deepEqual(posts(), ['unlock']);
    });

    it('waits for an unreadable journal no longer than an earlier command could still act', async () => {
      const store = new MemoryStateStore();
      store.entries = () => Promise.reject(new StateFault('inaccessible', 'command', 'here', 'EACCES'));
      const { dispatcher } = openTestAccount(service, { clock, store, id: 'a' });
      const begun = clock.now();
      await moving(dispatcher.send('lock', { vin, interface: 'v1' }));
      assert.ok(clock.now() - begun >= 150_000 && clock.now() - begun < 155_000, String(clock.now() - begun));
    });

    it('sends each of many concurrent commands once, never two at a time, and without a warning of Node.js', async () => {
      const warnings: Error[] = [];
      const warn = (warning: Error): void => void warnings.push(warning);
      process.on('warning', warn);
      const crowd = Array.from({ length: 20 }, (_, index) =>
        send(['lock', 'honk', 'flash'][index % 3] ?? 'lock', { whenBusy: 'queue' }),
      );
      await moving(Promise.all(crowd));
      process.off('warning', warn);
      assert.deepEqual(warnings, []);
      const times = service.car().invocations.map(({ receivedAt }) => receivedAt);
      assert.equal(times.length, 20);
      for (const [index, at] of times.slice(1).entries()) assert.ok(at - (times[index] ?? 0) >= 4_000);
    });
  });

  describe('when the car is reachable', () => {
    it('waits with growing pauses for a car that sleeps, then sends once', async () => {
      service.car().set({ powerSaving: true });
      const reasons: string[] = [];
      const sent = send('lock', {
        whenUnavailable: 'wait',
        waitMs: 600_000,
        onWaiting: (reason) => reasons.push(reason),
      });
      for (let i = 0; i < 240; i += 1) await clock.advance(1_000);
      assert.deepEqual(posts(), []);
      assert.match(reasons[0] ?? '', /asleep/);
      const polls = service.requests.map(({ at }) => at);
      assert.ok(polls.length >= 4 && polls.length <= 12, String(polls.length));
      service.car().set({ powerSaving: false });
      await moving(sent);
      assert.deepEqual(posts(), ['lock']);
    });

    it('continues to wait after polls that fail, and stops at a failure that lasts', async () => {
      service.car().set({ inUse: true });
      service.faults.add({ match: { path: 'command-accessibility' }, times: 7, cut: 'before-headers' });
      const sent = send('lock', { whenUnavailable: 'wait', waitMs: 600_000 });
      for (let i = 0; i < 90; i += 1) await clock.advance(1_000);
      service.car().set({ inUse: false });
      await moving(sent);
      service.faults.add({ match: { path: 'command-accessibility' }, error: 'not-supported' });
      await clock.advance(10_000);
      assert.equal((await failure(send('lock', { whenUnavailable: 'wait', waitMs: 600_000 }))).code, 'NOT_SUPPORTED');
    });

    it('does not ask the service again before the time that it named', async () => {
      service.faults.add({ match: { path: 'command-accessibility' }, times: 1, status: 503, retryAfter: 300 });
      const sent = send('lock', { whenUnavailable: 'wait', waitMs: 600_000 });
      await moving(sent);
      const [refused = NaN, next = NaN] = service.requests.map(({ at }) => at);
      assert.ok(next - refused >= 300_000, `asked again after ${next - refused} ms`);
      assert.deepEqual(posts(), ['lock']);
    });

    it('keeps its place when a newer command is refused before it is sent', async () => {
      service.car().set({ inUse: true });
      const waiting = send('lock', { whenUnavailable: 'wait', waitMs: 600_000 });
      await clock.whenSleeping();
      assert.equal((await failure(send('flash', { precheck: true }))).code, 'VEHICLE_UNAVAILABLE');
      assert.equal((await failure(send('self-destruct', { interface: 'auto' }))).code, 'INPUT_INVALID');
      service.car().set({ inUse: false });
      await moving(waiting);
      assert.deepEqual(posts(), ['lock']);
    });

    it('is superseded by a newer command that was queued before its turn had come', async () => {
      await send('lock');
      service.car().set({ inUse: true });
      const older = send('honk', { whenBusy: 'queue', whenUnavailable: 'wait' });
      const newer = send('flash', { whenBusy: 'queue', whenUnavailable: 'wait' });
      assert.equal((await failure(older)).code, 'CANCELLED');
      service.car().set({ inUse: false });
      await moving(newer);
      assert.deepEqual(posts(), ['lock', 'flash']);
    });

    it('is not sent after a poll that began in time and was answered too late', async () => {
      service.faults.add({ match: { path: 'command-accessibility' }, times: 1, latencyMs: 20_000 });
      const error = await failure(send('lock', { whenUnavailable: 'wait', waitMs: 10_000 }));
      assert.equal(error.code, 'VEHICLE_UNAVAILABLE');
      assert.match(error.message, /10 seconds/);
      assert.deepEqual(posts(), []);
    });

    it('waits for an unreadable journal no longer than for everything else', async () => {
      const store = new MemoryStateStore();
      store.entries = () => new Promise(() => undefined);
      const { dispatcher } = openTestAccount(service, { clock, store, id: 'a' });
      const begun = clock.now();
      const error = await failure(dispatcher.send('unlock', { vin, interface: 'v1', waitMs: 10_000 }));
      assert.match(error.message, /could not be sent within 10 seconds/);
      assert.ok(clock.now() - begun <= 10_500, String(clock.now() - begun));
      assert.deepEqual(posts(), []);
    });

    for (const [what, ms] of [
      ['a second', 1_000],
      ['a day', 86_400_000],
    ] as const)
      it(`is sent though the clock is set back by ${what} while it is prepared`, async () => {
        const sent = send('lock');
        clock.setTime(clock.now() - ms);
        await moving(sent);
        assert.deepEqual(posts(), ['lock']);
      });

    it('is not sent by a machine that slept longer than the command may wait', async () => {
      await send('lock');
      const queued = send('unlock', { whenBusy: 'queue', waitMs: 60_000 });
      await clock.whenSleeping(2);
      // Monotonic time stops while a machine sleeps.
      clock.setTime(clock.now() + 3_600_000);
      assert.match((await failure(queued)).message, /could not be sent within 60 seconds/);
      assert.deepEqual(posts(), ['lock']);
    });
  });

  describe('a command without an answer', () => {
    for (const [choice, seconds] of [
      ['v1', 60],
      ['v2', 160],
    ] as const) {
      it(`is undetermined after ${seconds} seconds of ${choice}, and is not sent again`, async () => {
        service.faults.add({ match: { method: 'POST' }, latencyMs: 3_600_000, afterEffect: true });
        const begun = clock.now();
        const record = await moving(send('unlock', { interface: choice }));
        assert.deepEqual([record.outcome, record.requestStatus], ['undetermined', null]);
        assert.match(record.message, /\(TIMEOUT\).*not sent again/);
        const waitedMs = clock.now() - begun;
        assert.ok(waitedMs >= seconds * 1_000 && waitedMs <= (seconds + 1) * 1_000, `${waitedMs} ms`);
        await clock.advance(3_600_000);
        assert.deepEqual(posts(), ['unlock']);
        assert.equal(service.car().invocations.length, 1);
      });
    }
  });

  describe('what else an account does after a command', () => {
    let told: string[];
    let observed: Account;

    beforeEach(() => {
      told = [];
      observed = openTestAccount(service, {
        clock,
        shareForMs: 60_000,
        observer: {
          observe: () => undefined,
          commandSent: () => told.push(`sent, ${service.car().invocations.length} arrived`),
        },
      });
    });

    const sources = async (): Promise<string | null> => (await observed.client.read('doors', { vin })).vehicle.source;

    it('begins when the command leaves, and again when it is answered', async () => {
      await sources();
      const sent = observed.dispatcher.send('lock', { vin, interface: 'v2' });
      await arrive(() => posts().length === 1);
      assert.deepEqual(told, ['sent, 0 arrived']);
      await moving(sent);
      assert.deepEqual(told, ['sent, 0 arrived', 'sent, 1 arrived']);
      assert.equal(await sources(), 'live');
    });

    for (const [what, choice, fault, outcome] of [
      ['that v1 accepted', 'v1', {}, 'pending'],
      ['that v2 never answered', 'v2', { cut: 'after-effect' }, 'undetermined'],
    ] as const)
      it(`begins again after a command ${what}: the car may have acted since a read was answered`, async () => {
        service.faults.add({ match: { method: 'POST' }, latencyMs: 2_000, afterEffect: true, ...fault });
        const sent = observed.dispatcher.send('lock', { vin, interface: choice });
        await arrive(() => posts().length === 1);
        assert.deepEqual([await sources(), await sources()], ['live', 'shared'], 'while the command is on its way');
        assert.equal((await moving(sent)).outcome, outcome);
        assert.equal(await sources(), 'live');
      });
  });

  describe('the position after a lock', () => {
    const positions = (): number => service.requests.filter(({ path }) => path.endsWith('/location')).length;
    const poll = (owner: Account): (() => void) =>
      owner.poller.start({ vin, reads: ['location', 'doors'], everyMs: 86_400_000 }, ({ reads, maxAgeMs, failed }) => {
        for (const read of reads as ('location' | 'doors')[])
          void owner.client.read(read, { vin, maxAgeMs }).catch((error: VehicleError) => failed(read, error));
      });
    /** The requests for the position in the five minutes after a command. */
    const after = async (owner: Account, command: string, options: DispatchOptions = {}): Promise<number> => {
      await clock.advanceInSteps(300_000, 5_000);
      const before = positions();
      const record = await moving(owner.dispatcher.send(command, { vin, interface: 'v2', ...options }));
      await clock.advanceInSteps(5_000);
      await followed(record, { client: owner.client });
      await clock.advanceInSteps(300_000, 5_000);
      return positions() - before;
    };

    for (const polling of ['fixed', 'adaptive'] as const)
      it(`is read again once if it is polled (${polling})`, async () => {
        const owner = openTestAccount(service, { clock, polling, tokenOwner: 'home' });
        poll(owner);
        assert.equal(await after(owner, 'lock'), 1);
        assert.equal(await after(owner, 'lock-reduced-guard'), 1);
        assert.equal(await after(owner, 'lock', { interface: 'v1' }), 1);
      });

    it('is not read again after another command, or after a lock that failed', async () => {
      account = openTestAccount(service, { clock, tokenOwner: 'home' });
      poll(account);
      assert.equal(await after(account, 'flash', { interface: 'v1' }), 0);
      service.car().set({ commandPlan: { answerAfterMs: 2_000, steps: [{ afterMs: 0, status: 'REJECTED' }] } });
      assert.equal(await after(account, 'lock'), 0);
    });
  });

  describe('the journal of the account', () => {
    it('does not stop a command when it cannot be saved', async () => {
      const warnings: string[] = [];
      const store = new MemoryStateStore();
      store.write = () => Promise.reject(new StateFault('inaccessible', 'journal', 'here', 'ENOSPC'));
      const account = openTestAccount(service, {
        clock,
        store,
        id: 'a',
        warn: (warning) => warnings.push(wordSentence(asSentence(warning))),
      });
      assert.equal((await account.dispatcher.send('lock', { vin, interface: 'v1' })).outcome, 'pending');
      assert.equal((await account.journal()).length, 1);
      await clock.advance(0);
      assert.match(warnings[0] ?? '', /journal/);
    });
  });
});
