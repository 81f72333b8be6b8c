import { strict as assert } from 'node:assert';
import type { NodeAPI } from 'node-red';
import type { CarSummary } from '../../nodes/cars/runtime/cars';
import { editorsOf, useClock } from '../../nodes/runtime';
import { classicCar, demoCar, demoCars, startSimulator, type Simulator } from '../support/simulator';
import { askEditor, type EditorAnswer } from '../support/editor-client';
import { customVehicle, demoCredentials, type Flow, type NodeConfig, setUpRealTimeFlow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';

describe('What the tab "Cars" asks of the runtime', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp), { cars: [classicCar, demoCar] });

  const load = (config: object = {}, vehicle: object = {}): Promise<void> =>
    flow.load(
      { type: 'connected-vehicle-status', read: 'windows', ...config },
      customVehicle(service, vehicle as Record<string, unknown>),
      demoCredentials,
    );
  const cars = async (): Promise<CarSummary[]> => (await askEditor('cars', {}, { id: 'all' }))['cars'] as CarSummary[];
  const read = async (key: string) => askEditor('read-car', {}, { id: key });
  const values = ({ facts }: CarSummary): object =>
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, fact.value]));

  it('lists the cars of the flows before anything was read, and sends no request for it', async () => {
    await load({ vin: demoCar.vin });
    const listed = await cars();
    assert.deepEqual(
      listed.map(({ vin, facts, commands, followed }) => ({ vin, facts, commands, followed })),
      [classicCar.vin, demoCar.vin].map((vin) => ({ vin: `…${vin.slice(-6)}`, facts: {}, commands: [], followed: [] })),
    );
    assert.equal(service.requests.length, 0);
  });

  it('continues to show what was read of a car, however many cars the nodes name', async () => {
    const named = [...Array(25).keys()].map((n) => `YV1CT9551B15709${String(n).padStart(2, '0')}`);
    const nodes = named.map((vin, n) => ({
      id: `n${n}`,
      z: 'tab',
      type: 'connected-vehicle-status',
      vehicle: 'v',
      vin,
    }));
    await flow.load(
      { type: 'connected-vehicle-status', read: 'windows' },
      customVehicle(service),
      demoCredentials,
      nodes,
    );
    await flow.ask();
    const first = await cars();
    assert.equal(first.length, 26);
    assert.equal(first[0]?.facts['frontLeftWindow']?.value, 'closed');
    assert.deepEqual(
      (await cars()).map(({ key, facts }) => ({ key, facts })),
      first.map(({ key, facts }) => ({ key, facts })),
    );
  });

  it('shows what a flow has read, with its times, and nothing that no flow has read', async () => {
    await load();
    service.car().set({ windows: { rearLeft: 'OPEN', frontRight: null } });
    await flow.ask();
    const [car] = await cars();
    assert.ok(car);
    assert.deepEqual(values(car), {
      frontLeftWindow: 'closed',
      frontRightWindow: null,
      rearLeftWindow: 'open',
      rearRightWindow: 'closed',
    });
    const { measuredAt, receivedAt } = car.facts['rearLeftWindow'] ?? {};
    assert.ok(!Number.isNaN(Date.parse(String(measuredAt))) && !Number.isNaN(Date.parse(String(receivedAt))));
    assert.equal(service.requests.length, 1);
  });

  it('shows when a value was read last, also if the answer was the same again', async () => {
    await load({}, { shareFor: 0 });
    await flow.ask();
    await flow.ask();
    const { vehicle } = await flow.ask();
    const [car] = await cars();
    assert.equal(car?.facts['frontLeftWindow']?.receivedAt, (vehicle as { receivedAt: string }).receivedAt);
    assert.equal(service.requests.length, 3);
  });

  it('shows commands with their verdict, and the requests of the day', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock', interface: 'v2', name: 'Lock it' });
    await flow.ask();
    const [car] = await cars();
    assert.deepEqual(
      car?.commands.map(({ command, outcome, sentBy, reason }) => ({ command, outcome, sentBy, reason })),
      [{ command: 'lock', outcome: 'succeeded', sentBy: 'Lock it', reason: 'The car carried out the command.' }],
    );
    assert.ok(car?.quota);
  });

  it('shows the outcome of a command in the language of the editor', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock', interface: 'v2' });
    await flow.ask();
    const answer = await askEditor('cars', {}, { id: 'all', headers: { 'accept-language': 'de' } });
    const [car] = answer['cars'] as CarSummary[];
    assert.equal(car?.commands[0]?.reason, 'Das Auto hat den Befehl ausgeführt.');
  });

  it('shows a watch until it ends', async () => {
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'RUNNING' }] } });
    await flow.load(
      { type: 'connected-vehicle-command-status', interval: 1 },
      customVehicle(service),
      demoCredentials,
      [
        {
          id: 'send',
          z: 'tab',
          type: 'connected-vehicle-command',
          vehicle: 'v',
          command: 'lock',
          interface: 'v1',
          wires: [['n']],
        },
      ],
    );
    flow.node('send').receive({} as never);
    await flow.until(() => flow.badges.length > 0);
    const [watched] = await cars();
    assert.deepEqual(
      watched?.followed.map(({ command, requestStatus }) => [command, typeof requestStatus]),
      [['lock', 'string']],
    );
    await flow.fail({ cancel: true });
    assert.deepEqual((await cars())[0]?.followed, []);
  });

  it('shows what a guard reported, and the values of the last days, also after a restart', async () => {
    service.car().set({ windows: { rearLeft: 'OPEN' } });
    await load({ type: 'connected-vehicle-guard', minutes: 10, poll: 0 });
    const { payload } = await flow.ask({ ask: true });
    await flow.until(() => flow.completed.some(({ ask }) => ask === true));
    await flow.unload();
    await load({ read: 'fuelAmount' });
    await flow.ask();
    await flow.endProcess();
    await load();
    const [car] = await cars();
    assert.deepEqual(car?.facts, {});
    assert.deepEqual(
      car?.events.map(({ text }) => text),
      [(payload as { text: string }).text],
    );
    assert.equal(car?.lines.fuelAmount?.length, 1);
  });

  it('gives the position only to those who ask for it', async () => {
    await load();
    service.car().set({ location: { latitude: 57.70887, longitude: 11.97456 } } as never);
    await flow.ask({ read: 'location' });
    const listed = await cars();
    assert.equal(listed[0]?.facts.location?.value, 'known');
    assert.ok(!JSON.stringify(listed).includes('57.7'));
    assert.deepEqual(await askEditor('position', {}, { id: listed[0]?.key ?? '' }), { position: '57.70887/11.97456' });
  });

  it('shows no whole VIN, no secret and no VIN that a reason of the service contains', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock' }, { name: `Car ${classicCar.vin}` });
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'REJECTED' }] } });
    await flow.ask();
    const text = JSON.stringify(await cars());
    for (const secret of [classicCar.vin, demoCar.vin, ...Object.values(demoCredentials)])
      assert.ok(!text.includes(secret), secret);
  });

  it('continues to show what was read before a deploy, and forgets it with another service', async () => {
    await load();
    await flow.ask();
    const [before] = await cars();
    await flow.unload();
    await load();
    const [after] = await cars();
    assert.deepEqual(after?.facts, before?.facts);
    assert.equal(after?.key, before?.key);
    await flow.unload();
    const other = await startSimulator({ cars: [classicCar] });
    await load({}, { baseUrl: other.url });
    assert.deepEqual((await cars())[0]?.facts, {});
    await other.close();
  });

  it('shows the demo car once, whichever configuration reads it', async () => {
    await flow.load({ type: 'connected-vehicle-status', read: 'windows' }, {}, {}, [
      { id: 'v2', type: 'connected-vehicle', service: 'demo' },
      { id: 'n2', z: 'tab', type: 'connected-vehicle-status', vehicle: 'v2', read: 'doors', wires: [['out1']] },
    ]);
    await flow.ask();
    flow.node('n2').receive({} as never);
    await flow.until(() => flow.outputs[1]?.[0]);
    const all = await cars();
    assert.equal(all.length, 1);
    assert.equal(all[0]?.facts['rearRightWindow']?.value, 'open');
    assert.equal(all[0]?.facts.carLocked?.value, true);
  });

  const named = (all: CarSummary[]): unknown[] =>
    all.map(({ name, config, vin, isDefault, facts }) => [
      name,
      config,
      vin?.slice(1),
      isDefault,
      Object.keys(facts).length > 0,
    ]);

  it('gives each demo car the name of its own configuration, also if another one read it first', async () => {
    const car = (id: string, name: string, demoCar: string) => ({
      id,
      name,
      type: 'connected-vehicle',
      service: 'demo',
      demoCar,
    });
    await flow.load(
      { type: 'connected-vehicle-status', read: 'windows', vin: demoCars.electric.vin },
      { name: 'Mine' },
      {},
      [car('v2', 'Wife car', 'electric'), car('v3', 'Twin of mine', 'petrol')],
    );
    await flow.ask();
    assert.deepEqual(named(await cars()), [
      ['Mine', 'v', demoCars.petrol.vin.slice(-6), true, false],
      ['Wife car', 'v2', demoCars.electric.vin.slice(-6), true, true],
    ]);
  });

  it('gives each car of one client ID the name of its own configuration, and lists a car that is in two configurations twice', async () => {
    const credentials = { ...demoCredentials, clientId: 'client', clientSecret: 'secret' };
    const options = customVehicle(service, { vin: classicCar.vin, name: 'Mine' });
    const car = (id: string, name: string, vin: string) => ({ ...options, id, name, vin, type: 'connected-vehicle' });
    flow.moreCredentials = { v2: credentials, v3: credentials };
    await flow.load({ type: 'connected-vehicle-status', read: 'windows', vin: demoCar.vin }, options, credentials, [
      car('v2', 'Wife car', demoCar.vin),
      car('v3', 'Mine, read-only', classicCar.vin),
    ]);
    await flow.ask();
    const all = await cars();
    assert.deepEqual(named(all), [
      ['Mine', 'v', classicCar.vin.slice(-6), true, false],
      ['Wife car', 'v2', demoCar.vin.slice(-6), true, true],
      ['Mine, read-only', 'v3', classicCar.vin.slice(-6), true, false],
    ]);
    assert.equal(new Set(all.map(({ key }) => key)).size, 3);
    assert.deepEqual(await read(all[2]?.key ?? ''), { failed: [] });
    assert.deepEqual(
      named(await cars()).map((one) => (one as unknown[])[4]),
      [true, true, true],
    );
  });

  it('says why a configuration cannot work', async () => {
    await flow.load(
      { type: 'connected-vehicle-status' },
      customVehicle(service, { baseUrl: 'http://elsewhere.example' }),
    );
    const [car] = await cars();
    assert.match(car?.problem ?? '', /https/);
    assert.equal(car?.session, null);
  });

  it('signals a read that failed, because it can be news about the session', async () => {
    await load();
    await flow.ask();
    // Of two signals, the second one waits: after it, nothing is left to be signalled.
    const signal = (): Promise<void> =>
      new Promise((resolve) => {
        const { events } = flow.RED;
        const listener = ({ topic }: { topic: string }): void => {
          if (topic !== 'connected-vehicle/changed') return;
          events.off('comms', listener);
          resolve();
        };
        events.on('comms', listener);
      });
    const rest = signal();
    editorsOf(flow.RED).notify();
    editorsOf(flow.RED).notify();
    await rest;
    const next = signal();
    service.faults.add({ match: { path: '/doors' }, error: 'token-refused' });
    await flow.fail({ read: 'doors' });
    await next;
  });

  it('signals a change to the editors of its Node-RED alone, with a pause between two signals', () => {
    const signals: string[] = [];
    const [one, other] = ['one', 'other'].map(
      (name) => ({ events: {}, comms: { publish: () => signals.push(name) } }) as unknown as NodeAPI,
    ) as [NodeAPI, NodeAPI];
    editorsOf(one).notify();
    editorsOf(one).notify();
    assert.deepEqual(signals, ['one']);
    editorsOf(other).notify();
    assert.deepEqual(signals, ['one', 'other']);
  });

  describe('Read now', () => {
    it('reads again what the tab shows of this car', async () => {
      await load({ vin: demoCar.vin });
      const car = (await cars()).find(({ vin }) => vin === `…${demoCar.vin.slice(-6)}`);
      assert.deepEqual(await read(car?.key ?? ''), { failed: [] });
      const known = (await cars()).find(({ key }) => key === car?.key);
      assert.equal(known?.facts['rearRightWindow']?.value, 'open');
      assert.equal(known?.facts.carLocked?.value, true);
      assert.deepEqual((await cars()).find(({ key }) => key !== car?.key)?.facts, {});
      const count = service.requests.length;
      await read(car?.key ?? '');
      assert.equal(service.requests.length, 2 * count - 1, 'the fuel type is asked for once');
    });

    it('shows nothing of a tank that an electric car does not have', async () => {
      await flow.load({ type: 'connected-vehicle-status', read: 'fuel' }, { service: 'demo', demoCar: 'electric' });
      await flow.ask();
      await read((await cars())[0]?.key ?? '');
      const [car] = await cars();
      assert.equal(car?.facts.batteryChargeLevel?.value, 53);
      assert.equal(Object.hasOwn(car?.facts ?? {}, 'fuelAmount'), false);
    });

    it('shows nothing of a traction battery that a car with a tank alone does not have', async () => {
      await load({ read: 'fuel' });
      await flow.ask();
      assert.equal((await cars())[0]?.facts.batteryChargeLevel?.value, null, 'not known yet');
      await read((await cars())[0]?.key ?? '');
      const [car] = await cars();
      assert.equal(typeof car?.facts.fuelAmount?.value, 'number');
      assert.equal(Object.hasOwn(car?.facts ?? {}, 'batteryChargeLevel'), false);
    });

    it('says what could not be read', async () => {
      await load();
      service.faults.add({ match: { path: '/windows' }, error: 'internal-error' });
      const [car] = await cars();
      const { failed } = await read(car?.key ?? '');
      assert.equal((failed as object[]).length, 1);
    });

    it('reads no car that it does not know', async () => {
      await load();
      assert.equal((await read('someone-else')).error?.code, 'CONFIG');
      assert.equal(service.requests.length, 0);
    });
  });

  describe('Pictures of the car', () => {
    const picturesFor = async (exteriorImageUrl: string): Promise<unknown> => {
      service.car().set({ details: { images: { exteriorImageUrl } } });
      return (await askEditor('pictures', {}, { id: (await cars())[0]?.key ?? '' }))['pictures'];
    };

    it('are asked for at each request, because their addresses end', async () => {
      await load();
      assert.equal(((await picturesFor('https://pictures.example/a.png?angle=2')) as object[]).length, 8);
      assert.deepEqual(await picturesFor('https://pictures.example/b.png'), [
        { side: null, url: 'https://pictures.example/b.png' },
      ]);
      assert.equal(service.requests.length, 2);
    });

    it('are those on http and https only', async () => {
      await load();
      for (const address of [
        'javascript:alert(1)//?angle=0',
        'data:image/png,x',
        'file:///front/a.png',
        '',
        '//host/a.png',
      ])
        assert.deepEqual(await picturesFor(address), [], address);
    });
  });

  describe('A click on the demo car', () => {
    const loadDemo = (more: NodeConfig[] = []): Promise<void> =>
      flow.load({ type: 'connected-vehicle-status', read: 'windows', poll: 0 }, {}, {}, more);
    const click = async (body: object): Promise<EditorAnswer> =>
      askEditor('click', body, { id: (await cars())[0]?.key ?? '' });
    afterEach(() => useClock(undefined));

    it('refuses a part that the car does not have, and names it', async () => {
      await loadDemo();
      const { error } = await click({ part: 'wing' });
      assert.deepEqual(
        [error?.code, error?.message],
        ['INPUT_INVALID', 'The simulated car has no such part, or the part no such state.'],
      );
    });

    it('stops reading for a minute with the fault “quota spent”, and for no longer', async () => {
      const clock = new ManualClock();
      useClock(clock);
      await loadDemo();
      assert.deepEqual(await click({ part: 'fault', name: 'quota' }), {});
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'QUOTA_SPENT');
      await clock.advance(60_000);
      assert.equal((await flow.ask()).vehicle?.error, undefined);
    });

    it('shows the last value that any configuration has read, also after the clock was set back', async () => {
      const clock = new ManualClock();
      useClock(clock);
      await loadDemo([
        { id: 'v2', type: 'connected-vehicle', service: 'demo' },
        { id: 'n2', z: 'tab', type: 'connected-vehicle-status', vehicle: 'v2', read: 'windows', wires: [['out1']] },
      ]);
      await flow.ask();
      clock.setTime(clock.now() - 7_200_000);
      await click({ part: 'frontLeftWindow', to: 'open' });
      flow.node('n2').receive({} as never);
      await flow.until(() => flow.outputs[1]?.[0]);
      assert.equal((await cars())[0]?.facts['frontLeftWindow']?.value, 'open');
      await clock.advance(1_000);
      await click({ part: 'frontLeftWindow', to: 'closed' });
      await flow.ask();
      assert.equal((await cars())[0]?.facts['frontLeftWindow']?.value, 'closed');
    });
  });
});
