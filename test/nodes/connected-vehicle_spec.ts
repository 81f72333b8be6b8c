import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import helper = require('node-red-node-test-helper');
import { demoService } from '../../nodes/runtime';
import { customVehicle, demoCredentials, Flow } from '../support/flow';
import { demoCar, electricCar, startSimulator } from '../support/simulator';
import type { VehicleNode } from '../../nodes/node-red/vehicle-node';

describe('connected-vehicle', () => {
  let flow: Flow;
  beforeEach(() => (flow = new Flow()));
  afterEach(() => flow.end());

  const baseUrlOf = async (id: string): Promise<string> =>
    (await (helper.getNode(id) as VehicleNode).account()).client.service.baseUrl;

  it('runs one simulated service for all demo vehicles, with the same address and state after a deploy', async () => {
    await flow.load({ type: 'connected-vehicle-status' }, {}, {}, [
      { id: 'v2', type: 'connected-vehicle', service: 'demo' },
    ]);
    const url = await baseUrlOf('v');
    assert.equal(await baseUrlOf('v2'), url);
    (await demoService(flow.RED))?.cars.get(demoCar.vin)?.set({ windows: { rearRight: 'CLOSED' } });
    await flow.unload();
    await flow.load({ type: 'connected-vehicle-status' });
    assert.equal((await flow.ask()).vehicle?.['allClosed'], true);
    assert.equal(await baseUrlOf('v'), url);
  });

  it('opens no account for a node that asks after the deploy that closed the vehicle', async () => {
    await flow.load({ type: 'connected-vehicle-status' });
    const closed = flow.node('v') as VehicleNode;
    await flow.unload();
    await assert.rejects(closed.account(), { code: 'CANCELLED' });
  });

  it('has a petrol and an electric demo car', async () => {
    await flow.load({ type: 'connected-vehicle-status', read: 'details' }, { demoCar: 'electric' }, {}, [
      { id: 'v2', type: 'connected-vehicle', service: 'demo' },
    ]);
    assert.equal(((await flow.ask()).payload as { fuelType: string }).fuelType, 'ELECTRIC');
    assert.equal(((await flow.ask({ vin: demoCar.vin })).payload as { fuelType: string }).fuelType, 'PETROL');
    const chosen = await Promise.all(
      ['v', 'v2'].map(async (id) => {
        const node = helper.getNode(id) as VehicleNode;
        await node.account();
        return node.chooseVin();
      }),
    );
    assert.deepEqual(chosen, [electricCar.vin, demoCar.vin]);
  });

  for (const type of ['status', 'command', 'command-status']) {
    it(`shows that a ${type} node has no vehicle only until the vehicle is deployed`, async () => {
      await flow.load({ type: `connected-vehicle-${type}`, vehicle: 'later' });
      await flow.add({ id: 'other', type: 'connected-vehicle', service: 'demo' });
      assert.ok(flow.badges.every(({ text }) => text === 'no car chosen'));
      await flow.add({ id: 'later', type: 'connected-vehicle', service: 'demo' });
      await flow.until(() => flow.badges.some(({ text }) => text === undefined));
    });
  }

  it('counts no quota for a demo car', async () => {
    await flow.load({ type: 'connected-vehicle-status' }, { requestsPerDay: 1, requestsPerMinute: 1, shareFor: 0 });
    for (let count = 0; count < 3; count += 1) assert.ok((await flow.ask()).payload);
  });

  for (const [what, left, kept] of [
    [
      'keeps its journal while it is disabled',
      [{ id: 'v', type: 'connected-vehicle', service: 'demo', d: true }],
      true,
    ],
    ['keeps no journal once it is deleted', [], false],
  ] as const) {
    it(what, async () => {
      await flow.load({ type: 'connected-vehicle-status' });
      await (await (flow.node('v') as VehicleNode).account()).dispatcher.send('flash', { vin: demoCar.vin });
      const folder = join(flow.userDir, 'connected-vehicle', 'state', 'command');
      assert.equal(readdirSync(folder).length, 1);
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'test' }, ...left] as never, 'nodes');
      assert.equal(readdirSync(folder).length, kept ? 1 : 0);
    });
  }

  it('keeps no journal of a command that was in progress when it was deleted', async () => {
    const service = await startSimulator();
    try {
      service.faults.add({ match: { path: '/commands/flash' }, latencyMs: 60_000 });
      await flow.load({ type: 'connected-vehicle-status' }, customVehicle(service), demoCredentials);
      const { dispatcher } = await (flow.node('v') as VehicleNode).account();
      const sent = dispatcher.send('flash', { vin: service.car().vin, interface: 'v1' }).catch(() => undefined);
      const isUnderWay = (): boolean => service.requests.some(({ path }) => path.endsWith('/flash'));
      while (!isUnderWay()) await new Promise((resolve) => setImmediate(resolve));
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'test' }] as never, 'nodes');
      await sent;
      assert.deepEqual(readdirSync(join(flow.userDir, 'connected-vehicle', 'state', 'command')), []);
    } finally {
      await service.close();
    }
  });

  it('takes everything from the environment', async () => {
    const service = await startSimulator();
    Object.assign(process.env, {
      TEST_CAR_URL: service.url,
      TEST_CAR_VIN: service.car().vin,
      TEST_CAR_KEY: ' demo-key ',
      TEST_CAR_TOKEN: 'demo-token',
    });
    try {
      await flow.load(
        { type: 'connected-vehicle-status' },
        customVehicle(service, { baseUrl: '${TEST_CAR_URL}', vin: '${TEST_CAR_VIN}' }),
        { apiKey: '${TEST_CAR_KEY}', accessToken: '${TEST_CAR_TOKEN}' },
      );
      assert.equal((await flow.ask()).vehicle?.['vin'], service.car().vin);
    } finally {
      await service.close();
    }
  });

  it('sends key and media types under the names of the service', async () => {
    const service = await startSimulator({ apiKeyHeader: 'my-key', mediaTypeVendor: 'mine' });
    try {
      await flow.load(
        { type: 'connected-vehicle-status', interface: 'v1' },
        customVehicle(service, { apiKeyHeader: 'my-key', mediaTypeVendor: 'mine' }),
        demoCredentials,
      );
      assert.ok((await flow.ask()).payload);
    } finally {
      await service.close();
    }
  });
});
