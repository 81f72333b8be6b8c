import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Aedes } from 'aedes' with { 'resolution-mode': 'import' };
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { startSimulator, type Simulator } from '../support/simulator';
import { deployExample, untilAsked } from './example-flow';

interface Published {
  topic: string;
  text: string;
  retain: boolean;
}

/** The example that speaks MQTT, in a real Node-RED with a real broker. */
describe('The example “Home Assistant through MQTT”', function () {
  let broker: Aedes;
  let server: Server;
  let port: number;
  let service: Simulator;
  let nodeRed: RealNodeRed;
  const published: Published[] = [];
  const waiting: (() => void)[] = [];

  /** Starts a broker that knows nothing of what was published before. */
  const openBroker = async (at: number): Promise<number> => {
    broker = await (await import('aedes')).Aedes.createBroker();
    broker.on('publish', ({ topic, payload, retain }) => {
      if (topic.startsWith('$SYS')) return;
      published.push({ topic, text: payload.toString(), retain });
      waiting.splice(0).forEach((wake) => wake());
    });
    server = createServer((socket) => broker.handle(socket));
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const closeBroker = async (): Promise<void> => {
    await new Promise<void>((resolve) => broker.close(resolve));
    await new Promise((resolve) => server.close(resolve));
  };

  before(async () => {
    port = await openBroker(0);
    await closeBroker();
    service = await startSimulator();
    const changes: Record<string, object> = {
      'mqtt-broker': { broker: '127.0.0.1', port: String(port), autoConnect: true },
      'connected-vehicle': { requestsPerMinute: 1000 },
      'connected-vehicle-status': { poll: 1 },
    };
    nodeRed = await startNodeRed([], undefined, { mqttReconnectTime: 100 });
    await deployExample(nodeRed, service, 'Home Assistant through MQTT', (node) => ({
      ...node,
      ...changes[node.type],
    }));
    // As after a power failure: Node-RED has been running for some seconds when the broker starts.
    await untilAsked(service, 3, '/windows');
    await openBroker(port);
    // Retained by the broker from another day: no button was pressed now.
    publish('connected-vehicle/car/command/flash', 'PRESS', true);
  });

  after(async () => {
    await nodeRed?.stop();
    await closeBroker();
    await service?.close();
  });

  const until = async <Value>(look: () => Value | undefined | false): Promise<Value> => {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const last = (topic: string): Published | undefined => published.findLast((one) => one.topic === topic);
  const configs = (): Published[] => published.filter(({ topic }) => topic.endsWith('/config'));
  const publish = (topic: string, payload: string, retain = false): void =>
    broker.publish({ cmd: 'publish', qos: 0, dup: false, retain, topic, payload }, () => undefined);
  const press = (command: string): void => publish(`connected-vehicle/car/command/${command}`, 'PRESS');

  it('announces each entity once, kept by the broker, all of one device', async () => {
    await until(() => configs().length >= 23);
    const found = configs().map(({ topic, text, retain }) => ({
      topic,
      retain,
      config: JSON.parse(text) as Record<string, unknown>,
    }));
    assert.ok(found.every(({ retain }) => retain));
    assert.equal(new Set(found.map(({ config }) => config['unique_id'])).size, found.length);
    assert.deepEqual(new Set(found.map(({ config }) => JSON.stringify(config['device']))).size, 1);
    for (const { topic, config } of found) {
      assert.match(topic, /^homeassistant\/(binary_sensor|sensor|button)\/connected_vehicle_car\/[\w-]+\/config$/);
      assert.equal(config['availability_topic'], 'connected-vehicle/car/online');
      // Home Assistant 2026.4 does without object_id, and gives a sensor long-term statistics only with a state class.
      assert.equal(config['default_entity_id'], topic.replace(/^homeassistant\/(\w+)\/.*\/(.+)\/config$/, '$1.car_$2'));
      assert.ok(!('object_id' in config));
      assert.equal((config['origin'] as { name: string }).name, 'Connected Vehicle for Node-RED');
      if (config['unit_of_measurement'] !== undefined)
        assert.equal(config['state_class'], topic.includes('odometer') ? 'total_increasing' : 'measurement', topic);
      assert.ok(typeof config['state_topic'] === 'string' || typeof config['command_topic'] === 'string', topic);
    }
  });

  it('is online, and names no vehicle', async () => {
    await until(() => last('connected-vehicle/car/online')?.text === 'online');
    assert.equal(
      published.find(({ topic }) => topic === 'connected-vehicle/car/online')?.text,
      'offline',
      'not before it is known',
    );
    assert.ok(!JSON.stringify(published).includes(service.car().vin));
  });

  it('sends nothing for a command that the broker had kept, and says so', async () => {
    const { text } = await until(() => last('connected-vehicle/car/command'));
    assert.deepEqual(JSON.parse(text), {
      command: 'what the broker kept',
      state: 'failed',
      reason: 'Only lock and flash go through this bridge.',
    });
    assert.ok(service.requests.every(({ method }) => method === 'GET'));
  });

  it('gives each entity a value from the car: open, closed or unknown', async () => {
    const { text, retain } = await until(() => last('connected-vehicle/car/state'));
    const state = JSON.parse(text) as Record<string, unknown>;
    assert.equal(retain, true);
    assert.deepEqual(
      [state['windows_rearRight'], state['windows_frontLeft'], state['doors_tailGate'], state['doors_carLocked']],
      ['ON', 'OFF', 'OFF', 'OFF'],
    );
    assert.deepEqual([typeof state['fuelAmount'], typeof state['odometer']], ['number', 'number']);
    const templates = configs().map(
      ({ text: config }) => JSON.parse(config) as { state_topic?: string; value_template?: string },
    );
    for (const { state_topic, value_template = '' } of templates) {
      if (state_topic === 'connected-vehicle/car/state')
        assert.ok((/value_json\.(\w+)/.exec(value_template)?.[1] ?? '') in state, value_template);
    }
  });

  it('sends the command of a button, and tells what became of it', async () => {
    press('lock');
    const { text } = await until(() => {
      const verdict = last('connected-vehicle/car/command');
      return verdict?.text.includes('succeeded') && verdict;
    });
    assert.deepEqual(JSON.parse(text), {
      command: 'lock',
      state: 'succeeded',
      reason: 'The car carried out the command.',
      verified: true,
    });
  });

  for (const command of ['unlock', 'Unlock', 'lock-reduced-guard', 'self-destruct']) {
    it(`lets no ${command} through, and says so`, async () => {
      const before = service.requests.filter(({ method }) => method === 'POST').length;
      press(command);
      const { text } = await until(() => {
        const verdict = last('connected-vehicle/car/command');
        return verdict?.text.includes(`"${command}"`) && verdict;
      });
      assert.deepEqual(JSON.parse(text), {
        command,
        state: 'failed',
        reason: 'Only lock and flash go through this bridge.',
      });
      assert.equal(service.requests.filter(({ method }) => method === 'POST').length, before);
    });
  }

  it('tells why a command could not be sent', async () => {
    const fault = service.faults.add({ match: { method: 'POST' }, error: 'not-supported' });
    press('flash');
    const { text } = await until(() => {
      const verdict = last('connected-vehicle/car/command');
      return verdict?.text.includes('"flash","state":"failed"') && verdict;
    });
    assert.ok((JSON.parse(text) as { reason: string }).reason.length > 20);
    service.faults.remove(fault.id);
  });

  const online = (payload: string) => () => last('connected-vehicle/car/online')?.text === payload;
  const window = (): unknown =>
    (JSON.parse(last('connected-vehicle/car/state')?.text ?? '{}') as Record<string, unknown>)['windows_frontLeft'];

  it('is offline while nothing can be read, without telling of once more what was closed, and online with the next live reading', async () => {
    service.faults.add({ match: { method: 'GET' }, status: 503 });
    await until(online('offline'));
    const states = (): Published[] => published.filter(({ topic }) => topic === 'connected-vehicle/car/state');
    const before = states().length;
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    const told = published.length;
    await until(() => published.slice(told).filter(({ topic }) => topic.endsWith('/online')).length > 3);
    assert.ok(online('offline')());
    assert.equal(states().length, before);
    service.faults.clear();
    await until(online('online'));
    assert.notEqual(window(), 'OFF', 'what was known before is no live reading');
    await until(() => window() === 'ON');
  });

  it('calls unknown what alone cannot be read', async () => {
    service.faults.add({ match: { path: '/windows' }, error: 'not-supported' });
    await until(() => window() === 'None');
    assert.ok(online('online')());
    service.faults.clear();
    await until(() => window() === 'ON');
  });

  it('announces each entity once more when Home Assistant has started, and only then', async () => {
    const before = configs().length;
    publish('homeassistant/status', 'offline');
    publish('homeassistant/status', 'online');
    await until(() => configs().length >= before + 23);
    const announced = published.length;
    await until(() => published.slice(announced).some(({ topic }) => topic.endsWith('/state')));
    assert.equal(configs().length, before + 23);
  });

  it('announces each entity to a broker that has lost its memory, and is online with the next live reading', async () => {
    await closeBroker();
    published.length = 0;
    await openBroker(port);
    await until(() => configs().length === 23);
    assert.equal((await until(() => last('connected-vehicle/car/online'))).text, 'offline');
    await until(() => window() === 'ON' && online('online')());
  });

  it('is offline when it ends', async () => {
    await nodeRed.stop();
    assert.equal(
      (
        await until(
          () => last('connected-vehicle/car/online')?.text === 'offline' && last('connected-vehicle/car/online'),
        )
      ).retain,
      true,
    );
  });
});
