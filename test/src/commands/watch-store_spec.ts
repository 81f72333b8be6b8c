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
    assert.deepEqual(new WatchStore(directory).open().map(({ record }) => record.id).sort(), ['../../etc/passwd', 'b']);
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

  it('leaves out what it cannot read, and keeps it', () => {
    const store = new WatchStore(directory);
    store.put(open('a'));
    writeFileSync(join(directory, 'broken.json'), '{"record":');
    assert.equal(store.open().length, 1);
    assert.equal(readdirSync(directory).length, 2);
  });

  /*
   * Between the removal of a file and the message that tells the verdict there is nothing but the next call. A process that is killed
   * just there, within some microseconds, has told nobody: the verdict is then lost rather than told twice.
   */
  it('settles each watch once, however often the process is killed', async function () {
    this.timeout(120_000);
    const watches = 30;
    const log = join(base, 'log');
    const random = new Random(5);
    let kills = 0;
    for (let over = false; !over; ) {
      const process = fork(child, [directory, log, String(watches)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      const exit = once(process, 'exit');
      let left = random.between(1, 70);
      process.on('message', () => (left -= 1) === 0 && process.kill('SIGKILL'));
      const [code] = (await exit) as [number | null];
      over = code === 0;
      if (!over) kills += 1;
    }
    const lines = readFileSync(log, 'utf8').split('\n');
    const count = (text: string): number => lines.filter((line) => line === text).length;
    let lost = 0;
    for (let index = 0; index < watches; index += 1) {
      const id = `command-${index}`;
      const told = count(`verdict ${id} succeeded`);
      // The gap itself: the end was reached, and nothing after it.
      const inTheGap = told === 0 && lines.includes(`end ${id}`);
      if (inTheGap) lost += 1;
      else assert.equal(told, 1, id);
    }
    assert.ok(kills >= 5, `killed ${kills} times`);
    // A kill hits one gap at most.
    assert.ok(lost <= kills, `${lost} verdicts lost in ${kills} kills`);
    assert.deepEqual(new WatchStore(directory).open(), []);
  });
});
