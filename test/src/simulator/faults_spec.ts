import { strict as assert } from 'node:assert';
import type { FaultOptions } from '../../support/simulator';
import { parseFault } from '../../../src/simulator/service/faults';
import { Bench } from './support';

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
});
