import { fork, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { removeFolder } from './remove-folder';

const root = resolve(__dirname, '../../..');

export interface RealNodeRed {
  url: string;
  userDir: string;
  /** Asks the admin API. `POST flows` ends when the new flows have started. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<unknown>;
  /**
   * The end of the next deploy, also of one by an editor. Node-RED answers a deploy before it has
   * started the new flows.
   */
  deployed(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Brings the pack into a user directory. */
export type Install = (userDir: string) => Promise<void>;

/** Packages in these folders as installed packs, by name. */
const link =
  (folders: Record<string, string>): Install =>
  async (userDir) => {
    for (const [name, folder] of Object.entries(folders)) {
      const place = join(userDir, 'node_modules', name);
      await mkdir(dirname(place), { recursive: true });
      await symlink(folder, place, 'junction');
    }
    await writeFile(join(userDir, 'package.json'), JSON.stringify({ dependencies: folders }));
  };

/** This checkout as an installed pack. */
export const linkCheckout = link({ '@connected-vehicle/node-red': root });

/** The checkout and Dashboard 2. */
export const linkDashboard = link({
  '@connected-vehicle/node-red': root,
  '@flowfuse/node-red-dashboard': join(root, 'node_modules/@flowfuse/node-red-dashboard'),
});

/**
 * Settings that leave out most of Node-RED's own nodes: each Node-RED would load their modules, and
 * each editor their forms and texts.
 */
export const fewNodes = {
  nodesExcludes: [
    '16-range.js',
    '80-template.js',
    '89-delay.js',
    '89-trigger.js',
    '90-exec.js',
    'rbe.js',
    '05-tls.js',
    '06-httpproxy.js',
    '10-mqtt.js',
    '21-httpin.js',
    '21-httprequest.js',
    '22-websocket.js',
    '31-tcpin.js',
    '32-udp.js',
    '70-CSV.js',
    '70-HTML.js',
    '70-JSON.js',
    '70-XML.js',
    '70-YAML.js',
    '17-split.js',
    '18-sort.js',
    '19-batch.js',
    '10-file.js',
    '23-watch.js',
  ],
};

/** The same settings with some of these nodes, by the names of their files. */
export const fewNodesAnd = (...names: string[]): typeof fewNodes => ({
  nodesExcludes: fewNodes.nodesExcludes.filter((name) => !names.includes(name)),
});

/**
 * A Node-RED in an existing user directory. Its first message is `{ port }`, when
 * the flows have started.
 */
export const forkNodeRed = (
  userDir: string,
  settings: object,
  environment: Readonly<Record<string, string>> = {},
): ChildProcess =>
  fork(join(__dirname, 'node-red-process.js'), [userDir, JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...environment },
  });

/**
 * A real Node-RED in its own process, with the pack installed, and a user
 * directory that goes with it.
 * @param settings more of settings.js, as far as JSON can express it
 * @param environment variables that only this process has
 */
export async function startNodeRed(
  flows: readonly object[] = [],
  install: Install = linkCheckout,
  settings: object = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<RealNodeRed> {
  const userDir = await mkdtemp(join(tmpdir(), 'node-red-'));
  await install(userDir);
  await writeFile(join(userDir, 'flows.json'), JSON.stringify(flows));

  const child = forkNodeRed(userDir, settings, environment);
  const ended = once(child, 'exit');
  const [{ port }] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('Node-RED did not start'))),
  ])) as [{ port: number }];
  const url = `http://127.0.0.1:${port}/`;
  let deployedRevision: unknown;
  const deploys = new EventEmitter();
  child.on('message', (said: object) => {
    if (!('deployed' in said)) return;
    deployedRevision = said.deployed;
    deploys.emit('end');
  });
  const deployed = (): Promise<unknown> => once(deploys, 'end');
  return {
    url,
    userDir,
    async admin(method, path, body, headers) {
      const isDeploy = method === 'POST' && path === 'flows';
      if (isDeploy) deployedRevision = undefined;
      const response = await fetch(url + path, {
        method,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'Node-RED-API-Version': 'v2',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      if (response.status === 204) return undefined;
      const answer = (await response.json()) as { rev?: string };
      if (isDeploy) while (deployedRevision !== answer.rev) await deployed();
      return answer;
    },
    deployed,
    async stop() {
      child.kill();
      await ended;
      await removeFolder(userDir);
    },
  };
}
