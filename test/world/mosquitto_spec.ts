import { strict as assert } from 'node:assert';
import { electricCar, startSimulator, type Simulator } from '../support/simulator';
import { checkedDiscovery, type Entity } from '../support/home-assistant';
import { readNames, reads, routeOf } from '../../src/catalogue/reads';
import { deployHomeAssistant } from '../package/example-flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { startMosquitto } from './support/mosquitto';
import { endWithLogs, freePort, type Program } from './support/program';
import { Subscriber } from './support/subscriber';

/**
 * The entities of each discovery message that a subscriber saw, each message as Home
 * Assistant's schema wants it.
 */
const announcedTo = (home: Subscriber | undefined): Map<string, Entity>[] =>
  home?.got.flatMap(({ topic, text }) =>
    topic.startsWith('homeassistant/') && topic.endsWith('/config') ? [checkedDiscovery(topic, text)] : [],
  ) ?? [];

describe('mosquitto between the example “Home Assistant through MQTT” and Home Assistant', () => {
  let service: Simulator;
  let broker: Program | undefined;
  let nodeRed: RealNodeRed;
  let home: Subscriber | undefined;
  let port: number;

  beforeEach(async () => {
    service = await startSimulator();
    port = await freePort();
  });

  afterEach(async () => {
    home?.close();
    await nodeRed?.stop();
    await broker?.stop();
    await service.close();
  });

  endWithLogs();

  const deploy = async (): Promise<void> => {
    nodeRed = await startNodeRed([], undefined, { mqttReconnectTime: 200 });
    await deployHomeAssistant(nodeRed, service, port);
  };

  /** A subscriber that comes later must also find everything. */
  const assertComplete = async (
    expected: Record<string, string> = { windows_rearRight: 'ON', doors_carLocked: 'LOCKED' },
  ): Promise<void> => {
    const first = await Subscriber.open(port);
    await first.until(() => announcedTo(first).length > 0);
    await first.until(() => first.last('connected-vehicle/car/online') === 'online');
    first.close();
    home = await Subscriber.open(port);
    const { got } = home;
    const last = (topic: string): string | undefined => home?.last(topic);
    await home.until(
      () =>
        announcedTo(home).length > 0 &&
        ['online', 'state', 'position'].every((topic) => last(`connected-vehicle/car/${topic}`) !== undefined),
    );
    assert.ok(got.filter(({ topic }) => topic.startsWith('homeassistant/')).every(({ retain }) => retain));
    assert.equal(last('connected-vehicle/car/online'), 'online');
    const state = JSON.parse(last('connected-vehicle/car/state') ?? '{}') as Record<string, unknown>;
    for (const [id, value] of Object.entries(expected)) assert.equal(state[id], value, id);
    assert.ok((announcedTo(home).at(-1)?.size ?? 0) > 50);
  };

  const untilPolled = async (times: number): Promise<void> => {
    while (service.requests.filter(({ path }) => path.endsWith('/windows')).length < times)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };

  it('gets every entity if it was there first', async () => {
    broker = await startMosquitto(port);
    await deploy();
    await assertComplete();
  });

  it('gets every entity if it starts after Node-RED has been running for a while', async () => {
    await deploy();
    await untilPolled(4);
    broker = await startMosquitto(port);
    await assertComplete();
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    it(`gets every entity once more when it was restarted with ${signal} and has lost its memory`, async () => {
      broker = await startMosquitto(port);
      await deploy();
      await assertComplete();
      home?.close();
      await broker.stop(signal);
      broker = await startMosquitto(port);
      await assertComplete();
    });

  it('gets an entity and a state for every value that the electric car reports', async () => {
    await service.close();
    service = await startSimulator({ cars: [electricCar], dialect: 'real' });
    broker = await startMosquitto(port);
    await deploy();
    await assertComplete({ windows_rearRight: 'OFF', doors_carLocked: 'LOCKED', charging_isCharging: 'ON' });
    const found = announcedTo(home).at(-1) ?? new Map<string, Entity>();
    const state = JSON.parse(home?.last('connected-vehicle/car/state') ?? '{}') as Record<string, unknown>;
    const known = Object.keys(state).filter((id) => state[id] !== 'None');
    assert.deepEqual(
      known.filter((id) => !found.has(id)),
      [],
    );
    // The pack's own table of values: each that an owner of this car can read alone is
    // in one of the groups.
    const asked = new Set(service.requests.map(({ path }) => path.replace(/^.*\/([^/]+)$/, '$1')));
    for (const name of readNames) {
      const route = routeOf(name, ['connected-v2', 'energy-v2', 'location-v1']);
      if (route !== undefined && reads[name].value !== undefined)
        assert.ok(asked.has(route.path.replace(/^.*\/([^/]+)$/, '$1')), name);
    }
  });

  it('keeps from the car what the broker has kept of another day', async () => {
    broker = await startMosquitto(port);
    const earlier = await Subscriber.open(port);
    earlier.publish('connected-vehicle/car/set', 'flash', true);
    await earlier.until(() => earlier.last('connected-vehicle/car/set') === 'flash');
    earlier.close();
    await deploy();
    home = await Subscriber.open(port);
    await home.until(() => home?.last('connected-vehicle/car/command')?.includes('what the broker kept') === true);
    await home.until(() => home?.last('connected-vehicle/car/online') === 'online');
    assert.ok(service.requests.every(({ method }) => method === 'GET'));
  });
});
