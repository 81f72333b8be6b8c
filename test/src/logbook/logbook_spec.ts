import { strict as assert } from 'node:assert';
import {
  MemoryStateStore,
  recordOfEvent,
  summaryOfLog,
  wordSentence,
  type Account,
  type AccountOptions,
  type Sentence,
} from '../../../src/index';
import { Logbook } from '../../../src/logbook/logbook';
import { closeAccounts, openTestAccount } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import { startSimulator, type Simulator } from '../../support/simulator';

const minute = 60_000;
// Sums are of days of the machine.
const start = new Date(2026, 10, 26, 12).getTime();
const vin = 'YV1TESTVIN0000001';

const reads: [minute: number, read: 'engineRunning' | 'odometer' | 'charging' | 'details', payload: unknown][] = [
  [0, 'details', { batteryCapacityKWH: 80, descriptions: { model: 'XC40' } }],
  [0, 'engineRunning', { value: false, timestamp: null }],
  [0, 'odometer', { value: 100, unit: 'kilometers', timestamp: null }],
  [10, 'engineRunning', { value: true, timestamp: null }],
  [20, 'engineRunning', { value: false, timestamp: null }],
  [20, 'odometer', { value: 110, unit: 'kilometers', timestamp: null }],
];

describe('The logbook of a car', () => {
  const store = new MemoryStateStore();
  let clock: ManualClock;
  let logbook: Logbook;
  const open = (): Logbook => new Logbook({ store, clock });
  const openShared = (): Logbook => new Logbook({ store, clock, presence: { forOthers: (work) => work() } });
  const observe = (book: Logbook, [at, read, payload]: (typeof reads)[number], km = 0, car = vin): void => {
    clock.setTime(start + at * minute);
    const receivedAt = new Date(clock.now()).toISOString();
    const moved =
      read === 'odometer' ? { ...(payload as object), value: (payload as { value: number }).value + km } : payload;
    const vehicle = {
      vin: car,
      read,
      interface: 'connected-v2',
      receivedAt,
      measuredAt: null,
      source: 'live',
    } as const;
    book.observe(read, car, { payload: moved, vehicle }, { skewMs: 0, tariff: () => Promise.resolve(null) });
  };

  beforeEach(async () => {
    clock = new ManualClock(start);
    for (const { key } of await store.entries('logbook/')) await store.remove(key);
    logbook = open();
  });

  it('gives an event the record that ended in the same second, and no earlier one', async () => {
    for (const read of reads) observe(logbook, read);
    const log = await logbook.records(vin);
    const [newest] = log.trips;
    const recordSince = (ms: number) =>
      recordOfEvent(
        { event: 'trip-ended', between: { since: new Date(Date.parse(newest?.to.at ?? '') + ms).toISOString() } },
        log,
      );
    assert.deepEqual([0, 1].map(recordSince), [newest, null]);
  });

  it('keeps trips over restarts, and what has begun', async () => {
    for (const read of reads.slice(0, 4)) observe(logbook, read);
    await logbook.records(vin);
    // A kill: nothing is flushed.
    logbook = open();
    for (const read of reads.slice(4)) observe(logbook, read);
    const [trip] = (await logbook.records(vin)).trips;
    assert.deepEqual([trip?.km, trip?.reconstructed, trip?.bounds], [10, false, { from: 600, to: 600 }]);
    assert.deepEqual((await open().records(vin)).trips, [trip]);
  });

  it('keeps the last 100 of each kind, in a bounded record', async () => {
    for (let day = 0; day < 150; day += 1)
      for (const [at, read, payload] of reads) observe(logbook, [at + day * 1440, read, payload], day * 10);
    const { trips } = await logbook.records(vin);
    assert.equal(trips.length, 100);
    assert.ok(String(trips[0]?.to.at) > String(trips[99]?.to.at));
    const [entry] = await store.entries('logbook/');
    const bytes = JSON.stringify(entry?.value).length;
    assert.ok(bytes < 100_000, `${bytes}`);
    assert.equal((await store.entries('logbook/')).length, 1);
  });

  it('shows the last ten, the sums of this month, and that older records of it may be gone', async () => {
    for (let n = 0; n < 12; n += 1)
      for (const [at, read, payload] of reads) observe(logbook, [at + n * 60, read, payload], n * 10);
    const { trips } = await logbook.records(vin);
    const { last, month, isCut } = summaryOfLog(trips, clock.now());
    assert.deepEqual([last.length, month?.count, month?.km, isCut], [10, 12, 120, false]);
    assert.deepEqual(Object.keys(last[0]?.from ?? {}), ['at', 'place'], 'no position');
    assert.equal(summaryOfLog(trips, clock.now() + 31 * 1440 * minute).month, null);
    const many = Array.from({ length: 100 }, () => trips[0]).filter((one) => one !== undefined);
    assert.equal(summaryOfLog(many, clock.now()).isCut, true);
  });

  it('writes what is new, not each reading', async () => {
    let writes = 0;
    const write = store.write.bind(store);
    store.write = (...given) => ((writes += 1), write(...given));
    try {
      for (const read of reads) observe(logbook, read);
      await logbook.records(vin);
      const before = writes;
      for (let at = 21; at < 500; at += 1) {
        observe(logbook, [at, 'engineRunning', { value: false, timestamp: null }]);
        observe(logbook, [at, 'odometer', { value: 110, unit: 'kilometers', timestamp: null }]);
      }
      await logbook.records(vin);
      assert.equal(writes, before);
      await logbook.flush();
      await logbook.flush();
      assert.equal(writes, before + 1);
    } finally {
      store.write = write;
    }
  });

  it('has a trip once if two processes read the car', async () => {
    const [one, other] = [openShared(), openShared()];
    for (const read of reads) {
      observe(one, read);
      observe(other, read);
      await Promise.all([one.records(vin), other.records(vin)]);
    }
    assert.equal((await one.records(vin)).trips.length, 1);
    assert.deepEqual(await other.records(vin), await one.records(vin));
  });

  it('has a trip once if the answer to its write was lost', async () => {
    const { write } = store;
    for (const read of reads.slice(0, 3)) observe(logbook, read);
    for (const read of reads.slice(1, 3)) observe(logbook, [read[0] + 1, read[1], read[2]]);
    await logbook.records(vin);
    store.write = async (...given) => {
      await write.apply(store, given);
      throw new Error('lost');
    };
    for (const read of reads.slice(3)) observe(logbook, read);
    await logbook.records(vin).finally(() => (store.write = write));
    observe(logbook, [30, 'odometer', { value: 110, unit: 'kilometers', timestamp: null }]);
    assert.equal((await logbook.records(vin)).trips.length, 1);
  });

  it('loses no trip while the store cannot be written', async () => {
    const { write } = store;
    store.write = () => Promise.reject(new Error('full'));
    for (const read of reads) observe(logbook, read);
    assert.equal((await logbook.records(vin)).trips.length, 1);
    store.write = write;
    observe(logbook, [30, 'engineRunning', { value: true, timestamp: null }]);
    await logbook.records(vin);
    assert.equal((await open().records(vin)).trips.length, 1);
  });

  for (const damaged of [
    7,
    { trips: 7, facts: [] },
    {
      trips: [{ from: 1 }],
      charges: [null],
      facts: { odometer: { value: 'x' } },
      parked: { odometer: '1' },
      arrival: {},
    },
  ])
    it(`begins empty with ${JSON.stringify(damaged)}`, async () => {
      for (const read of reads.slice(0, 3)) observe(logbook, read);
      await logbook.flush();
      const [entry] = await store.entries('logbook/');
      await store.write(String(entry?.key), damaged);
      logbook = open();
      for (const read of reads) observe(logbook, read);
      assert.equal((await logbook.records(vin)).trips.length, 1);
    });
});

describe('The reads trips and charges', () => {
  let service: Simulator;
  let clock: ManualClock;
  const warnings: string[] = [];
  const open = (more: Pick<AccountOptions, 'tariff' | 'places'> = {}): Account =>
    openTestAccount(service, {
      shareForMs: 0,
      clock,
      warn: (text: string | Sentence) => void warnings.push(typeof text === 'string' ? text : wordSentence(text)),
      ...more,
    });

  before(async () => {
    service = await startSimulator({ dialect: 'real' });
  });
  beforeEach(() => {
    clock = new ManualClock(start);
    warnings.length = 0;
  });
  afterEach(closeAccounts);
  after(() => service.close());

  async function drive({ client }: Account, km: number): Promise<string> {
    const car = service.car();
    const read = async (): Promise<void> => {
      await client.read('engineRunning', { vin: car.vin });
      await client.read('odometer', { vin: car.vin });
    };
    await read();
    clock.setTime(clock.now() + 20 * minute);
    const before = (await client.read('odometer', { vin: car.vin })).payload.value;
    car.set({ resources: { odometer: Number(before) + km } });
    await read();
    return car.vin;
  }

  it('send no request, newest first, with sums, limited by from and to', async () => {
    const account = open();
    const car = await drive(account, 12);
    clock.setTime(start + 24 * 60 * minute);
    await drive(account, 30);
    service.clearRequests();
    const { payload, vehicle } = await account.read('trips', { vin: car });
    const trips = payload as { km: number; to: { at: string } }[];
    assert.deepEqual(
      trips.map(({ km }) => km),
      [30, 12],
    );
    assert.deepEqual([vehicle.read, vehicle.interface, vehicle.vin], ['trips', null, car]);
    const sums = vehicle.sums as Record<
      string,
      { period: string; count: number; km: number; incomplete: string[]; sources: object }[]
    >;
    assert.deepEqual(
      sums['day']?.map(({ period, km }) => [period, km]),
      [
        ['2026-11-27', 30],
        ['2026-11-26', 12],
      ],
    );
    assert.deepEqual(
      sums['week']?.map(({ period, count }) => [period, count]),
      [['2026-W48', 2]],
    );
    assert.deepEqual(
      sums['month']?.map(({ period, km }) => [period, km]),
      [['2026-11', 42]],
    );
    assert.ok(sums['month']?.[0]?.incomplete.includes('kWh'));
    assert.deepEqual(sums['month']?.[0]?.sources, { km: ['odometer'] });
    const km = async (options: object): Promise<number[]> =>
      ((await account.read('trips', { vin: car, ...options })).payload as typeof trips).map((trip) => trip.km);
    assert.deepEqual(await km({ from: '2026-11-27' }), [30]);
    assert.deepEqual(await km({ to: new Date(2026, 10, 27) }), [12]);
    assert.deepEqual(await km({ from: start, to: '' }), [30, 12]);
    await assert.rejects(account.read('trips', { vin: car, from: 'soon' }), {
      code: 'INPUT_INVALID',
      message: /msg\.from must be a time/,
    });
    assert.deepEqual((await account.read('charges', { vin: car })).payload, []);
    await assert.rejects(account.read('trips', { vin: 'none' }), { code: 'VIN_INVALID' });
    assert.equal(service.requests.length, 0);
  });

  it('report a fault of the tariff once, and continue to read', async () => {
    let price: unknown = 'cheap';
    const account = open({ tariff: () => Promise.resolve({ price, currency: 'EUR' }) });
    const car = await drive(account, 12);
    await account.read('trips', { vin: car });
    assert.deepEqual(warnings, [
      'The tariff of the vehicle configuration cannot be used. A price must be a number, such as 0.32.',
    ]);
    price = '0,3';
    await drive(account, 12);
    assert.equal(((await account.read('trips', { vin: car })).payload as unknown[]).length, 2);
    assert.equal(warnings.length, 1);
  });

  it('wait five seconds at most for a price whose source does not answer', async () => {
    const account = open({ tariff: () => new Promise(() => undefined) });
    const car = await drive(account, 12);
    const asked = account.read('trips', { vin: car });
    await clock.advance(5_000);
    assert.equal(((await asked).payload as unknown[]).length, 1);
    assert.deepEqual(warnings, ['The source of the price in the vehicle configuration does not answer.']);
  });
});
