import { strict as assert } from 'node:assert';
import type { Account } from '../../../src/index';
import { groupedResources } from '../../../src/catalogue/groups';
import { resourceNames } from '../../../src/catalogue/reads';
import { demoCar, startDemo, type Simulator } from '../../../src/simulator';
import { closeAccounts, openTestAccount } from '../../support/account';
import { demoRows, formOf, type DemoCar, type MemberRow } from '../../support/demo-answers';

/**
 * The words of each kind of member, typed from docs/internals/vendor-api.md 1.5, 1.6,
 * 12.3 and 14.3 to 14.7.
 */
const words: readonly [member: RegExp, words: string][] = [
  [/centralLock$/, 'UNSPECIFIED UNLOCKED LOCKED'],
  [/^\/(doors|windows) /, 'UNSPECIFIED OPEN CLOSED AJAR'],
  [/^\/tyres /, 'UNSPECIFIED NO_WARNING VERY_LOW_PRESSURE LOW_PRESSURE HIGH_PRESSURE'],
  [/^\/warnings /, 'UNSPECIFIED NO_WARNING FAILURE'],
  [/oilLevelWarning$/, 'UNSPECIFIED NO_WARNING SERVICE_REQUIRED TOO_LOW TOO_HIGH'],
  [/LevelWarning$/, 'UNSPECIFIED NO_WARNING TOO_LOW'],
  [/engineStatus$/, 'STOPPED RUNNING'],
  [/serviceWarning$/, 'UNSPECIFIED NO_WARNING UNKNOWN_WARNING REGULAR_MAINTENANCE_TIME_FOR_SERVICE'],
  [/serviceTrigger$/, 'CALENDAR_TIME DISTANCE ENGINE_HOURS UNSPECIFIED UNKNOWN'],
  [/chargerConnectionStatus$/, 'CONNECTED DISCONNECTED FAULT'],
  [/chargingStatus$/, 'IDLE CHARGING SCHEDULED DISCHARGING DONE ERROR'],
  [/chargingType$/, 'AC DC NONE'],
  [/chargerPowerStatus$/, 'NO_POWER_AVAILABLE POWER_AVAILABLE_BUT_NOT_ACTIVATED PROVIDING_POWER FAULT'],
  [/fuelType$/, 'ELECTRIC PETROL/ELECTRIC PETROL DIESEL NONE'],
  [/gearbox$/, 'AUTOMATIC MANUAL'],
  [/steering$/, 'LEFT RIGHT'],
];

const error = '{ code: word, message: text, status: word }';

/**
 * What a car of this kind lacks, and how real cars report it (docs/internals/vendor-api.md 6.1,
 * 12.2, 12.5, 14.1, 14.2).
 */
const lacking: Readonly<Record<DemoCar, Readonly<Record<string, string>>>> = {
  petrol: {
    ' data.batteryCapacityKWH': 'null',
    '/state batteryChargeLevel': error,
    '/state electricRange': error,
    '/state chargerConnectionStatus': error,
    '/state chargingStatus': error,
    '/state chargingType': error,
    '/state chargerPowerStatus': error,
    '/state estimatedChargingTimeToTargetBatteryChargeLevel': error,
    '/state chargingCurrentLimit': error,
    '/state targetBatteryChargeLevel': error,
    '/state chargingPower': error,
    '/fuel data.batteryChargeLevel': 'null',
    '/statistics data.averageEnergyConsumption': 'null',
    '/statistics data.averageEnergyConsumptionAutomatic': 'null',
    '/statistics data.averageEnergyConsumptionSinceCharge': 'null',
    '/statistics data.distanceToEmptyBattery': 'null',
    '/diagnostics data.serviceTrigger': 'null',
  },
  electric: {
    '/fuel data.fuelAmount': 'null',
    '/statistics data.averageFuelConsumption': 'null',
    '/statistics data.averageFuelConsumptionAutomatic': 'null',
    '/statistics data.distanceToEmptyTank': 'null',
    '/diagnostics data.engineHoursToService': 'null',
    '/diagnostics data.serviceTrigger': 'null',
  },
};

const wordIn = (value: unknown): string | null => {
  const own = typeof value === 'object' && value !== null && 'value' in value ? value.value : value;
  return typeof own === 'string' && formOf(own) === 'word' ? own : null;
};

describe('A car of the demo', () => {
  let rows: MemberRow[];
  before(async () => {
    rows = await demoRows();
  });

  for (const car of ['petrol', 'electric'] as const) {
    it(`answers as the vendor’s demo car: the same members, kinds of values, units and digits of times (${car})`, () => {
      assert.ok(rows.length > 90, `${rows.length} members`);
      const others = rows.filter((row) => formOf(row[car]) !== formOf(row.recorded));
      assert.deepEqual(
        Object.fromEntries(others.map((row) => [`${row.path} ${row.member}`, formOf(row[car])])),
        lacking[car],
      );
    });

    it(`spells every word as the vendor does (${car})`, () => {
      const seen = rows.flatMap((row) => {
        const word = wordIn(row[car]);
        return word === null ? [] : [{ at: `${row.path} ${row.member}`, word }];
      });
      assert.ok(seen.some(({ word }) => word === 'UNSPECIFIED'));
      for (const { at, word } of seen) {
        const known = words.find(([member]) => member.test(at))?.[1] ?? '';
        assert.ok(known.split(' ').includes(word), `${at}: ${word}`);
      }
    });
  }

  describe('as a flow reads and commands it', () => {
    let demo: Simulator;
    let account: Account;
    beforeEach(async () => {
      demo = await startDemo();
      account = openTestAccount(demo, { service: 'demo' });
    });
    afterEach(async () => {
      await closeAccounts();
      await demo.close();
    });

    it('gives every single value of connected v2, and the six that it lacks of the extended interface', async () => {
      const extended: string[] = [];
      for (const name of resourceNames) {
        const { vehicle } = await account.client.read(name, { vin: demoCar.vin });
        if (vehicle.interface === 'extended-v1') extended.push(name);
        else assert.equal(vehicle.interface, 'connected-v2', name);
      }
      assert.deepEqual(extended.sort(), [
        'backupBatteryRemaining',
        'cabOpen',
        'engineCoolantTemp',
        'externalTemp',
        'mainBatteryStatus',
        'oilPressure',
      ]);
      assert.deepEqual(extended, resourceNames.filter((name) => groupedResources[name].group === null).sort());
    });

    it('answers a flash once, with its end, after a second or two', async () => {
      const record = await account.dispatcher.send('flash', { vin: demoCar.vin });
      assert.deepEqual(
        [record.interface, record.requestStatus, record.outcome, record.async],
        ['connected-v2', 'COMPLETED', 'succeeded', null],
      );
      const [invocation] = demo.cars.get(demoCar.vin)?.invocations ?? [];
      assert.equal((invocation?.endsAt ?? 0) - (invocation?.receivedAt ?? 0), 1500);
    });

    it('gives a link to follow on v1 if a message asks for it', async () => {
      const record = await account.dispatcher.send('flash', { vin: demoCar.vin, interface: 'v1' });
      assert.deepEqual(
        [record.interface, record.requestStatus, record.outcome],
        ['connected-v1', 'RUNNING', 'pending'],
      );
      assert.ok(record.async?.href);
    });
  });
});
