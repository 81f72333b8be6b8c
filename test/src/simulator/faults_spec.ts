import { strict as assert } from 'node:assert';
import { Agent, get as httpGet, type ClientRequest } from 'node:http';
import type { FaultOptions } from '../../support/simulator';
import { parseFault } from '../../../src/simulator/service/faults';
import { Bench, credentials } from './support';

const windows = '/connected-vehicle/v2/vehicles/{vin}/windows';

describe('a fault of the simulated service', () => {
  const bench = new Bench();
  beforeEach(() => bench.start());
  afterEach(() => bench.simulator.close());
  const add = (fault: FaultOptions) => bench.simulator.faults.add(fault);

  it('has the status of the real service, once', async () => {
    const statuses = {
      'token-refused': 401,
      'key-refused': 401,
      'key-missing': 401,
      'scope-missing': 403,
      'client-not-allowed': 403,
      quota: 403,
      'not-supported': 404,
      markets: 404,
      conflict: 409,
      'media-type': 415,
      'invalid-uuid': 422,
      'rate-limited': 429,
      'car-error': 500,
      'car-in-use': 503,
      'gateway-timeout': 504,
    } as const;
    for (const [error, status] of Object.entries(statuses) as [keyof typeof statuses, number][]) {
      add({ error, times: 1 });
      assert.deepEqual([(await bench.get(windows)).status, (await bench.get(windows)).status], [status, 200], error);
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
