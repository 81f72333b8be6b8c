import { strict as assert } from 'node:assert';
import {
  cancelledByMessage,
  cancelWaiting,
  CommandAttempt,
  LocalPresence,
  Membership,
  MemoryStateStore,
  VehicleError,
} from '../../../src/index';
import { LoggedCommand } from '../../../src/commands/logged-command';
import type { CommandRecord } from '../../../src/commands/record';
import type { CommandRoute } from '../../../src/commands/route';
import { VehicleCommandQueue, type Turn } from '../../../src/commands/vehicle-command-queue';
import { asSentence } from '../../../src/sentence';
import type { Presence } from '../../../src/state/presence';
import { StateFault, type StateStore } from '../../../src/state/state-store';
import type { Invocation } from '../../../src/wire/invocations';
import { ManualClock } from '../../support/manual-clock';
import { SharedMemory } from '../../support/shared-memory';

const second = 1_000;
const begin = Date.parse('2026-06-01T08:00:00Z');
const vin = 'YV1TEST0000000000';

interface Place {
  id: string;
  status: string;
  [name: string]: unknown;
}

describe('the turn of a command', () => {
  let clock: ManualClock;
  let shared: SharedMemory;
  let ends: (() => Promise<void>)[];
  let polls: number;
  /** The answer of the link of a command. */
  let linked: string | null;

  beforeEach(() => {
    // Monotonic time and the clock of the store differ.
    clock = new ManualClock(5e9);
    clock.setTime(begin);
    shared = new SharedMemory(clock);
    ends = [];
    polls = 0;
    linked = 'RUNNING';
  });
  afterEach(() => Promise.all(ends.map((end) => end())));

  interface Process {
    queue: VehicleCommandQueue;
    presence: Presence;
  }
  const start = async (group: string | null = 'flows', store = shared): Promise<Process & { presence: Membership }> => {
    const presence = new Membership({ store, group, clock });
    ends.push(presence.use());
    await clock.advance(second);
    return { queue: new VehicleCommandQueue({ clock, baseUrl: 'https://service', store, presence }), presence };
  };
  const alone = (store: StateStore = new MemoryStateStore()): Process => {
    const presence = new LocalPresence(clock);
    return { queue: new VehicleCommandQueue({ clock, baseUrl: 'https://service', store, presence }), presence };
  };

  const client = {
    commandStatus: (): Promise<Invocation> => {
      polls += 1;
      if (linked === null) return Promise.reject(new VehicleError('NETWORK', 'Away.'));
      const async = { status: linked, id: '1', href: 'https://service/1', expires: null };
      return Promise.resolve({ requestStatus: linked, operationId: null, message: null, async, readyUntil: null });
    },
  };
  const attemptOf = (waitMs = 600 * second): CommandAttempt => {
    const attempt = new CommandAttempt({ clock });
    attempt.limit(waitMs);
    return attempt;
  };
  type Request = Parameters<VehicleCommandQueue['enter']>[0];
  const enter = (
    { queue }: Process,
    command: string,
    { body, ...options }: Partial<Request> & { body?: string } = {},
  ): Promise<Turn> => {
    const route: CommandRoute = {
      command,
      vin,
      interface: 'connected-v1',
      url: new URL(`https://service/commands/${command}`),
      contentType: 'application/json',
      body,
      unlockSeconds: undefined,
      scopes: [],
    };
    const base = { route, whenBusy: 'queue', waitsForCar: false, waitMs: 60 * second, node: 'n', client } as const;
    const entered = queue.enter({ ...base, attempt: attemptOf(), ...options });
    entered.catch(() => undefined);
    return entered;
  };
  const recordOf = (
    { attempt: { id } }: { attempt: { id: string } },
    sentAt = clock.now(),
    outcome = 'pending',
  ): CommandRecord => ({
    outcome: outcome as CommandRecord['outcome'],
    command: 'lock',
    message: '',
    requestStatus: null,
    id,
    vin,
    interface: 'connected-v1',
    sentAt: new Date(sentAt).toISOString(),
    operationId: null,
    async: { status: 'RUNNING', id: '1', href: 'https://service/1' },
  });
  /** Sends the command, which is answered at once without saying what became of it. */
  const sendIn = async ({ queue }: Process, turn: Turn): Promise<LoggedCommand> => {
    const record = recordOf(turn);
    await queue.claimSending(turn, record);
    const logged = new LoggedCommand(record, 'account', {}, clock.now());
    await queue.sent(turn, logged);
    return logged;
  };
  const stored = async (store: StateStore = shared): Promise<Place[]> =>
    // A cast: only the queue writes the record.
    ((await store.entries('turn/'))[0]?.value ?? []) as Place[];
  const change = async (changed: (places: Place[]) => Place[]): Promise<void> => {
    const [{ key } = assert.fail()] = await shared.entries('turn/');
    await shared.write(key, changed(await stored()));
  };
  const refused = async (work: Promise<unknown>, code: string, words: RegExp): Promise<void> => {
    await assert.rejects(work, (error: VehicleError) => {
      assert.equal(error.code, code);
      assert.match(error.message, words);
      return true;
    });
  };
  const isDone = async (work: Promise<unknown>): Promise<boolean> => {
    let done = false;
    const note = (): void => void (done = true);
    void work.then(note, note);
    await clock.advance(0);
    return done;
  };

  it('is stored with what other processes must know, from its queuing to ten seconds after its end', async () => {
    const one = await start();
    const at = clock.now();
    const turn = await enter(one, 'lock');
    const [place = assert.fail()] = await stored();
    assert.match(String(place['what']), /^[0-9a-f]{32}$/);
    const waiting = {
      id: turn.attempt.id,
      command: 'lock',
      what: place['what'],
      member: one.presence.id,
      sender: 'flows/n',
      status: 'waiting',
      why: null,
      waitsForCar: false,
      askedAt: at,
      until: at + 60 * second,
      sentAt: 0,
      isAnswered: false,
      record: null,
    };
    assert.deepEqual(place, waiting);
    assert.deepEqual([turn.waited, turn.joined], [false, null]);
    const next = enter(one, 'honk');
    await clock.advance(second);
    const [, behind = assert.fail()] = await stored();
    const record = recordOf(turn);
    await one.queue.claimSending(turn, record);
    const sent = { ...waiting, status: 'sent', sentAt: at + second, record };
    assert.deepEqual(await stored(), [sent, behind]);
    await clock.advance(5 * second);
    const logged = new LoggedCommand({ ...record, message: 'later' }, 'account', {}, clock.now());
    await one.queue.sent(turn, logged);
    const answered = { ...sent, isAnswered: true, record: logged.record };
    assert.deepEqual(await stored(), [answered, behind]);
    assert.equal(await isDone(next), false);
    logged.addStatus({ requestStatus: 'COMPLETED', message: null }, clock.now());
    assert.equal((await next).waited, true);
    const over = { ...answered, status: 'over', until: at + 16 * second, record: logged.record };
    assert.deepEqual(await stored(), [over, behind]);
    await clock.advance(10 * second);
    await one.queue.giveWay(await next);
    await one.queue.end(await next);
    assert.deepEqual(
      (await stored()).map(({ command }) => command),
      ['honk'],
    );
  });

  it('leaves nothing in a store that no group uses, nor in that of one process', async () => {
    for (const [process, store] of [
      [await start(null), shared],
      [alone(shared), shared],
    ] as const) {
      const turn = await enter(process, 'lock');
      const [place] = await stored(store);
      assert.deepEqual([place?.['member'], place?.['sender']], [process.presence.id, '']);
      const next = enter(process, 'honk');
      await clock.advance(0);
      await process.queue.end(turn);
      await process.queue.end(await next);
      assert.deepEqual(await store.entries('turn/'), []);
    }
  });

  it('is lost where this process was silent for so long that another one may have taken it', async () => {
    const one = await start();
    await enter(one, 'lock');
    one.queue.assertHeld();
    alone().queue.assertHeld();
    clock.skip(10 * second);
    assert.throws(() => one.queue.assertHeld(), { code: 'CANCELLED' });
  });

  it('is lost where the store has another command in front, or no command at all', async () => {
    const [one, other] = [await start(), await start()];
    const turn = await enter(one, 'lock');
    await change(([own = assert.fail()]) => [
      { ...own, id: 'x', member: other.presence.id, status: 'sent', sentAt: clock.now() },
      own,
    ]);
    await refused(one.queue.claimSending(turn, recordOf(turn)), 'CANCELLED', /lost its turn/);
    assert.equal((await stored())[1]?.status, 'waiting');
    await change(() => []);
    await refused(one.queue.claimSending(turn, recordOf(turn)), 'CANCELLED', /lost its turn/);
    assert.equal(turn.attempt.signal.aborted, true);
  });

  it('is given up for a newer command by one that waits for the car, and kept where there is no other', async () => {
    const process = alone();
    const older = await enter(process, 'lock', { waitsForCar: true });
    await process.queue.giveWay(older);
    const turn = await enter(process, 'lock', { whenBusy: 'refuse' });
    assert.throws(() => older.attempt.signal.throwIfAborted(), /newer command/);
    const [second_, third] = [enter(process, 'honk'), enter(process, 'flash')];
    await clock.advance(0);
    await refused(process.queue.giveWay(turn), 'CANCELLED', /newer command/);
    const next = await second_;
    assert.equal(await isDone(third), false);
    await refused(process.queue.giveWay(next), 'CANCELLED', /newer command/);
    await third;
  });

  it('is looked at every three seconds during a sleep, also while the store is away', async () => {
    const [one, other] = [await start(), await start()];
    const turn = await enter(one, 'lock');
    shared.fault = new StateFault('unavailable', asSentence('Away.'));
    const sleeping = one.queue.sleep(turn, 7 * second);
    await clock.advance(3 * second);
    shared.fault = null;
    await clock.advance(4 * second - 1);
    assert.equal(await isDone(sleeping), false);
    await clock.advance(1);
    assert.equal(await isDone(sleeping), true);
    const interrupted = one.queue.sleep(turn, 60 * second);
    interrupted.catch(() => undefined);
    await cancelWaiting(shared, other.presence, 'n');
    await clock.advance(3 * second);
    await refused(interrupted, 'CANCELLED', /cancelled by a message/);
    const local = alone();
    const undisturbed = local.queue.sleep(await enter(local, 'lock'), 7 * second);
    await clock.advance(7 * second - 1);
    assert.equal(await isDone(undisturbed), false);
    await clock.advance(1);
    await undisturbed;
  });

  it('is stored again while the answer is awaited, and not after it', async () => {
    const one = await start();
    const turn = await enter(one, 'lock');
    await one.queue.claimSending(turn, recordOf(turn));
    const before = await stored();
    const forget = async (settlesInMs: number): Promise<Place[]> => {
      for (const { key } of await shared.entries('turn/')) await shared.remove(key);
      Object.assign(shared, { settlesInMs });
      await clock.advance(3 * second);
      return stored();
    };
    assert.deepEqual(await forget(0), [], 'the store was not restarted');
    assert.deepEqual(await forget(15 * second), before);
    await one.queue.sent(turn, new LoggedCommand(recordOf(turn), 'account', {}, clock.now()));
    await clock.advance(3 * second);
    assert.deepEqual(await forget(15 * second), []);
    const local = alone();
    const own = await enter(local, 'lock');
    const { sleeping } = clock;
    await local.queue.claimSending(own, recordOf(own));
    assert.equal(clock.sleeping, sleeping);
  });

  it('of a command of another process ends 150 s after it was sent, or a minute after it could wait', async () => {
    const [one, other] = [await start(), await start('others')];
    const turn = await enter(one, 'lock');
    const at = clock.now();
    const tries = async (ms: number): Promise<boolean> => {
      clock.skip(at + ms - clock.now());
      return enter(other, 'honk', { whenBusy: 'refuse' }).then(
        async (entered) => {
          await other.queue.end(entered);
          return true;
        },
        (error: VehicleError) => {
          assert.equal(error.status?.word, 'BUSY');
          return false;
        },
      );
    };
    const [place = assert.fail()] = await stored();
    // It names a member that is there.
    const later = { ...place, member: other.presence.id, until: at };
    await change(() => [later]);
    assert.deepEqual([await tries(60 * second), await tries(60 * second + 1)], [false, true]);
    await change(() => [{ ...later, id: 'sent', status: 'sent', sentAt: at }]);
    assert.deepEqual([await tries(150 * second - 1), await tries(150 * second)], [false, true]);
    assert.equal(turn.waited, false);
  });

  it('is waited for by reading the link of the command in front, which only the second one does', async () => {
    const [one, other] = [await start(), await start('others')];
    const turn = await enter(one, 'lock');
    await sendIn(one, turn);
    const waiting = [enter(other, 'honk'), enter(other, 'flash'), enter(one, 'unlock')];
    await clock.advance(0);
    assert.equal(polls, 0);
    linked = null;
    await clock.advance(9 * second);
    assert.ok(polls >= 2 && polls <= 4, String(polls));
    linked = 'COMPLETED';
    await clock.advance(3 * second);
    const first = await waiting[0];
    assert.equal(first?.waited, true);
    assert.equal(await isDone(waiting[1] ?? assert.fail()), false);
    await refused(enter(other, 'honk', { whenBusy: 'refuse' }), 'VEHICLE_UNAVAILABLE', /honk/i);
  });

  it('is refused with the command in front and the time of its sending, after a look at its link', async () => {
    const process = alone();
    const turn = await enter(process, 'lock');
    await refused(enter(process, 'honk', { whenBusy: 'refuse' }), 'VEHICLE_UNAVAILABLE', /\(lock\)/);
    await sendIn(process, turn);
    await refused(enter(process, 'honk', { whenBusy: 'refuse' }), 'VEHICLE_UNAVAILABLE', /\(lock, sent at /);
    assert.equal(polls, 1);
    linked = 'COMPLETED';
    await clock.advance(3 * second);
    assert.equal((await enter(process, 'honk', { whenBusy: 'refuse' })).waited, false);
  });

  it('of a command that another copy of the flow sends, too, is not needed', async () => {
    const [one, other] = [await start(), await start()];
    const turn = await enter(one, 'lock');
    await one.queue.claimSending(turn, recordOf(turn));
    const limited = attemptOf(5 * second);
    const joining = enter(other, 'lock', { attempt: limited });
    await clock.advance(6 * second);
    assert.equal(await isDone(joining), false, 'it waits for the answer, however long that takes');
    await one.queue.end(turn, recordOf(turn, clock.now(), 'succeeded'));
    await clock.advance(second);
    const joined = await joining;
    assert.deepEqual([joined.joined?.id, joined.joined?.outcome, joined.waited], [turn.attempt.id, 'succeeded', false]);
    // Another body, or another time, is another command.
    assert.equal((await enter(other, 'lock', { body: '{}' })).joined, null);
  });

  for (const [what, then, code, words] of [
    ['was replaced', (own: Place) => [{ ...own, status: 'over', why: 'replaced' }], 'CANCELLED', /newer command/],
    ['was cancelled', (own: Place) => [{ ...own, status: 'over', why: 'cancelled' }], 'CANCELLED', /by a message/],
    ['has disappeared', () => [], 'CANCELLED', /disappeared from the shared store/],
  ] as const)
    it(`is refused to a copy of a command that ${what}`, async () => {
      const [one, other] = [await start(), await start()];
      await enter(one, 'lock');
      const joining = enter(other, 'lock');
      await clock.advance(0);
      await change(([own = assert.fail()]) => [...then(own)]);
      await clock.advance(second);
      await refused(joining, code, words);
    });

  it('is taken by a copy whose first one was not sent, if that is armed, and for as long as it may wait', async () => {
    const [one, other] = [await start(), await start()];
    const turn = await enter(one, 'lock');
    const unarmed = Object.assign(attemptOf(), { unarmed: new VehicleError('INPUT_INVALID', 'Not armed.') });
    const joining = enter(other, 'lock', { attempt: unarmed });
    await refused(enter(one, 'honk', { attempt: unarmed }), 'INPUT_INVALID', /Not armed/);
    const armed = attemptOf(20 * second);
    const next = enter(await start(), 'lock', { attempt: armed });
    await one.queue.claimSending(turn, recordOf(turn));
    await clock.advance(second);
    await one.queue.end(turn);
    await clock.advance(2 * second);
    await refused(joining, 'INPUT_INVALID', /Not armed/);
    assert.equal((await next).joined, null);
    await clock.advance(20 * second);
    assert.equal(armed.signal.aborted, true);
  });

  it('waits for commands from before this process began, until they are known or could not act any more', async () => {
    for (const [found, seconds] of [
      [() => Promise.reject(new StateFault('inaccessible', 'journal', 'here', 'EIO')), 150],
      [() => Promise.reject(new Error('damaged')), 0],
      [() => Promise.resolve([]), 0],
    ] as const) {
      const process = alone();
      process.queue.restorePending(found);
      const turn = enter(process, 'honk');
      await clock.advance(Math.max(0, seconds * second - 1));
      assert.equal(await isDone(turn), seconds === 0);
      await clock.advance(1);
      await turn;
    }
    for (const [sentMs, seconds] of [
      [-100 * second, 50],
      [-150 * second, 0],
      [-149 * second, 1],
      [3_600 * second, 150],
    ] as const) {
      const process = alone();
      const sentAt = clock.now() + sentMs;
      const record = { ...recordOf({ attempt: { id: 'old' } }, sentAt), async: null };
      process.queue.restorePending(() => Promise.resolve([new LoggedCommand(record, 'account', {}, clock.now())]));
      const turn = enter(process, 'honk');
      await clock.advance(Math.max(0, seconds * second - 1));
      assert.equal(await isDone(turn), seconds === 0, `${sentMs}`);
      await clock.advance(3 * second);
      await turn;
    }
  });

  it('waits once for each command that is found, and reads its link', async () => {
    const process = alone();
    const turn = await enter(process, 'lock');
    const known = await sendIn(process, turn);
    const found = new LoggedCommand(recordOf({ attempt: { id: 'old' } }), 'account', {}, clock.now());
    process.queue.restorePending(() => Promise.resolve([known, found]));
    const next = enter(process, 'honk');
    await clock.advance(0);
    found.addStatus({ requestStatus: 'COMPLETED', message: null }, clock.now());
    await clock.advance(0);
    assert.equal(await isDone(next), false);
    known.addStatus({ requestStatus: 'COMPLETED', message: null }, clock.now());
    await process.queue.end(await next);
    process.queue.restorePending(() => Promise.resolve([new LoggedCommand(found.record, 'account', {}, clock.now())]));
    linked = 'COMPLETED';
    await process.queue.end(await enter(process, 'honk', { whenBusy: 'refuse' }));
    assert.equal(polls, 0, 'it is over');
    const open = { ...found.record, id: 'open', outcome: 'pending', requestStatus: null } as const;
    process.queue.restorePending(() => Promise.resolve([new LoggedCommand(open, 'account', {}, clock.now())]));
    assert.equal((await enter(process, 'honk', { whenBusy: 'refuse' })).waited, false);
    assert.equal(polls, 1);
    const shares = await start();
    shares.queue.restorePending(() => assert.fail('the store has them'));
    await enter(shares, 'lock');
  });

  it('leaves in the store for ten seconds why a command of a node was not sent, and nothing of any other command', async () => {
    const one = await start();
    const turn = await enter(one, 'lock');
    const end = async (node: string | null, reason: VehicleError): Promise<Place | undefined> => {
      const attempt = attemptOf();
      const waiting = enter(one, 'honk', { attempt, node });
      await clock.advance(0);
      attempt.cancel(reason);
      await refused(waiting, 'CANCELLED', /./);
      return (await stored()).find(({ id }) => id === attempt.id);
    };
    const at = clock.now();
    const over = { status: 'over', until: at + 10 * second, record: null };
    const byMessage = await end('n', cancelledByMessage());
    assert.deepEqual(byMessage, { ...byMessage, ...over, why: 'cancelled' });
    const byTest = await end('n', new VehicleError('CANCELLED', 'By the test.'));
    assert.deepEqual(byTest, { ...byTest, ...over, why: null });
    assert.equal(await end(null, cancelledByMessage()), undefined);
    const record = recordOf(turn);
    await one.queue.claimSending(turn, record);
    turn.attempt.cancel(cancelledByMessage());
    await one.queue.end(turn, record);
    const [first] = await stored();
    assert.deepEqual([first?.status, first?.['why'], first?.['record']], ['over', null, record]);
    await clock.advance(second);
    await one.queue.end(turn);
    assert.deepEqual((await stored())[0], first, 'a second end changes nothing');
    const unarmed = Object.assign(attemptOf(), { unarmed: new VehicleError('INPUT_INVALID', 'Not armed.') });
    const before = await stored();
    await refused(enter(one, 'flash', { attempt: unarmed }), 'INPUT_INVALID', /Not armed/);
    assert.deepEqual(await stored(), before);
  });

  it('is not given to a command that was cancelled, or taken out of the store, while it waited', async () => {
    const one = await start();
    const turn = await enter(one, 'lock');
    const attempts = [attemptOf(), attemptOf()];
    const [first, second_] = attempts.map((attempt) => enter(one, 'honk', { attempt }));
    await clock.advance(0);
    attempts[0]?.cancel(new VehicleError('CANCELLED', 'By the test.'));
    await refused(first ?? assert.fail(), 'CANCELLED', /By the test/);
    await change((places) => places.filter(({ id }) => id !== attempts[1]?.id));
    await clock.advance(3 * second);
    await refused(second_ ?? assert.fail(), 'CANCELLED', /lost its turn/);
    await one.queue.end(turn);
    assert.equal((await stored()).filter(({ status }) => status !== 'over').length, 0);
  });

  it('is taken from the waiting commands of a node by a cancellation, and from no other command', async () => {
    const [one, other] = [await start(), await start('others')];
    const turn = await enter(one, 'lock');
    await sendIn(one, turn);
    const [own, ofNode, ofGroup] = [enter(one, 'honk'), enter(one, 'flash', { node: 'm' }), enter(other, 'honk')];
    await clock.advance(0);
    const before = await stored();
    const alien = await start(null);
    await cancelWaiting(shared, alien.presence, 'n');
    assert.deepEqual(await stored(), before);
    await cancelWaiting(shared, one.presence, 'n');
    const cancelled = { status: 'over', why: 'cancelled', until: clock.now() + 10 * second };
    assert.deepEqual(
      await stored(),
      before.map((place, index) => (index === 1 ? { ...place, ...cancelled } : place)),
    );
    await clock.advance(3 * second);
    await refused(own, 'CANCELLED', /by a message/);
    assert.deepEqual([await isDone(ofNode), await isDone(ofGroup)], [false, false]);
  });
});
