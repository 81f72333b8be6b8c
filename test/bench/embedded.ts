import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Node, NodeRedApp } from 'node-red';

const root = resolve(__dirname, '../../..');

/** A node of a few lines that is there for the benchmark only. */
export interface BenchNode {
  type: string;
  code: string;
}

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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
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
