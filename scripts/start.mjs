// `npm start`: builds, then runs Node-RED on this machine with the pack, the demo car and the flow
// "Start here", in a user directory of its own inside the checkout. An argument, or the variable
// PORT, is the port: `npm start 1881`.
import { once } from 'node:events';
import { access, constants, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { root, textOf } from './checkout.mjs';
import { onceOrphaned } from './parent.mjs';

const userDir = `${root}.node-red`;
const address = '127.0.0.1';
const given = process.argv.slice(2).find((argument) => argument !== '--changed');
const port = Number(given ?? (process.env.PORT || 1880));
/** Node-RED, which takes seconds to load: what stops the start is reported before. */
let RED;

/**
 * What the build and Node-RED write to has to be there for this user, before
 * either has written a part.
 */
async function checkWritable() {
  for (const folder of ['', 'dist', 'resources', '.node-red'])
    await access(join(root, folder), constants.W_OK).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
}

/** Writes a file if it is not there: later changes of the user stay. */
const writeOnce = (file, content) =>
  writeFile(`${userDir}/${file}`, content, { flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });

/**
 * The checkout as an installed package, a link as `npm install <folder>` makes it, and the example
 * that shows the way; the others are in *Import*, *Examples*.
 */
async function install() {
  const scope = `${userDir}/node_modules/@connected-vehicle`;
  await mkdir(scope, { recursive: true });
  await rm(`${scope}/node-red`, { force: true });
  await symlink(root, `${scope}/node-red`, 'junction');
  await writeOnce('package.json', '{ "dependencies": { "@connected-vehicle/node-red": "file:.." } }');
  await writeOnce('flows.json', await textOf('examples/Basics/01 Start here.json'));
}

/**
 * The server listens before the build, so that a port in use is reported at once. A browser that is
 * open already tries again.
 */
const starting = (_request, response) =>
  response.writeHead(503, { 'content-type': 'text/html', refresh: '2' }).end('Node-RED is starting.');

/**
 * The address of the simulated service, which starts with the first demo vehicle. Null if
 * the flows have none.
 */
async function demoAddress() {
  const cars = [];
  RED.nodes.eachNode(
    ({ type, service, id }) => type === 'connected-vehicle' && service === 'demo' && cars.push(RED.nodes.getNode(id)),
  );
  const account = await cars.find(Boolean)?.account();
  return account?.client.service.baseUrl ?? null;
}

async function main() {
  let answer = starting;
  const server = createServer((request, response) => answer(request, response));
  await checkWritable();
  await once(server.listen(port, address), 'listening');
  const { port: openPort } = server.address();
  ({ default: RED } = await import('node-red'));
  await import('./build.mjs');
  await install();
  RED.init(server, {
    userDir,
    flowFile: 'flows.json',
    fileWorkingDirectory: userDir,
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    uiHost: address,
    uiPort: openPort,
    // Node-RED sends no requests to the network and opens no windows.
    telemetry: { enabled: false, updateNotification: false },
    externalModules: { autoInstall: false },
    editorTheme: { tours: false, palette: { catalogues: [] } },
    logging: { console: { level: 'error', metrics: false, audit: false } },
  });
  const started = new Promise((resolve) => RED.events.once('flows:started', resolve));
  await RED.start();
  await started;
  answer = (request, response) => RED.httpAdmin(request, response, () => RED.httpNode(request, response));
  const demo = await demoAddress();
  console.log(`\n  Node-RED, with the pack and its demo car: http://${address}:${openPort}/`);
  if (demo !== null) console.log(`  The demo cars, to see and to click:       ${demo}/`);
  console.log('  More flows: menu Import, Examples, @connected-vehicle/node-red.');
  console.log('  Flows are kept in .node-red; delete it to start from the beginning. Ctrl-C ends.\n');
}

/**
 * The terminal sends Ctrl-C to this process, and npm sends it again: the second one must not cut
 * the first one short.
 */
let stopping;
const stop = () => (stopping ??= Promise.resolve(RED?.stop()).finally(() => process.exit(0)));

const chooseAnother = `Choose another one: npm start ${port < 1024 ? 1880 : port + 1}`;
const notWritable = `The folder ${root} cannot be written by this user. Clone the repository into a folder of your own, and run npm ci and npm start there.`;

/** Of what a person can do something about. Another error is shown as it is. */
const explain = ({ code, syscall }) =>
  ({
    EADDRINUSE: `Port ${port} is taken by another program. ${chooseAnother}`,
    ERR_SOCKET_BAD_PORT: 'The port must be a number from 0 to 65535.',
    ERR_MODULE_NOT_FOUND: 'What this repository needs is not installed. Run npm ci first.',
    EACCES: syscall === 'listen' ? `Port ${port} is not allowed for this user. ${chooseAnother}` : notWritable,
    EPERM: notWritable,
    EROFS: notWritable,
    ENOSPC: 'The disk is full. Free some space, and run npm start again.',
  })[code];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
onceOrphaned(stop);
main().catch((error) => {
  console.error(explain(error) ?? error);
  process.exit(1);
});
