import { strict as assert } from 'node:assert';
import type { TestableNode } from '../../nodes/node-red/car-node';
import type { ManualClock } from '../support/manual-clock';
import { demoCar, electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type NodeConfig, type Received } from '../support/flow';

const vins = ['YV1DEMO0000000001', 'YV1DEMO0000000002'] as const;

describe('A flow with two cars', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [
      { ...demoCar, vin: vins[0], windows: { ...demoCar.windows, rearRight: 'OPEN' } },
      { ...electricCar, vin: vins[1] },
    ],
  });

  const second = (name = 'Wife car'): NodeConfig => ({
    id: 'w',
    type: 'connected-vehicle',
    ...customVehicle(service, { vin: vins[1] }),
    name,
  });
  /** The node under test uses the first configuration. */
  const load = (type: string, config: object = {}, more: NodeConfig[] = [second()], name = 'My car'): Promise<void> => {
    Object.assign(flow, { outputs: [[], [], []], badges: [] });
    const vehicle = { ...customVehicle(service, { vin: vins[0] }), name };
    return flow.load({ type: `connected-vehicle-${type}`, ...config }, vehicle, demoCredentials, more);
  };
  const partOf = ({ payload }: Received): unknown[] => {
    const { car, text } = payload as Record<string, unknown>;
    return [car, text];
  };
  /** Waits for a status with this text; `…` is a time. */
  const badge = (text: string): Promise<true> =>
    flow.until(() => flow.badges.some((shown) => shown.text?.replace(/\d\d:\d\d/g, '…') === text));
  const test = (event?: string): Promise<string> => (flow.node('n') as TestableNode).sendTest(event);

  it('names the car in the text and in the payload of a guard, and with one car in the payload alone', async () => {
    await load('guard', { watch: ['window'], poll: 0 });
    assert.deepEqual(partOf(await flow.ask({ ask: true })), [
      'My car',
      'My car: Rear-right window open for less than a minute',
    ]);
    await badge('rear-right window open since …');
    assert.match(await test(), /^Test: My car: /);
    await flow.unload();
    await load('guard', { watch: ['window'], poll: 0 }, []);
    assert.deepEqual(partOf(await flow.ask({ ask: true })), [
      'My car',
      'Rear-right window open for less than a minute',
    ]);
  });

  it('names it in the status of a node whose label does not, because the node has a name or the message names another car', async () => {
    await load('guard', { watch: ['window'], poll: 0, name: 'Windows' });
    await flow.ask({ ask: true });
    await badge('My car: rear-right window open since …');
    await flow.unload();
    await load('status', { read: 'windows' });
    await flow.ask();
    await badge('rear-right window open · …');
    await flow.ask({ vin: vins[1] });
    await badge('Wife car: all windows closed · …');
  });

  it('names it in the text and in the payload of an event', async () => {
    await load('event', { events: ['locked'], poll: 0 });
    assert.equal(await test('locked'), 'Test: My car: Car is locked');
    assert.deepEqual(partOf(flow.outputs[0]?.[0] ?? {}), ['My car', 'Test: My car: Car is locked']);
  });

  it('names it in the sentence of a condition', async () => {
    await load('condition', { conditions: [{ value: 'windows.allClosed', operator: 'is', operand: false }] });
    assert.equal((await flow.ask()).vehicle?.['text'], 'My car: Windows: not all closed');
  });

  it('names the car that a command was sent to in its result, also if the result node names none', async () => {
    const command = { id: 'c', type: 'connected-vehicle-command', z: 'tab', command: 'lock', wires: [['n']] };
    await load('command-status', { vehicle: '', verify: false }, [second(), { ...command, vehicle: 'v' }]);
    flow.node('c').receive({} as never);
    await clock.advanceUntil(() => flow.outputs[0]?.length === 1);
    assert.deepEqual(partOf(flow.outputs[0]?.[0] ?? {}), ['My car', 'My car: Lock: The car carried out the command.']);
    await badge('My car: Lock: done · …');
  });

  it('calls a car whose configuration has no name by service and short VIN, as the editor does', async () => {
    await load('event', { events: ['locked'], poll: 0 }, [second()], ' ');
    assert.equal(await test('locked'), 'Test: Custom …000001: Car is locked');
  });

  it('names a car that a node chooses by its VIN as the configuration for this VIN does, and never as another car', async () => {
    await load('event', { events: ['locked'], poll: 0, vin: vins[1] });
    assert.equal(await test('locked'), 'Test: Wife car: Car is locked');
    await flow.unload();
    await load('event', { events: ['locked'], poll: 0, vin: 'YV1DEMO0000000003' });
    assert.equal(await test('locked'), 'Test: Custom …000003: Car is locked');
  });

  it('counts no configuration that is disabled', async () => {
    await load('event', { events: ['locked'], poll: 0 }, [{ ...second(), d: true }]);
    assert.equal(await test('locked'), 'Test: Car is locked');
  });
});
