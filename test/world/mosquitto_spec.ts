import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { deployExample } from '../package/example-flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { startMosquitto } from './support/mosquitto';
import { endWithLogs, freePort, type Program } from './support/program';

/** What the test uses of the MQTT client that Node-RED brings. */
interface MqttClient extends NodeJS.EventEmitter {
  subscribe(topic: string, options: { qos: 0 }): void;
  publish(topic: string, payload: string): void;
  end(force: boolean): void;
}
const { connect } = createRequire(require.resolve('@node-red/nodes/package.json'))('mqtt') as {
  connect(url: string, options: { reconnectPeriod: 0 }): MqttClient;
};

/** Entities of the example. */
const entities = 23;

/** A subscriber that connects at this moment, as Home Assistant does when it starts: it gets what the broker keeps, and what follows. */
class Subscriber {
  readonly got: { topic: string; text: string; retain: boolean }[] = [];
  readonly #client: MqttClient;
  #news: () => void = () => undefined;

  static async open(port: number): Promise<Subscriber> {
    const client = connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0 });
    const subscriber = new Subscriber(client);
    await once(client, 'connect');
    client.subscribe('#', { qos: 0 });
    return subscriber;
  }

  constructor(client: MqttClient) {
    this.#client = client;
    client.on('error', () => undefined);
    client.on('message', (topic: string, payload: Buffer, { retain }: { retain: boolean }) => {
      this.got.push({ topic, text: payload.toString(), retain });
      this.#news();
    });
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await new Promise<void>((resolve) => (this.#news = resolve));
  }

  publish(topic: string, payload: string): void {
    this.#client.publish(topic, payload);
  }

  last(topic: string): string | undefined {
    return this.got.findLast((one) => one.topic === topic)?.text;
  }

  /** The topics of the entities that were announced. */
  get announced(): string[] {
    return this.got.flatMap(({ topic }) => (/^homeassistant\/.+\/config$/.test(topic) ? [topic] : []));
  }

  close(): void {
    this.#client.end(true);
  }
}

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
    await first.until(() => new Set(first.announced).size === entities);
    await first.until(() => first.last('connected-vehicle/car/online') === 'online');
    first.close();
    home = await Subscriber.open(port);
    const { got } = home;
    const last = (topic: string): string | undefined => home?.last(topic);
    await home.until(() => last('connected-vehicle/car/online') !== undefined && got.length >= entities + 2);
    assert.equal(new Set(home.announced).size, entities);
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
    const before = home?.announced.length ?? 0;
    home?.publish('homeassistant/status', 'online');
    await home?.until(() => home?.announced.length === before + entities);
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
