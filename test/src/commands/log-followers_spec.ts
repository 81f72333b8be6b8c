import { strict as assert } from 'node:assert';
import { CommandLog, LoggedCommand, MemoryStateStore, type CommandRecord, type Presence } from '../../../src/index';
import type { Sender } from '../../../src/commands/logged-command';
import { asSentence } from '../../../src/sentence';

const now = Date.UTC(2026, 5, 1, 8);
const second = 1_000;
const record = (id: string): CommandRecord => ({
  id,
  command: 'lock',
  vin: 'YV1CT9551B1570982',
  interface: 'connected-v1',
  sentAt: new Date(now).toISOString(),
  operationId: null,
  requestStatus: null,
  outcome: 'undetermined',
  message: 'Nobody knows.',
  async: null,
});
const ofNode = (node: string): Sender => ({ origin: { node, msg: { topic: 't' } } });

describe('The nodes that follow a command', () => {
  let store: MemoryStateStore;
  let changes: number;
  let ended: Set<string>;
  beforeEach(() => {
    store = new MemoryStateStore();
    changes = 0;
    ended = new Set();
  });
  const logOf = (): CommandLog => new CommandLog({ store, onChange: () => (changes += 1) });
  /** The log of one of several processes. A log asks the presence for the own id, and for the processes that have ended. */
  const sharedLogOf = (id: string): CommandLog => {
    const presence = { id, hasEnded: (member: string) => Promise.resolve(ended.has(member)) };
    return new CommandLog({ store, presence: presence as unknown as Presence, onChange: () => (changes += 1) });
  };
  const begin = async (log: CommandLog, id: string, sender: Sender = {}, at = now): Promise<LoggedCommand> => {
    const command = new LoggedCommand(record(id), 'a', sender, at);
    await log.add(command, at);
    return command;
  };
  const idsOf = (commands: readonly LoggedCommand[]): string[] => commands.map(({ id }) => id);
  const journal = async (log: CommandLog): Promise<string[]> => (await log.journal('a')).map(({ id }) => id);

  it('are known by the command, and the commands by the node', async () => {
    const log = logOf();
    log.follow('x', 'one', Promise.resolve());
    log.follow('x', 'two', Promise.resolve());
    log.follow('y', 'two', Promise.resolve());
    assert.deepEqual([log.followedBy('one'), log.followedBy('two'), log.followedBy('z')], [['x'], ['x', 'y'], []]);
    log.follow('x', 'two', null);
    assert.deepEqual([log.followedBy('two'), await log.isTakenOver('x')], [['y'], true]);
    log.follow('x', 'one', null);
    assert.deepEqual([log.followedBy('one'), await log.isTakenOver('x')], [[], false]);
  });

  it('hear once that the car does not act on it any more, from its link and then from another process', async () => {
    const command = await begin(logOf(), 'x');
    const other = LoggedCommand.parse(JSON.parse(JSON.stringify(command)));
    let calls = 0;
    command.whenOver(() => (calls += 1));
    for (const one of [command, other]) one?.addStatus({ requestStatus: 'COMPLETED', message: null }, now + second);
    assert.equal(calls, 1);
    assert.ok(other);
    command.merge(other);
    assert.equal(calls, 1);
  });

  it('are read from the store, with any name of the node', async () => {
    await begin(logOf(), 'a/b\nc', ofNode('n'));
    await store.write('follow/node%2F1/a/b\nc', {});
    const log = logOf();
    assert.deepEqual(idsOf(await log.unclaimed('n', now)), []);
    assert.deepEqual(log.followedBy('node/1'), ['a/b\nc']);
  });

  it('of another process are forgotten when they have ended, so that the oldest command is the one that is not kept', async () => {
    const presence = { id: 'two', hasEnded: () => Promise.resolve(false) } as unknown as Presence;
    const one = sharedLogOf('one');
    const two = new CommandLog({ store, presence, limit: 2 });
    for (const id of ['a', 'b']) {
      await begin(one, id);
      await store.write(`follow/n/${id}`, {});
      assert.deepEqual(await journal(two), id === 'a' ? ['a'] : ['b', 'a']);
      assert.deepEqual(two.followedBy('n'), [id]);
      await store.remove(`follow/n/${id}`);
    }
    await two.ready();
    assert.deepEqual(two.followedBy('n'), []);
    await begin(two, 'c', {}, now + 10);
    assert.deepEqual(await journal(two), ['c', 'b']);
  });

  it('have taken it over once that is stored, though it failed, and have it while a result is there', async () => {
    const log = logOf();
    let isStored = false;
    log.follow(
      'x',
      'one',
      new Promise(setImmediate).then(() => (isStored = true)),
    );
    assert.equal(await log.isTakenOver('x'), true);
    assert.equal(isStored, true);
    log.follow('y', 'one', Promise.reject(new Error('no space')));
    assert.equal(await log.isTakenOver('y'), true);
    const command = await begin(log, 'z');
    assert.equal(await log.isTakenOver('z'), false);
    const reason = asSentence('Done.');
    command.results = { one: { outcome: 'succeeded', reason, verified: null, settledAt: '', tries: null } };
    assert.equal(await log.isTakenOver('z'), true);
    assert.equal(await log.isTakenOver('never'), false);
  });

  it('leave to the node that sent it what nobody has taken over, for as long as the car can act', async () => {
    const log = logOf();
    for (const id of ['open', 'handed on', 'followed', 'forgotten']) await begin(log, id, ofNode('n'));
    await begin(log, 'of another', ofNode('m'));
    await begin(log, 'of nobody');
    await log.markForwarded('handed on', now);
    await log.markForwarded('forgotten', null);
    await log.markForwarded('of nobody', now);
    await log.markForwarded('never', now);
    log.follow('followed', 'r', Promise.resolve());
    const left = async (of: CommandLog, at: number) => idsOf(await of.unclaimed('n', at));
    assert.deepEqual(await left(log, now), ['open', 'handed on']);
    for (const of of [log, logOf()]) {
      assert.ok((await left(of, now + 149_999)).includes('handed on'));
      assert.ok((await left(of, now - 149_999)).includes('handed on'), 'the clock may have been set');
      assert.ok(!(await left(of, now + 150_000)).includes('handed on'));
      assert.ok((await left(of, now + 150_000)).includes('open'));
    }
    await log.forgetNode('n');
    assert.deepEqual(await left(logOf(), now), []);
    assert.deepEqual(idsOf(await logOf().unclaimed('m', now)), ['of another']);
  });

  it('hear of each change, in the order in which the commands were sent', async () => {
    await begin(logOf(), 'b', {}, now + second);
    await begin(logOf(), 'a', {}, now);
    const log = logOf();
    changes = 0;
    assert.deepEqual(await journal(log), ['b', 'a']);
    const late = await begin(log, 'c', {}, now - second);
    assert.equal(changes, 1);
    assert.deepEqual([late.order, late.member], [now + second + 1, log.presence.id]);
    assert.deepEqual(idsOf(await log.pending('a')), ['a', 'b', 'c']);
    assert.deepEqual(idsOf(await log.pending('b')), []);
    await log.remove('b');
    assert.equal(changes, 2);
    assert.deepEqual(await journal(log), ['c', 'a']);
  });

  describe('of several processes', () => {
    it('see what each of them stores', async () => {
      const [one, two] = [sharedLogOf('one'), sharedLogOf('two')];
      const own = await begin(one, 'x', ofNode('n'));
      assert.equal(own.member, 'one');
      assert.equal((await two.fetch('x'))?.record.outcome, 'undetermined');
      own.answer(
        { ...record('x'), requestStatus: 'SENT', outcome: 'pending' },
        { status: 'unconfirmed', fault: null },
        now,
      );
      await one.save(own);
      assert.equal((await two.fetch('x'))?.record.requestStatus, 'SENT');
      assert.equal(await two.fetch('never'), undefined);
      assert.equal((await logOf().fetch('x'))?.id, 'x');
      await two.remove('x');
      assert.deepEqual(await journal(one), [], 'what another has removed is gone');
      const unsaved = new LoggedCommand(record('y'), 'a', {}, now);
      const write = store.write.bind(store);
      store.write = () => Promise.reject(new Error('away'));
      await assert.rejects(one.add(unsaved, now), /away/);
      store.write = write;
      assert.deepEqual(await journal(one), ['y'], 'what could not be stored yet stays');
      await one.save(unsaved);
      assert.deepEqual(await journal(two), ['y']);
    });

    it('keep the changes of each other', async () => {
      const [one, two] = [sharedLogOf('one'), sharedLogOf('two')];
      const own = await begin(one, 'x', ofNode('n'));
      const theirs = (await two.fetch('x')) ?? assert.fail();
      const result = { outcome: 'succeeded', reason: asSentence('Done.'), verified: null } as const;
      theirs.results = { r: { ...result, settledAt: '', tries: 1 } };
      await two.save(theirs);
      own.addStatus({ requestStatus: 'COMPLETED', message: 'Done.' }, now + second);
      await one.save(own);
      for (const log of [sharedLogOf('three'), one, two]) {
        const found = (await log.fetch('x')) ?? assert.fail();
        assert.deepEqual([Object.keys(found.results), found.record.requestStatus], [['r'], 'COMPLETED']);
      }
      await store.write('command/x', { broken: true });
      own.addStatus({ requestStatus: 'REJECTED', message: null }, now);
      await one.save(own);
      assert.equal(
        (await sharedLogOf('four').fetch('x'))?.record.requestStatus,
        'REJECTED',
        'what is damaged is replaced',
      );
    });

    it('take over what a process has left that ended, once', async () => {
      const [one, two, three] = [sharedLogOf('one'), sharedLogOf('two'), sharedLogOf('three')];
      await begin(one, 'x', ofNode('n'));
      const left = async (log: CommandLog, isStart?: boolean) => idsOf(await log.unclaimed('n', now, isStart));
      assert.deepEqual([await left(one), await left(one, false), await left(two)], [['x'], [], []]);
      ended.add('one');
      await three.ready();
      const found = await Promise.all([left(two, false), left(three, false)]);
      assert.deepEqual(found.flat(), ['x']);
      assert.ok(['two', 'three'].includes((await sharedLogOf('four').fetch('x'))?.member ?? ''));
    });
  });
});
