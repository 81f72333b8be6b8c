import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { signInWithEditor } from '../support/editor-client';
import { startSimulator, type Simulator } from '../support/simulator';
import { customVehicle } from '../support/flow';
import { manyCars, vinOf } from './support/cars';
import { issueCertificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { startNodeRedProgram, type NodeRedProgram } from './support/node-red';
import { endWithLogs, newFolder } from './support/program';
import { startSquid, type Squid } from './support/squid';
import { printTable } from './support/table';

/** Milliseconds after the commands began. */
const moments = [0, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 100, 150, 200, 220, 250, 300, 400];
const ends = ['SIGTERM', 'SIGKILL'] as const;
const interfaces = ['v1', 'v2'] as const;

/** A name that squid alone can resolve. */
const host = 'service.example';

describe('Node-RED with the packed tarball behind squid and nginx', function () {
  this.timeout(300_000);
  let service: Simulator;
  let nginx: Nginx;
  let squid: Squid;
  let nodeRed: NodeRedProgram;

  before(async () => {
    service = await startSimulator({ cars: manyCars(1 + moments.length * interfaces.length) });
    const { cert, key } = await issueCertificate(await newFolder('certificates'), [host]);
    const other = await issueCertificate(await newFolder('certificates'), ['other.example']);
    nginx = await startNginx(
      (port) => `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${other.cert};
        ssl_certificate_key ${other.key};
        return 421;
      }
      server {
        listen 127.0.0.1:${port} ssl;
        server_name ${host};
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / {
          proxy_pass ${service.url};
          proxy_set_header accept-encoding "";
          sub_filter ${service.url} https://${host}:${port};
          sub_filter_types *;
          sub_filter_once off;
        }
      }`,
    );
    const user = { name: 'alice', password: 'p@ss 100%' };
    squid = await startSquid({ hosts: [host], user });
    nodeRed = await startNodeRedProgram({
      env: { HTTPS_PROXY: squid.url.replace('//', `//alice:${encodeURIComponent(user.password)}@`) },
    });
    const address = `https://${host}:${nginx.port}`;
    const limits = { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 };
    const configuration = customVehicle(service, {
      baseUrl: address,
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${address}/as/token.oauth2`,
      ...limits,
    });
    const credentials = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };
    const record = (kind: string, more = ''): string =>
      `global.get('record')({ kind: '${kind}', ...msg.payload${more} });`;
    await nodeRed.deploy([
      { id: 'tab', type: 'tab', label: 'car' },
      {
        id: 'v',
        type: 'connected-vehicle',
        ...configuration,
        credentials,
      },
      ...[
        { id: 'in', type: 'http in', url: '/send', method: 'post', wires: [['each']] },
        {
          id: 'each',
          type: 'function',
          func: 'return [msg.payload.messages, msg];',
          outputs: 2,
          wires: [['c'], ['ok']],
        },
        { id: 'ok', type: 'http response' },
        { id: 'c', type: 'connected-vehicle-command', vehicle: 'v', wires: [['r']] },
        {
          id: 'r',
          type: 'connected-vehicle-command-status',
          vehicle: 'v',
          interval: 1,
          timeout: 3,
          wires: [['out'], []],
        },
        { id: 'out', type: 'function', func: record('result'), wires: [[]] },
        { id: 'catch', type: 'catch', scope: ['c'], wires: [['caught']] },
        {
          id: 'caught',
          type: 'function',
          func: record('caught', ', vin: msg.vin, outcome: msg.error.code'),
          wires: [[]],
        },
        { id: 'in2', type: 'http in', url: '/read', method: 'post', wires: [['s']] },
        { id: 's', type: 'connected-vehicle-status', vehicle: 'v', read: 'odometer', wires: [['ok']] },
      ].map((node) => ({ z: 'tab', x: 100, y: 100, ...node })),
    ]);
    await signInWithEditor(`${nodeRed.url}connected-vehicle/v/`, configuration, credentials);
  });

  after(() => service?.close());

  endWithLogs();

  it('refreshes its token and reads, by names that squid alone can find', async () => {
    const { value } = (await nodeRed.send('read', {})) as { value: unknown };
    assert.equal(value, 51_234);
    assert.match((await squid.requests()).join('\n'), /^$|CONNECT service\.example:\d+ 200/);
  });

  it('sends a command once while nginx restarts at each of 20 moments, and gives one true result', async () => {
    service.clearRequests();
    const vinsOf = (index: number): string[] =>
      interfaces.map((_, place) => vinOf(1 + index * interfaces.length + place));
    for (const [index, moment] of moments.entries()) {
      const vins = vinsOf(index);
      const messages = interfaces.map((name, place) => ({ command: 'lock', interface: name, vin: vins[place] }));
      const sent = nodeRed.send('send', { messages });
      await sleep(moment);
      await nginx.restart(ends[index % ends.length]);
      await sent;
    }
    // The doors are read several times before a result reports that they are not locked.
    const recorded = await nodeRed.until(
      'the results',
      (all) => moments.every((_, index) => vinsOf(index).every((vin) => all.some((entry) => entry['vin'] === vin))),
      200,
    );
    const results = new Set<unknown>();
    const rows = moments.map((moment, index) => {
      const end = ends[index % ends.length] ?? '';
      const cells = vinsOf(index).map((vin) => {
        const own = recorded.filter((entry) => entry['vin'] === vin);
        const arrived = service.requests.filter(({ method, path }) => method === 'POST' && path.includes(vin)).length;
        const acted = service.car(vin).performed.length > 0;
        const [{ kind, outcome, verified } = {}] = own;
        results.add(outcome);
        const where = `${end} after ${moment} ms: ${JSON.stringify(own)}, arrived ${arrived}`;
        assert.equal(own.length, 1, where);
        assert.ok(arrived <= 1, where);
        if (outcome === 'succeeded') assert.ok(acted, where);
        else if (outcome !== 'undetermined') assert.ok(!acted && arrived === 0, where);
        if (verified === true) assert.ok(acted, where);
        if (verified === false) assert.ok(!acted, where);
        const shown = kind === 'result' ? `${String(outcome)}, doors say ${String(verified)}` : String(outcome);
        return `${shown}, ${arrived}${acted ? ', acted' : ''}`;
      });
      return [`${moment} ms`, end, ...cells];
    });
    printTable(['after', 'nginx ends', ...interfaces.map((name) => `${name}: result, POSTs`)], rows);
    assert.ok(results.has('succeeded') && results.has('undetermined'));
  });
});
