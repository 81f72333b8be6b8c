import { strict as assert } from 'node:assert';
import type { TestableNode } from '../../nodes/node-red/car-node';
import { demoCar, electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type NodeConfig } from '../support/flow';

const vins = ['YV1DEMO0000000001', 'YV1DEMO0000000002'] as const;
const [here, there] = [
  { latitude: 57.7, longitude: 11.97 },
  { latitude: 50, longitude: 10 },
];

describe('The places of a vehicle configuration', () => {
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ service, flow } = setUp), {
    cars: [
      { ...demoCar, vin: vins[0], location: here },
      { ...electricCar, vin: vins[1], location: there },
    ],
  });

  /** Two configurations, each with a place “Home” of its own. */
  const load = (config: object, places: unknown = [{ name: 'Home', ...here }], vehicle = 'v'): Promise<void> => {
    Object.assign(flow, { outputs: [[], [], []], caught: [], badges: [] });
    const other: NodeConfig = {
      id: 'w',
      type: 'connected-vehicle',
      ...customVehicle(service, { vin: vins[1] }),
      name: 'Other car',
      places: [{ name: 'Home', ...there, radius: '300' }],
    };
    flow.moreCredentials = { w: demoCredentials };
    const own = { ...customVehicle(service, { vin: vins[0] }), name: 'My car', places };
    return flow.load({ ...config, vehicle } as never, own, demoCredentials, [other]);
  };
  const condition = (operand: unknown, operandType = 'str', operator = 'within'): object => ({
    type: 'connected-vehicle-condition',
    conditions: [{ value: 'location', operator, operand, operandType }],
  });
  const event = (places: unknown): object => ({
    type: 'connected-vehicle-event',
    events: ['arrived'],
    places,
    poll: 0,
  });
  /** The output, from 1, and the operands of the conditions. */
  async function check(msg: object = {}): Promise<[port: number, operand: unknown]> {
    flow.outputs.forEach((output) => output.splice(0));
    flow.send({ ...msg });
    const port = await flow.until(() => [1, 2, 3].find((number) => flow.outputs[number - 1]?.length));
    const { vehicle } = flow.outputs[port - 1]?.[0] ?? assert.fail();
    const found = vehicle as unknown as { condition: { conditions: { operand: unknown }[] } };
    return [port, found.condition.conditions[0]?.operand];
  }
  const failure = async (msg: object = {}): Promise<string> => {
    const { vehicle } = await flow.fail({ ...msg });
    return `${String(vehicle?.error?.['code'])}: ${String(vehicle?.error?.['message'])}`;
  };

  it('are chosen by name, each node from its own configuration', async () => {
    await load(condition('Home'));
    assert.deepEqual(await check(), [1, { name: 'Home', ...here, radius: 200 }]);
    await flow.unload();
    await load(condition('Home'), [], 'w');
    assert.deepEqual(await check(), [1, { name: 'Home', ...there, radius: 300 }]);
    await flow.unload();
    await load(condition('Home', 'str', 'outside'));
    assert.equal((await check())[0], 2);
  });

  it('stay as they are if a flow changes the place in a message', async () => {
    await load(condition('Home'));
    const [, operand] = await check();
    Object.assign(operand as object, { radius: 1 });
    assert.deepEqual(await check(), [1, { name: 'Home', ...here, radius: 200 }]);
  });

  it('can be named by a message', async () => {
    await load(condition('place', 'msg'));
    assert.equal((await check({ place: 'Home' }))[0], 1);
    assert.equal((await check({ place: { name: 'Far', ...there } }))[0], 2);
    assert.match(
      await failure({ place: 'Work' }),
      /^INPUT_INVALID: .* has no place “Work”\. Add it there, or choose another/,
    );
  });

  it('are those of events, together with places of their own', async () => {
    await load(event(['Home', { name: 'Far', ...there }]));
    assert.match(await (flow.node('n') as TestableNode).sendTest('arrived'), /at Home/);
  });

  it('fail with a sentence if a node names one that was removed or renamed, which is never mistaken for a car that is elsewhere', async () => {
    await load(event(['Work']));
    const { vehicle } = await flow.until(() => flow.caught[0]);
    assert.match(String(vehicle?.error?.['message']), /The vehicle configuration has no place “Work”/);
    for (const operator of ['within', 'outside']) {
      await flow.unload();
      await load(condition('Work', 'str', operator));
      assert.match(
        await failure(),
        /^CONFIG: Condition 1 cannot be checked\. The vehicle configuration has no place “Work”/,
      );
      assert.deepEqual(flow.outputs, [[], [], []]);
    }
    assert.equal(service.requests.length, 0);
  });

  it('leave a place of a flow of 1.0.0 alone, also one of the same name', async () => {
    const own = { name: 'Home', latitude: '50', longitude: '10,0', radius: '200' };
    await load(condition(own));
    assert.deepEqual(await check(), [2, { name: 'Home', ...there, radius: 200 }]);
    await flow.unload();
    await load(condition(own), undefined);
    assert.equal((await check())[0], 2);
  });

  it('stop the configuration with a sentence if they are wrong', async () => {
    await load(condition('Home'), [{ name: 'Home', latitude: 'north', longitude: 1 }]);
    assert.match(await failure(), /^CONFIG: The latitude of the place “Home” must be a number from -90 to 90/);
  });
});
