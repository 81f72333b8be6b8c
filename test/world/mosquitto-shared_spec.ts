import { strict as assert } from 'node:assert';
import { startSimulator, type Simulator } from '../support/simulator';
import { readText, type FlowNode } from '../package/checkout';
import { customVehicle, demoCredentials } from '../support/flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { planOf } from './support/cars';
import { startMosquitto } from './support/mosquitto';
import { endWithLogs, freePort } from './support/program';
import { Subscriber } from './support/subscriber';

const recipe = JSON.parse(readText('docs/several-node-reds/one-message.json')) as FlowNode[];

describe('mosquitto between two Node-REDs with the flow “One message, one copy”', function () {
  let services: Simulator[];
  let copies: RealNodeRed[];
  let client: Subscriber;

  before(async () => {
    const port = await freePort();
    await startMosquitto(port);
    client = await Subscriber.open(port);
    // Each with its own service, which counts what it has done.
    services = [await startSimulator(), await startSimulator()];
    copies = [];
    for (const service of services) {
      service.car().set({ commandPlan: planOf(100) });
      const nodeRed = await startNodeRed();
      copies.push(nodeRed);
      const changes: Record<string, object> = {
        'mqtt-broker': { broker: '127.0.0.1', port: String(port) },
        'connected-vehicle': {
          ...customVehicle(service, { requestsPerMinute: 1000, shareFor: 0 }),
          credentials: demoCredentials,
        },
        'connected-vehicle-command-status': { interval: 1 },
      };
      await nodeRed.admin('POST', 'flows', { flows: recipe.map((node) => ({ ...node, ...changes[node.type] })) });
    }
    // A subscription is there when a message of it has arrived.
    while (services.some(({ requests }) => requests.length === 0)) {
      const before = results().length;
      client.publish('car/report', 'now');
      await Promise.race([client.until(() => results().length > before), new Promise((end) => setTimeout(end, 20))]);
    }
    await client.until(() => results().length === sent());
  });

  after(async () => {
    client?.close();
    await Promise.all(copies.map((nodeRed) => nodeRed.stop()));
    await Promise.all(services.map((service) => service.close()));
  });

  endWithLogs();

  const topics = (topic: string): string[] => client.got.filter((one) => one.topic === topic).map(({ text }) => text);
  const results = (): string[] => topics('car/result');
  /** Messages that should have had a result. */
  const sent = (): number => topics('car/report').length + topics('car/lock').length;
  const reads = (): number[] =>
    services.map(({ requests }) => requests.filter(({ method }) => method === 'GET').length);
  const publish = async (topic: string, times: number): Promise<void> => {
    for (let messages = 0; messages < times; messages += 1) client.publish(topic, 'now');
    const after = topics(topic).length + times;
    await client.until(() => topics(topic).length === after && results().length === sent());
  };

  it('gives each message to one of them, and each has its part', async () => {
    const before = reads();
    await publish('car/report', 40);
    const after = reads().map((count, index) => count - (before[index] ?? 0));
    assert.ok(
      after.every((count) => count > 0),
      String(after),
    );
    assert.ok(
      results().every((text) => text.includes('frontLeft')),
      results()[0],
    );
  });

  it('has a car locked once for a message, and publishes the result', async () => {
    await publish('car/lock', 1);
    assert.match(results().at(-1) ?? '', /"outcome":"succeeded"/);
    assert.deepEqual(services.map((service) => service.car().performed.length).sort(), [0, 1]);
  });

  it('gives every message to the other one after one has ended', async () => {
    await copies.shift()?.stop();
    await publish('car/report', 20);
  });
});
