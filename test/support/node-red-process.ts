import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NodeRedApp } from 'node-red';

/** `NODE_RED_PATH` names another Node-RED than the one that is installed here. */
const RED = require(process.env['NODE_RED_PATH'] ?? 'node-red') as NodeRedApp;

/** The child of `startNodeRed`: one Node-RED on a port that the system chooses, in the user directory and with the settings of its arguments. */
async function main(userDir: string, settings: object): Promise<void> {
  const server = createServer();
  RED.init(server, {
    userDir,
    flowFile: 'flows.json',
    credentialSecret: 'a secret of the tests',
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    // Nothing is asked of the network.
    telemetry: { enabled: false, updateNotification: false },
    editorTheme: { tours: false, palette: { catalogues: [] } },
    externalModules: { autoInstall: false, palette: { allowInstall: false, allowUpload: false } },
    logging: { console: { level: 'error', metrics: false, audit: false } },
    ...settings,
  } as unknown as Parameters<typeof RED.init>[1]);
  await RED.start();
  const { httpAdmin, httpNode } = RED as unknown as Record<'httpAdmin' | 'httpNode', (...handed: unknown[]) => void>;
  server.on('request', (request, response) => httpAdmin(request, response, () => httpNode(request, response)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.({ port: (server.address() as AddressInfo).port });
  // Node-RED answers a deploy before it has started the new flows.
  RED.events.on('runtime-event', ({ id }: { id: string }) => {
    if (id === 'runtime-deploy') process.send?.({ isDeployed: true });
  });
  process.on('disconnect', () => process.exit(0));
}

void main(process.argv[2] ?? '', JSON.parse(process.argv[3] ?? '{}') as object);
