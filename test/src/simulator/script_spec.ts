import { strict as assert } from 'node:assert';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { classicHybridCar, hybridCar } from '../../../src/simulator';

const script = join(__dirname, '../../../../scripts/simulator.mjs');

describe('npm run simulator', () => {
  const running = new Set<ChildProcess>();
  const start = (env: Record<string, string>) => {
    const child = spawn(process.execPath, [script], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child.once('exit', () => running.delete(child)));
    return child;
  };
  /** @returns where it answers, and all that it has printed by then */
  const started = async (child: ReturnType<typeof start>): Promise<{ url: string; printed: string }> => {
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (printed.includes('Ctrl-C')) break;
    }
    return { url: /answers at (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1] ?? '', printed };
  };
  afterEach(async () => {
    await Promise.all([...running].map((child) => (child.kill(), once(child, 'exit'))));
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`prints where it answers and what it takes, and ends cleanly on ${signal}`, async () => {
      const child = start({ PORT: '0', DIALECT: 'real' });
      const { url, printed } = await started(child);
      for (const part of ['vcc-api-key: demo-key', 'demo-token', 'YV4952NA4F120DEMO', 'curl -X PATCH'])
        assert.ok(printed.includes(part), part);
      const read = (key: string) =>
        fetch(`${url}/connected-vehicle/v2/vehicles`, {
          headers: { authorization: 'Bearer demo-token', [key]: 'demo-key' },
        });
      assert.equal((await read('vcc-api-key')).status, 200);
      assert.equal((await read('vendor-api-key')).status, 401);
      // The real service answers so; the plain one has another shape of errors.
      assert.deepEqual(await (await fetch(`${url}/nothing`)).json(), {
        statusCode: 404,
        message: 'Resource not found',
      });
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  it('takes key header, key, token and cars from the environment', async () => {
    const child = start({
      PORT: '0',
      KEY_HEADER: 'my-key',
      API_KEY: 'one',
      ACCESS_TOKEN: 'two',
      CARS: 'hybrid, classic-hybrid',
    });
    const { url } = await started(child);
    const response = await fetch(`${url}/connected-vehicle/v2/vehicles`, {
      headers: { authorization: 'Bearer two', 'my-key': 'one', accept: '*/*' },
    });
    assert.deepEqual(await response.json(), { data: [{ vin: hybridCar.vin }, { vin: classicHybridCar.vin }] });
    child.kill();
    await once(child, 'exit');
  });

  it('says what is wrong with its settings', async () => {
    for (const [env, sentence] of [
      [{ PORT: 'eighty' }, /PORT must be a number/],
      [{ PORT: '70000' }, /PORT must be a number/],
      [{ DIALECT: 'fancy' }, /DIALECT must be plain or real/],
      [{ KEY_HEADER: 'a b' }, /KEY_HEADER must be/],
      [{ API_KEY: '' }, /API_KEY must not be empty/],
      [{ ACCESS_TOKEN: 'a b' }, /ACCESS_TOKEN must not/],
      [{ CARS: 'petrol,steam' }, /CARS must be a list of different names among petrol, electric/],
      [{ CARS: 'petrol,petrol' }, /CARS must be/],
      [{ LIMITS: '100' }, /LIMITS must be none or real/],
    ] as const) {
      const child = start({ PORT: '0', ...env });
      let printed = '';
      child.stderr.on('data', (chunk) => (printed += String(chunk)));
      assert.deepEqual(await once(child, 'close'), [1, null]);
      assert.match(printed, sentence);
    }
  });
});
