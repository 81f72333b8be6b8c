import { strict as assert } from 'node:assert';
import { carProfiles, classicCar, demoCar, startSimulator, type CarChanges } from '../../support/simulator';
import { Bench } from './support';

describe('a simulated car', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ cars: [demoCar, classicCar] }));
  afterEach(() => bench.simulator.close());

  it('lists the engine start for an older car that burns fuel, and for no other', async () => {
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
});
