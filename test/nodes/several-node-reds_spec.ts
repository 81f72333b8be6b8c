import { strict as assert } from 'node:assert';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { customVehicle, demoCredentials } from '../support/flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { RedisServer } from '../support/redis-server';

/** A copy of the flows, with a service of its own, so that a test sees which of them reads the car. */
interface Copy {
  nodeRed: RealNodeRed;
  service: Simulator;
}

/** In real time, because processes of their own keep the claims. */
describe('two Node-REDs with the same flows and a shared store', () => {
  let server: RedisServer;
  let copies: Copy[];

  beforeEach(async () => {
    copies = [];
    server = await RedisServer.start();
  });
  afterEach(async () => {
    for (const { nodeRed, service } of copies) {
      await nodeRed.stop();
      await service.close();
    }
    await server.end();
  });

  const start = async (group: string): Promise<Copy> => {
    const service = await startSimulator();
    const connectedVehicle = { store: server.url, group };
    const copy = { service, nodeRed: await startNodeRed([], undefined, { connectedVehicle }) };
    copies.push(copy);
    const car = { id: 'v', type: 'connected-vehicle', ...customVehicle(service), credentials: demoCredentials };
    const read = { read: 'odometer', poll: 1, emit: 'always' };
    await copy.nodeRed.admin('POST', 'flows', {
      flows: [
        { id: 'tab', type: 'tab', label: 'test' },
        car,
        { id: 's', z: 'tab', type: 'connected-vehicle-status', vehicle: 'v', ...read, wires: [[]] },
      ],
    });
    return copy;
  };
  /** @returns after how many milliseconds it has read the car once more */
  const nextRead = async ({ service }: Copy): Promise<number> => {
    const [since, before] = [performance.now(), service.requests.length];
    while (service.requests.length === before) {
      if (performance.now() - since > 30_000) assert.fail('the car is not read');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return performance.now() - since;
  };

  it('are one that reads the car and one that takes over within 20 seconds of its death, or seconds after its end', async function () {
    this.timeout(120_000);
    const first = await start('copies');
    await nextRead(first);
    const second = await start('copies');
    for (let reads = 0; reads < 4; reads += 1) await nextRead(first);
    assert.equal(second.service.requests.length, 0);
    // As if it had been killed: the process ends without its nodes.
    copies = [second];
    await first.nodeRed.stop();
    await first.service.close();
    assert.ok((await nextRead(second)) < 20_000);
    const third = await start('copies');
    await nextRead(second);
    assert.equal(third.service.requests.length, 0);
    await second.nodeRed.admin('POST', 'flows', { flows: [] });
    assert.ok((await nextRead(third)) < 5_000);
  });

  it('both read their cars where they are in different groups', async function () {
    this.timeout(60_000);
    const [first, second] = [await start('one'), await start('other')];
    await nextRead(second);
    await nextRead(first);
  });
});
