import { strict as assert } from 'node:assert';
import { asSentence, type CommandRecord, type VehicleError } from '../../../src/index';
import type { FollowUpdate } from '../../../src/commands/follow';
import { demoCar, startSimulator, type CarChanges, type Simulator } from '../../support/simulator';
import { closeAccounts, follow as watchCommand, openTestAccount, type SendingClient } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';

const vin = demoCar.vin;

describe('the watch', () => {
  let clock: ManualClock;
  let service: Simulator;
  let client: SendingClient;

  beforeEach(async () => {
    clock = new ManualClock();
    service = await startSimulator({ clock });
    ({ client } = openTestAccount(service, { clock }));
    service.car().set({ lock: 'UNLOCKED', commandPlan: { answerAfterMs: 1500 } });
  });
  afterEach(async () => {
    await closeAccounts();
    await service.close();
  });

  const plan = (...steps: { afterMs: number; status: string }[]): CarChanges => ({ commandPlan: { steps } });

  /** From now on, the service reports that the lock was measured at this time. */
  const measureLock = (at: number): void =>
    void service.faults.add({
      match: { path: '/doors' },
      members: { 'data.carLocked.timestamp': { json: new Date(at).toISOString() } },
    });

  const watch = async (
    record: CommandRecord,
    options: Partial<Parameters<typeof watchCommand>[1]> = {},
  ): Promise<FollowUpdate[]> => {
    const updates: FollowUpdate[] = [];
    for await (const update of watchCommand(record, { client, clock, ...options })) updates.push(update);
    return updates;
  };

  /** Follows to the end, moving time on as long as the watches wait. */
  const followAll = async (
    records: CommandRecord[],
    options: Partial<Parameters<typeof watchCommand>[1]> = {},
  ): Promise<FollowUpdate[][]> => {
    const all = Promise.all(records.map((record) => watch(record, options)));
    return clock.until(all);
  };
  const follow = async (
    record: CommandRecord,
    options: Partial<Parameters<typeof watchCommand>[1]> = {},
  ): Promise<FollowUpdate[]> => (await followAll([record], options))[0] ?? [];

  const verdictOf = (updates: FollowUpdate[]): FollowUpdate['report'] => {
    assert.deepEqual(
      updates.map(({ settled }) => settled),
      [...updates.slice(1).map(() => false), true],
    );
    return (updates.at(-1) as FollowUpdate).report;
  };

  it('explains that an unlock opens the tailgate, and until when', async () => {
    const verdict = verdictOf(await follow(await client.send('unlock', { vin, interface: 'v1', unlockDuration: 90 })));
    assert.equal(verdict.outcome, 'succeeded');
    assert.equal(verdict.verified, null);
    assert.match(verdict.reason, /tailgate/);
    assert.match(verdict.openUntil ?? '', /^2026-06-01T08:01:30/);
    // Some time zones are half an hour or a quarter beside the others.
    const minutes = String(new Date('2026-06-01T08:01:30Z').getMinutes()).padStart(2, '0');
    assert.match(verdict.reason, new RegExp(` Open it before \\d\\d:${minutes}\\.$`));
    assert.equal(service.requests.filter(({ path }) => path.endsWith('/doors')).length, 1);
  });

  it('counts the time to open the tailgate from the moment when the car acted if only v1 gave that time', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 100_000, status: 'COMPLETED' }));
    const record = await client.send('unlock', { vin, interface: 'v1', unlockDuration: 90 });
    assert.match(verdictOf(await follow(record)).reason, /tailgate can be opened now/);
    const v2 = { ...record, interface: 'connected-v2' } as const;
    assert.match(verdictOf(await follow(v2)).reason, /time to open the tailgate ended/);
  });

  it('waits ten seconds at most for a poll that is not answered when its time is up', async () => {
    const record = await client.send('honk', { vin, interface: 'v1' });
    service.faults.add({ match: { path: '/requests/' }, latencyMs: 3_600_000 });
    const { outcome, elapsedMs } = verdictOf(await follow(record, { timeoutMs: 20_000 }));
    assert.deepEqual([outcome, Math.round(elapsedMs / 1_000)], ['undetermined', 30]);
  });

  it('ends in time though the clock is set back', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const record = await client.send('honk', { vin, interface: 'v1' });
    service.clearRequests();
    const watch = follow(record, { timeoutMs: 30_000 });
    await clock.whenSleeping(2);
    clock.setTime(clock.now() - 7_200_000);
    assert.equal(verdictOf(await watch).outcome, 'undetermined');
    assert.ok(service.requests.length < 20, `${service.requests.length} looks`);
  });

  for (const skewMs of [600_000, -600_000]) {
    it(`proves by the service's time if this machine's is ${skewMs / 60_000} minutes behind`, async () => {
      const own = new ManualClock(clock.now() - skewMs);
      ({ client } = openTestAccount(service, { clock: own }));
      const sentAt = new Date(own.now()).toISOString();
      await client.read('windows', { vin });
      const record = {
        ...(await client.send('lock', { vin, interface: 'v1' })),
        requestStatus: 'TIMEOUT',
        async: null,
      };
      service.car().set({ lock: 'LOCKED' });
      measureLock(clock.now() - 60_000);
      const watch = async (): Promise<boolean | null | undefined> => {
        let verified: boolean | null | undefined;
        const following = (async () => {
          for await (const { report } of watchCommand({ ...record, sentAt }, { client, clock: own }))
            verified = report.verified;
        })();
        await own.until(following);
        return verified;
      };
      assert.equal(await watch(), null);
      await Promise.all([clock.advance(10_000), own.advance(10_000)]);
      service.faults.clear();
      service.car().set({ lock: 'LOCKED' }).report();
      assert.equal(await watch(), true);
    });
  }

  it('takes no measurement with a future timestamp for a proof', async () => {
    service.car().set({
      ...plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 3_000, status: 'TIMEOUT' }),
      lock: 'LOCKED',
    });
    measureLock(clock.now() + 3_600_000);
    assert.equal(verdictOf(await follow(await client.send('lock', { vin, interface: 'v1' }))).verified, null);
  });

  it('reads the doors over the interface of the command', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    for (const version of ['v1', 'v2'] as const) {
      service.clearRequests();
      await follow({ ...record, interface: `connected-${version}` });
      const doors = service.requests.filter(({ path }) => path.endsWith('/doors'));
      assert.ok(doors.length > 0 && doors.every(({ path }) => path.includes(`/${version}/`)), version);
      await clock.advance(10_000);
    }
  });

  it('reads the doors again for the open one that kept the car from locking', async () => {
    service.car().set(plan({ afterMs: 0, status: 'UNABLE_TO_LOCK_DOOR_OPEN' }));
    const record = await client.send('lock', { vin, interface: 'v1' });
    clock.after(3_000, () => void service.car().set({ doors: { hood: 'OPEN' } }));
    const { outcome, reason } = verdictOf(await follow(record));
    assert.equal(outcome, 'failed');
    assert.match(reason, / Open: hood\.$/);
  });

  it('polls no sooner than a failed poll allows, and says at the end that it failed', async () => {
    const record = await client.send('honk', { vin, interface: 'v1' });
    const sentAt = clock.now();
    service.faults.add({ match: { path: '/requests/' }, status: 503, retryAfter: 61 });
    const { outcome, reason } = verdictOf(await follow(record, { timeoutMs: 65_000 }));
    assert.equal(outcome, 'undetermined');
    assert.match(reason, /waiting time of this node ended .* The last poll failed: /);
    const polls = service.requests.filter(({ path }) => path.includes('/requests/'));
    assert.deepEqual(
      polls.map(({ at }) => (at - sentAt) / 1_000),
      [2, 63, 65],
    );
  });

  it('has a result that was reached before, without a request', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    service.clearRequests();
    const settledAt = new Date(clock.now() + 7_000).toISOString();
    const result = { outcome: 'failed', reason: asSentence('The car refused.'), verified: true, settledAt } as const;
    const report = verdictOf(await follow(record, { result }));
    assert.deepEqual([report.outcome, report.reason, report.verified], ['failed', 'The car refused.', true]);
    assert.deepEqual([report.elapsedMs, service.requests.length], [7_000, 0]);
  });

  it('refuses a link to another host before the first poll', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    service.clearRequests();
    for (const href of [
      'https://evil.example/requests/1',
      'http://127.0.0.1:1/requests/1',
      `${service.url.replace('//', '//evil@')}/requests/1`,
    ]) {
      const foreign = { ...record, async: record.async && { ...record.async, href } };
      await assert.rejects(follow(foreign), (error: VehicleError) => error.code === 'UNTRUSTED_LINK', href);
    }
    assert.equal(service.requests.length, 0);
  });

  describe('of an engine command', () => {
    /** A v2 command blocks until the car acted: time moves on meanwhile. */
    const startEngine = (): Promise<CommandRecord> => clock.until(client.send('engine-start', { vin }));

    it('says that the engine did not start', async () => {
      service
        .car()
        .set({ commandPlan: { steps: [{ afterMs: 0, status: 'COMPLETED', acts: false }], answerAfterMs: 0 } });
      const record = await startEngine();
      await clock.advance(1_000);
      service.car().report();
      const verdict = verdictOf(await follow(record));
      assert.deepEqual([verdict.outcome, verdict.verified], ['succeeded', false]);
      assert.match(verdict.reason, /However, the engine status shows the opposite\. Check the car\./);
    });

    it('proves nothing by a status from before the command, an unknown word or a failed read', async () => {
      for (const fault of [
        { error: 'not-supported' as const },
        { status: 200, body: { data: { engineStatus: { value: 'HUMMING', timestamp: '2026-06-01T09:00:00Z' } } } },
      ]) {
        const record = await startEngine();
        service.faults.add({ match: { path: '/engine-status' }, ...fault });
        assert.equal(verdictOf(await follow(record)).verified, null);
        service.faults.clear();
      }
    });
  });
});
