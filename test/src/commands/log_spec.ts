import { strict as assert } from 'node:assert';
import { MemoryStateStore, VehicleError, type CommandRecord } from '../../../src/index';
import { CommandLog } from '../../../src/commands/log';
import { Command } from '../../../src/commands/command';
import type { CommandLogOptions } from '../../../src/commands/log';
import type { Sender } from '../../../src/commands/command';
import { asSentence, wordSentence } from '../../../src/sentence';
import { StateFault } from '../../../src/state/state-store';

const now = Date.UTC(2026, 5, 1, 8);
const at = new Date(now).toISOString();
const vin = 'YV1CT9551B1570982';

const record = (id: string, changes: Partial<CommandRecord> = {}): CommandRecord => ({
  id,
  command: 'lock',
  vin,
  interface: 'connected-v1',
  sentAt: at,
  operationId: 'op-1',
  requestStatus: 'RUNNING',
  outcome: 'pending',
  message: 'The command is on its way to the car.',
  async: null,
  ...changes,
});

const done = { requestStatus: 'COMPLETED', outcome: 'succeeded', message: 'Done.' } as const;
const result = {
  outcome: 'succeeded',
  reason: asSentence('The car carried out the command.'),
  verified: true,
} as const;
const unclear = { outcome: 'undetermined', reason: asSentence('The time ran out.'), verified: null } as const;

const follower = { by: 'r', startedAt: 0, msg: {}, added: {}, result: null, tries: 0 };

describe('The log of the commands', () => {
  let store: MemoryStateStore;
  /** As the next process has it. */
  const logOf = (options: Omit<CommandLogOptions, 'store'> = {}): CommandLog => new CommandLog({ store, ...options });
  const ids = async (log: CommandLog, account = 'a'): Promise<string[]> =>
    (await log.journal(account)).map(({ id }) => id);
  const begin = async (log: CommandLog, id: string, sender: Sender = {}, account = 'a'): Promise<Command> => {
    const begun = record(id, { requestStatus: null, outcome: 'undetermined', message: 'Nobody knows.' });
    const command = new Command(begun, account, sender, now);
    await log.add(command, now);
    return command;
  };
  const send = async (log: CommandLog, id: string, answer: Partial<CommandRecord> = {}): Promise<Command> => {
    const command = await begin(log, id);
    command.answer({ record: record(id, answer), status: 'open', fault: null }, now);
    await log.save(command);
    return command;
  };
  const inaccessible = new StateFault('inaccessible', 'command', 'here', 'EMFILE');

  beforeEach(() => (store = new MemoryStateStore()));

  it('has the whole entry of a command in the journal, the same after a restart', async () => {
    const log = logOf();
    const command = await begin(log, 'x', { sentBy: 'Evening lock' });
    const sent = { id: 'x', command: 'lock', vin, interface: 'connected-v1', sentBy: 'Evening lock', sentAt: at };
    const open = { reason: null, verified: null, settledAt: null };
    const states = [{ requestStatus: null, at }];
    assert.deepEqual(await log.journal('a'), [{ ...sent, operationId: 'op-1', states, outcome: 'pending', ...open }]);
    command.answer({ record: record('x'), status: 'open', fault: null }, now);
    command.addStatus({ requestStatus: 'COMPLETED', message: null }, now + 4_000);
    command.keepVerdict(result, now + 5_000);
    await log.save(command);
    const entry = {
      ...sent,
      operationId: 'op-1',
      states: [
        { requestStatus: 'RUNNING', at },
        { requestStatus: 'COMPLETED', at: '2026-06-01T08:00:04.000Z' },
      ],
      ...result,
      settledAt: '2026-06-01T08:00:05.000Z',
    };
    assert.deepEqual(await log.journal('a'), [entry]);
    assert.deepEqual(await logOf().journal('a'), [entry]);
    assert.equal((await store.entries('command/')).length, 1);
  });

  it('lists the commands newest first, also after the clock was set back', async () => {
    const log = logOf();
    for (const id of ['x', 'y']) await send(log, id);
    const late = new Command(record('z'), 'a', {}, now - 3_600_000);
    await log.add(late, now - 3_600_000);
    assert.deepEqual(await ids(log), ['z', 'y', 'x']);
    const next = logOf();
    await next.ready();
    await next.add(new Command(record('last'), 'a', {}, now - 3_000_000), now - 3_000_000);
    assert.deepEqual(await ids(logOf()), ['last', 'z', 'y', 'x']);
  });

  it('knows after a restart on which commands the car may still act', async () => {
    const log = logOf();
    await begin(log, 'no answer');
    await send(log, 'accepted');
    await send(log, 'completed', done);
    (await send(log, 'answered by the car')).answer(
      { record: record('answered by the car', unclear), status: 'over', fault: null },
      now,
    );
    await log.save(log.find('answered by the car') ?? assert.fail());
    (await begin(log, 'refused')).refuse(new VehicleError('COMMAND_REFUSED', 'Refused.'), now);
    await log.save(log.find('refused') ?? assert.fail());
    await log.add(Command.adopt(record('of somebody else'), 'a', now), now);
    assert.deepEqual(
      (await logOf().pending('a')).map(({ id }) => id),
      ['no answer', 'accepted'],
    );
  });

  it('replaces a result with one that knows more, and keeps a verification', async () => {
    const command = await send(logOf(), 'x');
    command.keepVerdict(unclear, now);
    const happened = asSentence('The doors say that it happened.');
    command.keepVerdict({ ...unclear, verified: true, reason: happened }, now + 1_000);
    command.keepVerdict({ ...unclear, reason: asSentence('Cannot tell.') }, now + 2_000);
    assert.deepEqual(command.verdict?.reason, happened);
    command.keepVerdict({ ...result, verified: null }, now + 3_000);
    assert.deepEqual(command.verdict, { ...result, settledAt: '2026-06-01T08:00:03.000Z' });
  });

  it('shows the newest 100 in the journal, and keeps as many as the limit says', async () => {
    const log = logOf({ limit: 120 });
    for (let index = 0; index < 130; index += 1) await send(log, `c${index}`);
    const newest = Array.from({ length: 100 }, (_, index) => `c${129 - index}`);
    assert.deepEqual([await ids(log), await ids(logOf())], [newest, newest]);
    assert.equal((await store.entries('command/')).length, 120);
    assert.equal(log.find('c9'), undefined);
    assert.ok(log.find('c10'));
  });

  it('keeps an old command that a node still has to send on or follows', async () => {
    const log = logOf({ limit: 2 });
    await begin(log, 'to send on', { origin: { node: 'n', msg: {} } });
    await log.assign(await begin(log, 'followed'), 'r', follower);
    for (const id of ['x', 'y', 'z']) await send(log, id);
    assert.deepEqual(await ids(logOf()), ['z', 'followed', 'to send on']);
  });

  it('keeps open for a node what the node has to send, and a forwarded record only while the car can act and no node follows it', async () => {
    const log = logOf();
    const open = async (node: string, later = 0, isStart = true): Promise<string[]> =>
      (await log.openFor(node, now + later, isStart)).map(({ id }) => id);
    const command = await begin(log, 'x', { origin: { node: 'n', msg: {} } });
    assert.deepEqual([await open('n'), await open('n', 0, false), await open('r')], [['x'], [], []]);
    await log.markForwarded(command, now);
    assert.deepEqual([await open('n', 149_000), await open('n', 150_000)], [['x'], []]);
    await log.assign(command, 'r', follower);
    assert.deepEqual([await open('n'), await open('r', 150_000)], [[], ['x']]);
    command.markDone('r');
    assert.deepEqual([await open('r'), await log.assign(command, 'r', follower)], [[], false]);
  });

  it('returns copies, which a flow may change', async () => {
    const log = logOf();
    await send(log, 'x');
    const before = JSON.stringify(await log.journal('a'));
    const [listed] = await log.journal('a');
    Object.assign(listed?.states[0] ?? {}, { requestStatus: 'FORGED' });
    listed?.states.pop();
    Object.assign(listed ?? {}, { outcome: 'succeeded' });
    assert.equal(JSON.stringify(await log.journal('a')), before);
  });

  it('is emptied, but for what a node needs for its result, which comes back with the result', async () => {
    const log = logOf();
    for (const id of ['x', 'y']) await send(log, id);
    await log.assign(log.find('y') ?? assert.fail(), 'r', follower);
    await log.clear('a');
    assert.deepEqual([await ids(log), await ids(logOf())], [[], []]);
    assert.equal((await store.entries('command/')).length, 1);
    const command = log.find('y') ?? assert.fail();
    command.keepVerdict(result, now);
    await log.save(command);
    assert.deepEqual(await ids(logOf()), ['y']);
  });

  it('is read again if that failed; what was added meanwhile stays', async () => {
    await send(logOf(), 'old');
    const log = logOf();
    const entries = store.entries.bind(store);
    store.entries = () => Promise.reject(inaccessible);
    await assert.rejects(log.journal('a'), inaccessible);
    await send(log, 'new');
    store.entries = entries;
    assert.deepEqual(await ids(log), ['new', 'old']);
  });

  it('leaves out what cannot be read, and says how many', async () => {
    await send(logOf(), 'x');
    const stored = (await store.read('command/x'))?.value as Record<string, unknown>;
    for (const [index, broken] of [null, 'x', {}, [], { ...stored, record: 7 }, { ...stored, order: 'last' }].entries())
      await store.write(`command/broken ${index}`, broken);
    const warnings: string[] = [];
    assert.deepEqual(await ids(logOf({ warn: (warning) => warnings.push(wordSentence(warning)) })), ['x']);
    assert.deepEqual(warnings, ['6 of 7 stored commands cannot be read and are left out.']);
  });

  it('loses only the broken parts of a command', async () => {
    await send(logOf(), 'x');
    const stored = (await store.read('command/x'))?.value as Record<string, unknown>;
    const odd = {
      sentBy: {},
      fault: 'none',
      status: 'lost',
      states: 'many',
      verdict: 0,
      origin: [],
      followers: 0,
      isCleared: 'yes',
    };
    await store.write('command/x', { ...stored, ...odd });
    const [entry] = await logOf({ warn: (warning) => assert.fail(wordSentence(warning)) }).journal('a');
    assert.deepEqual(
      [entry?.id, entry?.sentBy, entry?.states, entry?.outcome, entry?.reason],
      ['x', null, [], 'pending', null],
    );
  });
});
