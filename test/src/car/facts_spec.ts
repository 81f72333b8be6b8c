import { strict as assert } from 'node:assert';
import { MemoryStateStore, type Reading, type ReadName } from '../../../src/index';
import type { StateStore } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
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

  it('has an unknown sunroof while its other windows are also unknown', async () => {
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

describe('A state of the sunroof', () => {
  it('proves that the car has one if it is a word other than UNSPECIFIED', async () => {
    for (const [value, isFitted] of [
      ['NEW_WORD', true],
      ['UNSPECIFIED', false],
      [null, false],
      [undefined, false],
      [true, false],
    ] as const) {
      const facts = new CarFacts(new MemoryStateStore());
      await facts.observe('ABC12345678901234', 'windows', { sunroof: { value } });
      assert.equal(await facts.isFitted('ABC12345678901234', 'sunroof'), isFitted, String(value));
    }
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

  it('keep the fuel type that another account learned while this one got no answer', async () => {
    const store = new MemoryStateStore();
    const facts = new CarFacts(store);
    let answer: (fuelType: string | null) => void = () => assert.fail();
    const unanswered = facts.fuelType(vin, () => new Promise((resolve) => (answer = resolve)));
    assert.equal(await facts.fuelType(vin, () => Promise.resolve('PETROL')), 'PETROL');
    answer(null);
    assert.equal(await unanswered, 'PETROL');
    assert.equal(await facts.fuelType(vin, () => assert.fail('asked again')), 'PETROL');
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

  it('is asked for its fuel type again at the next use where nobody answered', async () => {
    assert.equal(await facts.fuelType(vin, () => Promise.resolve(undefined)), null);
    assert.equal(await facts.fuelType(vin, () => Promise.resolve('DIESEL')), 'DIESEL');
  });

  it('has no value of the battery where it has neither charge level nor range', async () => {
    const notSupported = { value: null, reason: 'NOT_SUPPORTED' };
    await observe('distanceToEmptyBattery', member(48));
    await observe('charging', { batteryChargeLevel: notSupported });
    assert.equal((await learned()).averageEnergyConsumption, undefined, 'it may have a range');
    await observe('charging', { batteryChargeLevel: notSupported, electricRange: notSupported });
    const { charging, averageEnergyConsumption, distanceToEmptyBattery } = await learned();
    assert.deepEqual([charging, averageEnergyConsumption, distanceToEmptyBattery], [false, false, true]);
  });
});

describe('What two Node-REDs on one store know of a car', () => {
  const vin = 'YV4952NA4F120DEMO';
  const minute = 60_000;
  const lamp = (name: string): object => ({ [name]: { value: 'NO_WARNING', unit: null, timestamp: null } });

  it('is stored of both, each time in one write', async () => {
    const memory = new MemoryStateStore();
    let writes = 0;
    const store: StateStore = {
      read: (key) => memory.read(key),
      remove: (key, condition) => memory.remove(key, condition),
      entries: (prefix) => memory.entries(prefix),
      async write(key, value, condition) {
        const version = await memory.write(key, value, condition);
        if (version !== null) writes += 1;
        return version;
      },
    };
    const clock = new ManualClock();
    const [one, other] = [new CarFacts(store, clock), new CarFacts(store, clock)];
    const see = async (facts: CarFacts, value: string): Promise<void> => {
      await clock.advance(5 * minute);
      await facts.see(vin, [['chargingStatus', value, null]], { receivedAt: clock.now(), skewMs: 0 });
    };
    await see(one, 'IDLE');
    await see(other, 'IDLE');
    assert.equal(writes, 2);
    await one.observe(vin, 'warnings', lamp('brakeLightLeftWarning'));
    await other.observe(vin, 'warnings', lamp('brakeLightRightWarning'));
    await one.addEvents(vin, [{ at: '1', text: 'one' }]);
    await other.addEvents(vin, [{ at: '2', text: 'other' }]);
    await see(one, 'CHARGING');
    await see(other, 'DONE');
    assert.equal(writes, 8);
    await see(one, 'CHARGING');
    await Promise.all([one.flush(), other.flush()]);
    const fresh = new CarFacts(store, clock);
    const { equipment, events } = await fresh.known(vin);
    assert.deepEqual(
      ['warnings.brakeLightLeftWarning', 'warnings.brakeLightRightWarning'].map(
        (name) => Object.entries(equipment).find(([key]) => key === name)?.[1],
      ),
      [true, true],
    );
    assert.deepEqual(events.map(({ text }) => text).toSorted(), ['one', 'other']);
    const runs = (await fresh.statesOf(vin, 'chargingStatus')).map(({ value }) => value);
    assert.deepEqual(runs, ['IDLE', 'CHARGING', 'DONE', 'CHARGING']);
  });

  it('has the last 20 events of both, also if one still knows events that the other dropped', async () => {
    const store = new MemoryStateStore();
    const clock = new ManualClock();
    const [one, other] = [new CarFacts(store, clock), new CarFacts(store, clock)];
    const at = (n: number): string => new Date(n * minute).toISOString();
    const add = (facts: CarFacts, from: number, count: number): Promise<void> =>
      facts.addEvents(
        vin,
        Array.from({ length: count }, (_, n) => ({ at: at(from + n), text: String(from + n) })),
      );
    await add(one, 1, 20);
    await add(other, 21, 10);
    await add(one, 31, 1);
    const { events } = await new CarFacts(store, clock).known(vin);
    assert.deepEqual(
      events.map(({ text }) => Number(text)),
      Array.from({ length: 20 }, (_, n) => 12 + n),
    );
  });

  it('keeps the newest events and hours, if one of them reads again after a pause of a week', async () => {
    const store = new MemoryStateStore();
    const clock = new ManualClock();
    const [one, other] = [new CarFacts(store, clock), new CarFacts(store, clock)];
    const readHours = async (facts: CarFacts, hours: number, name: string): Promise<void> => {
      for (let hour = 1; hour <= hours; hour += 1) {
        await clock.advance(60 * minute);
        await facts.observe(vin, 'batteryChargeLevel', { value: 50, unit: '%', timestamp: null });
        const at = new Date(clock.now()).toISOString();
        if (hour > hours - 20) await facts.addEvents(vin, [{ at, text: `${name} ${hour}` }]);
      }
    };
    await readHours(one, 168, 'one');
    await readHours(other, 168, 'other');
    await readHours(one, 2, 'again');
    const { events, lines } = await new CarFacts(store, clock).known(vin);
    assert.deepEqual([events[0]?.text, events.at(-1)?.text, events.length], ['other 151', 'again 2', 20]);
    assert.equal(lines.batteryChargeLevel?.length, 168);
  });

  it('has at most 200 names of warnings', async () => {
    const store = new MemoryStateStore();
    const both = [new CarFacts(store), new CarFacts(store)];
    for (const [index, facts] of both.entries()) {
      await facts.known(vin);
      const lamps = Array.from({ length: 150 }, (_, lamp) => lamp + index * 100);
      await facts.observe(vin, 'warnings', Object.assign({}, ...lamps.map((number) => lamp(`lamp${number}Warning`))));
    }
    const { equipment } = await new CarFacts(store).known(vin);
    assert.equal(Object.keys(equipment).filter((name) => name.startsWith('warnings.')).length, 200);
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
  let writes: number;
  beforeEach(() => {
    store = new MemoryStateStore();
    facts = new CarFacts(store);
    writes = 0;
    const write = store.write.bind(store);
    store.write = (...parameters) => {
      writes += 1;
      return write(...parameters);
    };
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
    assert.equal(writes, 3);
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

  it('end seven days ago, and take less than 8 KB', async () => {
    for (let at = start; at <= start + 10 * day; at += hour)
      for (const read of ['batteryChargeLevel', 'fuelAmount', 'electricRange', 'distanceToEmpty'] as const)
        await facts.observe(vin, read, { value: 9_999.94 }, at);
    const points = (await line(start + 10 * day)) ?? [];
    assert.equal(points.length, 7 * 24);
    assert.deepEqual([points[0]?.[0], points.at(-1)?.[0]], [start + 3 * day + hour, start + 10 * day]);
    await level(1, start + 10 * day + 2 * hour);
    assert.equal((await line(start + 10 * day + 2 * hour))?.length, 7 * 24 - 1);
    const [entry] = await store.entries('car/');
    assert.ok(JSON.stringify(entry?.value).length < 8_192, `${JSON.stringify(entry?.value).length} bytes`);
  });

  it('are in the order of time, also where the clock was set meanwhile, and 0 is a value', async () => {
    await level(50, start + 2 * hour);
    await level(0, start);
    await level(25, start + hour);
    assert.deepEqual(await line(start + 3 * hour), [
      [start, 0],
      [start + hour, 25],
      [start + 2 * hour, 50],
    ]);
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

  const eventAt = (n: number) => ({ at: new Date(start + n * minute).toISOString(), text: `${n} ${'x'.repeat(200)}` });

  it('have the last 20 events, each cut to 100 characters, and keep them over a restart', async () => {
    for (let n = 0; n < 25; n += 1) await facts.addEvents(vin, [eventAt(n)]);
    const { events } = await new CarFacts(store).known(vin, start + hour);
    assert.deepEqual([events.length, events[0]?.text.slice(0, 2), events.at(-1)?.text.length], [20, '5 ', 100]);
    assert.deepEqual((await facts.known(vin, start + hour)).events, events);
  });

  it('take several events in one write', async () => {
    await facts.addEvents(vin, [1, 2, 3].map(eventAt));
    assert.equal(writes, 1);
    const { events } = await new CarFacts(store).known(vin, start + hour);
    assert.deepEqual(
      events.map(({ text }) => text[0]),
      ['1', '2', '3'],
    );
  });

  it('are joined with what is stored of them where the store could not be read at first: an hour once, and 20 events', async () => {
    await level(90, start - hour);
    await level(80, start);
    await facts.addEvents(
      vin,
      Array.from({ length: 15 }, (_, n) => eventAt(n)),
    );
    const read = store.read.bind(store);
    store.read = () => Promise.reject(new Error('not readable'));
    facts = new CarFacts(store, new ManualClock(start + hour));
    await level(79, start + 30 * minute);
    await facts.addEvents(
      vin,
      Array.from({ length: 10 }, (_, n) => eventAt(15 + n)),
    );
    store.read = read;
    assert.deepEqual(await line(start + hour), [
      [start - hour, 90],
      [start, 79],
    ]);
    const { events } = await facts.known(vin, start + hour);
    assert.deepEqual([events.length, events[0]?.text.slice(0, 2), events.at(-1)?.text.slice(0, 2)], [20, '5 ', '24']);
    assert.deepEqual(await new CarFacts(store).known(vin, start + hour), await facts.known(vin, start + hour));
  });

  it('begin again where only something damaged is stored of them', async () => {
    await level(80, start);
    const [entry] = await store.entries('car/');
    await store.write(entry?.key ?? '', { ...(entry?.value as object), history: [['x']], events: 7, equipment: null });
    const damaged = new CarFacts(store);
    assert.deepEqual(await damaged.known(vin, start), { fuelType: null, equipment: {}, lines: {}, events: [] });
    await damaged.observe(vin, 'batteryChargeLevel', { value: 70 }, start + hour);
    assert.deepEqual(await line(start + hour, new CarFacts(store)), [[start + hour, 70]]);
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
