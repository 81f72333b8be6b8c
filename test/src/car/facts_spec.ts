import { strict as assert } from 'node:assert';
import { MemoryStateStore, type Reading } from '../../../src/index';
import { startSimulator, type Simulator } from '../../../src/simulator/index';
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

  it('is reported to observers with an absent sunroof', async () => {
    const car = service.car();
    car.set({ windows: { sunroof: 'UNSPECIFIED' } as never });
    const observed: unknown[] = [];
    const observer = {
      observe: (_read: string, _vin: string, { vehicle }: Reading) => void observed.push(vehicle.absent),
      commandSent: () => undefined,
    };
    const { client } = openTestAccount(service, { shareForMs: 0, observer });
    await client.read('windows', { vin: car.vin, interface: 'v2' });
    assert.deepEqual(observed, [['sunroof']]);
  });

  it('has an unknown sunroof while its other windows are unknown, too', async () => {
    assert.deepEqual(await windows('UNSPECIFIED', 'UNSPECIFIED'), {
      unknown: ['frontLeft', 'sunroof'],
      absent: undefined,
      allClosed: null,
    });
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
      service.car().set({ overrides: { 'windows.sunroof': override, 'doors.tankLid': override } });
      const { windows, doors } = reads();
      const [{ unknown, allClosed }, lid] = [await windows(), await doors()];
      assert.deepEqual({ unknown, allClosed }, { unknown: ['sunroof'], allClosed: null });
      assert.deepEqual({ unknown: lid.unknown, allClosed: lid.allClosed }, { unknown: ['tankLid'], allClosed: null });
    });
});

describe('The facts about a car', () => {
  const vin = 'YV4952NA4F120DEMO';

  it('are neither guessed nor overwritten while the store cannot be read, and stored together with what it has afterwards', async () => {
    const store = new MemoryStateStore();
    await new CarFacts(store).learnFitted(vin, 'sunroof');
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

  it('keep the fuel type that another account learned while this one asked in vain', async () => {
    const store = new MemoryStateStore();
    const facts = new CarFacts(store);
    let answer: (fuelType: string | null) => void = () => assert.fail();
    const inVain = facts.fuelType(vin, () => new Promise((resolve) => (answer = resolve)));
    assert.equal(await facts.fuelType(vin, () => Promise.resolve('PETROL')), 'PETROL');
    answer(null);
    assert.equal(await inVain, 'PETROL');
    assert.equal(await facts.fuelType(vin, () => assert.fail('asked again')), 'PETROL');
  });

  it('are kept of the last 1,000 cars, in memory and in the store', async () => {
    const store = new MemoryStateStore();
    const facts = new CarFacts(store);
    const name = (i: number): string => `VIN${i}`;
    for (let i = 0; i < 1_200; i += 1) await facts.learnFitted(name(i), 'sunroof');
    assert.equal((await store.entries('car/')).length, 1_000);
    const restarted = new CarFacts(store);
    await restarted.learnFitted('ANOTHER', 'sunroof');
    assert.equal((await store.entries('car/')).length, 1_000);
    for (const [i, isKnown] of [
      [0, false],
      [1_199, true],
    ] as const)
      assert.equal(await restarted.isFitted(name(i), 'sunroof'), isKnown, name(i));
  });
});
