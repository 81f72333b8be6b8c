import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WatchStore, type OpenWatch } from '../../../src/index';
import { Random } from '../../support/random';

const child = resolve(__dirname, '../../support/watching-process.js');

describe('the store of the watches', () => {
  let base: string;
  let directory: string;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'watch-store-'));
    directory = join(base, 'watches');
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

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

  it('gives back what is open, and nothing that has ended', () => {
    const store = new WatchStore(directory);
    for (const id of ['a', 'b', '../../etc/passwd']) store.put(open(id));
    store.remove('a');
    assert.deepEqual(
      new WatchStore(directory)
        .open()
        .map(({ record }) => record.id)
        .sort(),
      ['../../etc/passwd', 'b'],
    );
    assert.ok(readdirSync(directory).every((name) => /^[0-9a-f]{32}\.json$/.test(name)));
    store.clear();
    assert.deepEqual(store.open(), []);
  });

  it('is private, and keeps of a message what can be written down', () => {
    const store = new WatchStore(directory);
    store.put({ ...open('a'), msg: { topic: 'mine', req: { socket: 1 }, res: {}, run: () => 1 } });
    assert.deepEqual(store.open()[0]?.msg, { topic: 'mine' });
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, readdirSync(directory)[0] ?? '')).mode & 0o777, 0o600);
  });

  it('leaves out of a message only what cannot be written down', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const store = new WatchStore(directory);
    store.put({ ...open('a'), msg: { topic: 'mine', circle, big: 1n, call: () => 1, kept: { deep: [1] } } });
    assert.deepEqual(store.open()[0]?.msg, { topic: 'mine', kept: { deep: [1] } });
  });

  it('leaves out what it cannot read, and keeps it', () => {
    const store = new WatchStore(directory);
    store.put(open('a'));
    writeFileSync(join(directory, 'broken.json'), '{"record":');
    assert.equal(store.open().length, 1);
    assert.equal(readdirSync(directory).length, 2);
  });

  it('remembers what has ended over a restart, the last thousand', () => {
    const store = new WatchStore(directory);
    store.put(open('a'));
    store.end('a');
    assert.ok(store.hasEnded('a') && !store.hasEnded('b'));
    const again = new WatchStore(directory);
    assert.ok(again.hasEnded('a'));
    assert.deepEqual(again.open(), []);
    assert.equal(statSync(join(directory, 'settled')).mode & 0o777, 0o600);
    for (let index = 0; index < 2500; index += 1) again.end(`id ${index}`);
    const last = new WatchStore(directory);
    assert.ok(!last.hasEnded('a') && last.hasEnded('id 1500') && last.hasEnded('id 2499'));
    assert.ok(statSync(join(directory, 'settled')).size <= 2000 * 33);
    store.clear();
    assert.deepEqual(readdirSync(base), []);
  });

  for (const [what, damage] of [
    ['cut', (text: string): string => text.slice(0, -5)],
    ['spoilt', (text: string): string => `\0\0\0\n${text}{"x"`],
  ] as const) {
    it(`bears a list of the ended ones that is ${what}`, () => {
      const store = new WatchStore(directory);
      store.end('a');
      store.end('b');
      const file = join(directory, 'settled');
      writeFileSync(file, damage(readFileSync(file, 'utf8')));
      const again = new WatchStore(directory);
      assert.ok(again.hasEnded('a'));
      again.end('c');
      assert.match(readFileSync(file, 'utf8'), /^([0-9a-f]{32}\n)+$/);
      const last = new WatchStore(directory);
      assert.ok(last.hasEnded('a') && last.hasEnded('c'));
    });
  }

  it('gives back a verdict that was not told, as it was', () => {
    const store = new WatchStore(directory);
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
    store.put({ ...watch, telling: { report, tries: 1 } });
    assert.deepEqual(new WatchStore(directory).open(), [{ ...watch, telling: { report, tries: 1 } }]);
  });

  it('keeps nothing any more once its node is gone', () => {
    const store = new WatchStore(directory);
    store.put(open('a'));
    store.clear();
    store.put(open('b'));
    store.end('b');
    assert.deepEqual(readdirSync(base), []);
  });

  /*
   * A kill between the message that tells a verdict and the note that it was told: nobody can know afterwards whether it was heard. It
   * is told once more, word for word, rather than not at all.
   */
  it('tells each verdict, and none again that it knows to be told, however often the process is killed', async function () {
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
      let left = random.between(1, 70);
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
    assert.deepEqual(new WatchStore(directory).open(), []);
  });
});
