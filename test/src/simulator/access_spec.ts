import { strict as assert } from 'node:assert';
import { everyScope } from '../../support/simulator';
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

  it('can accept any key and token, as the demo does, but not none', async () => {
    await bench.start({ open: true });
    assert.equal((await bench.get(v2, { authorization: 'Bearer anything', 'vendor-api-key': 'at all' })).status, 200);
    assert.equal((await bench.get(v2, { authorization: '' })).status, 401);
    assert.equal((await bench.get(v2, { 'vendor-api-key': '' })).status, 401);
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
