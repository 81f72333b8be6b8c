import { strict as assert } from 'node:assert';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { redactor, useClock } from '../../nodes/runtime';
import { reads, readNames } from '../../src/catalogue/reads';
import type { Account, JournalEntry, ListedValue } from '../../src/index';
import { assertClasses } from '../support/home-assistant';
import { demoCar, electricCar, hybridCar, startSimulator, type Simulator } from '../support/simulator';
import type { Flow } from '../support/flow';
import { customVehicle, demoCredentials, setUpRealTimeFlow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';

const type = 'connected-vehicle-status';

describe(type, () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp));
  // A test replaces the service that was set up.
  afterEach(() => service.close());

  const load = (
    config: Record<string, unknown> = {},
    vehicle: Record<string, unknown> = {},
    credentials: Record<string, string> = demoCredentials,
  ): Promise<void> => flow.load({ type, read: 'windows', ...config }, customVehicle(service, vehicle), credentials);

  it('answers from the demo car with nothing configured', async () => {
    await flow.load({ type });
    const { payload, vehicle, topic } = await flow.ask();
    assert.deepEqual(Object.keys(payload as object).slice(0, 4), ['frontLeft', 'frontRight', 'rearLeft', 'rearRight']);
    assert.equal(vehicle?.['vin'], demoCar.vin);
    assert.equal(topic, 'windows');
  });

  it('keeps everything else of the message, a topic too', async () => {
    await load();
    const answer = await flow.ask({ topic: 'mine', payload: 'gone', extra: { deep: 1 }, _msgid: 'same' });
    assert.equal(answer['topic'], 'mine');
    assert.deepEqual(answer['extra'], { deep: 1 });
    assert.equal(answer['_msgid'], 'same');
  });

  it('keeps a VIN of digits only out of what is said, configured or sent', async () => {
    await load({}, { vin: '76543210987654321' });
    for (const msg of [{}, { vin: '12345678901234567' }]) await flow.fail(msg);
    assert.equal(redactor.text('76543210987654321 12345678901234567'), '…654321 …234567');
  });

  it('blames itself for a fault of its own, and writes the stack without secrets to the debug log', async () => {
    await load();
    const debug: string[] = [];
    flow.node('n').debug = (text: string) => void debug.push(text);
    let reads = 0;
    const broken = {
      // Node-RED copies the message for the Catch node, which reads it again.
      get read(): string {
        if (reads++ > 0) return 'windows';
        throw new TypeError(`no read for ${demoCredentials.accessToken}`);
      },
    };
    const { vehicle } = await flow.fail(broken);
    assert.equal(vehicle?.error?.['code'], 'INTERNAL');
    assert.match(String(vehicle?.error?.['message']), /A fault in this pack .*TypeError.*issues/);
    assert.match(debug.join(), /^TypeError: no read for \[secret\]\n +at /);
    assert.match(String(flow.badges.at(-1)?.text), /^internal error/);
    assert.deepEqual(
      flow.badges.map(({ code }) => code),
      ['internal'],
    );
  });

  it('takes a name in any case, and empty properties of the message for the settings of the node', async () => {
    await load({ read: 'fuelAmount' });
    assert.equal((await flow.ask({ read: ' Windows ' })).vehicle?.['read'], 'windows');
    assert.equal((await flow.ask({ read: 'ENGINE-STATUS' })).vehicle?.['read'], 'engine-status');
    assert.equal((await flow.ask({ read: '', interface: '' })).vehicle?.['read'], 'fuelAmount');
  });

  for (const [written, meant] of [
    ['windws', 'windows'],
    ['wnidows', 'windows'],
    ['battery-charge-level', 'batteryChargeLevel'],
    ['fuel_amount', 'fuelAmount'],
    ['Jornal', 'journal'],
  ] as const) {
    it(`asks whether ${written} means ${meant}`, async () => {
      await load();
      assert.equal(
        (await flow.fail({ read: written })).vehicle?.error?.['message'],
        `There is no value “${written}”. Did you mean “${meant}”?`,
      );
    });
  }

  it('suggests nothing for a word that means nothing, and shows no more than its start', async () => {
    await load();
    for (const read of ['xyzzy', 'w'.repeat(100_000), 'a\nb\u0007c']) {
      const message = String((await flow.fail({ read })).vehicle?.error?.['message']);
      assert.match(message, /^There is no value “\w{1,499}…?”\. The help of the “car status” node lists all names\.$/);
    }
  });

  for (const [where, before] of [
    ['at its start', ''],
    ['at the end of a text that is cut', 'x'.repeat(480)],
  ] as const)
    it(`shows no part of a secret that is longer than a name, ${where}`, async () => {
      const accessToken = 'a-secret-'.repeat(10);
      await load({}, {}, { ...demoCredentials, accessToken });
      const { message } = (await flow.fail({ read: `${before} ${accessToken}` })).vehicle?.error ?? {};
      assert.match(String(message), /^There is no value “x* ?\[secret\]”/);
    });

  it('begins `msg.vehicle` with what a driver wants to know', async () => {
    await load();
    assert.deepEqual(Object.keys((await flow.ask()).vehicle ?? {}).slice(0, 2), ['allClosed', 'open']);
    assert.deepEqual(Object.keys((await flow.ask({ read: 'doors' })).vehicle ?? {}).slice(0, 3), [
      'allClosed',
      'open',
      'locked',
    ]);
  });

  it('puts the place of the car into msg.location, alone or among several', async () => {
    await load();
    const one = await flow.ask({ read: 'location' });
    const { latitude, longitude } = one.payload as { latitude: number; longitude: number };
    assert.equal(typeof latitude, 'number');
    assert.deepEqual(one['location'], { lat: latitude, lon: longitude });
    assert.deepEqual((await flow.ask({ read: ['windows', 'location'] }))['location'], one['location']);
    assert.ok(flow.badges.every(({ text = '' }) => !text.includes(String(latitude).slice(0, 5))));
  });

  it('keeps msg.location of a message if the location is not read, and removes it if it is unknown', async () => {
    await load();
    assert.equal((await flow.ask({ location: 'garage' }))['location'], 'garage');
    service.faults.add({
      match: { method: 'GET', path: '/location' },
      times: 1,
      status: 200,
      body: { data: { geometry: { type: 'Point', coordinates: [200, 100] }, properties: {} } },
    });
    const { payload, location } = await flow.ask({ read: 'location', location: { lat: 1, lon: 2 } });
    assert.equal((payload as { latitude: unknown }).latitude, null);
    assert.equal(location, undefined);
  });

  for (const [read, payload, unit] of [
    ['odometer', 24817, 'kilometers'],
    ['engineRunning', false, undefined],
    ['brakeFluid', 'NORMAL', undefined],
    ['accessibility', 'AVAILABLE', undefined],
    ['windows', { frontLeft: false, frontRight: false, rearLeft: false, rearRight: true }, undefined],
    ['fuel', { fuelAmount: 38, batteryChargeLevel: null }, { fuelAmount: 'l' }],
  ] as const)
    it(`sends the value of ${read} alone if it is asked to, and its unit in msg.vehicle`, async () => {
      await load({ read, payload: 'value' });
      const answer = await flow.ask();
      assert.deepEqual(answer.payload, payload);
      assert.deepEqual(answer.vehicle?.['unit'], unit);
    });

  it('sends null for an opening whose state is unknown', async () => {
    await load({ read: 'windows', payload: 'value' });
    const body = { data: { frontLeftWindow: { value: 'OPEN' }, frontRightWindow: { value: 'UNSPECIFIED' } } };
    service.faults.add({ match: { path: '/windows' }, status: 200, body });
    const windows = { frontLeft: true, frontRight: null, rearLeft: null, rearRight: null };
    assert.deepEqual((await flow.ask()).payload, windows);
  });

  it('sends the values of several reads by their names, and whether doors are open and locked', async () => {
    await load({ read: 'several', reads: ['odometer', 'doors', 'location'], payload: 'value' });
    const { payload, location } = await flow.ask();
    const doors = { frontLeft: false, frontRight: false, rearLeft: false, rearRight: false };
    assert.deepEqual(payload, {
      odometer: 24817,
      doors: { carLocked: true, ...doors, tailGate: false, hood: false },
      location: { latitude: 57.7087, longitude: 11.9745, altitude: 12, heading: 220 },
    });
    assert.deepEqual(location, { lat: 57.7087, lon: 11.9745 });
  });

  describe('as a list', () => {
    const ask = async (names: readonly string[], car = demoCar, vehicle = {}): Promise<ListedValue[]> => {
      await service.close();
      service = await startSimulator({ cars: [car], dialect: 'real' });
      await load({ read: 'several', reads: names, payload: 'list' }, { requestsPerMinute: 1000, ...vehicle });
      // Of a node that has this option.
      return (await flow.ask()).payload as ListedValue[];
    };
    const everything: string[] = readNames.filter(
      (name) => !reads[name].routes.some(({ interface: one }) => one === 'energy-device-v1'),
    );

    it('describes each value: kind, unit, symbol and classes', async () => {
      const list = await ask(['odometer', 'fuel', 'doors', 'charging', 'engine-status', 'diagnostics'], electricCar);
      const found = (id: string): Partial<ListedValue> => {
        const { title, kind, symbol, deviceClass, stateClass, value } = list.find((one) => one.id === id) ?? {};
        return { title, kind, symbol, deviceClass, stateClass, value } as Partial<ListedValue>;
      };
      const boolean = { kind: 'boolean', symbol: null, stateClass: null };
      const expected = {
        odometer: {
          title: 'Odometer',
          kind: 'number',
          symbol: 'km',
          deviceClass: 'distance',
          stateClass: 'total_increasing',
          value: 13480,
        },
        fuel_batteryChargeLevel: {
          title: 'Battery charge level',
          kind: 'number',
          symbol: '%',
          deviceClass: 'battery',
          stateClass: 'measurement',
          value: 53,
        },
        doors_carLocked: { title: 'Car locked', ...boolean, deviceClass: 'lock', value: true },
        charging_pluggedIn: { title: 'Plugged in', ...boolean, deviceClass: 'plug', value: true },
        'engine-status_engineStatus': { title: 'Engine status', ...boolean, deviceClass: 'running', value: false },
        diagnostics_serviceWarning: {
          title: 'Service warning',
          kind: 'word',
          symbol: null,
          deviceClass: null,
          stateClass: null,
          value: 'NO_WARNING',
        },
      };
      for (const [id, one] of Object.entries(expected)) assert.deepEqual(found(id), one, id);
    });

    it('has the symbols and classes of the units of a country', async () => {
      const units = ['averageFuelConsumption', 'averageEnergyConsumption', 'fuelAmount', 'averageSpeed', 'odometer'];
      const inUnits = async (system: string): Promise<unknown[]> =>
        (await ask(units, hybridCar, { units: system })).map(({ symbol, deviceClass }) => [symbol, deviceClass]);
      const us = await inUnits('us');
      await flow.unload();
      assert.deepEqual(us, [
        ['mpg', null],
        ['mi/kWh', 'energy_distance'],
        ['gal', 'volume_storage'],
        ['mph', 'speed'],
        ['mi', 'distance'],
      ]);
      const uk = await inUnits('uk');
      assert.deepEqual(uk, [us[0], us[1], ['L', 'volume_storage'], us[3], us[4]]);
    });

    for (const car of [demoCar, electricCar])
      it(`has every value of ${car.vin} once, with classes that Home Assistant has`, async () => {
        const list = await ask(everything, car);
        assert.equal(new Set(list.map(({ id }) => id)).size, list.length);
        for (const { id, kind, symbol, deviceClass, stateClass } of list) {
          assert.match(id, /^[\w-]+$/);
          const platform = kind === 'boolean' ? 'binary_sensor' : 'sensor';
          const classes = { device_class: deviceClass, unit_of_measurement: symbol, state_class: stateClass };
          assertClasses(platform, Object.fromEntries(Object.entries(classes).filter(([, value]) => value !== null)));
        }
      });

    it('has null for what is unknown, never closed, off or 0, and the same classes', async () => {
      await load({ read: 'several', reads: ['windows', 'tyres', 'statistics'], payload: 'list' }, { shareFor: 0 });
      const before = (await flow.ask()).payload as ListedValue[];
      const unknown = {
        data: { frontLeftWindow: {}, frontLeft: { value: 'UNSPECIFIED' }, averageSpeed: { value: 'fast' } },
      };
      service.faults.add({ match: { method: 'GET' }, status: 200, body: unknown });
      for (const { id, value, deviceClass, kind } of (await flow.ask()).payload as ListedValue[]) {
        assert.equal(value, null, id);
        const { deviceClass: sameClass, kind: sameKind } = before.find((one) => one.id === id) ?? {};
        if (sameKind !== undefined) assert.deepEqual([kind, deviceClass], [sameKind, sameClass], id);
      }
    });
  });

  it('reads several, chosen in the node or by the message', async () => {
    await load({ read: 'several', reads: ['doors', 'fuelAmount'] });
    assert.deepEqual(Object.keys((await flow.ask()).payload as object), ['doors', 'fuelAmount']);
    const { payload, vehicle } = await flow.ask({ read: ['odometer', 'windows', 'odometer'] });
    assert.deepEqual(Object.keys(payload as object), ['odometer', 'windows']);
    assert.deepEqual(vehicle?.['errors'], []);
  });

  it('takes the VIN from the message, then from itself, then from the configuration', async () => {
    const other = 'YV1CT9551B1570982';
    await load({ vin: other });
    assert.equal((await flow.ask({ vin: demoCar.vin })).vehicle?.['vin'], demoCar.vin);
    assert.equal((await flow.fail()).vehicle?.error?.['code'], 'VEHICLE_NOT_LINKED');
  });

  for (const [what, msg, code] of [
    ['a VIN that is none', { vin: 'nonsense' }, 'VIN_INVALID'],
    ['a read that is none', { read: 'wheels' }, 'INPUT_INVALID'],
    ['an interface that is none', { interface: 'v3' }, 'INPUT_INVALID'],
    ['an empty list', { read: [] }, 'INPUT_INVALID'],
    ['a number as a read', { read: 10n }, 'INPUT_INVALID'],
    ['a number as a VIN', { vin: 10n }, 'VIN_INVALID'],
  ] as const) {
    it(`refuses ${what} with ${code}, and keeps working`, async () => {
      await load();
      const caught = await flow.fail({ ...msg, keep: 1 });
      assert.equal(caught.vehicle?.error?.['code'], code);
      assert.equal((caught['error'] as Record<string, unknown>)['code'], code);
      assert.equal(caught['keep'], 1);
      assert.equal(service.requests.length, 0);
      assert.ok(flow.badges.some(({ fill }) => fill === 'red'));
      assert.ok((await flow.ask()).payload);
    });
  }

  for (const [what, config, vehicle, credentials, code] of [
    ['no vehicle', { vehicle: '' }, {}, demoCredentials, 'CONFIG'],
    ['a vehicle that is not there', { vehicle: 'gone' }, {}, demoCredentials, 'CONFIG'],
    ['a base URL in the clear off this machine', {}, { baseUrl: 'http://car.example' }, demoCredentials, 'CONFIG'],
    ['no base URL', {}, { baseUrl: '' }, demoCredentials, 'CONFIG'],
    ['no API key', {}, {}, { accessToken: 'x' }, 'CONFIG'],
    ['no token', {}, {}, { apiKey: 'x' }, 'TOKEN_MISSING'],
    ['a token with a line break', {}, {}, { apiKey: 'x', accessToken: 'a\nb' }, 'CONFIG'],
    ['an odd property', { emit: 'sometimes' }, {}, demoCredentials, 'CONFIG'],
    ['a poll without a pause', { poll: 0.001 }, {}, demoCredentials, 'CONFIG'],
  ] as const) {
    it(`answers with ${code} while there is ${what}`, async () => {
      await load(config, vehicle, credentials);
      assert.equal((await flow.fail()).vehicle?.error?.['code'], code);
      assert.equal(service.requests.length, 0);
    });
  }

  it('takes flags and spaces as the environment gives them', async () => {
    await flow.load({ type }, { service: 'demo', readOnly: 'true', vin: '  ' });
    assert.equal((await flow.ask()).vehicle?.['vin'], demoCar.vin);
  });

  it('keeps its status short for any word of the service', async () => {
    service.faults.add({ words: 'x'.repeat(5000) });
    await load({ read: 'oilLevel' });
    await flow.ask();
    assert.ok(flow.badges.every(({ text = '' }) => text.length <= 80));
  });

  it('shows that it reads, then what it read', async () => {
    service
      .car()
      .set({ windows: { frontLeft: 'CLOSED', frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED' } });
    await load();
    await flow.ask();
    await flow.until(() => flow.badges.length >= 2);
    assert.deepEqual(
      flow.badges.map(({ fill }) => fill),
      ['blue', 'green'],
    );
  });

  it('shows once that it reads, however many messages wait for it', async () => {
    await load();
    for (let i = 0; i < 3; i += 1) flow.send({ i });
    await flow.until(() => flow.completed.length === 3);
    assert.deepEqual(
      flow.badges.map(({ fill }) => fill).filter((fill) => fill === 'blue'),
      ['blue'],
    );
  });

  it('reports success alone to a Complete node', async () => {
    await load();
    await flow.ask();
    await flow.until(() => flow.completed.length === 1);
    await flow.fail({ vin: 'x' });
    await flow.ask();
    await flow.until(() => flow.completed.length === 2);
  });

  it('takes the interface of a message in any case', async () => {
    await load();
    for (const written of ['V1', ' v1 ', 'v1'])
      assert.equal((await flow.ask({ interface: written })).vehicle?.['interface'], 'connected-v1', written);
  });

  it('says what a missing position can mean', async () => {
    service.faults.add({ match: { path: '/location' }, status: 404 });
    await load({ read: 'location' });
    const { vehicle } = await flow.fail();
    assert.equal(vehicle?.error?.['code'], 'NOT_SUPPORTED');
    assert.match(String(vehicle?.error?.['message']), /has no position of this car.*car’s market/);
  });

  it('emits only what changed, if that is chosen', async () => {
    await load({ emit: 'changes' });
    await flow.ask();
    service.car().report();
    for (let i = 0; i < 3; i += 1) flow.send({ i });
    await flow.until(() => flow.completed.length === 4);
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await flow.ask({ read: 'doors' });
    assert.equal(flow.outputs[0]?.length, 2);
  });

  it('holds a change back until a deploy is over, because the next node may be closed', async () => {
    await load({ emit: 'changes' });
    await flow.ask();
    const endDeploy = await flow.beginDeploy();
    flow.send({ read: 'doors' });
    await flow.until(() => flow.badges.some(({ text = '' }) => text.includes('locked')));
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(flow.outputs[0]?.length, 1);
    await endDeploy();
    await flow.until(() => flow.outputs[0]?.length === 2);
  });

  it('polls automatically, and when a poll fails, keeps the last value and shows the failure', async () => {
    const clock = new ManualClock(Date.now());
    useClock(clock);
    await load({ poll: 60 });
    await clock.whenSleeping();
    await clock.advance(10_000);
    const first = await flow.until(() => flow.outputs[0]?.[0]);
    assert.equal(first.vehicle?.['source'], 'live');
    service.faults.add({ error: 'not-supported' });
    // The first poll comes out of turn, the second in its turn.
    await clock.advanceUntil(() => flow.outputs[0]?.[1] !== undefined, 1_000);
    const kept = await flow.until(() => flow.outputs[0]?.[1]);
    assert.equal(kept.vehicle?.['source'], 'kept');
    assert.deepEqual(kept.payload, first.payload);
    // Half an interval after the first poll at the earliest, whose answer may have
    // come up to 10 s later.
    assert.ok((kept.vehicle?.['ageSeconds'] as number) >= 20);
    await flow.until(() => flow.caught.length > 0);
    await flow.until(() =>
      flow.badges.some(
        ({ fill, text = '' }) => fill === 'red' && /^not supported · last known value, (\d+ s|1 min) old$/.test(text),
      ),
    );
    await flow.fail({ read: 'windows' });
    await flow.until(() => flow.badges.some(({ text = '' }) => /^not supported · \d\d:\d\d$/.test(text)));
    await flow.unload();
    assert.equal(clock.sleeping, 0);
  });

  it('sends no change if reads of several values fail and work again, and keeps the last value of each', async () => {
    const clock = new ManualClock(Date.now());
    useClock(clock);
    service.car().set({ windows: { rearRight: 'CLOSED' } });
    await load({ read: 'several', reads: ['doors', 'windows'], poll: 60, emit: 'changes' });
    const turns = async (count: number): Promise<void> => {
      const before = flow.completed.length + flow.caught.length;
      await clock.advanceUntil(() => flow.completed.length + flow.caught.length >= before + count, 5_000);
    };
    await turns(2);
    for (let i = 0; i < 2; i += 1) {
      service.faults.add({ match: { path: '/windows' }, status: 404, body: {} });
      await turns(1);
      service.faults.clear();
      await turns(1);
    }
    assert.equal(flow.outputs[0]?.length, 1);
    service
      .car()
      .set({ windows: { frontLeft: 'OPEN' } })
      .report();
    await turns(1);
    assert.equal(flow.outputs[0]?.length, 2);
  });

  it('keeps its own interval, also after a message that asks by another interface', async () => {
    const clock = new ManualClock(Date.now());
    useClock(clock);
    await load({ read: 'doors', poll: 60 }, { polling: 'adaptive' });
    const polledFor = async (minutes: number): Promise<number> => {
      const before = flow.outputs[0]?.length ?? 0;
      await clock.advanceInSteps(minutes * 60_000, 5_000);
      return (flow.outputs[0]?.length ?? 0) - before;
    };
    await polledFor(3);
    service.faults.add({ match: { path: '/v1/' }, status: 404, body: {} });
    await flow.fail({ interface: 'v1' });
    // The answer of a poll may come before or after a boundary of the ten minutes.
    const polls = await polledFor(10);
    assert.ok(polls >= 9 && polls <= 11, String(polls));
    service.faults.add({ match: { path: '/v2/' }, status: 403, body: '<html>blocked</html>', times: 1 });
    assert.ok((await polledFor(10)) >= 9);
    await flow.unload();
  });

  for (const poll of [4, 5]) {
    it(`asks the service at each turn of a poll every ${poll} seconds, though answers serve others for five`, async () => {
      const clock = new ManualClock(Date.now());
      useClock(clock);
      await load({ poll });
      const isReading = (): boolean => flow.badges.at(-1)?.code === 'reading';
      while ((flow.outputs[0]?.length ?? 0) < 6) {
        await clock.advanceInSteps(100, 100);
        // No time passes while a read is in progress: the next poll would join it.
        await flow.until(() => !isReading());
      }
      assert.deepEqual([...new Set(flow.outputs[0]?.map(({ vehicle }) => vehicle?.['source']))], ['live']);
    });
  }

  it('ends what is in progress when it is closed', async () => {
    await load();
    service.faults.add({ latencyMs: 1e9 });
    flow.send();
    await flow.until(() => flow.badges.length > 0);
    await flow.unload();
  });

  it('reads the journal of the account without a request, also after a restart, and empties it when told to', async () => {
    const sendLock = async (): Promise<void> => {
      const { dispatcher } = await (flow.node('v') as unknown as { account(): Promise<Account> }).account();
      await dispatcher.send('lock', { vin: service.car().vin, interface: 'v1', sentBy: 'Everybody left' });
    };
    await load({ read: 'journal' });
    assert.deepEqual((await flow.ask()).payload, []);
    await sendLock();
    await flow.unload();
    flow.outputs = [[], []];
    await load({ read: 'journal' });
    service.clearRequests();
    const { payload, vehicle, topic } = await flow.ask();
    assert.equal((payload as JournalEntry[])[0]?.sentBy, 'Everybody left');
    assert.equal((payload as JournalEntry[])[0]?.command, 'lock');
    assert.deepEqual([vehicle?.['read'], vehicle?.['source'], topic], ['journal', 'live', 'journal']);
    const folder = join(flow.userDir, 'connected-vehicle', 'state', 'command');
    assert.equal(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777, 0o600);
    assert.deepEqual((await flow.ask({ clear: true })).payload, []);
    assert.deepEqual((await flow.ask({ read: 'journal' })).payload, []);
    assert.equal(service.requests.length, 0);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('reads the journal by a name with spaces around it, and lists it if the name of a read is unknown', async () => {
    await load();
    const { payload, vehicle } = await flow.ask({ read: ' journal ' });
    assert.deepEqual([payload, vehicle?.['read']], [[], 'journal']);
    assert.match(
      String((await flow.fail({ read: ['windows', 'journl'] })).vehicle?.error?.['message']),
      /Did you mean “journal”\?/,
    );
  });

  it('reads the journal beside others, and alone without a vehicle or a request', async () => {
    await load({ read: 'several', reads: ['journal', 'windows'] });
    const both = await flow.ask();
    assert.deepEqual(Object.keys(both.payload as object), ['journal', 'windows']);
    assert.deepEqual((both.payload as Record<string, unknown>)['journal'], []);
    assert.deepEqual(
      [both.vehicle?.['vin'], both.vehicle?.['interface'], both.vehicle?.['errors']],
      [service.car().vin, 'connected-v2', []],
    );
    assert.match(JSON.stringify(both.vehicle?.['reads']), /"journal":\{"vin":null,"read":"journal","interface":null/);
    service.clearRequests();
    const alone = await flow.ask({ read: ['journal'], vin: 'none' });
    assert.deepEqual([alone.payload, alone.vehicle?.['vin'], alone['topic']], [{ journal: [] }, null, 'several']);
    assert.equal(service.requests.length, 0);
  });

  for (const config of [{ read: 'journal' }, { read: 'several', reads: ['journal'] }]) {
    it(`polls the journal without a request and sends what changed (${config.read})`, async () => {
      const clock = new ManualClock(Date.now());
      useClock(clock);
      await load({ ...config, poll: 60, emit: 'changes' }, { vin: '' });
      const { dispatcher } = await (flow.node('v') as unknown as { account(): Promise<Account> }).account();
      await clock.whenSleeping();
      await clock.advance(10_000);
      await flow.until(() => flow.outputs[0]?.length === 1 && flow.completed.length === 1);
      await clock.advance(180_000);
      await flow.until(() => flow.completed.length >= 3);
      assert.equal(flow.outputs[0]?.length, 1);
      const { id } = await dispatcher.send('flash', { vin: service.car().vin, interface: 'v1' });
      await clock.advance(60_000);
      const { payload } = await flow.until(() => flow.outputs[0]?.[1]);
      assert.match(JSON.stringify(payload), new RegExp(`"id":"${id}"`));
      assert.deepEqual(
        service.requests.map(({ method }) => method),
        ['POST'],
      );
      assert.deepEqual(flow.caught, []);
    });
  }

  it('polls the list of vehicles again and again, though no VIN is known', async () => {
    const clock = new ManualClock(Date.now());
    useClock(clock);
    await load({ read: 'vehicles', poll: 60 }, { vin: '' });
    await clock.advanceUntil(() => flow.outputs[0]?.[2] !== undefined);
  });

  for (const poll of ['often', 0.5, -5]) {
    it(`says without a message that it cannot poll every “${poll}” seconds`, async () => {
      await load({ poll });
      const { vehicle } = await flow.until(() => flow.caught[0]);
      assert.equal(vehicle?.error?.['code'], 'CONFIG');
      assert.match(String(vehicle?.error?.['message']), /“poll”/);
    });
  }

  for (const [config, vehicle, code] of [
    [{ read: 'wheels' }, {}, 'INPUT_INVALID'],
    [{ read: 'several', reads: [] }, {}, 'INPUT_INVALID'],
    [{ read: 'several', reads: ['doors'] }, { vin: '' }, 'VIN_INVALID'],
  ] as const) {
    it(`says why it cannot poll ${JSON.stringify(config)}`, async () => {
      await load({ ...config, poll: 60 }, vehicle);
      assert.equal((await flow.until(() => flow.caught[0])).vehicle?.error?.['code'], code);
    });
  }
});
