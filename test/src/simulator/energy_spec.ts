import { strict as assert } from 'node:assert';
import { classicCar, demoCar, electricCar } from '../../../src/simulator';
import type { CarOptions } from '../../../src/simulator';
import { chargingMemberNames } from '../../../src/catalogue/reads';
import { Bench, type Json } from './support';

const state = '/energy/v2/vehicles/{vin}/state';
const capabilities = '/energy/v2/vehicles/{vin}/capabilities';
const hour = 3_600_000;

describe('the energy interface of the simulated service', () => {
  const bench = new Bench();
  const start = (...cars: CarOptions[]) => bench.start({ dialect: 'real', cars });
  const energy = async () => (await bench.get(state)).body;
  const values = async () =>
    Object.fromEntries(Object.entries(await energy()).map(([name, member]: [string, Json]) => [name, member['value']]));
  afterEach(() => bench.simulator.close());

  it('charges in the time of the clock, with a new time at each whole percent', async () => {
    await start(electricCar);
    // 0.78 kWh at 11 kW.
    const percentMs = (0.78 / 11) * hour;
    await bench.clock.advance(percentMs - 1000);
    assert.equal((await energy())['batteryChargeLevel']?.['value'], 53);
    await bench.clock.advance(2000);
    const { batteryChargeLevel, targetBatteryChargeLevel, ...others } = (await energy()) as unknown as Record<
      string,
      Json
    >;
    assert.deepEqual(batteryChargeLevel, {
      status: 'OK',
      value: 54,
      unit: 'percentage',
      updatedAt: new Date(Math.floor((bench.clock.now() - 1000) / 1000) * 1000).toISOString().replace('.000', ''),
    });
    assert.equal(targetBatteryChargeLevel?.['updatedAt'], '2026-06-01T08:00:00Z');
    assert.equal(others['estimatedChargingTimeToTargetBatteryChargeLevel']?.['value'], 164);
  });

  it('takes less power above 80 percent, and is done at the target', async () => {
    await start({ ...electricCar, battery: { ...electricCar.battery, target: 100 } });
    const left = async () => Number((await values())['estimatedChargingTimeToTargetBatteryChargeLevel']);
    const announced = await left();
    const powers: number[] = [];
    let minutes = 0;
    for (let now = await values(); now['chargingStatus'] === 'CHARGING'; now = await values()) {
      powers.push(Number(now['chargingPower']));
      await bench.clock.advance(60_000);
      minutes += 1;
    }
    assert.ok(Math.abs(minutes - announced) <= 1, `${minutes} minutes, ${announced} announced`);
    assert.equal(powers[0], 11_000);
    assert.deepEqual(
      powers,
      [...powers].sort((a, b) => b - a),
    );
    assert.equal(powers.at(-1), 2640);
    assert.deepEqual(await values(), {
      ...(await values()),
      batteryChargeLevel: 100,
      chargingStatus: 'DONE',
      chargerPowerStatus: 'POWER_AVAILABLE_BUT_NOT_ACTIVATED',
      estimatedChargingTimeToTargetBatteryChargeLevel: 0,
      chargingPower: 0,
    });
  });

  it('says what the car supports, with the one name that differs', async () => {
    await start(electricCar);
    const { getEnergyState } = (await bench.get(capabilities)).body as unknown as { getEnergyState: Json };
    assert.deepEqual(
      Object.keys(getEnergyState),
      ['isSupported', ...chargingMemberNames].map((name) =>
        name === 'chargingStatus' ? 'chargingSystemStatus' : name,
      ),
    );
    assert.equal(getEnergyState['isSupported'], true);
    assert.deepEqual(getEnergyState['chargingSystemStatus'], { isSupported: true });
  });

  it('answers a petrol car with errors alone, or with 404', async () => {
    await start(demoCar, classicCar);
    const body = await energy();
    assert.deepEqual(
      Object.values(body).map((member: Json) => member['code']),
      chargingMemberNames.map(() => 'NOT_SUPPORTED'),
    );
    const claims = (await bench.get(capabilities)).body['getEnergyState'];
    assert.equal(claims?.['isSupported'], false);
    assert.deepEqual(claims?.['electricRange'], { isSupported: false });
    const reply = await bench.get(state.replace('{vin}', classicCar.vin));
    assert.equal(reply.status, 404);
    assert.deepEqual(reply.body, {
      code: 'NOT_FOUND',
      message: 'Resource is not supported for this vehicle',
      details: [],
    });
  });

  it('says that version 1 is gone', async () => {
    await start(electricCar);
    const reply = await bench.get('/energy/v1/vehicles/{vin}/recharge-status');
    assert.equal(reply.status, 410);
    assert.deepEqual(reply.body, {
      error: {
        message: 'GONE',
        description: 'Version 1 is removed. See https://developer.volvocars.com/apis/energy/v2/overview/',
      },
    });
  });
});
