import { strict as assert } from 'node:assert';
import { electricCar, startSimulator, type Simulator } from '../support/simulator';
import { fewNodesAnd, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import type { FlowNode } from './checkout';
import { Broker } from './broker';
import { DebugSidebar } from './debug-sidebar';
import { buttonOf, deployExample, pressButton } from './example-flow';

/**
 * The topics are those of the MQTT interface of a go-e charger, and of a custom vehicle of evcc.
 */
describe('The example “Solar surplus through a wallbox”', function () {
  let broker: Broker;
  let service: Simulator;
  let nodeRed: RealNodeRed;
  let sidebar: DebugSidebar;
  let nodes: FlowNode[];
  const published: string[] = [];
  let wake = (): void => undefined;

  before(async () => {
    broker = await Broker.open(({ topic, text, retain }) => {
      published.push(`${topic} ${text}${retain ? ', retained' : ''}`);
      wake();
    });
    service = await startSimulator({ cars: [electricCar] });
    nodeRed = await startNodeRed([], undefined, fewNodesAnd('10-mqtt.js'));
    sidebar = await DebugSidebar.open(nodeRed.url);
    const changes: Record<string, object> = {
      'mqtt-broker': { broker: '127.0.0.1', port: String(broker.port), autoConnect: true },
    };
    nodes = await deployExample(nodeRed, service, 'Solar surplus through a wallbox', (node) => ({
      ...node,
      ...changes[node.type],
      once: false,
    }));
  });
  after(async () => {
    sidebar?.close();
    await nodeRed?.stop();
    await broker.close();
    await service?.close();
  });

  /** What is published after a press, in the order of the topics. */
  const press = async (name: string, count: number): Promise<string[]> => {
    published.length = 0;
    sidebar.clear();
    await pressButton(nodeRed, buttonOf(nodes, name));
    await sidebar.next('In words');
    while (published.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return [...published].sort();
  };
  const car = ['connected-vehicle/car/level 53, retained', 'connected-vehicle/car/target 90, retained'];

  it('sets the current and allows charging, and publishes level and target', async () => {
    const expected = [...car, 'go-eCharger/123456/amp/set 16', 'go-eCharger/123456/frc/set 2'];
    assert.deepEqual(await press('Sun: 4600 W', 4), expected);
  });

  it('lets the sun decide while the target is unknown, and stops nothing for it', async () => {
    service.car(electricCar.vin).set({ battery: { level: 85 } });
    service.faults.add({ match: { path: '/state' }, members: { targetBatteryChargeLevel: 'missing' } });
    const level = 'connected-vehicle/car/level 85, retained';
    assert.deepEqual(await press('Sun: 4600 W', 3), [
      level,
      'go-eCharger/123456/amp/set 16',
      'go-eCharger/123456/frc/set 2',
    ]);
    service.faults.clear();
    service.car(electricCar.vin).set({ battery: { level: 53 } });
  });

  it('stops charging under clouds', async () => {
    assert.deepEqual(await press('Clouds: 200 W', 3), [...car, 'go-eCharger/123456/frc/set 1']);
  });
});
