import { strict as assert } from 'node:assert';
import { MemoryStateStore, type ReadName } from '../../../src/index';
import { countWrites } from '../../support/count-writes';
import { startSimulator, type Simulator } from '../../support/simulator';
import { CarFacts } from '../../../src/car/facts';
import { closeAccounts, openTestAccount } from '../../support/account';

describe('A car without a sunroof', () => {
  let service: Simulator;
  const store = new MemoryStateStore();
  /** As after a restart: nothing is remembered but what is stored. */
  const restarted = async (): Promise<MemoryStateStore> => {
    const copy = new MemoryStateStore();
    for (const { key, value } of await store.entries('car/')) await copy.write(key, value);
    return copy;
  };
  const windows = async (sunroof: string | null, others = 'CLOSED', from = store) => {
    const car = service.car();
    car.set({
      windows: { frontLeft: others, frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', sunroof } as never,
    });
    const { client } = openTestAccount(service, { shareForMs: 0, store: from });
    const { unknown, absent, allClosed } = (await client.read('windows', { vin: car.vin, interface: 'v2' })).vehicle;
    return { unknown, absent, allClosed };
  };

  before(async () => {
    service = await startSimulator({ dialect: 'real' });
  });
  afterEach(closeAccounts);
  after(() => service.close());

  it('has an absent sunroof, and all its windows can be closed', async () => {
    assert.deepEqual(await windows('UNSPECIFIED'), { unknown: [], absent: ['sunroof'], allClosed: true });
  });

  it('has one as soon as its state was known once, also after a restart', async () => {
    assert.deepEqual(await windows('CLOSED'), { unknown: [], absent: undefined, allClosed: true });
    const unknown = { unknown: ['sunroof'], absent: undefined, allClosed: null };
    assert.deepEqual(await windows('UNSPECIFIED'), unknown);
    assert.deepEqual(await windows('UNSPECIFIED', 'CLOSED', await restarted()), unknown);
  });
});

describe('An opening that the car was known to have', () => {
  let service: Simulator;
  const store = new MemoryStateStore();
  before(async () => {
    service = await startSimulator({ dialect: 'real' });
    const { windows, doors } = reads();
    service.car().set({ windows: { rearRight: 'CLOSED', sunroof: 'CLOSED' } });
    assert.deepEqual([(await windows()).unknown, (await doors()).unknown], [[], []]);
  });
  afterEach(closeAccounts);
  after(() => service.close());

  const reads = () => {
    const { client } = openTestAccount(service, { shareForMs: 0, store });
    const options = { vin: service.car().vin, interface: 'v2' } as const;
    return {
      windows: async () => (await client.read('windows', options)).vehicle,
      doors: async () => (await client.read('doors', options)).vehicle,
    };
  };

  for (const [what, override] of [
    ['is missing', 'missing'],
    ['has no value', { json: { timestamp: '2026-11-22T10:00:00Z' } }],
    ['is no object', { json: 'CLOSED' }],
  ] as const)
    it(`is unknown in an answer in which it ${what}`, async () => {
      service.faults.clear();
      service.faults.add({ match: { path: '/windows' }, members: { 'data.sunroof': override } });
      service.faults.add({ match: { path: '/doors' }, members: { 'data.tankLid': override } });
      const { windows, doors } = reads();
      const [{ unknown, allClosed }, lid] = [await windows(), await doors()];
      assert.deepEqual({ unknown, allClosed }, { unknown: ['sunroof'], allClosed: null });
      assert.deepEqual({ unknown: lid.unknown, allClosed: lid.allClosed }, { unknown: ['tankLid'], allClosed: null });
    });
});

describe('The facts about a car', () => {
  const withSunroof = { sunroof: { value: 'CLOSED' } };
  const vin = 'YV4952NA4F120DEMO';

  it('are neither guessed nor overwritten while the store cannot be read, and stored together with what it has afterwards', async () => {
    const store = new MemoryStateStore();
    await new CarFacts(store).observe(vin, 'windows', withSunroof, 0);
    let isReadable = false;
    const fickle = {
      read: (key: string) => (isReadable ? store.read(key) : Promise.reject(new Error('not readable'))),
      write: store.write.bind(store),
      remove: store.remove.bind(store),
      entries: store.entries.bind(store),
    };
    const facts = new CarFacts(fickle);
    assert.equal(await facts.isFitted(vin, 'sunroof'), null);
    assert.equal(await facts.fuelType(vin, () => Promise.resolve('ELECTRIC')), 'ELECTRIC');
    assert.equal(await facts.fuelType(vin, () => assert.fail('asked again')), 'ELECTRIC');
    assert.equal(await new CarFacts(store).isFitted(vin, 'sunroof'), true);
    isReadable = true;
    assert.equal(await facts.isFitted(vin, 'sunroof'), true);
    assert.equal(await facts.isFitted(vin, 'tankLid'), false);
    const restarted = new CarFacts(store);
    assert.equal(await restarted.isFitted(vin, 'sunroof'), true);
    assert.equal(await restarted.fuelType(vin, () => Promise.resolve(null)), 'ELECTRIC');
  });

  it('are kept of the last 1,000 cars, in memory and in the store', async () => {
    const store = new MemoryStateStore();
    const facts = new CarFacts(store);
    const name = (i: number): string => `VIN${i}`;
    for (let i = 0; i < 1_200; i += 1) await facts.observe(name(i), 'windows', withSunroof, 0);
    assert.equal((await store.entries('car/')).length, 1_000);
    const restarted = new CarFacts(store);
    await restarted.observe('ANOTHER', 'windows', withSunroof, 0);
    assert.equal((await store.entries('car/')).length, 1_000);
    for (const [i, isKnown] of [
      [0, false],
      [1_199, true],
    ] as const)
      assert.equal(await restarted.isFitted(name(i), 'sunroof'), isKnown, name(i));
  });
});

describe('What a car has', () => {
  const vin = 'YV4952NA4F120DEMO';
  const now = Date.parse('2026-11-22T10:00:00Z');
  const member = (value: unknown): object => ({ value });
  let store: MemoryStateStore;
  let facts: CarFacts;
  beforeEach(() => {
    store = new MemoryStateStore();
    facts = new CarFacts(store);
  });
  const observe = async (read: ReadName, payload: unknown): Promise<void> => facts.observe(vin, read, payload, now);
  const learned = async (from = facts) => (await from.known(vin, now)).equipment;

  it('is learned from its values, and nothing is learned from an unknown value or from 0; it outlives a restart', async () => {
    await observe('odometer', member(null));
    await observe('fuelAmount', member(0));
    await observe('windows', { frontLeft: member('UNSPECIFIED') });
    assert.deepEqual(await learned(), {});
    await observe('odometer', member(24_817));
    await observe('engineRunning', member(false));
    await observe('windows', { frontLeft: member('CLOSED') });
    await observe('charging', {
      batteryChargeLevel: member(62),
      chargingPower: { value: null, reason: 'NOT_SUPPORTED' },
      chargingType: { value: null, reason: 'PROPERTY_NOT_FOUND' },
    });
    await facts.lacks(vin, 'location');
    const known = {
      odometer: true,
      engineRunning: true,
      windows: true,
      charging: true,
      batteryChargeLevel: true,
      chargingPower: false,
      location: false,
    };
    assert.deepEqual(await learned(), known);
    assert.deepEqual(await learned(new CarFacts(store)), known);
    await observe('location', { latitude: 57.7, longitude: 11.9 });
    await facts.lacks(vin, 'location');
    assert.equal((await learned()).location, true);
  });

  it('is what was read: a list that is not empty, and members of the charging state, but of no other group', async () => {
    await observe('commands', []);
    assert.deepEqual(await learned(), {});
    await observe('commands', [{ command: 'lock' }]);
    await observe('statistics', { distanceToEmptyTank: member(480) });
    await observe('charging', { newMember: member(1) });
    assert.deepEqual(await learned(), { commands: true, statistics: true, charging: true });
  });

  it('has no value of the battery if it has neither charge level nor range', async () => {
    const notSupported = { value: null, reason: 'NOT_SUPPORTED' };
    await observe('distanceToEmptyBattery', member(48));
    await observe('charging', { batteryChargeLevel: notSupported });
    assert.equal((await learned()).averageEnergyConsumption, undefined, 'it may have a range');
    await observe('charging', { batteryChargeLevel: notSupported, electricRange: notSupported });
    const { charging, averageEnergyConsumption, distanceToEmptyBattery } = await learned();
    assert.deepEqual([charging, averageEnergyConsumption, distanceToEmptyBattery], [false, false, true]);
  });
});

describe('The last seven days of a car', () => {
  const vin = 'YV4952NA4F120DEMO';
  const start = Date.parse('2026-11-22T10:00:00Z');
  const minute = 60_000;
  const hour = 60 * minute;
  const day = 24 * hour;
  let store: MemoryStateStore;
  let facts: CarFacts;
  let writes: () => number;
  beforeEach(() => {
    store = new MemoryStateStore();
    facts = new CarFacts(store);
    writes = countWrites(store);
  });
  const level = async (value: unknown, now: number): Promise<void> =>
    facts.observe(vin, 'batteryChargeLevel', { value, timestamp: '2071-01-01T00:00:00Z' }, now);
  const line = async (now: number, from = facts) => (await from.known(vin, now)).lines.batteryChargeLevel;

  it('are the last value of each hour in which one was read, of single values and of groups', async () => {
    await level(80, start);
    await level(79.04, start + 59 * minute);
    await facts.observe(
      vin,
      'charging',
      { batteryChargeLevel: { value: 60 }, electricRange: { value: 210 } },
      start + hour,
    );
    await facts.observe(vin, 'windows', { frontLeft: { value: 'OPEN' } }, start + 2 * hour);
    const { lines } = await facts.known(vin, start + 2 * hour);
    assert.deepEqual(lines, {
      batteryChargeLevel: [
        [start, 79],
        [start + hour, 60],
      ],
      electricRange: [[start + hour, 210]],
    });
  });

  it('are written once an hour, however often a flow reads, and outlive a restart', async () => {
    for (let at = start; at < start + 3 * hour; at += minute) await level(50, at);
    assert.equal(writes(), 3);
    assert.deepEqual(await line(start + 3 * hour, new CarFacts(store)), [
      [start, 50],
      [start + hour, 50],
      [start + 2 * hour, 50],
    ]);
  });

  it('have no value that is unknown, negative, infinite or no number', async () => {
    for (const value of [null, undefined, '70', -1, Infinity, NaN, 10_000, {}]) await level(value, start);
    assert.equal(await line(start), undefined);
  });

  it('survive a clock that is wrong for a while, in both directions, and leave out what was read meanwhile', async () => {
    await level(80, start);
    await level(1, 0);
    await level(2, start + 365 * day);
    assert.deepEqual(await line(start + 365 * day), [[start + 365 * day, 2]]);
    await level(70, start + hour);
    assert.deepEqual(await line(start + hour), [
      [start, 80],
      [start + hour, 70],
    ]);
  });
});

describe('What one answer shows', () => {
  it('is stored in one write: what the car has, and its states', async () => {
    const service = await startSimulator({ dialect: 'real' });
    const store = new MemoryStateStore();
    const writes = countWrites(store, 'car/');
    const { vin } = service.car();
    const { client } = openTestAccount(service, { store });
    await client.read('doors', { vin, interface: 'v2' });
    await closeAccounts();
    await service.close();
    const facts = new CarFacts(store);
    assert.equal(await facts.isFitted(vin, 'tankLid'), true);
    assert.deepEqual(
      (await facts.statesOf(vin, 'doors.allClosed')).map(({ value }) => value),
      [true],
    );
    assert.equal(writes(), 1);
  });
});

describe('A stored record of a car that is not one', () => {
  for (const stored of ['text', 7, null, [], { equipment: 'x', events: [1], history: {} }])
    it(`means that nothing is known, and is replaced: ${JSON.stringify(stored)}`, async () => {
      const vin = 'ABC12345678901234';
      const store = new MemoryStateStore();
      await new CarFacts(store).lacks(vin, 'odometer');
      const [{ key } = { key: '' }] = await store.entries('car/');
      await store.write(key, stored);
      const facts = new CarFacts(store);
      assert.deepEqual((await facts.known(vin)).equipment, {});
      await facts.observe(vin, 'windows', { sunroof: { value: 'OPEN' } });
      assert.equal(await new CarFacts(store).isFitted(vin, 'sunroof'), true);
    });
});
