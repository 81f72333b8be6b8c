import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Node, NodeMessage, NodeRedApp } from 'node-red';
import { listen } from '../support/listening';

const root = resolve(__dirname, '../../..');

/** A node of a few lines that is there for the benchmark only. */
export interface BenchNode {
  type: string;
  code: string;
}

const undici = JSON.stringify(require.resolve('undici'));

/**
 * A node around undici that calls the service itself; its property `connections` limits its
 * sockets.
 * @param work what it does with a message, as code that has `msg`, `config`, `request` and
 * `dispatcher`
 */
export const nodeAround = (type: string, work: string): BenchNode => ({
  type,
  code: `const { Agent, request } = require(${undici});
module.exports = (RED) => RED.nodes.registerType('${type}', function (config) {
  RED.nodes.createNode(this, config);
  const dispatcher = new Agent({ connections: config.connections });
  this.on('input', async (msg, send, done) => {
    ${work}
    send(msg);
    done();
  });
});`,
});

/** The end of a flow: gives each message to `benchArrived`. */
export const endNode: BenchNode = {
  type: 'bench-end',
  code: `module.exports = (RED) => RED.nodes.registerType('bench-end', function (config) {
  RED.nodes.createNode(this, config);
  this.on('input', (msg, send, done) => {
    done();
    globalThis.benchArrived(msg);
  });
});`,
};

declare global {
  var benchArrived: (msg: NodeMessage) => void;
}

/** What a node that is not the pack's sends with each request. */
export const headersOfNode = {
  accept: 'application/json',
  authorization: 'Bearer demo-token',
  'vendor-api-key': 'demo-key',
} as const;

/** The configuration `car`, without a limit of requests. */
export const benchVehicle = (url: string, properties: object = {}): object => ({
  id: 'car',
  type: 'connected-vehicle',
  service: 'custom',
  baseUrl: url,
  requestsPerDay: 1e9,
  requestsPerMinute: 1e9,
  commandsPerMinute: 1e9,
  credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
  ...properties,
});

export interface Embedded {
  node(id: string): Node;
  userDir: string;
}

/**
 * A real Node-RED in this process, with the pack as installed and nodes of the benchmark's own.
 * Goes with the process.
 */
export async function embed(
  flows: readonly object[],
  nodes: readonly BenchNode[] = [],
  withPack = true,
): Promise<Embedded> {
  const userDir = mkdtempSync(join(tmpdir(), 'bench-'));
  process.on('exit', () => rmSync(userDir, { recursive: true, force: true }));
  // How the benchmark ends this process.
  process.once('SIGTERM', () => process.exit());
  mkdirSync(join(userDir, 'nodes'));
  for (const { type, code } of nodes) {
    writeFileSync(join(userDir, `nodes/${type}.js`), code);
    writeFileSync(
      join(userDir, `nodes/${type}.html`),
      `<script type="text/html" data-template-name="${type}"></script>`,
    );
  }
  if (withPack) {
    mkdirSync(join(userDir, 'node_modules/@connected-vehicle'), { recursive: true });
    symlinkSync(root, join(userDir, 'node_modules/@connected-vehicle/node-red'));
    writeFileSync(
      join(userDir, 'package.json'),
      JSON.stringify({ dependencies: { '@connected-vehicle/node-red': '*' } }),
    );
  }
  const RED = require('node-red') as NodeRedApp;
  const server = createServer();
  RED.init(server, {
    userDir,
    flowFile: 'flows.json',
    credentialSecret: 'a secret of the benchmark',
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    telemetry: { enabled: false, updateNotification: false },
    editorTheme: { tours: false, palette: { catalogues: [] } },
    externalModules: { autoInstall: false },
    logging: { console: { level: 'error', metrics: false, audit: false } },
  } as unknown as Parameters<typeof RED.init>[1]);
  await started(RED, RED.start());
  await listen(server);
  if (flows.length > 0)
    await started(RED, RED.runtime.flows.setFlows({ flows: { flows }, deploymentType: 'full' } as never));
  const { getNode } = RED.nodes as unknown as { getNode(id: string): Node };
  return { node: getNode, userDir };
}

async function started(RED: NodeRedApp, work: Promise<unknown>): Promise<void> {
  const running = new Promise<void>((done) => void RED.events.once('flows:started', () => done()));
  await work;
  await running;
}
