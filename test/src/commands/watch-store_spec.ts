import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FileStateStore, MemoryStateStore, WatchStore, type OpenWatch } from '../../../src/index';
import { StateFault } from '../../../src/state/state-store';
import { Random } from '../../support/random';
import { removeFolder } from '../../support/remove-folder';

const child = resolve(__dirname, '../../support/watching-process.js');

describe('the store of the watches', () => {
  let base: string;
  let directory: string;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'watch-store-'));
    directory = join(base, 'watches');
  });
  afterEach(() => removeFolder(base));

  const open = (id: string): OpenWatch => ({
    record: {
      id,
      command: 'lock',
      vin: 'YV4952NA4F120DEMO',
      interface: 'connected-v1',
      sentAt: '2026-06-01T08:00:00.000Z',
      operationId: null,
      requestStatus: 'RUNNING',
      outcome: 'pending',
      message: '',
      async: null,
    },
    startedAt: 1,
    history: [{ requestStatus: 'RUNNING', at: '2026-06-01T08:00:00.000Z' }],
    msg: { topic: 'mine' },
  });

  const storeOf = (): WatchStore => new WatchStore(new FileStateStore({ directory }), 'watches', 'n');
  const filesOf = (collection: string): string[] => readdirSync(join(directory, 'state', collection));

  it('returns the open watches, and none that has ended', async () => {
    const store = storeOf();
    for (const id of ['a', 'b', '../../etc/passwd']) await store.put(open(id));
    await store.remove('a');
    assert.deepEqual((await storeOf().open()).map(({ record }) => record.id).sort(), ['../../etc/passwd', 'b']);
    await store.clear();
    assert.deepEqual(await storeOf().open(), []);
  });

  it('keeps apart the watches of nodes whose ids begin alike', async () => {
    const files = new FileStateStore({ directory });
    const stores = ['n', 'n/a', 'n%2Fa'].map((name) => new WatchStore(files, 'watches', name));
    for (const [index, store] of stores.entries()) await store.put(open(`watch ${index}`));
    await stores[0]?.clear();
    assert.deepEqual(
      await Promise.all(stores.map(async (store) => (await store.open()).map(({ record }) => record.id))),
      [[], ['watch 1'], ['watch 2']],
    );
  });

  it('is private, and keeps of a message its small plain properties', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const spoilt = Object.defineProperty({ topic: 'mine' }, 'odd', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const store = storeOf();
    const plain = { topic: 'mine', count: 1, flag: false, nothing: null, kept: { deep: [1, 'ü'] }, list: [] };
    await store.put({
      ...open('a'),
      msg: {
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
      },
    });
    assert.deepEqual((await store.open())[0]?.msg, plain);
    await store.put({ ...open('a'), msg: spoilt });
    assert.deepEqual((await store.open())[0]?.msg, { topic: 'mine' });
  });

  it('leaves out large properties without reading them whole, and keeps 16 KB of a message at most', async () => {
    let read = 0;
    const huge = new Proxy(
      Array.from({ length: 1e6 }, (_, index) => index),
      {
        get: (target, name) => ((read += 1), Reflect.get(target, name) as unknown),
      },
    );
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, 'x'.repeat(1_000)]));
    const store = storeOf();
    await store.put({ ...open('a'), msg: { topic: 'mine', huge, text: 'x'.repeat(40e6), ...many } });
    const msg = (await store.open())[0]?.msg ?? {};
    assert.equal(msg['topic'], 'mine');
    assert.ok(!('huge' in msg) && !('text' in msg) && read < 5_000, `${read} items were read`);
    assert.ok(JSON.stringify(msg).length <= 17_000 && Object.keys(msg).length > 10);
  });

  it('leaves out an unreadable watch, and keeps its file', async () => {
    await new FileStateStore({ directory }).write('watches/n/b', { record: 7 });
    const store = storeOf();
    await store.put(open('a'));
    let unreadable = 0;
    assert.equal((await store.open(() => (unreadable += 1))).length, 1);
    assert.equal(unreadable, 1);
    assert.equal((await store.open(() => (unreadable += 1))).length, 1);
    assert.equal(unreadable, 1);
    assert.equal(filesOf('unreadable').length, 1);
  });

  it('remembers what has ended over a restart, the last thousand', async () => {
    const files = new MemoryStateStore();
    const storeOf = (): WatchStore => new WatchStore(files, 'watches', 'n');
    const store = storeOf();
    await store.put(open('a'));
    await store.end('a');
    assert.ok((await store.hasEnded('a')) && !(await store.hasEnded('b')));
    const again = storeOf();
    assert.ok(await again.hasEnded('a'));
    assert.deepEqual(await again.open(), []);
    await Promise.all(Array.from({ length: 1500 }, (_, index) => again.end(`id ${index}`)));
    const last = storeOf();
    assert.ok(!(await last.hasEnded('a')) && (await last.hasEnded('id 500')) && (await last.hasEnded('id 1499')));
    assert.ok(!(await last.hasEnded('id 499')));
    await store.clear();
    assert.deepEqual([await files.entries('watches/'), await files.entries('delivered/')], [[], []]);
  });

  for (const [what, damage] of [
    ['cut', (text: string): string => text.slice(0, -5)],
    ['odd', (text: string): string => text.replace(/"value":.*/, '"value":{"a":1}}')],
  ] as const) {
    it(`goes on where the list of the ended ones is ${what}`, async () => {
      await storeOf().end('a');
      const [name = ''] = filesOf('delivered');
      const file = join(directory, 'state', 'delivered', name);
      writeFileSync(file, damage(readFileSync(file, 'utf8')));
      const again = storeOf();
      assert.ok(!(await again.hasEnded('a')));
      await again.end('c');
      assert.ok(await storeOf().hasEnded('c'));
    });
  }

  it('keeps the list of the ended ones where it cannot be read at times', async () => {
    const files = new MemoryStateStore();
    const storeOf = (): WatchStore => new WatchStore(files, 'watches', 'n');
    await storeOf().end('a');
    const again = storeOf();
    const read = files.read.bind(files);
    files.read = () => Promise.reject(new StateFault('inaccessible', 'delivered', 'here', 'EMFILE'));
    await assert.rejects(again.hasEnded('a'));
    await assert.rejects(again.end('b'));
    assert.ok(await again.hasEnded('b'));
    files.read = read;
    assert.ok((await again.hasEnded('a')) && (await again.hasEnded('b')));
    await again.end('c');
    const last = storeOf();
    for (const id of ['a', 'b', 'c']) assert.ok(await last.hasEnded(id), id);
  });

  it('returns a result that was not delivered, unchanged', async () => {
    const watch = open('a');
    const report = {
      ...watch.record,
      requestStatus: 'COMPLETED',
      outcome: 'succeeded' as const,
      reason: 'Done.',
      verified: true,
      elapsedMs: 7,
      history: watch.history,
    };
    await storeOf().put({ ...watch, delivery: { report, tries: 1 } });
    assert.deepEqual(await storeOf().open(), [{ ...watch, delivery: { report, tries: 1 } }]);
  });

  it('stores nothing after its node was deleted', async () => {
    const store = storeOf();
    const putting = store.put(open('a'));
    await store.clear();
    await putting;
    await store.put(open('b'));
    await store.end('b');
    assert.deepEqual(await storeOf().open(), []);
    assert.ok(!(await storeOf().hasEnded('b')));
  });

  /*
   * A kill between the message that tells a verdict and the note that it was told: nobody can know afterwards whether it was heard. It
   * is told once more, word for word, rather than not at all.
   */
  it('delivers each result, and none again that is known to be delivered, however often the process is killed', async function () {
    this.timeout(120_000);
    const watches = 30;
    const log = join(base, 'log');
    const random = new Random(5);
    let kills = 0;
    for (let over = false; !over;) {
      const process = fork(child, [directory, log, String(watches)], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const exit = once(process, 'exit');
      let left = random.between(1, 200);
      process.on('message', () => (left -= 1) === 0 && process.kill('SIGKILL'));
      const [code] = (await exit) as [number | null];
      over = code === 0;
      if (!over) kills += 1;
    }
    const runs = readFileSync(log, 'utf8')
      .split('start\n')
      .map((run) => run.split('\n'));
    for (let index = 0; index < watches; index += 1) {
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
    assert.deepEqual(await storeOf().open(), []);
  });
});
