import { strict as assert } from 'node:assert';
import type { CarSummary } from '../../nodes/cars/runtime/cars';
import { unitSystems, type UnitSystem } from '../../src/index';
import { askEditor } from '../support/editor-client';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { hybridCar, milesCar, type Simulator } from '../support/simulator';

/** What people see of a car that gives kilometers. */
const wanted = {
  car: {
    odometer: [24_817, 'kilometers', '24,817 km'],
    fuelAmount: [31, 'liters', '31 l'],
    averageSpeed: [45, 'kilometers per hour', '45 km/h'],
    externalTemp: [21, 'degrees celsius', '21 °C'],
    averageFuelConsumption: [6.4, 'liters per 100 kilometers', '6.4 l/100 km'],
    averageEnergyConsumption: [22.4, 'kilowatt-hours per 100 kilometers', '22.4 kWh/100 km'],
    batteryChargeLevel: [74, 'percent', '74 %'],
  },
  uk: {
    odometer: [15_421, 'miles', '15,421 mi'],
    fuelAmount: [31, 'liters', '31 l'],
    averageSpeed: [28, 'miles per hour', '28 mph'],
    externalTemp: [21, 'degrees celsius', '21 °C'],
    averageFuelConsumption: [44.1, 'miles per imperial gallon', '44.1 mpg'],
    averageEnergyConsumption: [2.77, 'miles per kilowatt-hour', '2.8 mi/kWh'],
    batteryChargeLevel: [74, 'percent', '74 %'],
  },
  us: {
    odometer: [15_421, 'miles', '15,421 mi'],
    fuelAmount: [8.2, 'US gallons', '8.2 gal'],
    averageSpeed: [28, 'miles per hour', '28 mph'],
    externalTemp: [70, 'degrees fahrenheit', '70 °F'],
    averageFuelConsumption: [36.8, 'miles per US gallon', '36.8 mpg (US)'],
    averageEnergyConsumption: [2.77, 'miles per kilowatt-hour', '2.8 mi/kWh'],
    batteryChargeLevel: [74, 'percent', '74 %'],
  },
} as const;
const expectedOf = (units: UnitSystem) => wanted[units === 'metric' ? 'car' : units];

describe('The units of a vehicle configuration', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [
      {
        ...hybridCar,
        resources: {
          odometer: 24_817,
          fuelAmount: 31,
          averageSpeed: 45,
          externalTemp: 21,
          averageFuelConsumption: 6.4,
        },
      },
      milesCar,
    ],
  });

  const clear = (): void => void Object.assign(flow, { outputs: [[], [], []], caught: [], completed: [], badges: [] });
  const load = async (config: Record<string, unknown>, vehicle: Record<string, unknown> = {}): Promise<void> => {
    clear();
    await flow.load({ type: 'connected-vehicle-status', ...config }, customVehicle(service, vehicle), demoCredentials);
  };
  const status = (): string => (flow.badges.at(-1)?.text ?? '').replace(/ · \d\d:\d\d$/, '');

  for (const units of unitSystems) {
    it(`${units}: are those of the payload, of msg.vehicle.unit and of the node status`, async () => {
      for (const [read, [value, unit, text]] of Object.entries(expectedOf(units))) {
        await load({ read }, { units });
        const { payload, vehicle } = await flow.ask();
        const { value: is, unit: of } = payload as Record<string, unknown>;
        assert.deepEqual([is, of, vehicle?.['unit'], status()], [value, unit, unit, text], read);
        await flow.unload();
        await load({ read, payload: 'value' }, { units });
        const plain = await flow.ask();
        assert.deepEqual([plain.payload, plain.vehicle?.['unit']], [value, unit], read);
        await flow.unload();
      }
    });
  }

  it('hold for several reads and for the members of a group, whose other members stay', async () => {
    await load({ read: 'several', reads: ['odometer', 'statistics', 'doors'] }, { units: 'us' });
    const { payload, vehicle } = (await flow.ask()) as Record<string, Record<string, never>>;
    const { odometer, statistics } = payload as unknown as Record<string, Record<string, { unit?: string }>>;
    assert.deepEqual(
      [odometer?.['value'], statistics?.['averageEnergyConsumption']?.unit, statistics?.['distanceToEmptyTank']?.unit],
      [15_421, 'miles per kilowatt-hour', 'miles'],
    );
    const { reads } = vehicle as unknown as { reads: Record<string, { unit?: unknown }> };
    const ofGroup = (reads['statistics'] ?? assert.fail()).unit as Record<string, string>;
    assert.equal(ofGroup['distanceToEmptyTank'], 'miles');
  });

  it('keep the miles of a car that gives miles, and are kilometers if a person wants that', async () => {
    const ofRange = async (units: string): Promise<unknown> => {
      await load({ read: 'electricRange', vin: milesCar.vin }, { units });
      const { payload } = await flow.ask();
      await flow.unload();
      const { value, unit } = payload as Record<string, unknown>;
      return [value, unit];
    };
    assert.deepEqual(await ofRange('car'), [26, 'miles']);
    assert.deepEqual(await ofRange('us'), [26, 'miles']);
    assert.deepEqual(await ofRange('metric'), [41.8, 'kilometers']);
  });

  it('have no distance for a consumption of zero: null, with what the car gave', async () => {
    service.car().set({ resources: { averageFuelConsumption: 0 } });
    await load({ read: 'averageFuelConsumption' }, { units: 'uk' });
    const { payload } = await flow.ask();
    const { timestamp: _timestamp, ...measured } = payload as Record<string, unknown>;
    assert.deepEqual(measured, {
      value: null,
      unit: 'miles per imperial gallon',
      raw: { value: 0, unit: 'liters per 100 kilometers' },
      reason: 'NO_CONSUMPTION',
    });
  });

  it('leave the records of trips and charges as the names of their members say', async () => {
    await load({ read: 'trips' }, { units: 'us' });
    assert.deepEqual((await flow.ask()).payload, []);
  });

  /** The answer of a condition, its first row and its sentence. */
  async function judged(row: Record<string, unknown>, units: string, msg = {}) {
    clear();
    await flow.load(
      { type: 'connected-vehicle-condition', conditions: [{ operandType: 'num', ...row }] },
      customVehicle(service, { units }),
      demoCredentials,
    );
    flow.send(msg);
    const port = await flow.until(() => {
      const found = flow.outputs.findIndex((output) => output.length > 0);
      return flow.caught.length > 0 ? -1 : found >= 0 && found + 1;
    });
    const [error] = flow.caught;
    const vehicle = flow.outputs[port - 1]?.[0]?.vehicle;
    const { conditions } = (vehicle?.['condition'] ?? { conditions: [] }) as { conditions: Record<string, unknown>[] };
    const [{ is, unit, operand } = {}] = conditions;
    await flow.unload();
    return {
      port,
      is,
      unit,
      operand,
      text: vehicle?.['text'],
      error: (error?.['error'] as Error | undefined)?.message,
    };
  }

  it('change nothing of what a stored condition means, and its sentence has them', async () => {
    const stored = { value: 'odometer', operator: '>', operand: 20_000 };
    const inMiles = { ...stored, unit: 'miles' };
    for (const units of unitSystems) {
      const text = `Odometer: ${expectedOf(units).odometer[2]}`;
      const asBefore = await judged(stored, units);
      assert.deepEqual(asBefore, { port: 1, is: 24_817, unit: 'kilometers', operand: 20_000, text, error: undefined });
      const { port, is, unit, text: ofMiles } = await judged(inMiles, units);
      assert.deepEqual([port, is, unit], [2, 15_421, 'miles'], units);
      assert.equal(ofMiles, units === 'car' ? 'Odometer: 15,421 mi' : text);
    }
  });

  it('are compared as people see them: miles per gallon with the sign of miles, degrees with their zero', async () => {
    const mpg = { value: 'averageFuelConsumption', operator: '>', operand: 40, unit: 'miles per imperial gallon' };
    assert.deepEqual([(await judged(mpg, 'uk')).port, (await judged({ ...mpg, operand: 45 }, 'uk')).port], [1, 2]);
    const warm = { value: 'externalTemp', operator: '=', operand: 70, unit: 'degrees fahrenheit' };
    assert.deepEqual([(await judged(warm, 'us')).port, (await judged(warm, 'car')).port], [1, 1]);
    const between = {
      value: 'odometer',
      operator: 'between',
      operand: '15000 - 15421',
      unit: 'mi',
      operandType: 'str',
    };
    assert.equal((await judged(between, 'uk')).port, 1);
  });

  it('of an operand from a message are those of its row', async () => {
    const row = { value: 'odometer', operator: '>', operand: 'limit', operandType: 'msg', unit: 'miles' };
    assert.equal((await judged(row, 'car', { limit: 15_000 })).port, 1);
    assert.equal((await judged(row, 'car', { limit: 16_000 })).port, 2);
  });

  it('of a condition have to be some that its value can have', async () => {
    const { error } = await judged({ value: 'odometer', operator: '>', operand: 1, unit: 'liters' }, 'uk');
    assert.match(
      error ?? '',
      /Condition 1 cannot be checked. Choose one of these units for “odometer”: kilometers, miles\./,
    );
    const { port } = await judged({ value: 'doors.locked', operator: 'is', operand: true, unit: 'miles' }, 'uk');
    assert.ok(port > 0, 'a value without a unit has none to be wrong');
  });

  it('hold for a condition that has to last, whose seen values are those of the car', async () => {
    const row = { value: 'odometer', operator: '>', operand: 15_000, unit: 'miles', forMinutes: 30 };
    await judged(row, 'uk');
    await clock.advance(40 * 60_000);
    assert.equal((await judged(row, 'uk')).port, 1);
    await clock.advance(60_000);
    assert.equal((await judged({ ...row, operand: 16_000 }, 'uk')).port, 2);
  });

  it('are those of the tab "Cars": values, lines and logbook, while another configuration shows its own', async () => {
    // The group `fuel` has the units of the service.
    const all = unitSystems.flatMap((units) => ['fuelAmount', 'fuel'].map((read) => [units, read] as const));
    for (const [units, read] of all) {
      await load({ read: 'several', reads: ['odometer', read] }, { units });
      await flow.ask();
      const [car] = (await askEditor('cars', {}, { id: 'all' }))['cars'] as CarSummary[];
      const { odometer, fuelAmount } = car?.facts ?? {};
      const { odometer: distance, fuelAmount: fuel } = expectedOf(units);
      assert.deepEqual([odometer?.value, odometer?.unit], distance.slice(0, 2), units);
      assert.deepEqual([fuelAmount?.value, fuelAmount?.unit], fuel.slice(0, 2), units);
      assert.deepEqual(
        car?.lines.fuelAmount?.map(([, value]) => value),
        [fuel[0]],
        units,
      );
      assert.equal(car?.log?.units.km, units === 'car' || units === 'metric' ? 'kilometers' : 'miles');
      await flow.unload();
    }
  });

  it('are those of the sentence of an event; its values keep their unit', async () => {
    const sentenceIn = async (units: string): Promise<unknown[]> => {
      await load({ type: 'connected-vehicle-event', events: ['trip-ended'], poll: 0 }, { units });
      await askEditor('test', { event: 'trip-ended' }, { id: 'n' });
      const { payload } = await flow.until(() => flow.outputs[0]?.[0]);
      await flow.unload();
      const { text, from, to } = payload as Record<string, unknown>;
      return [text, Number(to) - Number(from)];
    };
    assert.deepEqual(await sentenceIn('car'), ['Test: Trip has ended after 12 km', 12]);
    assert.deepEqual(await sentenceIn('us'), ['Test: Trip has ended after 7 mi', 12]);
  });

  it('have to be known ones', async () => {
    await load({ read: 'odometer' }, { units: 'imperial' });
    const { error } = await flow.fail();
    assert.match((error as Error).message, /“units”/);
  });
});
