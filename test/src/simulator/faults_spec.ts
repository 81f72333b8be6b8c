import { strict as assert } from 'node:assert';
import { Agent, get as httpGet, type ClientRequest } from 'node:http';
import type { FaultOptions } from '../../support/simulator';
import { parseFault } from '../../../src/simulator/service/faults';
import { Bench, credentials } from './support';

const windows = '/connected-vehicle/v2/vehicles/{vin}/windows';

/** The bodies of docs/internals/vendor-api.md 1.11, word for word. */
const bodies: [FaultOptions, number, unknown][] = [
  [
    { error: 'token-refused' },
    401,
    { error: { message: 'UNAUTHORIZED', description: 'Full authentication is required to access this resource' } },
  ],
  [
    { error: 'key-refused' },
    401,
    {
      status: 401,
      error: {
        message:
          'Access denied due to invalid VENDOR-API-KEY. Make sure to provide a valid key for an active application.',
      },
    },
  ],
  [
    { error: 'key-missing' },
    401,
    {
      status: 401,
      error: {
        message: 'Access denied due to missing header VENDOR-API-KEY. Make sure to include the key in requests.',
      },
    },
  ],
  [{ error: 'scope-missing' }, 403, { error: { message: 'FORBIDDEN', description: 'Access Denied' } }],
  [
    { error: 'client-not-allowed' },
    403,
    { error: { message: 'FORBIDDEN', description: 'Client not allowed to access Location API' } },
  ],
  [
    { error: 'quota' },
    403,
    { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 03:30:56.' },
  ],
  [
    { error: 'quota', refillIn: '1.00:00:05' },
    403,
    { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 1.00:00:05.' },
  ],
  [
    { error: 'not-supported', description: 'honk is not supported by this vehicle' },
    404,
    { error: { message: 'NOT_FOUND', description: 'honk is not supported by this vehicle' } },
  ],
  [{ error: 'markets' }, 404, { error: { message: 'NOT_FOUND', description: 'Does not belong to allowed markets' } }],
  [
    { error: 'conflict' },
    409,
    { error: { message: 'CONFLICT', description: 'Invocation specific error, due to a conflict with the vehicle' } },
  ],
  [
    { error: 'media-type' },
    415,
    { error: { message: 'UNSUPPORTED_MEDIA_TYPE', description: 'The content type is not supported at this address' } },
  ],
  [{ error: 'invalid-uuid' }, 422, { error: { message: 'UNPROCESSABLE_ENTITY', description: 'Invalid UUID' } }],
  [{ error: 'rate-limited' }, 429, { statusCode: 429, message: 'Rate limit is exceeded.' }],
  [
    { error: 'car-error' },
    500,
    { error: { message: 'INTERNAL_SERVER_ERROR', description: 'Error returned from car' } },
  ],
  [
    { error: 'car-in-use' },
    503,
    { error: { message: 'SERVICE_UNAVAILABLE', description: 'Not allowed, car is in use or asleep' } },
  ],
  [
    { error: 'gateway-timeout' },
    504,
    { error: { message: 'GATEWAY_TIMEOUT', description: 'The vehicle did not answer in time' } },
  ],
];

describe('a fault of the simulated service', () => {
  const bench = new Bench();
  beforeEach(() => bench.start());
  afterEach(() => bench.simulator.close());
  const add = (fault: FaultOptions) => bench.simulator.faults.add(fault);

  it('answers as the real service does, once', async () => {
    for (const [fault, status, body] of bodies) {
      const what = Object.values(fault).join(', ');
      add({ ...fault, times: 1 });
      const reply = await bench.get(windows);
      assert.equal(reply.status, status, what);
      assert.deepEqual(reply.body, body, what);
      assert.equal((await bench.get(windows)).status, 200, what);
    }
  });

  it('answers in each of the shapes', async () => {
    add({ error: 'not-linked' });
    const { operationId, ...rest } = (await bench.get(windows)).body as unknown as { operationId: string };
    assert.match(operationId, /^[\da-f-]{36}$/);
    assert.deepEqual(rest, { status: 403, error: { message: 'FORBIDDEN', description: 'No relationship to UUID' } });
    bench.simulator.faults.clear();
    add({ error: 'exve-error' });
    assert.deepEqual(Object.keys((await bench.get(windows)).body), [
      'exveErrorId',
      'exveErrorMsg',
      'exveErrorRef',
      'exveNote',
    ]);
  });

  it('is a text, a page or nothing at all where the service is out', async () => {
    for (const [fault, status, type, text] of [
      [{ error: 'outage-text' }, 503, 'text/plain', /unavailable/],
      [{ error: 'bad-gateway' }, 502, 'text/html; charset=utf-8', /<html/],
      [{ error: 'internal-error' }, 500, null, /^$/],
      [{ html: true }, 200, 'text/html; charset=utf-8', /<html/],
    ] as const) {
      add({ ...fault, times: 1 });
      const reply = await bench.get(windows);
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, type]);
      assert.match(reply.text, text);
    }
  });

  it('sends a Retry-After header', async () => {
    add({ error: 'rate-limited', retryAfter: 30 });
    assert.equal((await bench.get(windows)).headers.get('retry-after'), '30');
  });

  it('replaces the answer by any status, headers and body', async () => {
    add({ status: 418, headers: { 'x-tea': 'yes' }, body: { pot: [1] } });
    const reply = await bench.get(windows);
    assert.deepEqual([reply.status, reply.headers.get('x-tea'), reply.text], [418, 'yes', '{"pot":[1]}']);
    bench.simulator.faults.clear();
    add({ body: 'not JSON', headers: { 'content-type': 'application/json' } });
    assert.equal((await bench.get(windows)).text, 'not JSON');
    bench.simulator.faults.clear();
    add({ status: 204 });
    assert.equal((await bench.get(windows)).status, 204);
  });

  it('hits the requests that it names, so many of them, after so many', async () => {
    const { faults } = bench.simulator;
    const match = { method: 'GET', path: '/windows' };
    add({ match, times: 1 });
    add({ match, times: 2, error: 'car-error' });
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push((await bench.get(windows)).status);
    assert.deepEqual(statuses, [200, 500, 500, 200, 200]);
    assert.deepEqual(faults.list, []);
    add({ match: { path: '/doors' }, error: 'markets' });
    assert.equal((await bench.get(windows)).status, 200);
    assert.equal((await bench.get(windows.replace('windows', 'doors'))).status, 404);
    const { id } = add({ match: { method: 'post' }, error: 'car-in-use' });
    assert.equal((await bench.postV2('lock')).status, 503);
    faults.remove(id);
    assert.equal((await bench.postV2('lock')).status, 200);
  });

  it('delays the answer by the clock of the simulator', async () => {
    add({ latencyMs: 5000, error: 'gateway-timeout' });
    let answered = false;
    const reply = bench.get(windows).then((given) => ((answered = true), given));
    await bench.clock.whenSleeping();
    await bench.clock.advance(4999);
    assert.equal(answered, false);
    await bench.clock.advance(1);
    assert.equal((await reply).status, 504);
  });

  it('keeps a command from the car, unless it comes after the effect', async () => {
    const car = bench.simulator.car();
    add({ error: 'car-error', times: 1 });
    assert.equal((await bench.postV2('lock')).status, 500);
    assert.deepEqual(car.performed, []);
    add({ error: 'car-error', afterEffect: true, times: 1 });
    assert.equal((await bench.postV2('lock')).status, 500);
    assert.deepEqual(car.performed, ['lock']);
  });

  for (const [cut, acted] of [
    ['before-headers', false],
    ['after-headers', true],
    ['mid-body', true],
    ['after-effect', true],
  ] as const) {
    it(`cuts the connection ${cut}`, async () => {
      add({ cut, times: 1 });
      await assert.rejects(bench.get(windows));
      assert.equal((await bench.get(windows)).status, 200);
      add({ cut, times: 1 });
      await assert.rejects(bench.postV2('lock'));
      assert.deepEqual(bench.simulator.car().performed, acted ? ['lock'] : []);
    });
  }

  it('closes an idle connection just when the next request comes', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const options = { agent, headers: { ...credentials, accept: 'application/json' } };
    const url = bench.simulator.url + windows.replace('{vin}', bench.vin);
    const status = () =>
      new Promise<number>((resolve, reject) => {
        const request: ClientRequest = httpGet(url, options, (response) =>
          response.resume().once('end', () => resolve(response.statusCode ?? 0)),
        );
        request.once('error', reject);
      });
    add({ dropKeepAlive: true, times: 1 });
    assert.equal(await status(), 200);
    await assert.rejects(status(), { code: 'ECONNRESET' });
    assert.equal(await status(), 200);
    agent.destroy();
  });

  it('is refused with a message that names the wrong part', () => {
    for (const [fault, message] of [
      [{}, /does nothing/],
      [{ times: 1 }, /does nothing/],
      [{ error: 'sunshine' }, /error: /],
      [{ latency: 5 }, /there is no latency/],
      [{ error: 'quota', times: 0 }, /times: /],
      [{ latencyMs: -1 }, /latencyMs: /],
      [{ status: 503 }, /there is no status/],
      [null, /not a fault/],
    ] as const) {
      assert.throws(() => parseFault(fault), { code: 'INPUT_INVALID', message });
    }
  });

  it('leaves the simulator able to close while it waits', async () => {
    add({ latencyMs: 1e9 });
    const reply = bench.get(windows);
    await bench.clock.whenSleeping();
    await Promise.all([assert.rejects(reply), bench.simulator.close()]);
    await bench.start();
  });
});
