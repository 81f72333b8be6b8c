import { strict as assert } from 'node:assert';
import { checkedDiscovery, type Entity } from '../support/home-assistant';
import { fewNodesAnd, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { startSimulator, type Simulator } from '../support/simulator';
import { Broker, type Published } from './broker';
import { deployHomeAssistant, nodesOf, untilAsked } from './example-flow';

/** The example that speaks MQTT, in a real Node-RED with a real broker. */
describe('The example “Home Assistant through MQTT”', function () {
  let broker: Broker;
  let service: Simulator;
  let nodeRed: RealNodeRed;
  const published: Published[] = [];
  const waiting: (() => void)[] = [];

  /** Starts a broker that knows nothing of what was published before. */
  const openBroker = async (at?: number): Promise<void> => {
    const onPublish = (message: Published): void => {
      published.push(message);
      waiting.splice(0).forEach((wake) => wake());
    };
    broker = await Broker.open(onPublish, at);
  };

  before(async () => {
    await openBroker();
    const { port } = broker;
    await broker.close();
    service = await startSimulator();
    nodeRed = await startNodeRed([], undefined, { ...fewNodesAnd('10-mqtt.js'), mqttReconnectTime: 100 });
    await deployHomeAssistant(nodeRed, service, port);
    // As after a power failure: Node-RED has been running for some seconds when the broker starts.
    await untilAsked(service, 3, '/windows');
    await openBroker(broker.port);
    // Retained by the broker from another day: no button was pressed now.
    broker.publish('connected-vehicle/car/set', 'flash', true);
  });

  after(async () => {
    await nodeRed?.stop();
    await broker.close();
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
  /** The entities of the last discovery message. */
  const entities = (): Map<string, Entity> => {
    const { topic, text } = configs().at(-1) ?? assert.fail('nothing was announced');
    return checkedDiscovery(topic, text);
  };
  const state = (): Record<string, unknown> =>
    JSON.parse(last('connected-vehicle/car/state')?.text ?? '{}') as Record<string, unknown>;
  const press = (command: string): void => broker.publish('connected-vehicle/car/set', command);
  const sent = (): number => service.requests.filter(({ method }) => method === 'POST').length;
  /**
   * The birth message of the connection. A reading that waited for the connection, or was in
   * progress when the broker ended, can come before it.
   */
  const begunOffline = (): Promise<unknown> =>
    until(() => published.some(({ topic, text }) => topic.endsWith('/online') && text === 'offline'));

  it('has at most 12 nodes', () => {
    const onCanvas = nodesOf('Home Assistant through MQTT').filter((node) => 'x' in node && node.type !== 'group');
    assert.ok(onCanvas.length <= 12, `${onCanvas.length}`);
  });

  it('announces one device as Home Assistant’s schema wants it, once, kept by the broker', async () => {
    await until(() => configs().length > 0 && last('connected-vehicle/car/state'));
    assert.deepEqual([configs().length, configs()[0]?.retain], [1, true]);
    const found = entities();
    const count = (platform: string): number =>
      [...found.values()].filter((one) => one['platform'] === platform).length;
    assert.deepEqual(
      ['lock', 'switch', 'button', 'device_tracker'].map((platform) => [platform, count(platform)]),
      [
        ['lock', 1],
        ['switch', 1],
        ['button', 1],
        ['device_tracker', 1],
      ],
    );
    const { device_class, state_class, unit_of_measurement, default_entity_id } = found.get('odometer') ?? {};
    assert.deepEqual(
      [device_class, state_class, unit_of_measurement, default_entity_id],
      ['distance', 'total_increasing', 'km', 'sensor.car_odometer'],
    );
    assert.deepEqual(
      ['windows_rearRight', 'doors_frontLeft', 'doors_hood', 'warnings_fogLightRearWarning'].map(
        (id) => found.get(id)?.['device_class'],
      ),
      ['window', 'door', 'opening', 'problem'],
    );
    assert.ok(!found.has('charging_chargingPower'), 'a petrol car gets no entity for what it never had');
  });

  it('is online, and names no vehicle', async () => {
    await until(() => last('connected-vehicle/car/online')?.text === 'online');
    await begunOffline();
    assert.ok(!JSON.stringify(published).includes(service.car().vin));
  });

  it('sends nothing for a command that the broker had kept, and reports that', async () => {
    const { text } = await until(() => last('connected-vehicle/car/command'));
    assert.deepEqual(JSON.parse(text), {
      command: 'what the broker kept',
      state: 'failed',
      reason: 'Only lock, flash and climate go through this bridge.',
    });
    assert.ok(service.requests.every(({ method }) => method === 'GET'));
  });

  it('gives each entity a value from the car: open, closed or unknown', async () => {
    await until(() => last('connected-vehicle/car/state'));
    assert.equal(last('connected-vehicle/car/state')?.retain, true);
    const words = ['windows_rearRight', 'windows_frontLeft', 'doors_tailGate', 'doors_carLocked', 'climate'];
    assert.deepEqual(
      words.map((id) => state()[id]),
      ['ON', 'OFF', 'OFF', 'LOCKED', 'None'],
    );
    assert.deepEqual([typeof state()['fuel_fuelAmount'], state()['odometer']], ['number', 24817]);
    for (const { state_topic, value_template } of entities().values())
      if (state_topic === 'connected-vehicle/car/state')
        assert.ok(
          (/value_json\['([\w-]+)'\]/.exec(String(value_template))?.[1] ?? '') in state(),
          String(value_template),
        );
    assert.deepEqual(JSON.parse(last('connected-vehicle/car/position')?.text ?? ''), {
      latitude: 57.7087,
      longitude: 11.9745,
    });
  });

  it('sends the command of the lock once, and reports its outcome', async () => {
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => state()['doors_carLocked'] === 'UNLOCKED');
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
    await until(() => state()['doors_carLocked'] === 'LOCKED');
    assert.equal(sent(), 1);
  });

  it('shows of the climate what the last command did', async () => {
    press('climatization-start');
    await until(() => state()['climate'] === 'ON');
    press('climatization-stop');
    await until(() => state()['climate'] === 'OFF');
  });

  for (const command of ['unlock', 'Unlock', 'lock-reduced-guard', 'self-destruct']) {
    it(`refuses ${command}, and reports that`, async () => {
      const before = sent();
      press(command);
      const { text } = await until(() => {
        const verdict = last('connected-vehicle/car/command');
        return verdict?.text.includes(`"${command}"`) && verdict;
      });
      assert.deepEqual(JSON.parse(text), {
        command,
        state: 'failed',
        reason: 'Only lock, flash and climate go through this bridge.',
      });
      assert.equal(sent(), before);
    });
  }

  it('says why a command could not be sent', async () => {
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
  const window = (): unknown => state()['windows_frontLeft'];

  it('is offline while nothing can be read, without repeating what was closed, and online with the next live reading', async () => {
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

  it('calls a value unknown that alone cannot be read', async () => {
    service.faults.add({ match: { path: '/windows' }, error: 'not-supported' });
    await until(() => state()['windows_frontLeft'] === undefined);
    assert.ok(online('online')());
    service.faults.clear();
    await until(() => window() === 'ON');
  });

  it('announces the device again when Home Assistant has started, and only then', async () => {
    const before = configs().length;
    broker.publish('homeassistant/status', 'offline');
    broker.publish('homeassistant/status', 'online');
    await until(() => configs().length > before);
    const announced = published.length;
    await until(() => published.slice(announced).filter(({ topic }) => topic.endsWith('/state')).length > 1);
    assert.equal(configs().length, before + 1);
  });

  it('announces the device, which begins offline, to a broker that has lost its memory', async () => {
    const entitiesBefore = [...entities().keys()];
    await broker.close();
    published.length = 0;
    await openBroker(broker.port);
    await until(() => configs().length === 1);
    assert.deepEqual([...entities().keys()], entitiesBefore);
    await begunOffline();
    await until(() => window() === 'ON' && online('online')());
  });

  it('sends no command that was given while it had no connection, nor repeats one after a new connection', async () => {
    const before = sent();
    await broker.close();
    published.length = 0;
    await openBroker(broker.port);
    broker.publish('connected-vehicle/car/set', 'flash', true);
    await until(() => online('online')() && last('connected-vehicle/car/command'));
    assert.equal(sent(), before);
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
