import { strict as assert } from 'node:assert';
import { parseRecord, type CommandRecord, type VehicleError } from '../../../src/index';
import type { VehicleClient } from '../../../src/client';
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

  /** From now on, the service says that the lock was measured at this time. */
  const measureLock = (at: number): void =>
    void service.faults.add({
      match: { path: '/doors' },
      members: { 'data.carLocked.timestamp': { json: new Date(at).toISOString() } },
    });

  /** A v2 command blocks until the car acted: time moves on meanwhile. */
  const sendV2 = async (): Promise<CommandRecord> => {
    const sent = client.send('lock', { vin, interface: 'v2' });
    await whileMoving(sent);
    return sent;
  };

  const whileMoving = async (work: Promise<unknown>): Promise<void> => {
    let over = false;
    const settle = (): void => void (over = true);
    // Handled from the start: a rejection while time moves on must not count as unhandled.
    void work.then(settle, settle);
    for (const end = clock.monotonic() + 3_600_000; !over;) {
      await clock.advance(500);
      assert.ok(clock.monotonic() < end, 'It goes on for ever.');
    }
    await work;
  };

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
    await whileMoving(all);
    return all;
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

  it('follows a v1 lock through each change to a result that the doors verify', async () => {
    const updates = await follow(await client.send('lock', { vin, interface: 'v1' }));
    assert.deepEqual(
      updates.map(({ report }) => report.requestStatus),
      ['WAITING', 'COMPLETED'],
    );
    const verdict = verdictOf(updates);
    assert.equal(verdict.outcome, 'succeeded');
    assert.equal(verdict.verified, true);
    assert.deepEqual(
      verdict.history.map(({ requestStatus }) => requestStatus),
      ['RUNNING', 'WAITING', 'COMPLETED'],
    );
    assert.ok(verdict.elapsedMs >= 4000);
  });

  it('returns a settled v2 record at once, verified by the doors', async () => {
    const record = await sendV2();
    service.clearRequests();
    const verdict = verdictOf(await follow(record));
    assert.equal(verdict.outcome, 'succeeded');
    assert.equal(verdict.verified, true);
    assert.ok(service.requests.every(({ path }) => path.endsWith('/doors')));
  });

  it('names the open door when the car could not be locked', async () => {
    service.car().set({ doors: { rearLeft: 'OPEN' } });
    const verdict = verdictOf(await follow(await client.send('lock', { vin, interface: 'v1' })));
    assert.equal(verdict.requestStatus, 'UNABLE_TO_LOCK_DOOR_OPEN');
    assert.equal(verdict.outcome, 'failed');
    assert.match(verdict.reason, /rear-left door/);
  });

  it('reports a success that the doors disprove', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 3000, status: 'COMPLETED' }));
    const record = await client.send('lock', { vin, interface: 'v1' });
    const doors = {
      ...client,
      read: (name: 'doors', options: object) => (
        service.car().set({ lock: 'UNLOCKED' }).report(),
        client.read(name, { vin, ...options })
      ),
      commandStatus: client.commandStatus.bind(client),
    };
    const verdict = verdictOf(await follow(record, { client: doors as unknown as VehicleClient }));
    assert.equal(verdict.outcome, 'succeeded');
    assert.equal(verdict.verified, false);
  });

  for (const [status, outcome] of [
    ['REJECTED', 'failed'],
    ['TIMEOUT', 'failed'],
    ['CONNECTION_FAILURE', 'failed'],
    ['VEHICLE_IN_SLEEP', 'failed'],
    ['UNLOCK_TIME_FRAME_PASSED', 'failed'],
    ['UNABLE_TO_LOCK_DOOR_OPEN', 'failed'],
    ['UNKNOWN', 'undetermined'],
    ['TELEPORTED', 'undetermined'],
    ['COMPLETED', 'succeeded'],
  ] as const) {
    it(`calls a command that ends with ${status} ${outcome}`, async () => {
      service.car().set(plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 5000, status }));
      const verdict = verdictOf(await follow(await client.send('flash', { vin, interface: 'v1' })));
      assert.equal(verdict.outcome, outcome);
      assert.equal(verdict.requestStatus, status);
      assert.equal(verdict.verified, null);
    });
  }

  it('assumes no order of states: UNKNOWN may be followed by success', async () => {
    service
      .car()
      .set(
        plan(
          { afterMs: 0, status: 'UNKNOWN' },
          { afterMs: 4000, status: 'WAITING' },
          { afterMs: 6000, status: 'RUNNING' },
          { afterMs: 8000, status: 'COMPLETED' },
        ),
      );
    assert.equal(verdictOf(await follow(await client.send('honk', { vin, interface: 'v1' }))).outcome, 'succeeded');
  });

  it('ends undetermined when the time runs out, never with success', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const verdict = verdictOf(await follow(await client.send('lock', { vin, interface: 'v1' }), { timeoutMs: 30_000 }));
    assert.equal(verdict.outcome, 'undetermined');
    assert.match(verdict.reason, /ran out/);
  });

  it('ends undetermined when the link expires', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const record = await client.send('honk', { vin, interface: 'v1' });
    const expires = new Date(clock.now() + 10_000).toISOString();
    const verdict = verdictOf(await follow({ ...record, async: record.async && { ...record.async, expires } }));
    assert.equal(verdict.outcome, 'undetermined');
    assert.match(verdict.reason, /expired/);
    assert.ok(clock.now() < Date.parse(record.sentAt) + 60_000);
  });

  it('ends in time where the link names no date for its end', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const record = await client.send('honk', { vin, interface: 'v1' });
    const verdict = verdictOf(
      await follow(parseRecord({ ...record, async: { ...record.async, expires: 'soon' } }), { timeoutMs: 20_000 }),
    );
    assert.equal(verdict.outcome, 'undetermined');
  });

  it('polls once more when its time is up', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 900, status: 'COMPLETED' }));
    assert.equal(
      verdictOf(await follow(await client.send('honk', { vin, interface: 'v1' }), { timeoutMs: 1_000 })).outcome,
      'succeeded',
    );
  });

  it('goes on after polls that fail', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    service.faults.add({ match: { path: '/requests/' }, times: 5, cut: 'before-headers' });
    assert.equal(verdictOf(await follow(record)).outcome, 'succeeded');
  });

  it('reads the doors for a v2 command without an answer, and does not send it again', async () => {
    service.faults.add({ match: { method: 'POST' }, cut: 'after-effect' });
    const record = await sendV2();
    const verdict = verdictOf(await follow(record));
    assert.equal(verdict.outcome, 'undetermined');
    assert.equal(verdict.verified, true);
    assert.equal(service.requests.filter(({ method }) => method === 'POST').length, 1);
  });

  it('proves nothing by a lock that was measured before the command', async () => {
    const record = await sendV2();
    const future = { ...record, sentAt: new Date(clock.now() + 3_600_000).toISOString() };
    assert.equal(verdictOf(await follow(future)).verified, null);
  });

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

  it('says that the time to open the tailgate has ended', async () => {
    const record = await client.send('unlock', { vin, interface: 'v1', unlockDuration: 5 });
    await clock.advance(60_000);
    const verdict = verdictOf(await follow({ ...record, requestStatus: 'COMPLETED', async: null }));
    assert.equal(verdict.outcome, 'succeeded');
    assert.match(verdict.reason, /time to open the tailgate ended/);
    assert.doesNotMatch(verdict.reason, /can be opened now/);
  });

  it('names the open door however the service writes its word', async () => {
    service
      .car()
      .set({ doors: { tailGate: 'OPEN' } })
      .set(plan({ afterMs: 0, status: 'RUNNING' }, { afterMs: 3000, status: 'Unable_To_Lock_Door_Open' }));
    assert.match(
      verdictOf(await follow(await client.send('lock', { vin, interface: 'v1' }))).reason,
      /Open: tailgate\./,
    );
  });

  it('does not poll past the end of its time, however slow the service is', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const record = await client.send('flash', { vin, interface: 'v1' });
    service.faults.add({ match: { path: '/requests/' }, latencyMs: 1e9 });
    const before = clock.now();
    const verdict = verdictOf(await follow(record, { timeoutMs: 20_000 }));
    assert.equal(verdict.outcome, 'undetermined');
    assert.ok(clock.now() - before <= 31_000, String(clock.now() - before));
  });

  it('shares the reads of fifty watches of one vehicle', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    const records = Array.from({ length: 50 }, (_, index) => ({ ...record, id: String(index) }));
    service.clearRequests();
    const verdicts = await followAll(records);
    assert.ok(verdicts.every((updates) => verdictOf(updates).verified === true));
    const doors = service.requests.filter(({ path }) => path.endsWith('/doors'));
    assert.ok(doors.length <= 10, `${doors.length} reads of the doors`);
  });

  it('shares the polls of several watches of the same command', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    service.clearRequests();
    const alone = await follow(record);
    assert.equal(verdictOf(alone).outcome, 'succeeded');
    const polls = service.requests.length;
    const again = await client.send('lock', { vin, interface: 'v1' });
    service.clearRequests();
    await followAll(Array.from({ length: 20 }, () => again));
    assert.ok(service.requests.length <= polls + 2, `${service.requests.length} instead of ${polls}`);
  });

  it('reads no doors where that is not wanted', async () => {
    service.clearRequests();
    const verdict = verdictOf(await follow(await client.send('lock', { vin, interface: 'v1' }), { verify: false }));
    assert.equal(verdict.verified, null);
    assert.ok(service.requests.every(({ path }) => !path.endsWith('/doors')));
  });

  it('resumes where it was left', async () => {
    const record = await client.send('lock', { vin, interface: 'v1' });
    const startedAt = clock.now() - 170_000;
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const history = [
      { requestStatus: 'RUNNING', at: record.sentAt },
      { requestStatus: 'WAITING', at: record.sentAt },
    ];
    const verdict = verdictOf(await follow(record, { startedAt, history }));
    assert.deepEqual(verdict.history.slice(0, 2), history);
    assert.ok(clock.now() - startedAt < 240_000);
  });

  it('polls once after a restart, however late', async () => {
    const record = await client.send('flash', { vin, interface: 'v1' });
    const startedAt = clock.now();
    await clock.advance(3_600_000);
    const verdict = verdictOf(
      await follow(record, { startedAt, history: [{ requestStatus: 'RUNNING', at: record.sentAt }] }),
    );
    assert.equal(verdict.outcome, 'succeeded');
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
    it(`proves by the service's time where this machine's is ${skewMs / 60_000} minutes behind`, async () => {
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
        let over = false;
        const following = (async () => {
          for await (const { report } of watchCommand({ ...record, sentAt }, { client, clock: own }))
            verified = report.verified;
        })().finally(() => (over = true));
        await own.advanceUntil(() => over);
        await following;
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

  it('goes on when a receiver changes its updates', async () => {
    service
      .car()
      .set(
        plan(
          { afterMs: 0, status: 'RUNNING' },
          { afterMs: 3_000, status: 'WAITING' },
          { afterMs: 9_000, status: 'COMPLETED' },
        ),
      );
    const record = await client.send('flash', { vin, interface: 'v1' });
    const seen: FollowUpdate[] = [];
    const watching = (async () => {
      for await (const update of watchCommand(record, { client, clock })) {
        seen.push(structuredClone(update));
        Object.assign(update.report.async ?? {}, { href: 'https://evil.example/' });
        update.report.history.length = 0;
      }
    })();
    let over = false;
    void watching.finally(() => (over = true));
    await clock.advanceUntil(() => over);
    await watching;
    assert.deepEqual(
      seen.map(({ report }) => report.requestStatus),
      ['WAITING', 'COMPLETED'],
    );
  });

  it('keeps what else the record holds', async () => {
    const record = parseRecord({ ...(await client.send('flash', { vin, interface: 'v1' })), mine: 1 });
    assert.equal((verdictOf(await follow(record)) as unknown as Record<string, unknown>)['mine'], 1);
  });

  it('ends with CANCELLED, at once', async () => {
    service.car().set(plan({ afterMs: 0, status: 'RUNNING' }));
    const abort = new AbortController();
    const watch = watchCommand(await client.send('lock', { vin, interface: 'v1' }), {
      client,
      clock,
      signal: abort.signal,
    });
    const next = watch.next();
    await clock.whenSleeping();
    abort.abort();
    await assert.rejects(
      next,
      (error: Error) => error.name === 'AbortError' || (error as VehicleError).code === 'CANCELLED',
    );
    assert.equal(clock.sleeping, 0);
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
    const sendEngine = async (command: string): Promise<CommandRecord> => {
      const sent = client.send(command, { vin });
      await whileMoving(sent);
      return sent;
    };

    it('proves its result by an engine status that was measured after the command', async () => {
      for (const command of ['engine-start', 'engine-stop']) {
        const record = await sendEngine(command);
        service.clearRequests();
        const [updates] = await followAll([record]);
        const verdict = updates?.at(-1)?.report;
        assert.deepEqual([verdict?.outcome, verdict?.verified], ['succeeded', true]);
        assert.ok(service.requests.some(({ path }) => path.endsWith('/engine-status')));
        assert.ok(!service.requests.some(({ path }) => path.endsWith('/doors')));
      }
    });

    it('says so where the engine did not start', async () => {
      service
        .car()
        .set({ commandPlan: { steps: [{ afterMs: 0, status: 'COMPLETED', acts: false }], answerAfterMs: 0 } });
      const record = await sendEngine('engine-start');
      await clock.advance(1_000);
      service.car().report();
      const [updates] = await followAll([record]);
      const verdict = updates?.at(-1)?.report;
      assert.deepEqual([verdict?.outcome, verdict?.verified], ['succeeded', false]);
      assert.match(verdict?.reason ?? '', /But the engine status says that it did not happen\. Check the car\./);
    });

    it('proves nothing by a status from before the command, an unknown word or a failed read', async () => {
      for (const fault of [
        { error: 'not-supported' as const },
        { status: 200, body: { data: { engineStatus: { value: 'HUMMING', timestamp: '2026-06-01T09:00:00Z' } } } },
      ]) {
        const record = await sendEngine('engine-start');
        service.faults.add({ match: { path: '/engine-status' }, ...fault });
        const [updates] = await followAll([record]);
        assert.equal(updates?.at(-1)?.report.verified, null);
        service.faults.clear();
      }
    });
  });

  describe('of a climate command', () => {
    it('calls a started climatization assumed, for 30 minutes, and reads nothing for it', async () => {
      const sent = client.send('climatization-start', { vin });
      await whileMoving(sent);
      const record = await sent;
      assert.equal(record.assumedUntil, new Date(Date.parse(record.sentAt) + 30 * 60_000).toISOString());
      service.clearRequests();
      const [updates] = await followAll([parseRecord(JSON.parse(JSON.stringify(record)))]);
      const verdict = updates?.at(-1)?.report;
      assert.deepEqual(
        [verdict?.outcome, verdict?.verified, verdict?.assumedUntil],
        ['succeeded', null, record.assumedUntil],
      );
      assert.match(verdict?.reason ?? '', /climate control is still on\. It is assumed to be on until \d\d:\d\d\.$/);
      assert.equal(service.requests.length, 0);
    });

    it('assumes nothing of one that failed or was stopped', async () => {
      service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'REJECTED' }], answerAfterMs: 0 } });
      for (const command of ['climatization-start', 'climatization-stop']) {
        const sent = client.send(command, { vin });
        await whileMoving(sent);
        assert.equal((await sent).assumedUntil, undefined);
      }
    });
  });
});
