import { strict as assert } from 'node:assert';
import { everyScope, startSimulator } from '../../support/simulator';
import { endpoints, type Endpoint } from '../../support/specification';
import { Bench, credentials } from './support';

const v1 = '/connected-vehicle/v1/vehicles/{vin}';
const v2 = '/connected-vehicle/v2/vehicles/{vin}';
const denied = { error: { message: 'FORBIDDEN', description: 'Access Denied' } };

describe('access to the simulated service', () => {
  const bench = new Bench();
  beforeEach(() => bench.start());
  afterEach(() => bench.simulator.close());

  const send = (endpoint: Endpoint, headers: Record<string, string>) =>
    bench.raw(endpoint.path.replace('{vin}', bench.vin), {
      method: endpoint.method,
      headers: {
        ...credentials,
        [endpoint.method === 'GET' ? 'accept' : 'content-type']: endpoint.type,
        ...headers,
      },
      ...(endpoint.body === null ? {} : { body: JSON.stringify(endpoint.body) }),
    });

  it('needs openid and the scopes of each request of the specification, no more and no less', async () => {
    const bearer = (scopes: readonly string[]) => ({
      authorization: `Bearer ${bench.simulator.issueToken({ scopes })}`,
    });
    const isSpecified = ({ source }: Endpoint) => source.startsWith('docs/internals/service.md');
    for (const dialect of ['plain', 'real'] as const) {
      await bench.simulator.close();
      await bench.start({ dialect });
      for (const endpoint of endpoints.filter((one) => isSpecified(one) === (dialect === 'plain'))) {
        const name = `${endpoint.method} ${endpoint.path}`;
        assert.ok([200, 202].includes((await send(endpoint, bearer(endpoint.scopes))).status), name);
        for (const missing of endpoint.scopes) {
          const reply = await send(endpoint, bearer(everyScope.filter((scope) => scope !== missing)));
          assert.equal(reply.status, 403, `${name} without ${missing}`);
          if (dialect === 'plain') assert.deepEqual(reply.body, denied);
        }
        if (dialect === 'real') continue;
        const [header, refused] = endpoint.method === 'GET' ? ['accept', 406] : ['content-type', 415];
        for (const wrong of [
          'text/html',
          'application/vnd.vendor.api.connected-vehicle.other.v1+json',
          endpoint.type.includes('vnd') ? 'application/json' : 'application/xml',
          ...(endpoint.type === 'application/json' && endpoint.method === 'GET' ? [] : ['*/*']),
        ])
          assert.equal((await send(endpoint, { [header]: wrong })).status, refused, `${name} with ${wrong}`);
        const right = { [header]: `${endpoint.type.toUpperCase()}; charset=utf-8` };
        assert.ok((await send(endpoint, right)).status < 300, name);
      }
    }
  });

  it('says in the words of the service what is wrong with key and token', async () => {
    const refused = {
      error: { message: 'UNAUTHORIZED', description: 'Full authentication is required to access this resource' },
    };
    for (const authorization of ['Bearer nobody', 'Bearer ', 'demo-token', 'Basic demo-token', '']) {
      const reply = await bench.get(v2, { authorization });
      assert.equal(reply.status, 401, authorization);
      assert.deepEqual(reply.body, refused);
    }
    assert.deepEqual((await bench.get(v2, { 'vendor-api-key': 'wrong' })).body, {
      status: 401,
      error: {
        message:
          'Access denied due to invalid VENDOR-API-KEY. Make sure to provide a valid key for an active application.',
      },
    });
    assert.match((await bench.get(v2, { 'vendor-api-key': '' })).text, /missing header VENDOR-API-KEY/);
  });

  it('answers 404 to an unknown path and 405 to a wrong method', async () => {
    for (const path of [
      '/nothing',
      `${v2}/roof`,
      `${v2}/`,
      `${v1}`,
      '/connected-vehicle/v2/vehicles//windows',
      '/connected-vehicle/v3/vehicles',
    ])
      assert.equal((await bench.get(path)).status, 404, path);
    const wrong = await bench.raw(v2.replace('{vin}', bench.vin), { method: 'DELETE', headers: credentials });
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET');
    assert.equal((await bench.get(`${v2}/commands/lock`)).status, 405);
  });
});

describe('other settings of the simulated service', () => {
  const bench = new Bench();
  afterEach(() => bench.simulator.close());

  it('can have other names for the key header and the media types', async () => {
    const { simulator } = await bench.start({
      apiKeyHeader: 'vcc-api-key',
      mediaTypeVendor: 'volvocars',
      dialect: 'real',
      apiKey: 'k',
      accessToken: 't',
    });
    const headers = { authorization: 'Bearer t', 'vcc-api-key': 'k' };
    const reply = await fetch(`${simulator.url}/connected-vehicle/v2/vehicles`, { headers });
    assert.equal(reply.status, 200, 'the real service takes any accept header');
    assert.match(reply.headers.get('VCC-API-OperationId') ?? '', /^[\da-f-]{36}$/);
    const accept = 'application/vnd.volvocars.api.connected-vehicle.vehicledata.v1+json';
    const onV1 = await fetch(`${simulator.url}/connected-vehicle/v1/vehicles/${simulator.car().vin}/windows`, {
      headers: { ...headers, accept },
    });
    assert.equal(onV1.headers.get('content-type'), accept);
  });

  it('uses the client’s own operation id on the real service, and refuses one that is not a UUID', async () => {
    await bench.start({ dialect: 'real' });
    const id = 'bf503e36-0000-4000-8000-000000000001';
    assert.equal((await bench.get(v2, { 'vendor-api-operationid': id })).headers.get('vendor-api-operationid'), id);
    const wrong = await bench.get(v2, { 'vendor-api-operationid': 'me' });
    assert.equal(wrong.status, 422);
    assert.deepEqual(wrong.body, { error: { message: 'UNPROCESSABLE_ENTITY', description: 'Invalid UUID' } });
  });

  it('refuses in the shapes of the real service there', async () => {
    await bench.start({ dialect: 'real' });
    const authorization = `Bearer ${bench.simulator.issueToken({ scopes: ['openid'] })}`;
    const onV1 = await bench.get(`${v1}/windows`, {
      authorization,
      accept: 'application/vnd.vendor.api.connected-vehicle.vehicledata.v1+json',
    });
    assert.deepEqual(onV1.body['error'], denied.error);
    assert.equal(onV1.body['status'], 403);
    const extended = await bench.get('/extended-vehicle/v1/vehicles/{vin}/resources/fuelAmount', { authorization });
    assert.equal(extended.body['exveErrorMsg'], 'Access Denied');
    assert.deepEqual((await bench.get('/connected-vehicle/v2/nothing')).body, {
      statusCode: 404,
      message: 'Resource not found',
    });
    assert.equal((await bench.get('/connected-vehicle/v2/vehicles/YV1CT9551B1570982')).body['status'], 403);
  });

  it('can accept any key and token, as the demo does, but not none', async () => {
    await bench.start({ open: true });
    assert.equal((await bench.get(v2, { authorization: 'Bearer anything', 'vendor-api-key': 'at all' })).status, 200);
    assert.equal((await bench.get(v2, { authorization: '' })).status, 401);
    assert.equal((await bench.get(v2, { 'vendor-api-key': '' })).status, 401);
  });

  it('says so where the port is taken', async () => {
    await bench.start();
    await assert.rejects(startSimulator({ port: Number(new URL(bench.simulator.url).port) }), {
      code: 'CONFIG',
      message: /Choose another/,
    });
  });

  it('limits requests and commands by the minute, and requests by the day', async () => {
    await bench.start({
      limits: { requestsPerMinute: 5, commandsPerMinute: 2, requestsPerDay: 12 },
    });
    const statuses = async (count: number, one: () => Promise<{ status: number }>) => {
      const all: number[] = [];
      for (let index = 0; index < count; index++) all.push((await one()).status);
      return all;
    };
    assert.deepEqual(await statuses(3, () => bench.postV2('lock')), [200, 200, 429]);
    assert.deepEqual(await statuses(4, () => bench.get(v2)), [200, 200, 200, 429]);
    await bench.clock.advance(60_000);
    assert.deepEqual(await statuses(6, () => bench.get(v2)), [200, 200, 200, 200, 200, 429]);
    await bench.clock.advance(60_000);
    assert.deepEqual(await statuses(3, () => bench.get(v2)), [200, 200, 403]);
    assert.deepEqual((await bench.get(v2)).body, {
      statusCode: 403,
      message: 'Out of call volume quota. Quota will be replenished in 23:58:00.',
    });
    await bench.clock.advance(86_400_000 - 120_000);
    assert.equal((await bench.get(v2)).status, 200);
  });
});
