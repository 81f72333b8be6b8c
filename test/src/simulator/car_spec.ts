import { strict as assert } from 'node:assert';
import { carProfiles, classicCar, demoCar, startSimulator, type CarChanges } from '../../support/simulator';
import { Bench } from './support';

const windows = '/connected-vehicle/v2/vehicles/{vin}/windows';

describe('a simulated car', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ cars: [demoCar, classicCar] }));
  afterEach(() => bench.simulator.close());

  it('is found by its VIN, or is the first', () => {
    assert.equal(bench.simulator.car().vin, demoCar.vin);
    assert.equal(bench.simulator.car(classicCar.vin).state.classic, true);
    assert.deepEqual([...bench.simulator.cars.keys()], [demoCar.vin, classicCar.vin]);
    assert.throws(() => bench.simulator.car('nobody'), RangeError);
  });

  it('lists the engine start where it is an older car that burns fuel, and only there', async () => {
    const simulator = await startSimulator({ cars: Object.values(carProfiles) });
    const takes = [...simulator.cars.values()].filter(({ state }) => state.extraCommands.includes('engine-start'));
    await simulator.close();
    assert.ok(
      takes.every(({ state }) => Number(state.details.modelYear) <= 2019 && state.details.batteryCapacityKWH === null),
    );
    assert.deepEqual(
      takes.map(({ vin }) => vin),
      [demoCar.vin, classicCar.vin],
    );
  });

  it('is locked, with a window that somebody forgot', () => {
    const { windows, lock, doors } = bench.simulator.car().state;
    assert.deepEqual(windows, {
      frontLeft: 'CLOSED',
      frontRight: 'CLOSED',
      rearLeft: 'CLOSED',
      rearRight: 'OPEN',
      sunroof: 'UNSPECIFIED',
    });
    assert.equal(lock, 'LOCKED');
    assert.deepEqual(new Set(Object.values(doors)), new Set(['CLOSED']));
  });

  it('changes in part; only what differs gets a new time', async () => {
    const car = bench.simulator.car();
    const then = bench.clock.now();
    await bench.clock.advance(60_000);
    car.set({ windows: { frontLeft: 'AJAR', frontRight: 'CLOSED' } });
    assert.equal(car.measuredAt('windows.frontLeft'), bench.clock.now());
    assert.equal(car.measuredAt('windows.frontRight'), then);
    await bench.clock.advance(60_000);
    car.report();
    assert.equal(car.measuredAt('windows.frontLeft'), bench.clock.now());
    assert.equal(car.measuredAt('doors.hood'), bench.clock.now());
  });

  it('takes any word and null, and the service an odd member', async () => {
    bench.simulator.car().set({ windows: { frontLeft: 'HALF', frontRight: null } });
    const odd = { 'data.rearLeft': 'missing', 'data.rearRight': { json: [1, { two: null }] } } as const;
    bench.simulator.faults.add({ times: 1, members: odd });
    const { data } = (await bench.get(windows)).body;
    assert.deepEqual(Object.keys(data ?? {}), ['frontLeft', 'frontRight', 'rearRight']);
    assert.deepEqual(
      [data?.['frontLeft']?.['value'], data?.['frontRight']?.['value'], data?.['rearRight']],
      ['HALF', null, [1, { two: null }]],
    );
    assert.equal((await bench.get(windows)).body['data']?.['rearLeft']?.['value'], 'CLOSED');
  });

  it('refuses an impossible change, and keeps its state', () => {
    const car = bench.simulator.car();
    for (const bad of [
      { window: {} },
      { lock: 3 },
      { commandPlan: { steps: [{ afterMs: -1, status: 'RUNNING' }] } },
      null,
    ]) {
      assert.throws(() => car.set(bad as unknown as CarChanges), { code: 'INPUT_INVALID' });
    }
    assert.throws(() => car.set({ lock: 'UNLOCKED', resources: { nothing: 1 } }), {
      message: 'The simulated car cannot be set to this. resources: there is no nothing.',
    });
    assert.equal(car.state.lock, 'LOCKED');
  });

  it('carries out thousands of commands in the order in which they are due', async () => {
    const car = bench.simulator.car();
    for (let count = 0; count < 5000; count++) {
      car.set({ commandPlan: { steps: [{ afterMs: 5000 - count, status: 'COMPLETED' }] } });
      car.invoke({
        id: String(count),
        operationId: '',
        command: count % 2 ? 'honk' : 'flash',
        interface: 'connected-v1',
        unlockDuration: 0,
      });
    }
    await bench.clock.advance(5000);
    const acted = car.invocations.map(({ actedAt }) => Number(actedAt) - bench.clock.now());
    assert.deepEqual([acted[0], acted[1], acted.at(-1)], [0, -1, -4999]);
  });
});
