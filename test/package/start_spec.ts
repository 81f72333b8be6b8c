import { strict as assert } from 'node:assert';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { chmod, cp, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { examples, nodeTypes, packageJson, root, type FlowNode } from './checkout';
import { isLong } from '../support/long';
import { npm } from '../support/npm';
import { removeFolder } from '../support/remove-folder';

/** What a fresh clone does not have. */
const notCloned = new Set(['.git', '.cache', '.node-red', 'dist', 'node_modules']);

/** The short form of the test takes what is built here, builds nothing, and needs no sources. */
const cloned = isLong ? readdirSync(root).filter((entry) => !notCloned.has(entry)) : ['package.json', 'scripts'];
const linked = isLong ? ['node_modules'] : ['dist', 'examples', 'node_modules', 'resources'];

const isWindows = process.platform === 'win32';

/** `npm start` in a checkout, and what it printed. */
class Start {
  output = '';
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;

  /** By a user without a home. */
  constructor(checkout: string, port: string) {
    const [command, ...first] = npm;
    const home = join(checkout, 'no home');
    this.#process = spawn(command, [...first, 'start', port], {
      cwd: checkout,
      env: { ...process.env, HOME: home, USERPROFILE: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = once(this.#process, 'close').then(([code]) => code as number | null);
  }

  /** @returns the editor's address */
  async ready(): Promise<string> {
    while (!this.output.includes('Ctrl-C ends')) {
      const ended = await Promise.race([once(this.#process.stdout!, 'data'), this.ended]);
      assert.ok(Array.isArray(ended), `npm start ended: ${this.output}`);
    }
    return /http:\/\/127\.0\.0\.1:\d+\/(?=\s)/.exec(this.output)?.[0] ?? '';
  }

  async stop(): Promise<number | null> {
    // Windows has no signals, and ends the children of a process with it only on request.
    if (isWindows) spawnSync('taskkill', ['/pid', String(this.#process.pid), '/T', '/F']);
    else this.#process.kill('SIGTERM');
    return this.ended;
  }
}

const flowsAt = async (url: string): Promise<FlowNode[]> => (await fetch(`${url}flows`)).json() as Promise<FlowNode[]>;

describe(`npm start in ${isLong ? 'a fresh clone' : 'a copy that is built already'}`, function () {
  let checkout: string;
  let start: Start;
  let url: string;

  before(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'clone-'));
    await Promise.all([
      ...cloned.map((entry) => cp(join(root, entry), join(checkout, entry), { recursive: true })),
      ...linked.map((entry) => symlink(join(root, entry), join(checkout, entry), 'junction')),
    ]);
    if (!isLong) await writeFile(join(checkout, 'scripts/build.mjs'), '');
    start = new Start(checkout, '0');
    url = await start.ready();
  });

  after(async () => {
    await start.stop();
    await removeFolder(checkout);
  });

  it('prints where the editor and the page of the demo cars are', async () => {
    assert.match(await (await fetch(url)).text(), /Node-RED/);
    const service = /demo cars.*(http:\/\/127\.0\.0\.1:\d+)\/\n/.exec(start.output)?.[1] ?? '';
    assert.match(await (await fetch(service)).text(), /<h2 id="model">/);
    const response = await fetch(`${service}/connected-vehicle/v2/vehicles`, {
      headers: { authorization: 'Bearer any', 'vendor-api-key': 'any', accept: 'application/json' },
    });
    assert.equal(response.status, 200);
  });

  it('has the pack loaded, and every example to import', async () => {
    const module = (await (
      await fetch(`${url}nodes/${packageJson.name}`, { headers: { accept: 'application/json' } })
    ).json()) as { nodes: { name: string; enabled: boolean; err?: string }[] };
    assert.deepEqual(
      module.nodes.map(({ name, enabled, err }) => [name, enabled, err]),
      nodeTypes.map((type) => [type, true, undefined]),
    );
    for (const { name, nodes } of examples) {
      const path = ['library/examples/flows', packageJson.name, ...name.split('/')].map(encodeURI).join('/');
      const response = await fetch(`${url}${path}`);
      assert.deepEqual([name, response.status], [name, 200]);
      assert.deepEqual(await response.json(), nodes);
    }
  });

  it('runs the flow that shows the way, and no other one', async () => {
    const flows = await flowsAt(url);
    const tabs = flows.filter(({ type }) => type === 'tab').map(({ label, disabled }) => [label, disabled]);
    assert.deepEqual(tabs, [['Start here', false]]);
    assert.deepEqual(
      flows.filter(({ type }) => type === 'connected-vehicle').map(({ name }) => name),
      ['Demo car'],
    );
  });

  it('asks nothing of the network and shows no tour', async () => {
    const settings = (await (await fetch(`${url}settings`)).json()) as {
      telemetryEnabled?: boolean;
      editorTheme: { tours?: boolean; palette: { catalogues: string[] } };
    };
    assert.notEqual(settings.telemetryEnabled, true);
    assert.equal(settings.editorTheme.tours, false);
    assert.deepEqual(settings.editorTheme.palette.catalogues, []);
  });

  it('says what to do when the port is taken', async () => {
    const second = new Start(checkout, new URL(url).port);
    assert.notEqual(await second.ended, 0);
    assert.match(second.output, /Port \d+ is taken by another program\. Choose another one: npm start \d+/);
    assert.doesNotMatch(second.output, /\n {4}at /);
  });

  for (const port of ['eighty', '70000'])
    it(`says what a port can be if it is ${port}`, async () => {
      const second = new Start(checkout, port);
      assert.notEqual(await second.ended, 0);
      assert.match(second.output, /The port must be a number from 0 to 65535\.\n/);
      assert.doesNotMatch(second.output, /\n {4}at /);
    });

  it('says what to do in a checkout that the user cannot write', async function () {
    // Root can write everywhere, and on Windows a mode means nothing for a folder.
    if (isWindows || process.getuid?.() === 0) return this.skip();
    await chmod(checkout, 0o555);
    const second = new Start(checkout, '0');
    const code = await second.ended;
    await chmod(checkout, 0o755);
    assert.notEqual(code, 0);
    assert.match(second.output, /cannot be written by this user\. Clone the repository into a folder of your own/);
    assert.doesNotMatch(second.output, /\n {4}at /);
  });

  it('ends cleanly, leaves nothing behind, and keeps what the user did', async () => {
    const mine = { id: 'mine', type: 'tab', label: 'Mine' };
    await fetch(`${url}flows`, {
      method: 'POST',
      // A connection that is kept from the tests before may just end.
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify([mine]),
    });
    await start.stop();
    assert.doesNotMatch(start.output, /\n {4}at /);
    await assert.rejects(fetch(url));
    start = new Start(checkout, new URL(url).port);
    // A browser that comes during the build is answered that it is running, and does not end it.
    let early: Response | undefined;
    while (early === undefined) {
      await setTimeout(20);
      early = await fetch(url).catch(() => undefined);
    }
    assert.equal(early.status, 503);
    assert.equal(await start.ready(), url);
    assert.deepEqual(
      (await flowsAt(url)).map(({ id }) => id),
      ['mine'],
    );
  });
});
