import { strict as assert } from 'node:assert';
import { request } from 'node:http';
import { classicCar, demoCar } from '../../../src/simulator';
import { demoFaultNames, demoFaultOf } from '../../../src/simulator/control/demo-faults';
import { Bench, credentials } from './support';

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

  it('sets a fault for the next request at a click, once, and removes it at the next', async () => {
    const click = (body: unknown) => send('POST', `${car}/click`, body);
    const { demoFaults: faults } = bench.simulator;
    for (const name of demoFaultNames) {
      for (const to of [undefined, true]) await click({ part: 'fault', name, to });
      assert.deepEqual(faults.list.map(demoFaultOf), [name]);
      assert.equal(faults.list[0]?.times, 1);
      for (const to of [undefined, false]) await click({ part: 'fault', name, to });
      assert.deepEqual(faults.list, []);
    }
    await click({ part: 'fault', name: 'quota' });
    faults.add({ error: 'quota', times: 1 });
    assert.deepEqual(faults.list.map(demoFaultOf), ['quota', undefined]);
    assert.equal((await click({ part: 'fault', name: 'flat-tyre' })).status, 422);
  });

  it('switches each part of a car at a click', async () => {
    const click = (body: unknown) => send('POST', `${car}/click`, body);
    for (const part of [
      'frontLeftDoor',
      'frontRightDoor',
      'rearLeftDoor',
      'rearRightDoor',
      'frontLeftWindow',
      'frontRightWindow',
      'rearLeftWindow',
      'sunroof',
      'hood',
      'tailGate',
      'tankLid',
    ]) {
      await click({ part, to: 'closed' });
      for (const state of ['open', 'closed']) assert.equal((await click({ part })).body[part], state);
      for (const to of ['ajar', 'unknown', 'open']) assert.equal((await click({ part, to })).body[part], to);
    }
    for (const [part, member, states] of [
      ['lock', 'locked', [false, true]],
      ['engine', 'engineRunning', [true, false]],
      ['climate', 'climateRunning', [true, false]],
      ['asleep', 'asleep', [true, false]],
      ['inUse', 'inUse', [true, false]],
      ['noInternet', 'noInternet', [true, false]],
    ] as const)
      for (const state of states) assert.equal((await click({ part })).body[member], state, part);
    assert.equal((await click({ part: 'lock', to: 'unknown' })).body['locked'], null);
    assert.equal((await click({ part: 'fuel', to: 12 })).body['fuel'], 12);
    assert.equal((await click({ part: 'drive' })).body['driving'], true);
    const { body } = await click({ part: 'reset' });
    assert.deepEqual(
      [body['driving'], body['locked'], body['rearRightWindow'], body['fuel']],
      [false, true, 'open', 38],
    );
    const { resources } = bench.simulator.car().state;
    bench.simulator.car().set({ plugIn: true });
    for (const state of [true, false]) assert.equal((await click({ part: 'plug' })).body['plugged'], state);
    assert.equal((await click({ part: 'level', to: 80 })).body['level'], 80);
    assert.deepEqual(bench.simulator.car().state.resources, resources);
    for (const bad of [
      {},
      { part: 'roof' },
      { part: 'hood', to: 'locked' },
      { part: 'level' },
      { part: 'level', to: 101 },
      null,
    ])
      assert.equal((await click(bad)).status, 422, JSON.stringify(bad));
  });

  it('sends the cars and the faults as they change, from any source', async () => {
    const gone = new AbortController();
    const response = await fetch(`${bench.simulator.url}/control/events`, { signal: gone.signal });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => {
      const { value = '' } = await reader.read();
      return JSON.parse(value.replace(/^data: /, '')) as { cars: Record<string, unknown>[]; faults: unknown[] };
    };
    assert.equal((await next()).cars[0]?.['rearRightWindow'], 'open');
    bench.simulator.car().set({ windows: { rearRight: 'CLOSED' } });
    assert.equal((await next()).cars[0]?.['rearRightWindow'], 'closed');
    bench.simulator.demoFaults.add({ error: 'quota', times: 1 });
    assert.equal((await next()).faults.length, 1);
    // Nothing but the time changes the car from here on.
    bench.simulator.car().set({ battery: { level: 50 }, plugIn: true, charger: { connection: 'CONNECTED' } });
    assert.equal((await next()).cars[0]?.['level'], 50);
    await bench.clock.advance(5 * 60_000);
    assert.equal((await next()).cars[0]?.['level'], 51);
    gone.abort();
    // Nobody listens anymore, so nothing waits for the next percent.
    while (bench.clock.sleeping > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('has at most 50 readers of its events at once', async () => {
    const open = async () => {
      const gone = new AbortController();
      const response = await fetch(`${bench.simulator.url}/control/events`, { signal: gone.signal });
      // The response is kept: undici ends the connection of one that the garbage collector takes.
      return { response, status: response.status, end: () => gone.abort() };
    };
    const readers = await Promise.all(Array.from({ length: 50 }, open));
    assert.deepEqual([...new Set(readers.map(({ status }) => status))], [200]);
    assert.equal((await open()).status, 503);
    assert.equal((await send('GET', '')).status, 200, 'the rest still answers');
    readers.pop()?.end();
    // The service hears of it when the connection has ended.
    for (;;) {
      const another = await open();
      readers.push(another);
      if (another.status === 200) break;
    }
    readers.forEach(({ end }) => end());
  });

  it('says what is wrong with a body', async () => {
    assert.equal((await send('PATCH', car, '{')).status, 400);
    for (const [body, text] of [
      [{ windows: { front: 'OPEN' } }, /windows: there is no front/],
      [{ windows: { frontLeft: 1 } }, /windows\.frontLeft: must be a word such as OPEN, or null/],
      [{ asleep: 'yes' }, /asleep: must be true or false/],
      [{ resources: { fuel: 1 } }, /resources: there is no fuel/],
      [{ resources: { fuelAmount: 'full' } }, /resources\.fuelAmount: must be a number, or null/],
      [{ resources: { frontLeftWindowOpen: true } }, /resources: there is no frontLeftWindowOpen/],
      [{ commandPlan: { steps: [] } }, /commandPlan\.steps: must be at least one step/],
      ['"open"', /the body: must be of type object/],
    ] as const) {
      const reply = await send('PATCH', car, body);
      assert.equal(reply.status, 422);
      assert.match(String(reply.body['error']?.['description']), text);
    }
    assert.equal((await send('POST', '/faults', { error: 'sunshine' })).status, 422);
  });

  it('shows a page that no other page can frame, read or use', async () => {
    const page = await bench.raw('/');
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '?';
    assert.deepEqual(
      [...page.text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag.includes(nonce)),
      [true],
    );
    assert.equal(page.headers.get('access-control-allow-origin'), null);
    assert.doesNotMatch(page.text, /\{\{\w+\}\}|https?:\/\/(?!www\.w3\.org)/);
    assert.notEqual((await bench.raw('/')).headers.get('content-security-policy'), policy);
  });

  it('takes changes from its own page alone', async () => {
    const token = /name="page-token" content="([^"]+)"/.exec((await bench.raw('/')).text)?.[1] ?? '';
    const own = { origin: bench.simulator.url, 'x-page-token': token, 'sec-fetch-site': 'same-origin' };
    const status = async (headers: Record<string, string>) =>
      (await send('POST', `${car}/click`, { part: 'lock' }, headers)).status;
    assert.equal(await status(own), 200);
    assert.equal(bench.simulator.car().state.lock, 'UNLOCKED');
    for (const other of [
      { ...own, 'x-page-token': '' },
      { ...own, 'x-page-token': `${token.slice(0, -1)}!` },
      { ...own, origin: 'http://127.0.0.1:1' },
      { ...own, origin: 'null' },
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'sec-fetch-site': 'same-site' },
    ])
      assert.equal(await status(other), 403, JSON.stringify(other));
    assert.equal((await send('GET', '', undefined, { 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal(bench.simulator.car().state.lock, 'UNLOCKED');
  });

  it('is not for web pages', async () => {
    assert.equal((await send('GET', '', undefined, { origin: 'https://elsewhere.example' })).status, 403);
    assert.equal((await send('PATCH', car, { lock: 'UNLOCKED' }, { origin: bench.simulator.url })).status, 403);
    assert.equal(bench.simulator.car().state.lock, 'LOCKED');
    const { port } = new URL(bench.simulator.url);
    const status = (host: string, path = '/control') =>
      new Promise<number>((resolve, reject) => {
        request({ host: '127.0.0.1', port, path, headers: { ...credentials, host } }, (response) =>
          resolve(response.resume().statusCode ?? 0),
        )
          .on('error', reject)
          .end();
      });
    assert.equal(await status(`rebound.example:${port}`), 403);
    assert.equal(await status('127.0.0.1'), 403);
    assert.equal(await status(`localhost:${port}`), 200);
    // The service itself answers under no foreign name, either.
    for (const path of ['/', '/connected-vehicle/v2/vehicles', '/as/authorization.oauth2']) {
      assert.equal(await status(`rebound.example:${port}`, path), 403);
      assert.notEqual(await status(`127.0.0.1:${port}`, path), 403);
    }
  });
});
