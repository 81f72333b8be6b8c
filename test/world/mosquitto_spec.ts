import { strict as assert } from 'node:assert';
import { startSimulator, type Simulator } from '../support/simulator';
import { deployExample } from '../package/example-flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { startMosquitto } from './support/mosquitto';
import { endWithLogs, freePort, type Program } from './support/program';
import { Subscriber } from './support/subscriber';

/** The topics of the entities that a subscriber saw announced. */
const announcedTo = (home: Subscriber | undefined): string[] =>
  home?.got.flatMap(({ topic }) => (/^homeassistant\/.+\/config$/.test(topic) ? [topic] : [])) ?? [];

/** Entities of the example. */
const entities = 23;

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
    const changes: Record<string, object> = {
      'mqtt-broker': { broker: '127.0.0.1', port: String(port), autoConnect: true },
      'connected-vehicle': { requestsPerMinute: 1000 },
      'connected-vehicle-status': { poll: 1 },
    };
    await deployExample(nodeRed, service, 'Home Assistant through MQTT', (node) => ({
      ...node,
      ...changes[node.type],
    }));
  };

  /** A subscriber that comes later, too, must find everything. */
  const assertComplete = async (): Promise<void> => {
    const first = await Subscriber.open(port);
    await first.until(() => new Set(announcedTo(first)).size === entities);
    await first.until(() => first.last('connected-vehicle/car/online') === 'online');
    first.close();
    home = await Subscriber.open(port);
    const { got } = home;
    const last = (topic: string): string | undefined => home?.last(topic);
    await home.until(
      () =>
        new Set(announcedTo(home)).size === entities &&
        ['online', 'state'].every((topic) => last(`connected-vehicle/car/${topic}`) !== undefined),
    );
    assert.ok(got.filter(({ topic }) => topic.startsWith('homeassistant/')).every(({ retain }) => retain));
    assert.equal(last('connected-vehicle/car/online'), 'online');
    const state = JSON.parse(last('connected-vehicle/car/state') ?? '{}') as Record<string, unknown>;
    assert.deepEqual([state['windows_rearRight'], state['doors_carLocked']], ['ON', 'OFF']);
  };

  const untilPolled = async (times: number): Promise<void> => {
    while (service.requests.filter(({ path }) => path.endsWith('/windows')).length < times)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };

  it('gets every entity where it was there first', async () => {
    broker = await startMosquitto(port);
    await deploy();
    await assertComplete();
  });

  it('gets every entity where it starts when Node-RED has been running for a while', async () => {
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

  it('gets every entity once more when Home Assistant has started', async () => {
    broker = await startMosquitto(port);
    await deploy();
    await assertComplete();
    const before = announcedTo(home).length;
    home?.publish('homeassistant/status', 'online');
    await home?.until(() => announcedTo(home).length === before + entities);
  });

  it('carries a command to the car and its result back', async () => {
    service.car().set({ lock: 'UNLOCKED' });
    broker = await startMosquitto(port);
    await deploy();
    home = await Subscriber.open(port);
    await home.until(() => home?.last('connected-vehicle/car/online') === 'online');
    home.publish('connected-vehicle/car/command/lock', 'PRESS');
    await home.until(() => home?.last('connected-vehicle/car/command')?.includes('succeeded') === true);
    assert.equal(service.car().state.lock, 'LOCKED');
    assert.equal(service.requests.filter(({ method }) => method === 'POST').length, 1);
  });

  it('says that the car is offline when Node-RED was ended without a word', async () => {
    broker = await startMosquitto(port);
    await deploy();
    home = await Subscriber.open(port);
    await home.until(() => home?.last('connected-vehicle/car/online') === 'online');
    await nodeRed.stop();
    await home.until(() => home?.last('connected-vehicle/car/online') === 'offline');
  });
});
