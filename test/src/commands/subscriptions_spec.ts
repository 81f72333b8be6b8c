import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  asSentence,
  CommandLog,
  FileStateStore,
  LoggedCommand,
  MemoryStateStore,
  Subscriptions,
  type CommandRecord,
  type StateStore,
  type Subscription,
} from '../../../src/index';
import type { FollowUpdate } from '../../../src/commands/follow';
import { StateFault } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { Random } from '../../support/random';
import { removeFolder } from '../../support/remove-folder';

const child = resolve(__dirname, '../../support/watching-process.js');
const clock = new ManualClock();

const record = (id: string, changes: Partial<CommandRecord> = {}): CommandRecord => ({
  id,
  command: 'lock',
  vin: 'YV4952NA4F120DEMO',
  interface: 'connected-v1',
  sentAt: '2026-06-01T08:00:00.000Z',
  operationId: null,
  requestStatus: 'RUNNING',
  outcome: 'pending',
  message: 'The command is on its way.',
  async: null,
  ...changes,
});

const reason = asSentence('Done.');
const update = (id: string): Pick<FollowUpdate, 'report' | 'reason'> => ({
  reason,
  report: {
    ...record(id, { requestStatus: 'COMPLETED', outcome: 'succeeded' }),
    reason: 'Done.',
    verified: true,
    elapsedMs: 7,
    history: [{ requestStatus: 'COMPLETED', at: '2026-06-01T08:00:00.000Z' }],
  },
});
/** As it is stored. */
const result = { outcome: 'succeeded', reason, verified: true, settledAt: '2026-06-01T08:00:00.007Z' };

describe('the subscriptions of a node', () => {
  let store: StateStore;
  let faults: number;

  beforeEach(() => {
    store = new MemoryStateStore();
    faults = 0;
  });

  /** As the next process has them. */
  const of = (node = 'n', log = new CommandLog({ store })): Subscriptions =>
    new Subscriptions({ log, node, clock, onFault: () => (faults += 1) });
  const begin = async (subscriptions: Subscriptions, id: string, msg: Record<string, unknown> = { topic: 'mine' }) =>
    (await subscriptions.begin(record(id), msg, 'a')) ?? assert.fail('It was delivered before.');
  const open = (subscriptions: Subscriptions): Promise<Subscription[]> => subscriptions.open(assert.fail);
  const idsOf = async (subscriptions: Subscriptions): Promise<string[]> =>
    (await open(subscriptions)).map(({ command }) => command.id);
  const settle = async (subscriptions: Subscriptions, id: string): Promise<Subscription> => {
    const subscription = await begin(subscriptions, id);
    await subscriptions.settle(subscription, update(id));
    return subscription;
  };
  const inaccessible = new StateFault('inaccessible', 'follow', 'here', 'EMFILE');

  it('are those that were open when the process ended, and none that has ended', async () => {
    const subscriptions = of();
    for (const id of ['a', 'b', '../../etc/passwd']) await begin(subscriptions, id);
    await subscriptions.end('a');
    const [first, second] = await open(of());
    assert.deepEqual([first?.command.id, second?.command.id], ['b', '../../etc/passwd']);
    assert.deepEqual([first?.msg, first?.startedAt, first?.result], [{ topic: 'mine' }, clock.now(), null]);
    assert.deepEqual(first?.command.record, record('b'));
    await of().clear();
    assert.deepEqual(await idsOf(of()), []);
  });

  it('are kept apart from those of nodes whose ids begin alike', async () => {
    const nodes = ['n', 'n/a', 'n%2Fa'];
    for (const [index, node] of nodes.entries()) await begin(of(node), `command ${index}`);
    await of('n').clear();
    assert.deepEqual(await Promise.all(nodes.map((node) => idsOf(of(node)))), [[], ['command 1'], ['command 2']]);
    const log = new CommandLog({ store });
    await log.ready();
    assert.deepEqual(log.followedBy('n/a'), ['command 1']);
  });

  it('keep of a message its small plain properties', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const spoilt = Object.defineProperty({ topic: 'mine' }, 'odd', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const plain = { topic: 'mine', count: 1, flag: false, nothing: null, kept: { deep: [1, 'ü'] }, list: [] };
    await begin(of(), 'a', {
      ...plain,
      circle,
      big: 1n,
      call: () => 1,
      date: new Date(),
      picture: Buffer.alloc(10),
      infinite: Infinity,
      req: { socket: 1 },
      res: {},
      payload: 'replaced by the record',
    });
    assert.deepEqual((await open(of()))[0]?.msg, plain);
    await begin(of(), 'b', spoilt);
    assert.deepEqual((await open(of()))[1]?.msg, { topic: 'mine' });
  });

  it('leave out large properties without reading them whole, and keep 16 KB of a message at most', async () => {
    let read = 0;
    const huge = new Proxy(
      Array.from({ length: 1e6 }, (_, index) => index),
      {
        get: (target, name) => ((read += 1), Reflect.get(target, name) as unknown),
      },
    );
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, 'x'.repeat(1_000)]));
    await begin(of(), 'a', { topic: 'mine', huge, text: 'x'.repeat(40e6), ...many });
    const msg = (await open(of()))[0]?.msg ?? {};
    assert.equal(msg['topic'], 'mine');
    assert.ok(!('huge' in msg) && !('text' in msg) && read < 5_000, `${read} items were read`);
    assert.ok(JSON.stringify(msg).length <= 17_000 && Object.keys(msg).length > 10);
  });

  it('keep what the flow added to a record, and take all else of a known one from the log', async () => {
    const log = new CommandLog({ store });
    await log.add(LoggedCommand.adopt(record('a', { operationId: 'op' }), 'a', clock.now()), clock.now());
    const changed = { ...record('a', { operationId: 'forged' }), garage: 'left' };
    const { write } = store;
    const written: string[] = [];
    store.write = (...given) => (written.push(given[0]), write.apply(store, given));
    const subscription = await of('n', log).begin(changed, {}, 'b');
    assert.deepEqual(written, ['follow/n/a']);
    assert.deepEqual([subscription?.added, subscription?.command.record.operationId], [{ garage: 'left' }, 'op']);
    assert.deepEqual((await open(of()))[0]?.added, { garage: 'left' });
    assert.equal((await log.journal('a')).length, 1);
  });

  it('refuse a known record with another VIN, and do not keep it', async () => {
    const log = new CommandLog({ store });
    await begin(of('n', log), 'a');
    await assert.rejects(of('other', log).begin(record('a', { vin: 'YV1CT9551B1570982' }), {}, 'a'), {
      code: 'INPUT_INVALID',
    });
    assert.deepEqual(log.followedBy('other'), []);
  });

  it('leave out one that cannot be read, and keep it aside', async () => {
    await begin(of(), 'a');
    await store.write('follow/n/b', { startedAt: 'soon' });
    const lost: string[] = [];
    assert.equal((await of().open((what) => lost.push(what))).length, 1);
    assert.equal((await of().open((what) => lost.push(what))).length, 1);
    assert.deepEqual(lost, ['damaged']);
    assert.equal((await store.entries('unreadable/')).length, 1);
  });

  it('keep a result that was not sent, however often the disk fails while they are read', async () => {
    await settle(of(), 'a');
    await store.write('follow/n/b', { startedAt: 'soon' });
    const write = store.write.bind(store);
    store.write = (key, ...rest) =>
      key.startsWith('unreadable/') ? Promise.reject(inaccessible) : write(key, ...rest);
    const subscriptions = of();
    const lost: string[] = [];
    const again = (): Promise<Subscription[]> => subscriptions.open((what) => lost.push(what));
    for (let tries = 0; tries < 5; tries += 1) await assert.rejects(again(), inaccessible);
    store.write = write;
    assert.deepEqual(
      (await again()).map(({ result }) => result),
      [{ ...result, tries: 1 }],
    );
    assert.deepEqual(lost, ['damaged']);
  });

  it('leave out one whose command is gone', async () => {
    await begin(of(), 'a');
    await store.remove('command/a');
    const lost: string[] = [];
    assert.deepEqual(await of().open((what) => lost.push(what)), []);
    assert.deepEqual([lost, await store.entries('follow/')], [['damaged'], []]);
    assert.deepEqual(await store.entries('unreadable/'), []);
  });

  it('begin again where the process before has left one', async () => {
    await begin(of(), 'a');
    await begin(of(), 'a', { topic: 'newer' });
    assert.deepEqual(
      (await open(of())).map(({ msg }) => msg),
      [{ topic: 'newer' }],
    );
  });

  it('take the command from the node that sent it', async () => {
    const log = new CommandLog({ store });
    const sent = new LoggedCommand(record('a'), 'a', { origin: { node: 'command', msg: {} } }, clock.now());
    await log.add(sent, clock.now());
    const subscriptions = of('n', log);
    await begin(subscriptions, 'a');
    assert.notEqual(sent.origin, null);
    await subscriptions.end('a');
    assert.deepEqual([sent.origin, log.followedBy('n')], [null, []]);
  });

  it('send no result again whose end the disk did not keep', async () => {
    const { remove } = store;
    store.remove = () => Promise.reject(inaccessible);
    const log = new CommandLog({ store });
    const subscriptions = of('n', log);
    await subscriptions.delivered(await settle(subscriptions, 'a'));
    assert.deepEqual(log.followedBy('n'), []);
    store.remove = remove;
    assert.equal((await store.entries('follow/')).length, 1);
    assert.deepEqual(await open(of()), []);
    assert.deepEqual(await store.entries('follow/'), []);
  });

  it('store a result at its delivery where the disk did not keep it before, and only then', async () => {
    const { write } = store;
    store.write = (...given) => (given[0] === 'command/a' ? Promise.reject(inaccessible) : write.apply(store, given));
    const subscriptions = of();
    const unkept = await settle(subscriptions, 'a');
    let writes = 0;
    store.write = (...given) => ((writes += 1), write.apply(store, given));
    await subscriptions.delivered(unkept);
    assert.equal(writes, 1);
    assert.ok(await of().hasDelivered('a'));
    const kept = await settle(subscriptions, 'b');
    writes = 0;
    await subscriptions.delivered(kept);
    assert.equal(writes, 0);
  });

  it('know what was delivered, over a restart, for each node on its own', async () => {
    const subscriptions = of();
    await subscriptions.delivered(await settle(subscriptions, 'a'));
    for (const one of [subscriptions, of()]) {
      assert.ok((await one.hasDelivered('a')) && !(await one.hasDelivered('b')));
      assert.equal(await one.begin(record('a'), {}, 'a'), null);
    }
    assert.deepEqual(await open(of()), []);
    assert.ok(!(await of('other').hasDelivered('a')));
  });

  it('return a result that was not delivered, unchanged, three times at most', async () => {
    await settle(of(), 'a');
    for (let start = 2; start <= 3; start += 1) {
      const subscriptions = of();
      const [one = assert.fail()] = await open(subscriptions);
      assert.deepEqual(one.result, { ...result, tries: start - 1 });
      await subscriptions.settle(one, update('a'));
    }
    const lost: string[] = [];
    assert.deepEqual(await of().open((what) => lost.push(what)), []);
    assert.deepEqual(lost, ['undelivered']);
    assert.deepEqual(await open(of()), []);
  });

  it('return a result as often as an orderly end held it back', async () => {
    const first = of();
    await first.postpone(await settle(first, 'a'));
    for (let start = 0; start < 5; start += 1) {
      const subscriptions = of();
      const [one = assert.fail()] = await open(subscriptions);
      await subscriptions.settle(one, update('a'));
      await subscriptions.postpone(one);
    }
    assert.deepEqual(await idsOf(of()), ['a']);
  });

  it('count as tries of a result those alone that no orderly end held back', async () => {
    await settle(of(), 'a');
    const second = of();
    const [one = assert.fail()] = await open(second);
    await second.settle(one, update('a'));
    await second.postpone(one);
    assert.deepEqual((await open(of()))[0]?.result, { ...result, tries: 1 });
  });

  it('follow a command where the disk does not say whether it was delivered', async () => {
    await begin(of(), 'a');
    const { entries } = store;
    store.entries = () => Promise.reject(inaccessible);
    const subscriptions = of();
    await assert.rejects(subscriptions.open(assert.fail), inaccessible);
    const { read } = store;
    store.read = () => Promise.reject(inaccessible);
    assert.ok(await begin(subscriptions, 'b'));
    assert.equal(faults, 1);
    Object.assign(store, { entries, read });
    assert.deepEqual(await idsOf(subscriptions), ['a']);
    assert.deepEqual((await idsOf(of())).sort(), ['a', 'b']);
  });

  for (const collection of ['command/', 'follow/'])
    it(`are all there at the next try where “${collection}” alone cannot be read`, async () => {
      await begin(of(), 'a');
      const { entries } = store;
      store.entries = (prefix) =>
        prefix.startsWith(collection) ? Promise.reject(inaccessible) : entries.call(store, prefix);
      const subscriptions = of();
      await assert.rejects(subscriptions.open(assert.fail), inaccessible);
      store.entries = entries;
      assert.deepEqual(await idsOf(subscriptions), ['a']);
    });

  it('show in the log at once that a command is taken over, and until it is stored', async () => {
    const log = new CommandLog({ store });
    await log.ready();
    const write = store.write.bind(store);
    let stored = (): void => undefined;
    store.write = async (...change) => {
      if (change[0].startsWith('follow/')) await new Promise<void>((done) => (stored = done));
      return write(...change);
    };
    const beginning = begin(of('n', log), 'a');
    let isTakenOver: boolean | null = null;
    const asked = log.isTakenOver('a').then((answer) => (isTakenOver = answer));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isTakenOver, null);
    stored();
    assert.equal(await asked, true);
    await beginning;
  });

  it('leave nothing behind in memory or on disk once their node is deleted', async () => {
    const log = new CommandLog({ store });
    const subscriptions = of('n', log);
    await begin(subscriptions, 'a');
    await subscriptions.clear();
    await begin(subscriptions, 'b');
    assert.equal(await store.read('command/b'), null);
    assert.deepEqual(await store.entries('follow/'), []);
    assert.equal(await log.isTakenOver('a'), false);
    assert.deepEqual(await open(of()), []);
  });

  /*
   * A kill between the message with a result and the note that it was sent: afterwards it is unknown whether the message arrived. It is sent
   * once more, word for word, rather than not at all.
   */
  it('deliver each result, and none again that is known to be delivered, however often the process is killed', async function () {
    this.timeout(240_000);
    const base = mkdtempSync(join(tmpdir(), 'subscriptions-'));
    const directory = join(base, 'state');
    const commands = 30;
    const log = join(base, 'log');
    const random = new Random(5);
    let kills = 0;
    for (let over = false; !over;) {
      const process = fork(child, [directory, log, String(commands), String(random.between(1, 200))], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const [code] = (await once(process, 'exit')) as [number | null];
      over = code === 0;
      if (!over) kills += 1;
    }
    const text = readFileSync(log, 'utf8');
    assert.ok(!/^(fault|lost)$/m.test(text), text);
    const runs = text.split('start\n').map((run) => run.split('\n'));
    for (let index = 0; index < commands; index += 1) {
      const id = `command-${index}`;
      const told = runs.map((run) => run.filter((line) => line.startsWith(`verdict ${id} succeeded`)));
      assert.ok(
        told.every((lines) => lines.length <= 1),
        `${id} twice in one run`,
      );
      assert.equal(new Set(told.flat()).size, 1, `${id} is told, and in the same words each time`);
      const endedIn = runs.findIndex((run) => run.includes(`ended ${id}`));
      if (endedIn >= 0) assert.deepEqual(told.slice(endedIn + 1).flat(), [], `${id} after its end`);
    }
    assert.ok(kills >= 5, `killed ${kills} times`);
    store = new FileStateStore({ directory });
    assert.deepEqual(await open(of()), []);
    await removeFolder(base);
  });
});
