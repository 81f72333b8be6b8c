import { strict as assert } from 'node:assert';
import { parseRecord, VehicleError, type CommandRecord } from '../../../src/index';
import type { VehicleClient } from '../../../src/client';
import { followCommand, type FollowOptions, type FollowUpdate } from '../../../src/commands/follow';
import { Command } from '../../../src/commands/command';
import { ManualClock } from '../../support/manual-clock';

const start = Date.parse('2026-06-01T08:00:00Z');
const iso = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

interface Doors {
  lock?: boolean | null;
  /** In seconds after the command was sent. */
  measuredAt: number;
  open?: string[];
}

/** A service by its answers about command and doors so many seconds after the command was sent; null: no answer. */
interface Service {
  status?: (seconds: number) => string | VehicleError | null;
  doors?: (seconds: number) => Doors | VehicleError | null;
  record?: Partial<CommandRecord>;
  /** Called each second. */
  meanwhile?: (seconds: number, command: Command) => void;
}

interface Seen {
  updates: FollowUpdate[];
  report: FollowUpdate['report'];
  /** In seconds after the command was sent. */
  polls: number[];
  reads: number[];
  interfaces: (string | undefined)[];
  /** Whether no time had to pass. */
  isAtOnce: boolean;
}

const recordOf = (changes: Partial<CommandRecord> = {}): CommandRecord =>
  parseRecord({
    command: 'lock',
    vin: 'YV1ZZZZZZZZZZZZZ1',
    interface: 'connected-v1',
    id: 'command-1',
    sentAt: iso(0),
    requestStatus: 'RUNNING',
    outcome: 'pending',
    async: { status: 'RUNNING', id: '1', href: 'https://service.example/requests/1' },
    ...changes,
  });

/** Follows a command with `watches`, the first at once and each other one 1.2 seconds after the one before. */
async function follow(
  { status = () => 'COMPLETED', doors = () => ({ lock: true, measuredAt: 1 }), record, meanwhile }: Service,
  options: Omit<Partial<FollowOptions>, 'client' | 'clock'> & { since?: number } = {},
  watches = 1,
): Promise<Seen> {
  const clock = new ManualClock(start);
  const seconds = (): number => (clock.now() - start) / 1_000;
  const [polls, reads, interfaces]: [number[], number[], Seen['interfaces']] = [[], [], []];
  const given = <Value>(value: Value | VehicleError | null, signal?: AbortSignal): Promise<Value> => {
    if (value instanceof VehicleError) return Promise.reject(value);
    if (value !== null) return Promise.resolve(value);
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(new VehicleError('CANCELLED', 'Cancelled.'))),
    );
  };
  const client = {
    clockSkewMs: 0,
    service: { since: options.since },
    commandStatus: async (_: unknown, { signal }: { signal?: AbortSignal }) => {
      polls.push(seconds());
      return { requestStatus: await given(status(seconds()), signal), message: null };
    },
    read: async (_: string, { signal, ...read }: { signal?: AbortSignal; interface?: string }) => {
      reads.push(seconds());
      interfaces.push(read.interface);
      const { lock, measuredAt, open } = await given(doors(seconds()), signal);
      return {
        payload: { carLocked: { timestamp: iso(measuredAt) } },
        vehicle: { ...(lock !== undefined && { locked: lock }), ...(open && { open }) },
      };
    },
    // What a watch uses of a client.
  } as unknown as VehicleClient;
  const command = Command.adopt(recordOf(record), 'a', clock.now());
  const updates: FollowUpdate[] = [];
  let over = 0;
  let failure: unknown = null;
  const watch = async (index: number): Promise<void> => {
    if (index > 0) await clock.sleep(index * 1_200);
    for await (const update of followCommand(command, { client, clock, ...options })) updates.push(update);
  };
  for (let index = 0; index < watches; index += 1)
    watch(index)
      .catch((error: unknown) => (failure = error))
      .finally(() => (over += 1));
  await new Promise((resolve) => setImmediate(resolve));
  const isAtOnce = over === watches;
  while (over < watches) {
    await clock.advance(1_000);
    meanwhile?.(seconds(), command);
    assert.ok(seconds() < 1_000, 'It goes on for ever.');
  }
  assert.equal(clock.sleeping, 0);
  if (failure !== null) throw failure;
  const last = updates.at(-1);
  assert.ok(last?.settled);
  return { updates, report: last.report, polls, reads, interfaces, isAtOnce };
}

const pick = ({ report, polls }: Seen): unknown[] => [report.outcome, report.elapsedMs / 1_000, polls];
const fails = (httpStatus: number, retryAt?: Date): VehicleError =>
  new VehicleError('SERVICE_ERROR', 'The service is down.', { httpStatus, ...(retryAt && { retryAt }) });

describe('the steps of a watch', () => {
  it('are polls after 2 seconds and then in growing pauses of at most 5 seconds, the last one when its time is up', async () => {
    const seen = await follow({ status: () => 'RUNNING' }, { timeoutMs: 30_000, verify: false });
    assert.deepEqual(pick(seen), ['undetermined', 30, [2, 5, 9.5, 14.5, 19.5, 24.5, 29.5, 30]]);
    assert.equal(
      seen.report.reason,
      'The waiting time of this node ended before the car had answered. Check at the car whether it acted.',
    );
    assert.deepEqual([seen.report.async, seen.reads], [recordOf().async, []]);
  });

  it('end when the link expires; one that names no date ends with the watch', async () => {
    const until = (expires: string): Promise<Seen> => {
      const { async } = recordOf();
      const record = { async: async && { ...async, expires } };
      return follow({ status: () => 'RUNNING', record }, { timeoutMs: 20_000, verify: false });
    };
    const expired = await until(iso(10));
    assert.deepEqual(pick(expired), ['undetermined', 10, [2, 5, 9.5, 10]]);
    assert.match(expired.report.reason, /^The link to the state of the command expired/);
    assert.deepEqual(pick(await until('soon')), ['undetermined', 20, [2, 5, 9.5, 14.5, 19.5, 20]]);
  });

  it('have the time that is left after a restart, and are one poll where none is left', async () => {
    const since = (seconds: number): Partial<FollowOptions> => ({ startedAt: start - seconds * 1_000, verify: false });
    assert.deepEqual((await follow({ status: () => 'RUNNING' }, since(170))).polls, [2, 5, 9.5, 10]);
    assert.deepEqual(pick(await follow({}, since(3_600))), ['succeeded', 0, [0]]);
  });

  it('wait ten seconds at most for a poll that is not answered when their time is up', async () => {
    const seen = await follow({ status: () => null }, { timeoutMs: 20_000, verify: false });
    assert.deepEqual(pick(seen), ['undetermined', 30, [2]]);
  });

  it('end when three polls in a row find no clear status', async () => {
    const always = await follow({ status: () => 'UNKNOWN' });
    assert.deepEqual(always.polls, [2, 5, 9.5]);
    assert.equal(always.report.outcome, 'undetermined');
    const once = await follow({ status: (seconds) => (seconds === 9.5 ? 'WAITING' : 'UNKNOWN') });
    assert.deepEqual(once.polls, [2, 5, 9.5, 14.5, 19.5, 24.5]);
  });

  for (const status of [404, 410])
    it(`end when the service answers ${status} to the link`, async () => {
      const seen = await follow({ status: () => fails(status) }, { verify: false });
      assert.deepEqual(pick(seen), ['undetermined', 2, [2]]);
      assert.match(seen.report.reason, /^The service removed the link/);
    });

  it('go on after a poll that failed, not before the time that the service asks for, and say so at the end', async () => {
    const retryAt = new Date(start + 20_000);
    const seen = await follow({ status: () => fails(500, retryAt) }, { timeoutMs: 22_000, verify: false });
    assert.deepEqual(pick(seen), ['undetermined', 22, [2, 20, 22]]);
    assert.equal(seen.updates.length, 1);
    assert.match(seen.report.reason, /waiting time of this node ended .* The last poll failed: The service is down\.$/);
  });

  it('end when the account is closed', async () => {
    const closed = new VehicleError('CANCELLED', 'Closed.');
    assert.deepEqual((await follow({ status: () => closed })).polls, [2]);
  });

  it('end with an error when the watch is cancelled in a poll, between two, or while the doors are read', async () => {
    for (const service of [{ status: () => null }, { status: () => 'RUNNING' }, { doors: () => null }]) {
      const abort = new AbortController();
      const meanwhile = (seconds: number): void => void (seconds === 3 && abort.abort());
      const watch = follow({ ...service, meanwhile }, { signal: abort.signal });
      await assert.rejects(watch, (error: Error) => /^(AbortError|VehicleError)$/.test(error.name));
    }
  });

  it('are shared by the watches of one command', async () => {
    const seen = await follow({ status: (seconds) => (seconds < 5 ? 'RUNNING' : 'COMPLETED') }, { verify: false }, 2);
    assert.deepEqual(seen.polls, [2, 5]);
    assert.deepEqual(
      seen.updates.map(({ settled }) => settled),
      [true, true],
    );
  });

  it('need no poll where another process has found the result', async () => {
    const seen = await follow({
      meanwhile: (_, command) => command.addStatus({ requestStatus: 'COMPLETED', message: null }, start + 1_000),
    });
    assert.deepEqual([seen.report.outcome, seen.polls], ['succeeded', []]);
  });

  it('are left out for a result that was reached before', async () => {
    const { reason } = (await follow({})).updates.at(-1) ?? assert.fail();
    const result = { outcome: 'failed', reason, verified: true, settledAt: iso(7) } as const;
    const seen = await follow({}, { result });
    assert.deepEqual(pick(seen), ['failed', 7, []]);
    assert.deepEqual([seen.report.verified, seen.reads, seen.updates.length], [true, [], 1]);
  });

  it('are left out for a command from before a restart of the demo car', async () => {
    const lost = await follow({}, { since: start + 1 });
    assert.deepEqual([...pick(lost), lost.reads], ['undetermined', 0, [], []]);
    assert.match(lost.report.reason, /^The demo car was restarted with Node-RED/);
    const done = await follow({ record: { requestStatus: 'COMPLETED', outcome: 'succeeded' } }, { since: start + 1 });
    assert.deepEqual([done.report.reason, done.reads], ['The car carried out the command.', []]);
    assert.deepEqual((await follow({}, { since: start })).polls, [2]);
  });

  it('end at once, and say why, where the service gave no link', async () => {
    const seen = await follow({ record: { async: null } }, { verify: false });
    assert.deepEqual(pick(seen), ['undetermined', 0, []]);
    assert.match(seen.report.reason, /returned no link to follow it further/);
  });

  it('leave no assumption about a climate control that was refused', async () => {
    const record = { command: 'climatization-start', assumedUntil: iso(1_800) };
    const seen = await follow({ record, status: () => 'REJECTED' });
    assert.deepEqual([seen.report.assumedUntil, seen.report.reason], [undefined, 'The car refused the command.']);
  });

  describe('of the proof', () => {
    const proof = ({ report, reads }: Seen): unknown[] => [report.verified, reads];

    it('are reads of the interface of the command until the doors were measured after it', async () => {
      const older = await follow({ doors: () => ({ lock: true, measuredAt: -60 }) });
      assert.deepEqual(proof(older), [null, [2, 4, 7, 12, 22]]);
      assert.ok(older.interfaces.every((one) => one === 'v1'));
      const newer = await follow({
        doors: () => ({ lock: true, measuredAt: 1 }),
        record: { interface: 'connected-v2' },
      });
      assert.deepEqual(proof(newer), [true, [2]]);
      assert.deepEqual(newer.interfaces, ['v2']);
      assert.equal(newer.report.reason, 'The car carried out the command.');
    });

    it('need no time where result and proof are there', async () => {
      const done = await follow({ record: { requestStatus: 'COMPLETED', outcome: 'succeeded' } });
      assert.deepEqual([...proof(done), done.isAtOnce], [true, [0], true]);
    });

    it('go on after a read that failed, and end after 30 seconds where one is not answered', async () => {
      assert.deepEqual(proof(await follow({ doors: () => fails(500) })), [null, [2, 4, 7, 12, 22]]);
      const silent = await follow({ doors: () => null });
      assert.deepEqual([...proof(silent), silent.report.elapsedMs], [null, [2], 32_000]);
    });

    it('read a value against the command again where it may be from before the car acted', async () => {
      const acted = (seconds: number): Doors =>
        seconds < 4 ? { lock: false, measuredAt: 1 } : { lock: true, measuredAt: 3 };
      assert.deepEqual(proof(await follow({ doors: acted })), [true, [2, 4]]);
      const never = await follow({ doors: (seconds) => ({ lock: false, measuredAt: seconds < 4 ? 1 : 3 }) });
      assert.deepEqual(proof(never), [false, [2, 4]]);
      assert.match(never.report.reason, /But the doors show that it did not happen\. Check the car\.$/);
    });

    it('take an unknown lock for no proof', async () => {
      assert.deepEqual(proof(await follow({ doors: () => ({ lock: null, measuredAt: 1 }) })), [null, [2]]);
      assert.deepEqual(proof(await follow({ doors: () => ({ measuredAt: 1 }) })), [null, [2]]);
    });

    it('are one read where no value can disprove the command, and none for a command that this version does not know', async () => {
      const unlock = { command: 'unlock' };
      assert.deepEqual(proof(await follow({ record: unlock, doors: () => ({ lock: true, measuredAt: -60 }) })), [
        null,
        [2],
      ]);
      assert.deepEqual(proof(await follow({ record: { command: 'dance' } })), [null, []]);
    });

    it('are one read for a command that failed, which names no open door but where that was the reason', async () => {
      const doors = (): Doors => ({ lock: false, measuredAt: -60, open: ['hood'] });
      const refused = await follow({ status: () => 'REJECTED', doors });
      assert.deepEqual([...proof(refused), refused.report.reason], [null, [2], 'The car refused the command.']);
      const open = await follow({ status: () => 'Unable_To_Lock_Door_Open', doors });
      assert.deepEqual(proof(open), [null, [2]]);
      assert.match(open.report.reason, / Open: hood\.$/);
      const happened = await follow({ status: () => 'TIMEOUT' });
      assert.deepEqual(proof(happened), [true, [2]]);
      assert.match(happened.report.reason, / However, the doors show that it happened\.$/);
    });

    it('read the doors again for the open one that kept the car from locking, and give its name as it is where no word is known', async () => {
      const later = await follow({
        status: () => 'UNABLE_TO_LOCK_DOOR_OPEN',
        doors: (seconds) => ({ lock: false, measuredAt: -60, ...(seconds >= 4 && { open: ['moonHatch'] }) }),
      });
      assert.deepEqual(proof(later), [null, [2, 4]]);
      assert.match(later.report.reason, / Open: moonHatch\.$/);
      const none = await follow({
        status: () => 'UNABLE_TO_LOCK_DOOR_OPEN',
        doors: () => ({ lock: false, measuredAt: 3 }),
      });
      assert.doesNotMatch(none.report.reason, /Open/);
    });
  });

  describe('of an unlock', () => {
    const acted = (seconds: number): string => (seconds < 100 ? 'RUNNING' : 'COMPLETED');
    const record = { command: 'unlock', openUntil: iso(90) };

    it('count the time to open the tailgate from when the car acted where the interface does not say', async () => {
      assert.match((await follow({ status: acted, record })).report.reason, /tailgate can be opened now/);
      const v2 = await follow({ status: acted, record: { ...record, interface: 'connected-v2' } });
      assert.match(v2.report.reason, /time to open the tailgate ended/);
      const late = await follow({ status: acted, record: { ...record, openUntil: iso(5) }, doors: () => null });
      assert.match(late.report.reason, /time to open the tailgate ended/);
    });

    it('name no time where none is known, and no tailgate where the car refused', async () => {
      const { report } = await follow({ record: { command: 'unlock' } });
      assert.equal(
        report.reason,
        'The car carried out the command. The tailgate can be opened now. The doors unlock when it is opened.',
      );
      const refused = await follow({ record, status: () => 'REJECTED' });
      assert.equal(refused.report.reason, 'The car refused the command.');
    });
  });
});
