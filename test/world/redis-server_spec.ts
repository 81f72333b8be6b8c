import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { startSimulator, type Simulator } from '../support/simulator';
import { root } from '../package/checkout';
import { formOf, signInAtPage } from '../support/editor-client';
import { customVehicle } from '../support/flow';
import { manyCars } from './support/cars';
import { startNginx, type Nginx } from './support/nginx';
import { startNodeRedProgram, type NodeRedProgram } from './support/node-red';
import { programOf } from './support/parts';
import { endWithLogs, freePort, newFolder, startProgram } from './support/program';

/** The YAML parser of Mocha. A compose file includes maps in others, as YAML 1.1 does. */
const { load, YAML11_SCHEMA } = createRequire(require.resolve('mocha/package.json'))('js-yaml') as {
  load(text: string, options: object): unknown;
  YAML11_SCHEMA: object;
};

/** What the test uses of a compose file. */
interface Compose {
  services: Record<
    'node-red-1' | 'node-red-2' | 'valkey' | 'nginx',
    { environment: Record<string, string>; command: string[]; image: string; volumes: string[] }
  >;
}

const recipe = join(root, 'docs/several-node-reds');
const credentials = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };

/**
 * The files of the recipe, with servers of this machine instead of containers: redis-server takes
 * the arguments of valkey-server.
 */
describe('Two Node-REDs, redis-server and nginx, as the compose file starts them', function () {
  let service: Simulator;
  let nginx: Nginx;
  let copies: NodeRedProgram[];
  /** Of nginx, without a slash at the end. */
  let address: string;

  before(async () => {
    service = await startSimulator({ cars: manyCars(1) });
    const { services } = load(await readFile(join(recipe, 'compose.yaml'), 'utf8'), {
      schema: YAML11_SCHEMA,
    }) as Compose;
    const port = await freePort();
    const folder = await newFolder('redis');
    const [, ...args] = services.valkey.command;
    await startProgram({
      name: 'redis-server',
      command: await programOf('redis-server'),
      args: [...args, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      folder,
      port,
    });
    const settingsFile = join(recipe, 'settings.js');
    const { httpAdminRoot } = require(settingsFile) as { httpAdminRoot: string };
    copies = [];
    for (const name of ['node-red-1', 'node-red-2'] as const) {
      const env: Record<string, string> = { ...services[name].environment, CREDENTIAL_SECRET: 'a secret of the tests' };
      env['CONNECTED_VEHICLE_STORE'] = String(env['CONNECTED_VEHICLE_STORE']).replace(
        'valkey:6379',
        `127.0.0.1:${port}`,
      );
      const [beside] = copies;
      copies.push(
        await startNodeRedProgram({ env, settingsFile, settings: { httpAdminRoot }, ...(beside && { beside }) }),
      );
    }
    const configuration = (await readFile(join(recipe, 'nginx.conf'), 'utf8')).replaceAll(
      /node-red-([12]):1880/g,
      (_, number) => new URL(copies[Number(number) - 1]?.url ?? '').host,
    );
    nginx = await startNginx((listen) =>
      configuration.replace('listen 80;', `listen ${listen}; listen [::]:${listen};`),
    );
    address = `http://localhost:${nginx.port}`;
  });

  after(() => service?.close());

  endWithLogs();

  const vehicle = (): Record<string, unknown> =>
    customVehicle(service, {
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${service.url}/as/token.oauth2`,
    });
  const flows = (): object[] => [
    { id: 'tab', type: 'tab', label: 'car' },
    { id: 'v', type: 'connected-vehicle', ...vehicle(), credentials },
    ...[
      { id: 'in', type: 'http in', url: '/odometer', method: 'get', wires: [['s']] },
      { id: 's', type: 'connected-vehicle-status', vehicle: 'v', read: 'odometer', wires: [['ok']] },
      ...['flash', 'lock', 'unlock'].flatMap((command) => [
        { id: `post ${command}`, type: 'http in', url: `/${command}`, method: 'post', wires: [[command]] },
        { id: command, type: 'connected-vehicle-command', vehicle: 'v', command, interface: 'v2', wires: [['ok']] },
      ]),
      { id: 'catch', type: 'catch', scope: ['s', 'flash', 'lock', 'unlock'], wires: [['failed']] },
      {
        id: 'failed',
        type: 'change',
        rules: [
          { t: 'set', p: 'payload', pt: 'msg', to: 'error', tot: 'msg' },
          { t: 'set', p: 'statusCode', pt: 'msg', to: '500', tot: 'num' },
        ],
        wires: [['ok']],
      },
      { id: 'ok', type: 'http response' },
    ].map((node) => ({ z: 'tab', x: 100, y: 100, ...node })),
  ];
  const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(address + path, {
      headers: { 'content-type': 'application/json', 'Node-RED-API-Version': 'v2' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    const answer = JSON.parse(text) as Record<string, unknown>;
    assert.equal(answer['error'], undefined, text);
    return answer;
  };
  const dialog = (action: string, more: object): Promise<Record<string, unknown>> =>
    ask(`/admin/connected-vehicle/v/${action}`, formOf(vehicle(), {}, more));

  it('take a deploy and a sign-in through nginx, and both read with that sign-in', async () => {
    await ask('/admin/flows', { flows: flows() });
    // As after `docker compose restart node-red-2`.
    await copies[1]?.stop();
    await copies[1]?.start();
    const { url } = await dialog('sign-in', { callback: `${address}/admin/connected-vehicle/callback` });
    const back = await signInAtPage(String(url));
    assert.ok(back.startsWith(`${address}/admin/`), back);
    assert.match(await (await fetch(back)).text(), /signed in/i);
    // nginx sends every other request to the other copy.
    for (let reads = 0; reads < 4; reads += 1) assert.equal((await ask('/odometer'))['value'], 51_234);
    for (const { url: own } of copies) assert.equal((await fetch(`${own.replace('admin/', '')}odometer`)).status, 200);
    assert.equal(service.requests.filter(({ path }) => path === '/as/token.oauth2').length, 1);
  });

  const commandsAtCar = (): string[] =>
    service.requests.flatMap(({ method, path }) => /\/commands\/(.+)/.exec(`${method} ${path}`)?.[1] ?? []);

  it('send a command once that reaches both within 10 seconds', async () => {
    // The very first command to a car waits until it is known that the store has lost nothing.
    assert.equal((await ask('/flash', {}))['outcome'], 'succeeded');
    for (let requests = 0; requests < 2; requests += 1) assert.equal((await ask('/lock', {}))['outcome'], 'succeeded');
    assert.deepEqual(commandsAtCar(), ['flash', 'lock']);
  });

  it('answer every request, also a command and the editor, after one of them was killed', async () => {
    await copies[0]?.stop('SIGKILL');
    for (let reads = 0; reads < 20; reads += 1) assert.equal((await ask('/odometer'))['value'], 51_234);
    assert.equal((await ask('/unlock', {}))['outcome'], 'succeeded');
    assert.deepEqual(commandsAtCar(), ['flash', 'lock', 'unlock']);
    await ask('/admin/flows');
    await copies[0]?.start();
    for (let reads = 0; reads < 20; reads += 1) assert.equal((await ask('/odometer'))['value'], 51_234);
  });
});
