import { strict as assert } from 'node:assert';
import { request } from 'node:http';
import { classicCar, demoCar } from '../../../src/simulator';
import { Bench } from './support';

describe('the control interface of the simulator', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ cars: [demoCar, classicCar] }));
  afterEach(() => bench.simulator.close());

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    bench.raw(`/control${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const car = `/cars/${demoCar.vin}`;

  it('shows what there is', async () => {
    assert.deepEqual((await send('GET', '')).body, {
      url: bench.simulator.url,
      dialect: 'plain',
      cars: [demoCar.vin, classicCar.vin],
      faults: [],
      connections: bench.simulator.connections,
      inFlight: { total: 0, current: 0, peak: 0 },
    });
    assert.deepEqual(
      (await send('GET', '/cars')).body.map((item) => item['vin']),
      [demoCar.vin, classicCar.vin],
    );
    const { body } = await send('GET', car);
    assert.equal(body['windows']?.['rearRight'], 'OPEN');
    assert.deepEqual(body['invocations'], []);
  });

  it('changes a part of the car, and the service shows it', async () => {
    const reply = await send('PATCH', car, {
      windows: { frontLeft: 'OPEN' },
      lock: 'UNLOCKED',
      resources: { fuelAmount: 12 },
    });
    assert.equal(reply.status, 200);
    assert.equal(reply.body['windows']?.['frontLeft'], 'OPEN');
    const { data } = (await bench.get('/connected-vehicle/v2/vehicles/{vin}/windows')).body;
    assert.deepEqual([data?.['frontLeft']?.['value'], data?.['rearRight']?.['value']], ['OPEN', 'OPEN']);
  });

  it('replaces the whole state', async () => {
    const { body } = await send('PUT', car, { doors: { hood: 'OPEN' } });
    assert.equal(body['windows']?.['rearRight'], 'CLOSED');
    assert.equal(body['doors']?.['hood'], 'OPEN');
  });

  it('makes the car report, and pulls at its tailgate', async () => {
    await bench.clock.advance(5000);
    assert.equal((await send('POST', `${car}/report`)).status, 200);
    assert.equal(bench.simulator.car().measuredAt('lock'), bench.clock.now());
    assert.deepEqual((await send('POST', `${car}/open-tailgate`)).body, { opened: false });
    await send('PATCH', car, { lock: 'UNLOCKED' });
    assert.deepEqual((await send('POST', `${car}/open-tailgate`)).body, { opened: true });
  });

  it('shows the commands that the car got', async () => {
    await bench.postV1('honk');
    const invocations = (await send('GET', car)).body['invocations'];
    assert.deepEqual(
      invocations?.map((item) => [item['command'], item['status'], item['acted']]),
      [['honk', 'RUNNING', false]],
    );
  });

  it('adds, lists and removes faults', async () => {
    const added = await send('POST', '/faults', { match: { path: '/windows' }, error: 'quota' });
    assert.equal(added.status, 201);
    assert.equal((await bench.get('/connected-vehicle/v2/vehicles/{vin}/windows')).status, 403);
    assert.equal((await send('GET', '/faults')).body[0]?.['hits'], 1);
    assert.equal((await send('DELETE', `/faults/${Number(added.body['id'])}`)).status, 200);
    assert.equal((await send('DELETE', '/faults/99')).status, 404);
    await send('POST', '/faults', { latencyMs: 10 });
    assert.deepEqual((await send('DELETE', '/faults')).body, []);
    assert.deepEqual(bench.simulator.faults.list, []);
  });

  it('shows the requests without what is secret', async () => {
    await bench.get('/connected-vehicle/v2/vehicles');
    await bench.raw('/as/token.oauth2', {
      method: 'POST',
      body: 'refresh_token=SECRET',
      headers: { authorization: 'Basic SECRET' },
    });
    const reply = await send('GET', '/requests');
    assert.deepEqual(
      reply.body.map((item) => item['status']),
      [200, 401],
    );
    assert.doesNotMatch(reply.text, /SECRET|demo-token|demo-key/);
    assert.equal((await send('DELETE', '/requests')).status, 204);
    assert.deepEqual((await send('GET', '/requests')).body, []);
  });

  it('is not hit by faults', async () => {
    bench.simulator.faults.add({ error: 'outage-text' });
    assert.equal((await send('GET', '')).status, 200);
  });

  it('says what is wrong with a body', async () => {
    assert.equal((await send('PATCH', car, '{')).status, 400);
    for (const [body, text] of [
      [{ windows: { front: 'OPEN' } }, /windows: there is no front/],
      [{ windows: { frontLeft: 1 } }, /windows\.frontLeft: must be a word such as OPEN, or null/],
      [{ asleep: 'yes' }, /asleep: must be true or false/],
      [{ resources: { fuel: 1 } }, /resources: there is no fuel/],
      [{ resources: { fuelAmount: 'full' } }, /resources\.fuelAmount: must be a number, or null/],
      [{ overrides: { 'windows.front': null } }, /there is no member windows\.front/],
      [{ measuredAt: { lock: 'soon' } }, /measuredAt\.lock: must be an ISO-8601 time/],
      [{ commandPlan: { steps: [] } }, /commandPlan\.steps: must be at least one step/],
      ['"open"', /the body: must be of type object/],
    ] as const) {
      const reply = await send('PATCH', car, body);
      assert.equal(reply.status, 422);
      assert.match(String(reply.body['error']?.['description']), text);
    }
    assert.equal((await send('POST', '/faults', { error: 'sunshine' })).status, 422);
  });

  it('changes nothing where a part is wrong', async () => {
    await send('PATCH', car, { lock: 'UNLOCKED', resources: { fuelAmount: 'full' } });
    assert.equal(bench.simulator.car().state.lock, 'LOCKED');
  });

  it('knows no other address, car or method', async () => {
    assert.equal((await send('GET', '/nothing')).status, 404);
    assert.equal((await send('GET', '/cars/YV1CT9551B1570983')).status, 404);
    assert.equal((await send('DELETE', car)).status, 405);
  });

  it('is not for web pages', async () => {
    assert.equal((await send('GET', '', undefined, { origin: 'https://elsewhere.example' })).status, 403);
    assert.equal((await send('PATCH', car, { lock: 'UNLOCKED' }, { origin: bench.simulator.url })).status, 403);
    assert.equal(bench.simulator.car().state.lock, 'LOCKED');
    const { port } = new URL(bench.simulator.url);
    const status = (host: string) =>
      new Promise<number>((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: '/control', headers: { host } }, (response) =>
          resolve(response.resume().statusCode ?? 0),
        )
          .on('error', reject)
          .end();
      });
    assert.equal(await status(`rebound.example:${port}`), 403);
    assert.equal(await status('127.0.0.1'), 403);
    assert.equal(await status(`localhost:${port}`), 200);
  });
});
