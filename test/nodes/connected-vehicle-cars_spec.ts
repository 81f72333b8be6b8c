import { strict as assert } from 'node:assert';
import type { CarSummary } from '../../nodes/shared/overview/cars';
import { changed, publishWith } from '../../nodes/shared/overview/signal';
import { classicCar, demoCar, startSimulator, type Simulator } from '../../src/simulator/index';
import { askEditor } from '../support/editor-client';
import { customVehicle, demoCredentials, Flow } from '../support/flow';

describe('What the tab "Cars" asks of the runtime', () => {
  let service: Simulator;
  let flow: Flow;
  beforeEach(async () => {
    service = await startSimulator({ cars: [classicCar, demoCar] });
    flow = new Flow();
  });
  afterEach(async () => {
    await flow.end();
    await service.close();
  });

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
      listed.map(({ vin, facts, commands, watches }) => ({ vin, facts, commands, watches })),
      [classicCar.vin, demoCar.vin].map((vin) => ({ vin: `…${vin.slice(-6)}`, facts: {}, commands: [], watches: [] })),
    );
    assert.equal(service.requests.length, 0);
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
      watched?.watches.map(({ command, requestStatus }) => [command, typeof requestStatus]),
      [['lock', 'string']],
    );
    await flow.fail({ cancel: true });
    assert.deepEqual((await cars())[0]?.watches, []);
  });

  it('tells no whole VIN, no secret and no VIN that a reason of the service holds', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock' }, { name: `Car ${classicCar.vin}` });
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'REJECTED' }] } });
    await flow.ask();
    const text = JSON.stringify(await cars());
    for (const secret of [classicCar.vin, demoCar.vin, ...Object.values(demoCredentials)])
      assert.ok(!text.includes(secret), secret);
  });

  it('goes on showing what was read before a deploy, and forgets it with another service', async () => {
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
    const signal = (): Promise<void> => new Promise((resolve) => publishWith(resolve));
    const rest = signal();
    changed();
    changed();
    await rest;
    const next = signal();
    service.faults.add({ match: { path: '/doors' }, error: 'token-refused' });
    await flow.fail({ read: 'doors' });
    await next;
  });

  describe('Read now', () => {
    it('reads what the tab shows of this car, afresh', async () => {
      await load({ vin: demoCar.vin });
      const car = (await cars()).find(({ vin }) => vin === `…${demoCar.vin.slice(-6)}`);
      assert.deepEqual(await read(car?.key ?? ''), { failed: [] });
      const known = (await cars()).find(({ key }) => key === car?.key);
      assert.equal(known?.facts['rearRightWindow']?.value, 'open');
      assert.equal(known?.facts.carLocked?.value, true);
      assert.deepEqual((await cars()).find(({ key }) => key !== car?.key)?.facts, {});
      const count = service.requests.length;
      await read(car?.key ?? '');
      assert.equal(service.requests.length, 2 * count);
    });

    it('says what could not be read', async () => {
      await load();
      service.faults.add({ match: { path: '/windows' }, error: 'internal-error' });
      const [car] = await cars();
      const { failed } = await read(car?.key ?? '');
      assert.equal((failed as string[]).length, 1);
    });

    it('reads no car that it does not know', async () => {
      await load();
      assert.equal((await read('someone-else')).error?.code, 'CONFIG');
      assert.equal(service.requests.length, 0);
    });
  });
});
