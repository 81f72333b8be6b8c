import { strict as assert } from 'node:assert';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arming, CommandAttempt, VehicleError, type CommandRecord } from '../../../src/index';
import { asSentence } from '../../../src/sentence';
import { StateFault } from '../../../src/state/state-store';
import type { DispatchOptions } from '../../../src/commands/dispatcher';
import { demoCar } from '../../../src/simulator/index';
import type { Mishap } from '../../model/service-in-process';
import { Processes, type Process } from '../../support/processes';
import { failureOf } from '../../support/failure';

const { vin } = demoCar;
const second = 1_000;

describe('commands of several processes to one car', () => {
  let all: Processes;
  let one: Process;
  let other: Process;
  let mishap: Mishap;
  /** No connection to the service for a command. */
  let unreachable: boolean;

  beforeEach(async () => {
    [mishap, unreachable] = [null, false];
    all = new Processes(({ method }) => {
      if (unreachable && method === 'POST') throw new VehicleError('NETWORK', 'The service cannot be reached.');
      return mishap;
    });
    one = all.start();
    other = all.start();
    all.service.car.set({ commandPlan: { answerAfterMs: 2 * second } });
    await all.clock.advance(2 * second);
  });

  afterEach(() => all.end());

  const send = (
    process: Process,
    command: string,
    { node = command, ...options }: DispatchOptions & { node?: string } = {},
    attempt = new CommandAttempt({ clock: all.clock }),
  ): Promise<CommandRecord> => {
    const sent = process.account.dispatcher.send(
      command,
      { vin, interface: 'v1', origin: { node, msg: {} }, ...options },
      attempt,
    );
    sent.catch(() => undefined);
    return sent;
  };
  const armingOf = ({ presence }: Process, node: string): Arming => new Arming({ clock: all.clock, presence, node });
  /** A command of a node, which a message to this node can cancel in any copy of the flow. */
  const cancellable = (process: Process, node: string): CommandAttempt => {
    const attempt = new CommandAttempt({ clock: all.clock });
    const taken = armingOf(process, node).take(0);
    attempt.confirm = async () => (await taken).confirm();
    return attempt;
  };
  const posts = (): string[] =>
    all.service.requests
      .filter(({ method }) => method === 'POST')
      .map(({ url }) => url.pathname.split('/').at(-1) ?? '');
  const forgetSlots = async (): Promise<void> => {
    for (const { key } of await all.store.entries('turn/')) await all.store.remove(key);
  };
  const longRunning = { steps: [{ afterMs: 0, status: 'RUNNING' }], answerAfterMs: 0 };
  const asleep = { inUse: true };

  it('sends queued commands of a process in the order in which they were asked for, one at a time with those of others', async () => {
    const queued = { interface: 'v2', whenBusy: 'queue' } as const;
    const sent = [
      send(one, 'lock', { interface: 'v2' }),
      send(other, 'honk', queued),
      send(one, 'flash', queued),
      send(other, 'unlock', queued),
      send(one, 'climatization-start', queued),
    ];
    await all.clock.advance(60 * second);
    await Promise.all(sent);
    const order = posts();
    assert.equal(order.length, 5);
    assert.deepEqual(
      order.filter((command) => /^(lock|flash|climatization-start)$/.test(command)),
      ['lock', 'flash', 'climatization-start'],
    );
    assert.ok(order.indexOf('honk') < order.indexOf('unlock'), order.join());
  });

  it('waits 150 s for a command whose process ended before its answer came, and no longer', async () => {
    all.service.car.set({ commandPlan: { answerAfterMs: 155 * second } });
    void send(one, 'lock', { interface: 'v2' });
    await all.clock.advance(second);
    one.line.isCut = true;
    const queued = send(other, 'honk', { whenBusy: 'queue', waitMs: 200 * second });
    await all.clock.advance(148 * second);
    assert.deepEqual(posts(), ['lock']);
    await all.clock.advance(6 * second);
    await queued;
    assert.deepEqual(posts(), ['lock', 'honk']);
  });

  /**
   * A command of a process that has its turn, and is not sent because the service is slow to
   * answer the read before.
   */
  const hesitating = async (): Promise<{ waiting: Promise<CommandRecord> }> => {
    void send(one, 'lock', { interface: 'v2' });
    const waiting = send(one, 'flash', { whenBusy: 'queue', precheck: true, waitMs: 200 * second });
    await all.clock.advance(second);
    mishap = 'slow';
    await all.clock.advance(2 * second);
    mishap = null;
    return { waiting };
  };

  it('gives up the turn of a command that was waiting when its process ended', async () => {
    const { waiting } = await hesitating();
    one.line.isCut = true;
    const queued = send(other, 'honk', { whenBusy: 'queue', interface: 'v2' });
    await all.clock.advance(10 * second);
    assert.deepEqual(posts(), ['lock']);
    await all.clock.advance(12 * second);
    await queued;
    assert.deepEqual(posts(), ['lock', 'honk']);
    // The process was only cut off, and the others have heard of it again.
    one.line.isCut = false;
    await all.clock.advance(60 * second);
    assert.match((await failureOf(waiting)).message, /lost its turn/);
    assert.deepEqual(posts(), ['lock', 'honk']);
  });

  it('sends nothing while the store is unavailable, and reports that', async () => {
    one.line.isCut = true;
    const { code } = await failureOf(send(one, 'lock'));
    assert.equal(code, 'STORE_UNAVAILABLE');
    assert.deepEqual(posts(), []);
  });

  it('waits with the first command of all to a car for processes that may have sent one, and with no later one', async () => {
    await forgetSlots();
    const first = send(one, 'lock', { interface: 'v2' });
    await all.clock.advance(4.9 * second);
    assert.deepEqual(posts(), []);
    await all.clock.advance(2.2 * second);
    assert.equal((await first).outcome, 'succeeded');
    void send(other, 'honk', { interface: 'v2' });
    await all.clock.advance(second);
    assert.deepEqual(posts(), ['lock', 'honk']);
  });

  it('sends nothing if the store reads something else than it has stored, and reports it', async () => {
    const { store } = one.pack;
    let writes = 0;
    store.write = (key) => {
      if (key.startsWith('turn/')) writes += 1;
      return Promise.resolve(null);
    };
    const refused = failureOf(send(one, 'lock'));
    await all.clock.advance(20 * second);
    const { code, message } = await refused;
    assert.equal(code, 'STORE_UNAVAILABLE');
    assert.match(message, /primary server/);
    assert.ok(writes <= 200, String(writes));
    assert.deepEqual(posts(), []);
  });

  for (const group of ['flows', null])
    it(`blocks the car if the store forgets the command while it acts, ${group === null ? 'without a group' : 'in a group'}`, async () => {
      const [first, second_] = [all.start(group), all.start(group)];
      await all.clock.advance(5 * second);
      all.service.car.set({ commandPlan: { answerAfterMs: 100 * second } });
      const sent = send(first, 'lock', { interface: 'v2' });
      await all.clock.advance(second);
      await forgetSlots();
      const refused = failureOf(send(second_, 'unlock'));
      const queued = send(second_, 'honk', { whenBusy: 'queue', interface: 'v2' });
      await all.clock.advance(20 * second);
      assert.equal((await refused).status?.word, 'BUSY');
      assert.deepEqual(posts(), ['lock']);
      await all.clock.advance(85 * second);
      assert.equal((await sent).outcome, 'succeeded');
      assert.deepEqual(posts(), ['lock', 'honk']);
      await all.clock.advance(100 * second);
      await queued;
    });

  for (const [change, ms] of [
    ['back by an hour', -3_600 * second],
    ['forward by 200 s', 200 * second],
    ['forward by an hour', 3_600 * second],
  ] as const)
    for (const iface of ['v1', 'v2'] as const)
      it(`blocks the car for as long as it acts though the clock of the store is set ${change} (${iface})`, async () => {
        all.service.car.set({
          commandPlan: {
            steps: [{ afterMs: 0, status: 'RUNNING' }],
            answerAfterMs: iface === 'v1' ? 0 : 100 * second,
          },
        });
        void send(one, 'lock', { interface: iface });
        await all.clock.advance(2 * second);
        all.store.aheadMs = ms;
        await all.clock.advance(10 * second);
        assert.equal((await failureOf(send(other, 'unlock'))).status?.word, 'BUSY');
        one.line.kill();
        await all.clock.advance(100 * second);
        assert.equal((await failureOf(send(other, 'unlock'))).status?.word, 'BUSY');
        await all.clock.advance(80 * second);
        const next = send(other, 'unlock');
        await all.clock.advance(second);
        await next;
        assert.deepEqual(posts(), ['lock', 'unlock']);
      });

  for (const command of ['honk', 'flash'])
    it(`waits for a command that the store has lost also if the end of the one before is stored late: ${command}`, async () => {
      const third = all.start();
      await all.clock.advance(5 * second);
      const { write } = one.line;
      let isHeard = false;
      // The answer to the end of `lock` is lost, so that it is stored again with the next beat.
      one.line.write = async (key, value, condition) => {
        const version = await write(key, value, condition);
        const isEnd = key.startsWith('turn/') && (value as { holder: unknown }).holder === null; // A slot.
        if (isHeard || !isEnd || version === null) return version;
        isHeard = true;
        throw new StateFault('unavailable', asSentence('No answer.'));
      };
      void send(one, 'lock', { interface: 'v2' });
      await all.clock.advance(2.1 * second);
      all.service.car.set({ commandPlan: { answerAfterMs: 30 * second } });
      void send(other, 'honk', { interface: 'v2' });
      await all.clock.advance(second / 10);
      await forgetSlots();
      while ((await all.store.entries('turn/')).length === 0) await all.clock.advance(second / 10);
      void send(third, command, { interface: 'v2' });
      await all.clock.advance(6 * second);
      assert.deepEqual(posts(), ['lock', 'honk']);
    });

  it('keeps the turn of a command whose process counted as ended while it waited for the store', async () => {
    const queued = { interface: 'v2', whenBusy: 'queue', waitMs: 200 * second } as const;
    void send(one, 'lock', { interface: 'v2' });
    void send(other, 'honk', queued);
    await all.clock.advance(second / 2);
    await all.store.remove(`process/${other.presence.id}`);
    all.store.settlesInMs = 15 * second;
    all.clock.after(15 * second, () => (all.store.settlesInMs = 0));
    await all.clock.advance(5 * second);
    void send(one, 'flash', queued);
    while (posts().length < 2) await all.clock.advance(second / 10);
    all.service.car.set({ commandPlan: { answerAfterMs: 10 * second } });
    while (posts().length < 3) await all.clock.advance(second / 10);
    void send(one, 'unlock', queued);
    await all.clock.advance(8 * second);
    assert.equal(posts().length, 3);
    await all.clock.advance(20 * second);
    assert.equal(posts().at(-1), 'unlock');
  });

  it('waits for a command that the store has lost also if one that waited for it was cancelled', async () => {
    const third = all.start();
    await all.clock.advance(5 * second);
    all.service.car.set({ commandPlan: { answerAfterMs: 30 * second } });
    void send(one, 'lock', { interface: 'v2' });
    await all.clock.advance(second / 2);
    await forgetSlots();
    const attempt = new CommandAttempt({ clock: all.clock });
    void send(other, 'honk', { interface: 'v2' }, attempt);
    await all.clock.advance(second / 4);
    attempt.cancel(new VehicleError('CANCELLED', 'A message cancelled it.'));
    await all.clock.advance(second / 10);
    void send(third, 'flash', { interface: 'v2' });
    await all.clock.advance(10 * second);
    assert.deepEqual(posts(), ['lock']);
  });

  it('sends nothing for 15 s if its first access finds that the store was restarted', async () => {
    const { store } = one.pack;
    const write = store.write.bind(store);
    store.write = (key, ...given) => {
      if (key.startsWith('turn/') && posts().length === 0 && all.store.settlesInMs === 0) {
        all.store.settlesInMs = 15 * second;
        all.clock.after(15 * second, () => (all.store.settlesInMs = 0));
        store.write = write;
      }
      return write(key, ...given);
    };
    const sent = send(one, 'lock', { interface: 'v2' });
    await all.clock.advance(14 * second);
    assert.deepEqual(posts(), []);
    await all.clock.advance(6 * second);
    assert.equal((await sent).outcome, 'succeeded');
  });

  it('blocks the car for 300 s if the store went back to an older copy, with a command that has ended since', async () => {
    const sent = send(one, 'lock', { interface: 'v2' });
    await all.clock.advance(second);
    const [older] = await all.store.entries('turn/');
    assert.ok(older);
    await all.clock.advance(10 * second);
    await sent;
    await all.store.write(older.key, older.value);
    for (const wait of [0, 280]) {
      await all.clock.advance(wait * second);
      for (const process of [one, other])
        assert.equal((await failureOf(send(process, 'honk'))).code, 'VEHICLE_UNAVAILABLE');
    }
    await all.clock.advance(25 * second);
    for (const process of [one, other]) {
      const next = send(process, 'flash', { interface: 'v2' });
      await all.clock.advance(10 * second);
      await next;
    }
    assert.deepEqual(posts(), ['lock', 'flash', 'flash']);
  });

  it('replaces a command of another process that waits for the car by a newer one', async () => {
    all.service.car.set(asleep);
    const older = send(one, 'lock', { whenUnavailable: 'wait' });
    await all.clock.advance(second);
    const newer = send(other, 'unlock', { whenUnavailable: 'wait' });
    await all.clock.advance(4 * second);
    assert.match((await failureOf(older)).message, /newer command for this car replaced/);
    all.service.car.set({ inUse: false });
    await all.clock.advance(60 * second);
    await newer;
    assert.deepEqual(posts(), ['unlock']);
  });

  it('sends nothing after a machine slept while it connected, and another process has taken the turn since', async () => {
    const [sleeper, awake] = [all.start(null), all.start(null)];
    await all.clock.advance(5 * second);
    const reach = all.service.send.bind(all.service);
    let wake = (): void => undefined;
    const awakes = new Promise<void>((resolve) => (wake = resolve));
    all.service.send = async (request) => {
      if (request.method === 'POST' && posts().length === 0 && request.url.pathname.endsWith('lock')) await awakes;
      return reach(request);
    };
    const late = send(sleeper, 'lock', { interface: 'v2' });
    await all.clock.advance(second);
    sleeper.line.isCut = true;
    await all.clock.advance(170 * second);
    const next = send(awake, 'honk', { interface: 'v2' });
    await all.clock.advance(second);
    assert.deepEqual(posts(), ['honk']);
    sleeper.line.isCut = false;
    await all.clock.advance(second);
    assert.ok(sleeper.presence.isStill(sleeper.presence.id));
    wake();
    await all.clock.advance(30 * second);
    await next;
    assert.deepEqual(posts(), ['honk']);
    assert.match((await failureOf(late)).message, /lost its turn/);
  });

  it('take at most 5 round trips to the store each, also in turn and as the first of a process', async () => {
    all.service.car.set({ commandPlan: { steps: [{ afterMs: 0, status: 'COMPLETED' }], answerAfterMs: 0 } });
    for (const [index, process] of [one, one, other, one, other, other, all.start(), one].entries()) {
      const { line } = process;
      line.answersInMs = 100;
      const calls = line.calls.length;
      const begun = all.clock.now();
      const ended = send(process, 'lock', { interface: 'v2', node: `node ${index}` }).then(() => all.clock.now());
      await all.clock.advance(3 * second);
      assert.ok((await ended) - begun <= 500, `${(await ended) - begun} ms`);
      const ofCommand = line.calls.slice(calls).filter((key) => key !== '' && !key.startsWith('process/'));
      assert.ok(ofCommand.length <= 8, ofCommand.join());
    }
    assert.equal(posts().length, 8);
  });

  it('forgets in memory what has ended, however many commands follow', async () => {
    const ended = await (async () => {
      const { id } = await send(one, 'lock');
      await all.clock.advance(160 * second);
      const command = one.pack.log.find(id) ?? assert.fail();
      await one.pack.log.remove(id);
      return new WeakRef(command);
    })();
    for (const command of ['honk', 'flash']) {
      await send(one, command);
      await all.clock.advance(160 * second);
    }
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    assert.equal(ended.deref(), undefined);
  });

  it('cancels the waiting commands of a node from any copy of the flow, and of no other node', async () => {
    all.service.car.set({ commandPlan: longRunning });
    await send(one, 'lock');
    const waiting = send(one, 'honk', { node: 'a', whenBusy: 'queue' }, cancellable(one, 'a'));
    const ofAnother = send(one, 'flash', { node: 'b', whenBusy: 'queue' }, cancellable(one, 'b'));
    await all.clock.advance(second);
    await armingOf(other, 'a').cancel();
    await all.clock.advance(5 * second);
    assert.match((await failureOf(waiting)).message, /canceled by a message/);
    await all.clock.advance(160 * second);
    await ofAnother;
    assert.deepEqual(posts(), ['lock', 'flash']);
  });

  describe('that are armed', () => {
    const armings = (): Arming[] => [one, other].map((process) => armingOf(process, 'n'));

    it('are not sent after another process disarmed them', async () => {
      const [here, there] = armings() as [Arming, Arming];
      all.service.car.set({ commandPlan: longRunning });
      await send(one, 'lock');
      await here.arm(300);
      const attempt = Object.assign(new CommandAttempt({ clock: all.clock }), await here.take(300));
      const waiting = send(one, 'unlock', { whenBusy: 'queue', waitMs: 200 * second }, attempt);
      await all.clock.advance(10 * second);
      await there.disarm();
      await all.clock.advance(160 * second);
      assert.match((await failureOf(waiting)).message, /disarmed while it was waiting/);
      assert.deepEqual(posts(), ['lock']);
    });
  });

  describe('that are the same', () => {
    it('are sent once: the second gets the record of the first', async () => {
      const first = send(one, 'lock', { interface: 'v2' });
      await all.clock.advance(second);
      const second_ = send(other, 'lock', { interface: 'v2' });
      await all.clock.advance(5 * second);
      assert.equal((await second_).id, (await first).id);
      assert.equal((await second_).outcome, 'succeeded');
      // It joins also one that has ended.
      const third = send(all.start(), 'lock', { interface: 'v2' });
      await all.clock.advance(2 * second);
      assert.equal((await third).id, (await first).id);
      assert.deepEqual(posts(), ['lock']);
    });

    it('are two commands after 10 seconds, in one process, in another group, or from another node', async () => {
      const v2 = { interface: 'v2', whenBusy: 'queue' } as const;
      const sent = [
        send(one, 'lock', v2),
        send(one, 'lock', v2),
        send(all.start('other flows'), 'lock', v2),
        send(other, 'lock', { ...v2, node: 'another' }),
      ];
      await all.clock.advance(60 * second);
      await Promise.all(sent);
      const late = send(other, 'lock', v2);
      await all.clock.advance(5 * second);
      await late;
      assert.equal(new Set((await Promise.all([...sent, late])).map(({ id }) => id)).size, 5);
      assert.equal(posts().length, 5);
    });

    const pauses: Record<string, () => Promise<void> | void> = {
      'a process was paused for 40 seconds': () => all.clock.advance(40 * second),
      'a machine slept for 40 seconds': () => all.clock.sleepMachine(40 * second),
    };
    for (const [what, pause] of Object.entries(pauses))
      it(`are one if ${what} just after it got the message`, async () => {
        const paused = new CommandAttempt({ clock: all.clock });
        const first = send(one, 'lock', { interface: 'v2' });
        await all.clock.advance(5 * second);
        await pause();
        const joined = send(other, 'lock', { interface: 'v2' }, paused);
        await all.clock.advance(5 * second);
        assert.equal((await joined).id, (await first).id);
        assert.deepEqual(posts(), ['lock']);
      });

    it('are one if the second process, whose clock is behind, sends another one between', async () => {
      all.service.car.set({ commandPlan: { answerAfterMs: 1.4 * second } });
      const behind = all.start();
      // Its process is busy whenever the store tells the time.
      behind.line.now = async () => {
        const now = await all.store.now();
        await all.clock.sleep(2 * second);
        return now;
      };
      await all.clock.advance(4 * second);
      assert.ok(behind.presence.now() < one.presence.now());
      const queued = { interface: 'v2', whenBusy: 'queue', waitMs: 30 * second } as const;
      const before = send(one, 'flash', queued);
      await all.clock.advance(second / 10);
      const both = [send(one, 'lock', queued)];
      const between = send(behind, 'honk', queued);
      both.push(send(behind, 'lock', queued));
      await all.clock.advance(30 * second);
      await Promise.all([before, between]);
      const [first, joined] = await Promise.all(both);
      assert.deepEqual(posts(), ['flash', 'lock', 'honk']);
      assert.equal(joined?.id, first?.id);
    });

    for (const [what, ms] of [
      ['forward', 3_600 * second],
      ['back', -3_600 * second],
    ] as const)
      it(`are one if the clock of the store is set ${what} by an hour before the second process has its turn`, async () => {
        // Between the end of the first and the next command, the processes measure the clock.
        all.service.car.set({ commandPlan: { answerAfterMs: 3.5 * second } });
        const queued = { interface: 'v2', whenBusy: 'queue', waitMs: 60 * second } as const;
        const before = send(one, 'flash', queued);
        await all.clock.advance(second / 10);
        const lock = send(one, 'lock', queued);
        const between = send(other, 'honk', queued);
        const same = send(other, 'lock', queued);
        await all.clock.until(lock, second / 10);
        all.store.aheadMs = ms;
        await all.clock.advance(60 * second);
        await Promise.all([before, between]);
        assert.deepEqual(posts(), ['flash', 'lock', 'honk']);
        assert.equal((await same).id, (await lock).id);
      });

    for (const answerAfterMs of [2 * second, 8 * second])
      it(`are sent once if the store forgets the first one before another process asks, and the car answers after ${answerAfterMs / second} s`, async () => {
        all.service.car.set({ commandPlan: { answerAfterMs } });
        const first = send(one, 'lock', { interface: 'v2' });
        await all.clock.advance(second);
        await forgetSlots();
        const copies = [other, all.start()].map((process) => send(process, 'lock', { interface: 'v2' }));
        await all.clock.advance(30 * second);
        assert.deepEqual(posts(), ['lock']);
        for (const copy of copies) assert.equal((await copy).id, (await first).id);
        // What has ended blocks no other one.
        void send(other, 'honk', { interface: 'v2' });
        await all.clock.advance(10 * second);
        assert.deepEqual(posts(), ['lock', 'honk']);
      });

    it('are sent once if the store loses what has ended before another process asks', async () => {
      all.service.car.set({ commandPlan: { answerAfterMs: second / 2 } });
      const first = send(one, 'lock', { interface: 'v2' });
      await all.clock.advance(second);
      await first;
      await forgetSlots();
      // As after a restart of a server that has lost its last writes.
      all.store.settlesInMs = 15 * second;
      all.clock.after(15 * second, () => (all.store.settlesInMs = 0));
      all.store.fault = null;
      const again = send(other, 'lock', { interface: 'v2' });
      await all.clock.advance(30 * second);
      assert.deepEqual(posts(), ['lock']);
      assert.equal((await again).id, (await first).id);
    });

    it('are sent by the second process if the first ended before it had sent its own', async () => {
      all.service.car.set(asleep);
      void send(one, 'lock', { whenUnavailable: 'wait' });
      await all.clock.advance(second);
      const joined = send(other, 'lock', { whenUnavailable: 'wait' });
      await all.clock.advance(2 * second);
      one.line.isCut = true;
      all.service.car.set({ inUse: false });
      await all.clock.advance(40 * second);
      assert.equal((await joined).command, 'lock');
      assert.deepEqual(posts(), ['lock']);
    });

    it('are sent by no process later than they may wait if the first could not connect in that time', async () => {
      mishap = 'connecting';
      const both = [send(one, 'unlock', { interface: 'v2', waitMs: 5 * second })];
      await all.clock.advance(second / 10);
      both.push(send(other, 'unlock', { interface: 'v2', waitMs: 5 * second }));
      await all.clock.advance(6 * second);
      mishap = null;
      await all.clock.advance(30 * second);
      for (const work of both) assert.equal((await failureOf(work)).code, 'VEHICLE_UNAVAILABLE');
      assert.deepEqual(posts(), []);
    });

    it('need one arming together', async () => {
      const first = send(one, 'unlock', { interface: 'v2' });
      await all.clock.advance(second);
      const unarmed = new VehicleError('INPUT_INVALID', 'Not armed.');
      const attempt = (): CommandAttempt =>
        Object.assign(new CommandAttempt({ clock: all.clock }), { whyUnarmed: unarmed });
      const joined = send(other, 'unlock', { interface: 'v2' }, attempt());
      await all.clock.advance(5 * second);
      assert.equal((await joined).id, (await first).id);
      await all.clock.advance(20 * second);
      const refused = failureOf(send(other, 'unlock', { interface: 'v2' }, attempt()));
      await all.clock.advance(4 * second);
      assert.equal(await refused, unarmed);
      assert.deepEqual(posts(), ['unlock']);
    });

    it('need one arming together, also while both wait for another command, and delay no other one', async () => {
      const waits = { interface: 'v2', whenBusy: 'queue', waitMs: 120 * second } as const;
      all.service.car.set({ commandPlan: { answerAfterMs: 20 * second } });
      const before = send(one, 'lock', { interface: 'v2' });
      await all.clock.advance(second);
      const armed = send(one, 'unlock', waits);
      const unarmed = new VehicleError('INPUT_INVALID', 'Not armed.');
      const attempt = Object.assign(new CommandAttempt({ clock: all.clock }), { whyUnarmed: unarmed });
      const joined = send(other, 'unlock', waits, attempt);
      const behind = send(other, 'honk', waits);
      await all.clock.advance(70 * second);
      assert.equal((await joined).id, (await armed).id);
      assert.deepEqual(posts(), ['lock', 'unlock', 'honk']);
      await Promise.all([before, behind]);
    });

    it('need one arming together, also if both copies get them at the same moment', async () => {
      for (const { line } of [one, other]) line.answersInMs = 20;
      const arming = armingOf(one, 'unlock').arm(30);
      await all.clock.advance(second);
      await arming;
      const sendArmed = async (process: Process): Promise<CommandRecord> => {
        const attempt = new CommandAttempt({ clock: all.clock });
        await armingOf(process, 'unlock')
          .take(30)
          .then(
            (armed) => Object.assign(attempt, armed),
            (error: VehicleError) => (attempt.whyUnarmed = error),
          );
        return send(process, 'unlock', { interface: 'v2' }, attempt);
      };
      const both = [one, other].map(sendArmed);
      for (const work of both) work.catch(() => undefined);
      await all.clock.advance(20 * second);
      const [first, joined] = await Promise.all(both);
      assert.equal(joined?.id, first?.id);
      assert.deepEqual(posts(), ['unlock']);
    });

    it('are cancelled together', async () => {
      all.service.car.set(asleep);
      const both = [send(one, 'lock', { whenUnavailable: 'wait' }, cancellable(one, 'lock'))];
      await all.clock.advance(second);
      both.push(send(other, 'lock', { whenUnavailable: 'wait' }, cancellable(other, 'lock')));
      await all.clock.advance(second);
      await armingOf(other, 'lock').cancel();
      await all.clock.advance(10 * second);
      for (const work of both) assert.match((await failureOf(work)).message, /canceled by a message/);
      assert.deepEqual(posts(), []);
    });
  });
});
