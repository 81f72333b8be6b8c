import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installTarball, packTarball } from '../../package/tarball';
import { freePort, newFolder, startProgram, type Program } from './program';

/** What a function node wrote with `global.get('record')`. */
export type Recorded = Record<string, unknown>;

/**
 * The program `node-red`, as a service manager runs it, with the pack installed from its tarball.
 */
export interface NodeRedProgram {
  /** Of its editor and its admin API, with a slash at the end. */
  readonly url: string;
  readonly folder: string;
  /** Everything that its flows recorded so far, over restarts. */
  recorded(): Promise<Recorded[]>;
  /** Waits until what was recorded satisfies the condition. */
  until(what: string, look: (recorded: Recorded[]) => boolean, seconds?: number): Promise<Recorded[]>;
  /** Deploys flows. @param type `full` or `nodes` */
  deploy(flows: readonly object[], credentials?: object, type?: string): Promise<void>;
  /** Sends a request to an `http in` node, and waits for the answer. */
  send(path: string, body: object): Promise<unknown>;
  stop(name?: NodeJS.Signals): Promise<void>;
  /** Starts it, and waits until its flows run. */
  start(): Promise<void>;
  log(): Promise<string>;
}

/**
 * Starts Node-RED in its own folder, without flows.
 * @param env more of its environment, such as HTTPS_PROXY
 * @param nodes files for its folder `nodes`
 * @param settings more of its settings.js
 * @param settingsFile a file that settings.js includes; `settings` overwrite it
 * @param beside the folder of this one is also used
 */
export async function startNodeRedProgram({
  env = {},
  nodes = {},
  settings = {},
  settingsFile,
  beside,
}: Partial<Record<'env' | 'nodes' | 'settings', Readonly<Record<string, string>>>> & {
  settingsFile?: string;
  beside?: NodeRedProgram;
} = {}): Promise<NodeRedProgram> {
  const folder = beside?.folder ?? (await newFolder('node-red'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}${(settings['httpAdminRoot'] ?? '').replace(/\/$/, '')}/`;
  const records = join(folder, 'recorded.jsonl');
  await appendFile(records, '');
  if (beside === undefined) {
    // Packed each time: a folder goes with its spec, and the next one can run in the same process.
    await installTarball(await packTarball(await newFolder('tarball')))(folder);
    if (env['CONNECTED_VEHICLE_STORE'] !== undefined) {
      await mkdir(join(folder, 'node_modules/@redis'));
      await symlink(dirname(require.resolve('@redis/client/package.json')), join(folder, 'node_modules/@redis/client'));
    }
    await mkdir(join(folder, 'nodes'));
    for (const [name, text] of Object.entries(nodes)) await writeFile(join(folder, 'nodes', name), text);
  }
  const settingsPath = join(folder, `settings-${port}.js`);
  await writeFile(
    settingsPath,
    `module.exports = {
  flowFile: 'flows.json',
  credentialSecret: 'a secret of the tests',
  uiHost: '127.0.0.1',
  uiPort: ${port},
  // Recorded at once, even if the process is killed next.
  functionGlobalContext: {
    record: (entry) => require('node:fs').appendFileSync(${JSON.stringify(records)}, JSON.stringify(entry) + '\\n'),
  },
  editorTheme: { tours: false, palette: { catalogues: [] } },
  telemetry: { enabled: false, updateNotification: false },
  externalModules: { autoInstall: false, palette: { allowInstall: false, allowUpload: false } },
  logging: { console: { level: 'info', metrics: false, audit: false } },
  ${settingsFile === undefined ? '' : `...require(${JSON.stringify(settingsFile)}),`}
  ...${JSON.stringify(settings)},
};
`,
  );
  const manifest = require.resolve('node-red/package.json');
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
  const command = join(dirname(manifest), bin['node-red'] ?? '');
  let program: Program;

  const nodeRed: NodeRedProgram = {
    url,
    folder,
    async recorded() {
      const lines = (await readFile(records, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Recorded);
    },
    async until(what, look, seconds = 120) {
      const end = performance.now() + seconds * 1000;
      for (;;) {
        const recorded = await nodeRed.recorded();
        if (look(recorded)) return recorded;
        if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s.\n${JSON.stringify(recorded)}`);
        await sleep(50);
      }
    },
    async deploy(flows, credentials, type = 'full') {
      const response = await fetch(`${url}flows`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'Node-RED-API-Version': 'v2',
          'Node-RED-Deployment-Type': type,
        },
        body: JSON.stringify({ flows, ...(credentials && { credentials }) }),
      });
      if (!response.ok) throw new Error(`The deploy failed: ${response.status} ${await response.text()}`);
    },
    async send(path, body) {
      // The flows start a moment after Node-RED has answered a deploy or listens.
      for (let tries = 0; ; tries += 1) {
        const response = await fetch(`${origin}/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        if (response.ok) return response.json();
        if (response.status !== 404 || tries > 3_000) throw new Error(`${path}: ${response.status}`);
        await sleep(20);
      }
    },
    stop: (name) => program.stop(name),
    async start() {
      program = await startProgram({
        name: 'node-red',
        command: process.execPath,
        args: [command, '--userDir', folder, '--settings', settingsPath],
        env,
        folder,
        port,
        // Node-RED waits 15 s for its nodes.
        graceMs: 60_000,
      });
    },
    log: () => program.log(),
  };
  await nodeRed.start();
  return nodeRed;
}
