import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Node, NodeMessage, NodeRedApp } from 'node-red';
import { listen } from './listening';

/** `NODE_RED_PATH` names another Node-RED than the one that is installed here. */
const RED = require(process.env['NODE_RED_PATH'] ?? 'node-red') as NodeRedApp;

/**
 * Stands for the 3.5 MB that draw diagrams, which each editor would load and compile, and of which
 * no help has one.
 */
const noDiagrams = 'globalThis.mermaid = { initialize() {} };';

/**
 * The child of `startNodeRed`: one Node-RED on a port that the system chooses, in the user
 * directory and with the settings of its arguments. A message `{ node, msg }` of the
 * parent goes into that node, and `global.get('report')(value)` of a function node sends
 * the value to the parent.
 */
async function main(userDir: string, settings: object): Promise<void> {
  // Before the flows start: Dashboard 2 wraps the listeners that exist then, and takes its
  // own requests from them.
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/vendor/mermaid/') === true) {
      response.setHeader('content-type', 'text/javascript').end(noDiagrams);
      return;
    }
    const { httpAdmin, httpNode } = RED as unknown as Record<'httpAdmin' | 'httpNode', (...handed: unknown[]) => void>;
    httpAdmin(request, response, () => httpNode(request, response));
  });
  const dashboard = '@flowfuse/node-red-dashboard';
  // Node-RED also loads what is installed beside itself, and each editor the forms of it.
  const denyList = existsSync(join(userDir, 'node_modules', dashboard)) ? [] : [dashboard];
  RED.init(server, {
    userDir,
    flowFile: 'flows.json',
    credentialSecret: 'a secret of the tests',
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    // Nothing is asked of the network.
    telemetry: { enabled: false, updateNotification: false },
    // The smaller of the two code editors: no form of the pack opens one.
    editorTheme: { tours: false, palette: { catalogues: [] }, codeEditor: { lib: 'ace' } },
    externalModules: { autoInstall: false, palette: { allowInstall: false, allowUpload: false, denyList } },
    logging: { console: { level: 'error', metrics: false, audit: false } },
    functionGlobalContext: { report: (value: object) => process.send?.(value) },
    ...settings,
  } as unknown as Parameters<typeof RED.init>[1]);
  // It starts the flows after it has started, and reports then how they are.
  const flows = new Promise<void>((resolve) =>
    RED.events.on('runtime-event', ({ id, payload }: { id: string; payload?: object }) => {
      if (id === 'runtime-state' && payload !== undefined) resolve();
    }),
  );
  await RED.start();
  const [port] = await Promise.all([listen(server), flows]);
  process.send?.({ port });
  // Node-RED answers a deploy before it has started the new flows.
  RED.events.on('runtime-event', ({ id, payload }: { id: string; payload?: { revision: string } }) => {
    if (id === 'runtime-deploy') process.send?.({ deployed: payload?.revision });
  });
  // The types of Node-RED leave this function out.
  const { getNode } = RED.nodes as unknown as { getNode: (id: string) => Node | null };
  process.on('message', ({ node, msg }: { node: string; msg: NodeMessage }) => getNode(node)?.receive(msg));
  process.on('disconnect', () => process.exit(0));
}

void main(process.argv[2] ?? '', JSON.parse(process.argv[3] ?? '{}') as object);
