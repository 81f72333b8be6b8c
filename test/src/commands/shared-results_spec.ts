import { strict as assert } from 'node:assert';
import { FollowedCommands, followCommand, type CommandRecord, type FollowedCommand } from '../../../src/index';
import { demoCar } from '../../../src/simulator/index';
import { Processes, type Process } from '../../support/processes';

const { vin } = demoCar;
const second = 1_000;

describe('the results of commands, of several processes with the same flows', () => {
  let all: Processes;
  let one: Process;
  let other: Process;
  /** Each result that was sent: by which process, and its outcome. */
  let sent: string[];
  /** Awaited by a process when it has stored a result, before it sends that. */
  let beforeSending: (process: Process) => Promise<void>;
  let faults: number;

  beforeEach(async () => {
    all = new Processes();
    [one, other] = [all.start(), all.start()];
    sent = [];
    beforeSending = () => Promise.resolve();
    faults = 0;
    ends(10 * second);
    await all.clock.advance(2 * second);
  });
  afterEach(() => all.end());

  /** The car ends each command so late. */
  const ends = (afterMs: number): void => {
    const steps = [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs, status: 'COMPLETED' },
    ];
    all.service.car.set({ commandPlan: { steps, answerAfterMs: 0 } });
  };
  const lock = async (process: Process): Promise<CommandRecord> =>
    process.account.dispatcher.send('lock', {
      vin,
      interface: 'v1',
      origin: { node: 'command', msg: { topic: 'door' } },
    });
  /** The nodes that need a result, as the store has them. */
  const followers = async (): Promise<string[]> => {
    const stored = await all.store.entries('command/');
    return stored.flatMap(({ value }) =>
      Object.entries((value as { followers: object }).followers).flatMap(([node, one]) => (one === null ? [] : node)),
    );
  };
  const nameOf = (process: Process): string => (process === one ? 'one' : process === other ? 'other' : 'third');
  const commandsOf = ({ pack }: Process): FollowedCommands =>
    new FollowedCommands({ log: pack.log, node: 'result', clock: all.clock, onFault: () => (faults += 1) });

  /** As a result node does it. */
  const follow = async (process: Process, commands: FollowedCommands, followed: FollowedCommand): Promise<void> => {
    const { client } = process.account;
    for await (const update of followCommand(followed.command, { ...followed, client, clock: all.clock })) {
      if (!update.settled) {
        await commands.change(followed);
        continue;
      }
      for (;;) {
        const isOwn = await commands.settle(followed, update).catch(() => null);
        if (isOwn === false) return;
        if (isOwn === null) {
          await all.clock.sleep(3 * second);
          continue;
        }
        await beforeSending(process);
        if (!commands.mayBeSent(followed)) continue;
        sent.push(`${nameOf(process)}: ${update.report.outcome}`);
        if (!process.line.isCut) await commands.markSent(followed);
        return;
      }
    }
  };
  /** A result node: it gets a record, or begins with what is left to it. */
  const node = (process: Process): { gets(record: CommandRecord): Promise<void>; resumes(): Promise<void> } => {
    const commands = commandsOf(process);
    const resumes = async (): Promise<void> => {
      for (const open of await commands.open(assert.fail)) void follow(process, commands, open);
    };
    process.presence.onGone(() => void resumes());
    return {
      resumes,
      async gets(record) {
        const followed = await commands.begin(record, {}, 'vehicle');
        if (followed !== null) void follow(process, commands, followed);
      },
    };
  };

  it('are sent once if both get the record', async () => {
    const record = await lock(one);
    await Promise.all([node(one).gets(record), node(other).gets(record)]);
    await all.clock.advance(60 * second);
    assert.equal(sent.length, 1);
    await node(other).gets(record);
    await all.clock.advance(60 * second);
    assert.equal(sent.length, 1, 'it was delivered before');
  });

  it('are sent by another process within 20 seconds after the one that followed the command has ended', async () => {
    const record = await lock(one);
    node(other);
    await node(one).gets(record);
    one.line.isCut = true;
    await all.clock.advance(22 * second);
    assert.deepEqual(sent, ['other: succeeded']);
  });

  describe('of a process that stood still before it sent a result', () => {
    const standsStill = async ({ line }: Process, ms: number): Promise<void> => {
      beforeSending = () => Promise.resolve();
      line.isCut = true;
      await all.clock.sleep(ms);
      line.isCut = false;
    };

    it('are sent once by the copy that took the command over', async () => {
      const record = await lock(one);
      node(other);
      await node(one).gets(record);
      beforeSending = (process) => standsStill(process, 40 * second);
      await all.clock.advance(90 * second);
      assert.deepEqual(sent, ['other: succeeded']);
    });

    it('are sent once by that process if none took the command over, under its new name or its old one', async () => {
      for (const ms of [12 * second, 40 * second]) {
        const record = await lock(one);
        await node(one).gets(record);
        beforeSending = (process) => standsStill(process, ms);
        const { id } = one.presence;
        await all.clock.advance(300 * second);
        assert.deepEqual(sent.splice(0), ['one: succeeded']);
        assert.equal(id === one.presence.id, ms < 15 * second);
        assert.deepEqual(await followers(), []);
      }
    });
  });

  it('are sent again if the process ended between sending and storing that it had sent', async () => {
    const record = await lock(one);
    await node(one).gets(record);
    node(other);
    const { store } = one.pack;
    const write = store.write.bind(store);
    store.write = (key, ...given) => {
      if (sent.length > 0) one.line.isCut = true;
      return write(key, ...given);
    };
    await all.clock.advance(60 * second);
    assert.deepEqual(sent, ['one: succeeded', 'other: succeeded']);
  });

  describe('are not sent again after a restart if the store was unavailable when it had to store that they were sent:', () => {
    /**
     * Cuts the line of the process for 5 seconds at the first write to the record of a
     * command, once `isDue`.
     */
    const cutAtWrite = ({ line, pack: { store } }: Process, isDue: () => boolean): void => {
      const write = store.write.bind(store);
      let isFirst = true;
      store.write = (key, ...given) => {
        if (isFirst && key.startsWith('command/') && isDue()) {
          [isFirst, line.isCut] = [false, true];
          all.clock.after(5 * second, () => (line.isCut = false));
        }
        return write(key, ...given);
      };
    };
    const restart = async (): Promise<Process> => {
      await all.clock.advance(20 * second);
      one.line.kill();
      other.line.kill();
      const next = all.start();
      await all.clock.advance(40 * second);
      return next;
    };

    it('results', async () => {
      const record = await lock(one);
      cutAtWrite(one, () => sent.length > 0);
      await node(one).gets(record);
      await all.clock.advance(20 * second);
      assert.deepEqual(sent, ['one: succeeded']);
      await node(await restart()).resumes();
      await all.clock.advance(60 * second);
      assert.deepEqual(sent, ['one: succeeded']);
    });

    it('records', async () => {
      const { id } = await lock(one);
      const { log } = one.pack;
      const command = log.find(id) ?? assert.fail();
      assert.ok((await log.claim(command, 'command')) && log.mayBeSent(command, 'command'));
      cutAtWrite(one, () => true);
      await assert.rejects(log.markForwarded(command, null), /away/);
      const { pack } = await restart();
      assert.deepEqual(await pack.log.openFor('command', all.clock.now()), []);
    });
  });

  it('wait for a store that is unavailable, and are sent once when it is back', async () => {
    const record = await lock(one);
    await node(one).gets(record);
    node(other);
    for (const { line } of [one, other]) line.isCut = true;
    await all.clock.advance(60 * second);
    // The requests that follow a command cannot be counted.
    assert.deepEqual([sent, faults], [[], 0]);
    for (const { line } of [one, other]) line.isCut = false;
    await all.clock.advance(60 * second);
    assert.equal(sent.length, 1);
  });

  it('are sent once if the answers of the store to these writes are lost', async () => {
    const record = await lock(one);
    node(other);
    const { store } = one.pack;
    const write = store.write.bind(store);
    let writes = 0;
    store.write = (key, ...given) => {
      if (key.startsWith('command/') && (writes += 1) <= 2) one.line.unheard = 1;
      return write(key, ...given);
    };
    await node(one).gets(record);
    await all.clock.advance(60 * second);
    assert.deepEqual(sent, ['one: succeeded']);
    assert.ok(writes >= 2);
    assert.deepEqual(await followers(), []);
  });

  it('are in the journal of each', async () => {
    const record = await lock(one);
    assert.deepEqual(
      (await other.account.journal()).map(({ id, outcome }) => [id, outcome]),
      [[record.id, 'pending']],
    );
    await node(one).gets(record);
    await all.clock.advance(60 * second);
    const [entry, ...others] = await other.account.journal();
    assert.equal(others.length, 0);
    assert.deepEqual(
      [entry?.outcome, entry?.states.map(({ requestStatus }) => requestStatus)],
      ['succeeded', ['RUNNING', 'COMPLETED']],
    );
    assert.deepEqual(await one.account.journal(), [entry]);
  });

  it('leave the record of a command to another process if its own ended before it handed the record on', async () => {
    const record = await lock(one);
    const left = async (isStart: boolean): Promise<string[]> =>
      (await other.pack.log.openFor('command', all.clock.now(), isStart)).map(({ id }) => id);
    assert.deepEqual(await left(true), []);
    one.line.isCut = true;
    await all.clock.advance(20 * second);
    assert.deepEqual(await left(false), [record.id]);
    const third = all.start();
    await all.clock.advance(2 * second);
    assert.deepEqual(await third.pack.log.openFor('command', all.clock.now()), []);
  });

  it('leave the record of a command to the copy that took it over while its own process stood still', async () => {
    const record = await lock(one);
    const { log } = one.pack;
    const command = log.find(record.id) ?? assert.fail();
    assert.ok(log.mayBeSent(command, 'command'));
    one.line.isCut = true;
    await all.clock.advance(12 * second);
    assert.ok(!log.mayBeSent(command, 'command'), 'after 10 s another copy may soon take it over');
    await assert.rejects(log.claim(command, 'command'), /away/);
    one.line.isCut = false;
    assert.ok((await log.claim(command, 'command')) && log.mayBeSent(command, 'command'));
    one.line.isCut = true;
    await all.clock.advance(20 * second);
    one.line.isCut = false;
    assert.ok((await log.claim(command, 'command')) && log.mayBeSent(command, 'command'), 'no copy took it over');
    one.line.isCut = true;
    await all.clock.advance(20 * second);
    await other.pack.log.openFor('command', all.clock.now(), false);
    one.line.isCut = false;
    assert.ok(!(await log.claim(command, 'command')) && !log.mayBeSent(command, 'command'));
    const theirs = other.pack.log.find(record.id) ?? assert.fail();
    assert.ok(other.pack.log.mayBeSent(theirs, 'command'));
  });
});
