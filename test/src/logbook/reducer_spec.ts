import { strict as assert } from 'node:assert';
import type { ReadName } from '../../../src/index';
import { valuesOf } from '../../../src/logbook/facts';
import type { LogRecord } from '../../../src/logbook/record';
import { observed } from '../../../src/logbook/reducer';
import { parseTariff } from '../../../src/logbook/tariff';
import { emptyLog, type LogState, type Observation } from '../../../src/logbook/types';

type Read = [minute: number, read: ReadName, payload: unknown];

const start = Date.UTC(2026, 5, 1, 8);
const at = (minutes: number): number => start + minutes * 60_000;
const iso = (minutes: number): string => new Date(at(minutes)).toISOString();
const measured = (value: unknown, unit: string | null = null) => ({ value, unit, timestamp: null });
/** A payload with the time of the service in each of its values. */
const stamped = (payload: unknown, timestamp: string): unknown =>
  JSON.parse(JSON.stringify(payload).replaceAll('"timestamp":null', `"timestamp":"${timestamp}"`));
const used = (minute: number, running: boolean): Read => [minute, 'engineRunning', measured(running)];
const inUse = (minute: number, isInUse: boolean): Read => [
  minute,
  'accessibility',
  isInUse ? { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' } : { value: 'AVAILABLE' },
];
const odometer = (minute: number, km: number, unit = 'kilometers'): Read => [minute, 'odometer', measured(km, unit)];
const battery = (minute: number, level: number | null, status = 'IDLE'): Read => [
  minute,
  'charging',
  { chargingStatus: measured(status), batteryChargeLevel: measured(level, 'percent') },
];
const place = (minute: number, latitude: number): Read => [minute, 'location', { latitude, longitude: 10 }];
const details = (minute: number, model: string, batteryCapacityKWH: number | null): Read => [
  minute,
  'details',
  { batteryCapacityKWH, descriptions: { model } },
];
const statistics = (minute: number, members: Record<string, [number, string]>): Read => [
  minute,
  'statistics',
  Object.fromEntries(Object.entries(members).map(([name, [value, unit]]) => [name, measured(value, unit)])),
];

const tariff = parseTariff({
  perKWh: '0,40',
  currency: 'eur',
  hours: [{ hours: '22:00-06:00', perKWh: 0.2 }],
  timeZone: 'UTC',
});

type Terms = Pick<Observation, 'tariff' | 'places'>;
/** @param termsOf those at a reading */
const logUnder = (reads: readonly Read[], termsOf: (index: number) => Terms): LogState =>
  reads.reduce(
    (state, [minute, read, payload], index) =>
      observed(state, {
        at: at(minute),
        receivedAt: at(minute),
        values: valuesOf(read, payload),
        ...termsOf(index),
      }),
    emptyLog,
  );
const logOf = (reads: readonly Read[], price: typeof tariff | null = tariff): LogState =>
  logUnder(reads, () => ({ tariff: price }));

const parked: Read[] = [details(0, 'XC40', 80), used(0, false), odometer(0, 1000), battery(0, 90), place(0, 50)];
const trip: Read[] = [...parked, used(10, true), used(40, true), used(42, false), odometer(42, 1030)];
/** Fails unless a record has these members and reasons; undefined: unless there is none. */
function holds(record: LogRecord | undefined, expected: Partial<LogRecord> | undefined, reasons: object): void {
  if (expected === undefined) return assert.equal(record, undefined);
  assert.ok(record !== undefined);
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(record[name as keyof LogRecord], value, name);
  for (const [name, reason] of Object.entries(reasons)) assert.equal(record.reasons[name], reason);
}
const lastTrip = (reads: readonly Read[]): LogRecord | undefined => logOf(reads).trips.at(-1);
const lastCharge = (reads: readonly Read[], price?: typeof tariff | null): LogRecord | undefined =>
  logOf(reads, price).charges.at(-1);

// Which trips and charges there are, and their levels, is compared with a second reader
// (logbook-oracle_spec.ts).
describe('The record of a trip', () => {
  it('has what is known when the odometer shows it, and the rest as it is read', () => {
    const bare = lastTrip(trip);
    assert.deepEqual(
      [bare?.km, bare?.odometer, bare?.from.at, bare?.to.at, bare?.bounds, bare?.minutes],
      [30, 1030, iso(0), iso(42), { from: 600, to: 120 }, 42],
    );
    assert.deepEqual(
      [bare?.batteryTo, bare?.reasons['batteryTo'], bare?.kWh, bare?.reasons['kWh']],
      [null, 'NOT_READ', null, 'NOT_READ'],
    );
    const full = lastTrip([...trip, battery(43, 84), place(44, 51)]);
    assert.deepEqual(
      [full?.batteryFrom, full?.batteryTo, full?.kWh, full?.kWhPer100km, full?.sources['kWh']],
      [90, 84, 4.8, 16, 'level-gross'],
    );
    assert.deepEqual(
      [full?.from.position, full?.to.position],
      [
        { latitude: 50, longitude: 10 },
        { latitude: 51, longitude: 10 },
      ],
    );
    assert.equal(full?.reconstructed, false);
  });

  const cases: [
    what: string,
    reads: Read[],
    expected: Partial<LogRecord> | undefined,
    reasons?: Record<string, string>,
  ][] = [
    [
      'that nothing showed is reconstructed',
      [...parked, odometer(60, 1012), used(60, false)],
      { km: 12, reconstructed: true, minutes: null, bounds: { from: 3600, to: 3600 } },
      { minutes: 'NOT_SEEN' },
    ],
    [
      'with late readings has no minutes',
      [...parked, used(30, true), used(60, false), odometer(60, 1012)],
      { minutes: null },
      { minutes: 'NOT_EXACT' },
    ],
    [
      'ends although the access to the car was read once, while it was in use',
      [...parked, inUse(10, true), used(12, true), used(40, false), odometer(40, 1030)],
      { km: 30, reconstructed: false },
    ],
    [
      'ends although the engine was read once, while it ran',
      [...parked, used(10, true), inUse(40, false), odometer(40, 1030)],
      { km: 30, reconstructed: false },
    ],
    [
      'continues if one of two new readings shows use',
      [...parked, inUse(10, true), used(24, false), odometer(24, 1030)],
      undefined,
    ],
    [
      'counts miles as kilometers',
      [...parked, odometer(60, 640, 'miles'), used(60, false)],
      { km: 30, odometer: 1029.98 },
    ],
    [
      'has no energy if the level rose',
      [...trip, battery(43, 92)],
      { kWh: null, batteryTo: 92 },
      { kWh: 'LEVEL_ROSE' },
    ],
    [
      'has no energy if the car was charged in between',
      [...trip.slice(0, 6), battery(41, 60, 'CHARGING'), used(42, false), odometer(42, 1030), battery(43, 80)],
      { kWh: null },
      { kWh: 'CHARGED' },
    ],
    [
      'has the level of the end only until the car charges',
      [...trip, battery(43, 50, 'CHARGING'), battery(60, 80)],
      { batteryTo: null },
      { batteryTo: 'NOT_READ' },
    ],
    [
      'has the net capacity if a source has it',
      [details(0, 'EX30', 69), ...parked.slice(1), ...trip.slice(5), battery(43, 80)],
      { kWh: 6.4 },
    ],
    [
      'has no energy without capacity',
      [...parked.slice(1), ...trip.slice(5), battery(43, 80)],
      { kWh: null, batteryTo: 80 },
      { kWh: 'NO_CAPACITY' },
    ],
    [
      'is as the trip meter says',
      [
        ...trip,
        statistics(43, {
          tripMeterAutomatic: [30.4, 'km'],
          averageEnergyConsumptionAutomatic: [18.5, 'kWh/100km'],
          averageFuelConsumptionAutomatic: [2, 'l/100km'],
        }),
      ],
      { kWh: 5.55, liters: 0.6, cost: null },
      { cost: 'FUEL' },
    ],
    [
      'is not as a trip meter of several trips says',
      [
        ...trip,
        statistics(43, { tripMeterAutomatic: [90, 'km'], averageEnergyConsumptionAutomatic: [18.5, 'kWh/100km'] }),
      ],
      { kWh: null },
      { kWh: 'NOT_READ' },
    ],
    [
      'does not burn what was filled in',
      [
        ...parked,
        [0, 'fuelAmount', measured(10, 'liters')],
        ...trip.slice(5),
        [43, 'fuelAmount', measured(50, 'liters')],
      ],
      { liters: null },
      { liters: 'REFUELED' },
    ],
    [
      'burns the difference',
      [
        ...parked,
        [0, 'fuelAmount', measured(50, 'liters')],
        ...trip.slice(5),
        [43, 'fuelAmount', measured(47.5, 'liters')],
      ],
      { liters: 2.5 },
    ],
    ['has no price without a charge', trip, { cost: null }, { cost: 'NO_PRICE' }],
  ];
  for (const [what, reads, expected, reasons = {}] of cases) it(what, () => holds(lastTrip(reads), expected, reasons));

  it('has the energy since the charge, and its price, on the first trip after one', () => {
    const charged = [
      ...parked,
      battery(1, 80, 'CHARGING'),
      battery(61, 90, 'DONE'),
      odometer(62, 1000),
      used(62, false),
    ];
    const record = lastTrip([
      ...charged,
      used(70, true),
      used(90, false),
      odometer(90, 1020),
      statistics(91, { averageEnergyConsumptionSinceCharge: [20, 'kWh/100km'] }),
    ]);
    assert.deepEqual([record?.kWh, record?.sources['kWh']], [4, 'consumption-since-charge']);
    assert.deepEqual(
      [record?.cost, record?.sources['cost']],
      [{ amount: 1.6, currency: 'EUR', perKWh: 0.4 }, 'last-charge'],
    );
  });
});

describe('The record of a charge', () => {
  const charge: Read[] = [
    ...parked,
    battery(10, 40),
    battery(12, 40, 'CHARGING'),
    battery(72, 50, 'CHARGING'),
    battery(74, 51, 'DONE'),
  ];

  it('has levels, energy and cost', () => {
    const record = lastCharge(charge);
    assert.deepEqual(
      [
        record?.from.at,
        record?.to.at,
        record?.bounds,
        record?.batteryFrom,
        record?.batteryTo,
        record?.kWh,
        record?.minutes,
      ],
      [iso(10), iso(74), { from: 120, to: 120 }, 40, 51, 8.8, 64],
    );
    assert.deepEqual(record?.cost, { amount: 3.52, currency: 'EUR', perKWh: 0.4 });
    assert.deepEqual([record?.km, record?.reasons['km'], record?.kWhPer100km], [null, 'NOT_A_TRIP', null]);
  });

  const cases: [
    what: string,
    record: LogRecord | undefined,
    expected: Partial<LogRecord> | undefined,
    reasons?: Record<string, string>,
  ][] = [
    [
      'continues after one wrong odometer, and if another rounding makes it higher',
      lastCharge([
        ...parked,
        battery(1, 50, 'CHARGING'),
        odometer(10, 19_000),
        odometer(20, 1000.4),
        battery(60, 70, 'CHARGING'),
        battery(61, 70, 'IDLE'),
      ]),
      { batteryFrom: 50, batteryTo: 70, reconstructed: false },
    ],
    [
      'that nothing showed is reconstructed',
      lastCharge([...parked, battery(9, 40), battery(10, 40), battery(900, 80)]),
      { reconstructed: true, batteryFrom: 40, batteryTo: 80, kWh: 32, cost: null },
      { cost: 'TIME_NOT_KNOWN', minutes: 'NOT_SEEN' },
    ],
    [
      'with a trip in between has no energy',
      lastCharge([...parked, battery(9, 40), battery(10, 40), battery(600, 80), odometer(600, 1100), used(600, false)]),
      { batteryFrom: null, kWh: null, batteryTo: 80 },
      { kWh: 'DRIVEN' },
    ],
    ['has no cost without a tariff', lastCharge(charge, null), { cost: null }, { cost: 'NO_TARIFF' }],
    [
      'has no energy without levels',
      lastCharge([battery(1, null, 'CHARGING'), battery(9, null, 'DONE')]),
      { kWh: null, batteryFrom: null, cost: null },
      { kWh: 'NOT_READ' },
    ],
  ];
  for (const [what, record, expected, reasons = {}] of cases) it(what, () => holds(record, expected, reasons));

  /**
   * A car that stands with 60 percent for an hour, charges with these levels, a new one each five
   * minutes, and stands again.
   */
  const levelsOf = (levels: readonly number[], after: readonly number[] = [], every = 5): Read[] => [
    ...parked,
    battery(50, 60),
    battery(60, 60),
    ...levels.map((level, index) =>
      battery(60 + every * (index + 1), level, index === levels.length - 1 ? 'DONE' : 'CHARGING'),
    ),
    ...after.map((level, index) => battery(60 + every * (levels.length + index + 1), level)),
  ];
  const jumps: [what: string, reads: Read[], batteryFrom: number | null, batteryTo: number, kWh: number][] = [
    ['a first level of 0, read seldom', levelsOf([0, 61, 62], [], 60), 60, 62, 1.6],
    ['a last level that is too high, once the next one is read', levelsOf([60, 61, 99], [62]), 60, 62, 1.6],
    ['fast charging, up to 5 percent a minute', levelsOf([60, 85, 98], [98]), 60, 98, 30.4],
    [
      'a first level of 0 after a drive',
      [...trip, battery(50, 0, 'CHARGING'), battery(55, 80, 'CHARGING'), battery(60, 82, 'DONE')],
      80,
      82,
      1.6,
    ],
    [
      'a drive to the charger that the odometer shows, although the level soon is as high as before it',
      [...trip, battery(50, 70, 'CHARGING'), battery(110, 92, 'CHARGING'), battery(111, 92, 'DONE')],
      70,
      92,
      17.6,
    ],
    ['a drive after the end', [...levelsOf([60, 70, 80]), used(76, true), battery(80, 70)], 60, 80, 16],
  ];
  for (const [what, reads, batteryFrom, batteryTo, kWh] of jumps)
    it(`guesses nothing from a level that jumps: ${what}`, () => {
      const record = lastCharge(reads);
      assert.deepEqual([record?.batteryFrom, record?.batteryTo, record?.kWh], [batteryFrom, batteryTo, kWh]);
      assert.equal(record?.cost?.amount, Math.round(kWh * 40) / 100);
    });

  it('is the same if two nodes share each answer', () => {
    for (const [what, reads] of jumps)
      assert.deepEqual(logOf(reads.flatMap((read) => [read, read])).charges, logOf(reads).charges, what);
  });

  it('is the same if the car reports each level twice with one time', () => {
    const levelsIn = (state: LogState): unknown[] =>
      state.charges.map(({ batteryFrom, batteryTo, kWh }) => [batteryFrom, batteryTo, kWh]);
    for (const [what, reads] of jumps) {
      const once = reads.map(([minute, read, payload]): Read => [minute, read, stamped(payload, iso(minute))]);
      const twice = once.flatMap(([minute, ...read]): Read[] => [
        [minute, ...read],
        [minute + 0.4, ...read],
      ]);
      assert.deepEqual(levelsIn(logOf(twice)), levelsIn(logOf(once)), what);
    }
  });

  it('that nothing showed is kept for the next trip only as long as its record, if a flow never reads the odometer', () => {
    const days = Array.from({ length: 150 }, (_, day): Read[] => [
      battery(day * 1440, 50),
      battery(day * 1440 + 10, 50),
      battery(day * 1440 + 600, 80),
      battery(day * 1440 + 610, 80),
    ]);
    const { charges, unseen } = logOf(days.flat());
    assert.deepEqual([charges.length, unseen.length], [100, 100]);
  });

  it('that one level showed is none as soon as the next level denies it, and nothing follows from it', () => {
    const rise = [...parked, battery(1, 90), battery(31, 70), battery(61, 70)];
    assert.deepEqual(logOf([...rise, battery(91, 99)]).charges.length, 1);
    const denied = logOf([...rise, battery(91, 99), battery(121, 70)]);
    assert.deepEqual([denied.charges, denied.charged, denied.unseen], [[], null, []]);
    const less = logOf([...rise, battery(91, 99), battery(121, 80)]).charges;
    assert.deepEqual([less.length, less[0]?.batteryTo, less[0]?.kWh], [1, 80, 8]);
    assert.deepEqual(logOf([...rise, battery(63, 99), battery(93, 70)]).charges, [], 'more than a car can charge');
  });

  it('has the price of each hour', () => {
    // 21:30 to 22:30: half of the time at each price.
    const reads = [
      ...parked,
      battery(809, 40),
      battery(810, 40, 'CHARGING'),
      battery(870, 50, 'CHARGING'),
      battery(871, 50, 'DONE'),
    ];
    assert.deepEqual(lastCharge(reads)?.cost, { amount: 2.4, currency: 'EUR', perKWh: 0.3 });
  });

  it('has the prices that a flow gave while the car charged', () => {
    const prices = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3];
    const state = logUnder(charge, (index) => ({ tariff: parseTariff(prices[index]) }));
    // 10 percent at 0.3, also the last one.
    assert.deepEqual(state.charges.at(-1)?.cost, { amount: 2.64, currency: null, perKWh: 0.3 });
  });

  it('has the price of its place, and no cost if the place is not known', () => {
    const placed = parseTariff({
      perKWh: 0.4,
      places: [{ name: 'Home', latitude: 50, longitude: 10, radius: 300, perKWh: 0.25 }],
    });
    const record = lastCharge(charge, placed);
    assert.deepEqual([record?.from.place, record?.cost?.perKWh], ['Home', 0.25]);
    const unknown = lastCharge(
      charge.filter(([, read]) => read !== 'location'),
      placed,
    );
    assert.deepEqual([unknown?.cost, unknown?.reasons['cost']], [null, 'PLACE_NOT_KNOWN']);
  });
});

it('A trip names the places of the vehicle configuration, also without a tariff, and those of the tariff first', () => {
  const [home, work] = [
    { name: 'Home', latitude: 50, longitude: 10, radius: 300 },
    { name: 'Work', latitude: 51, longitude: 10, radius: 300 },
  ];
  const placesOf = (terms: Terms): unknown[] => {
    const { trips } = logUnder([...trip, battery(43, 84), place(44, 51)], () => terms);
    return [trips[0]?.from.place, trips[0]?.to.place, trips[0]?.reasons['to.place']];
  };
  assert.deepEqual(placesOf({ tariff: null, places: [home, work] }), ['Home', 'Work', undefined]);
  assert.deepEqual(placesOf({ tariff: null, places: [home] }), ['Home', null, 'NO_PLACE']);
  const shop = { ...work, name: 'Shop', perKWh: 0.1, hours: [] };
  assert.deepEqual(placesOf({ tariff: { ...tariff, places: [shop] }, places: [home, work] }), [
    'Home',
    'Shop',
    undefined,
  ]);
});

it('The logbook takes no number in a unit that the service invents', () => {
  const bars: Read = [
    50,
    'charging',
    { chargingStatus: measured('CHARGING'), batteryChargeLevel: measured(5, 'bars') },
  ];
  const { trips, charges } = logOf([...parked, odometer(40, 1030, 'furlongs'), used(40, false), bars, battery(60, 91)]);
  assert.deepEqual(trips, []);
  const [charge] = charges;
  assert.deepEqual([charge?.batteryFrom, charge?.batteryTo, charge?.odometer], [90, 91, 1000]);
  const [unknown] = logOf([parked[0]!, bars, [60, 'chargingStatus', measured('IDLE')]]).charges;
  assert.deepEqual([unknown?.kWh, unknown?.reasons['kWh'], unknown?.batteryTo], [null, 'NOT_READ', null]);
});

it('The logbook keeps times in order when the clock of the machine is set back', () => {
  const shifted = trip.map(([minute, ...rest], index): Read => [index > 5 ? minute - 500 : minute, ...rest]);
  for (const { from, to, bounds } of logOf(shifted).trips)
    assert.ok(from.at <= to.at && bounds.from >= 0 && bounds.to >= 0);
});
