import { strict as assert } from 'node:assert';
import { demoCar, electricCar, type CarOptions } from '../../../src/simulator';
import { Bench, type Json } from './support';

const place = '/location/v1/vehicles/{vin}/location';

describe('the location of a simulated car', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ dialect: 'real' }));
  afterEach(() => bench.simulator.close());

  it('is a point with longitude, latitude and altitude', async () => {
    bench.simulator.car().set({
      location: { longitude: 11.968302141174869, latitude: 57.68877034998428, altitude: 0, heading: 220 },
    });
    const { operationId, ...body } = (await bench.get(place)).body as unknown as Record<string, Json>;
    assert.match(String(operationId), /^[\da-f]{32}$/);
    assert.deepEqual(body, {
      data: {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [11.968302141174869, 57.68877034998428, 0] },
        properties: { timestamp: '2026-06-01T08:00:00.000000000Z', heading: '220' },
      },
      status: 200,
    });
  });

  it('is not answered if the driver does not share it, the scope is missing, or the application was not granted it', async () => {
    bench.simulator.car().set({ location: { shared: false } });
    assert.equal((await bench.get(place)).status, 404);
    bench.simulator.car().set({ location: { shared: true } });
    const authorization = `Bearer ${bench.simulator.issueToken({ scopes: ['openid', 'conve:lock'] })}`;
    assert.equal((await bench.get(place, { authorization })).status, 403);
    bench.simulator.faults.add({ match: { path: '/location/' }, error: 'client-not-allowed' });
    assert.deepEqual((await bench.get(place)).body, {
      error: { message: 'FORBIDDEN', description: 'Client not allowed to access Location API' },
    });
  });
});

describe('a trip of a simulated car', () => {
  const bench = new Bench();
  const start = (car: CarOptions) => bench.start({ cars: [car] });
  const home = { latitude: 57.65, longitude: 12.01, altitude: 40, heading: 90 };
  afterEach(() => bench.simulator.close());

  it('moves the odometer and the fuel each minute, and reports the position at its end', async () => {
    await start(demoCar);
    const car = bench.simulator.car().drive({ km: 20, minutes: 20, ...home });
    const before = car.state.location;
    assert.deepEqual([car.isDriving, car.state.engineRunning, car.state.lock], [true, true, 'UNLOCKED']);
    assert.deepEqual(car.availability, { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' });
    const distance = () => Number(car.resource('odometer')) - 24_817;
    await bench.clock.advance(59_000);
    assert.equal(distance(), 0);
    await bench.clock.advance(1000);
    assert.equal(distance(), 1);
    assert.equal(car.resourceMeasuredAt('fuelAmount'), bench.clock.now());
    await bench.clock.advance(18 * 60_000);
    assert.equal(distance(), 19);
    assert.deepEqual(car.state.location, before);
    await bench.clock.advance(60_000);
    assert.deepEqual(
      [distance(), car.isDriving, car.state.engineRunning, car.state.lock, car.state.inUse],
      [20, false, false, 'LOCKED', false],
    );
    assert.deepEqual(car.state.location, { ...home, shared: true });
    assert.equal(car.measuredAt('location'), bench.clock.now());
    assert.equal(car.resource('fuelAmount'), 36.64);
    assert.equal(car.resource('distanceToEmpty'), 500);
    const { body } = await bench.get('/extended-vehicle/v1/vehicles/{vin}/resources/fuelAmount');
    assert.equal(body['resourceValue']?.['value'], 36);
  });
});

describe('climate and engine of a simulated car', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ dialect: 'real', cars: [demoCar, electricCar] }));
  afterEach(() => bench.simulator.close());
  const startEngine = (body?: unknown) =>
    bench.post('/connected-vehicle/v2/vehicles/{vin}/commands/engine-start', {}, body);
  const minutes = (count: number) => bench.clock.advance(count * 60_000);

  it('runs the engine for the minutes of the command, and the status shows it', async () => {
    const engine = async () =>
      (await bench.get('/connected-vehicle/v2/vehicles/{vin}/engine-status')).body['data']?.['engineStatus'];
    await minutes(1);
    assert.equal((await startEngine({ runtimeMinutes: 10 })).body['data']?.['invokeStatus'], 'COMPLETED');
    assert.deepEqual(await engine(), { timestamp: '2026-06-01T08:01:00.000000000Z', unit: null, value: 'RUNNING' });
    await minutes(9);
    assert.equal((await engine())?.['value'], 'RUNNING');
    await minutes(1);
    assert.equal((await engine())?.['value'], 'STOPPED');
    await startEngine({ runtimeMinutes: 15 });
    assert.equal((await bench.postV2('engine-stop')).status, 200);
    assert.equal((await engine())?.['value'], 'STOPPED');
  });

  it('ends a climatization automatically, by command, with the engine and with the driver’s door', async () => {
    const car = bench.simulator.car();
    const begin = async () => {
      assert.equal((await bench.postV2('climatization-start')).status, 200);
      assert.equal(car.climateUntil, bench.clock.now() + 30 * 60_000);
    };
    await begin();
    await minutes(30);
    assert.equal(car.climateUntil, null);
    await begin();
    await bench.postV2('climatization-stop');
    assert.equal(car.climateUntil, null);
    await begin();
    await startEngine({ runtimeMinutes: 1 });
    assert.equal(car.climateUntil, null);
    await minutes(1);
    await begin();
    car.set({ doors: { frontLeft: 'OPEN' } });
    assert.equal(car.climateUntil, null);
  });
});
