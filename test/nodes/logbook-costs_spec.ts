import { strict as assert } from 'node:assert';
import { electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const hour = 3_600_000;

describe('A day of an owner with a logbook', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;
  setUpFlow((setUp) => ({ clock, service, flow } = setUp), { cars: [electricCar] });

  /** The requests of a day with a drive and a charge, by path. */
  async function requestsOf(configuration: object, listen: boolean): Promise<{ paths: string[]; trips: number }> {
    const values = ['odometer', 'engineRunning', 'batteryChargeLevel', 'chargingStatus'];
    const status = { type: 'connected-vehicle-status', read: 'several', reads: values, poll: 1_800, emit: 'always' };
    const book = {
      id: 'book',
      type: 'connected-vehicle-status',
      z: 'tab',
      vehicle: 'v',
      read: 'trips',
      wires: [['out1']],
    };
    const car = service.car();
    car.reset();
    await flow.load(status, { ...customVehicle(service), ...configuration }, demoCredentials, [book]);
    service.clearRequests();
    for (let passed = 0; passed < 24; passed += 1) {
      if (passed === 6) car.set({ engineRunning: true });
      if (passed === 7) car.set({ engineRunning: false, resources: { odometer: 99_999 } });
      if (listen) flow.node('book').receive({ payload: passed } as never);
      await clock.advanceInSteps(hour, hour / 4);
    }
    const last = flow.outputs[1]?.at(-1)?.payload as unknown[] | undefined;
    const paths = service.requests.map(({ path }) => path).filter((path) => !path.startsWith('/as/'));
    await flow.unload();
    return { paths: paths.toSorted(), trips: last?.length ?? 0 };
  }

  it('has not one request more than one without', async () => {
    const without = await requestsOf({}, false);
    const tariff = JSON.stringify({ perKWh: 0.3, hours: [{ hours: '22:00-06:00', perKWh: 0.2 }] });
    const place = { name: 'Home', latitude: 57.7, longitude: 11.97, radius: 200 };
    const kept = await requestsOf({ tariff, tariffType: 'json', currency: 'EUR', places: [place] }, true);
    assert.ok(without.paths.length > 100, `the day has reads: ${without.paths.length}`);
    assert.equal(kept.trips, 2, 'the logbook has the trip of each day');
    assert.deepEqual(kept.paths, without.paths);
  });
});
