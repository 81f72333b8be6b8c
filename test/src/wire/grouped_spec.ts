import { strict as assert } from 'node:assert';
import type { ResourceName } from '../../../src/catalogue/reads';
import { fromGroup } from '../../../src/wire/grouped';

const at = '2026-08-21T08:01:46.865571Z';
const timestamp = '2026-08-21T08:01:46.865Z';
const word = (value: unknown): object => ({ value, unit: null, timestamp: at });
const number = (value: unknown, unit: string | null): object => ({ value, unit, timestamp: at });
const read = (
  name: ResourceName,
  data: object,
): { value: unknown; unit: string | null; timestamp: string | null; raw?: unknown } =>
  fromGroup(name, { data }).payload;

describe('a resource out of a group', () => {
  const rows: [ResourceName, object, unknown, string | null][] = [
    ['averageFuelConsumption', { averageFuelConsumption: number(7.23, 'l/100km') }, 7.23, 'liters per 100 kilometers'],
    [
      'averageSpeed',
      { averageSpeed: number(53, 'km/h'), averageSpeedAutomatic: number(26, 'km/h') },
      53,
      'kilometers per hour',
    ],
    ['brakeFluid', { brakeFluidLevelWarning: word('TOO_LOW') }, 'LOW', null],
    ['carLocked', { centralLock: word('LOCKED') }, true, null],
    ['carLocked', { centralLock: word('UNLOCKED') }, false, null],
    [
      'distanceToEmpty',
      { distanceToEmptyTank: number(147, 'km'), distanceToEmptyBattery: number(29, 'km') },
      147,
      'kilometers',
    ],
    ['distanceToEmpty', { distanceToEmpty: number('512', 'kilometers') }, 512, 'kilometers'],
    [
      'distanceToEmpty',
      { distanceToEmptyTank: null, distanceToEmptyBattery: number(250, 'km'), averageFuelConsumption: null },
      250,
      'kilometers',
    ],
    ['engineCoolantLevel', { engineCoolantLevelWarning: word('NO_WARNING') }, 'NORMAL', null],
    ['engineHoursToService', { engineHoursToService: number(1266, 'h') }, 1266, 'hours'],
    ['engineRunning', { engineStatus: word('RUNNING') }, true, null],
    ['engineRunning', { engineStatus: word('STOPPED') }, false, null],
    ['frontLeftDoorOpen', { frontLeftDoor: word('OPEN') }, true, null],
    ['frontRightDoorOpen', { frontRightDoor: word('AJAR') }, true, null],
    ['rearLeftDoorOpen', { rearLeftDoor: word('CLOSED') }, false, null],
    ['rearRightDoorOpen', { rearRight: word('OPEN') }, true, null],
    ['fuelAmount', { fuelAmount: number('47.3', 'l') }, 47, 'liters'],
    ['hoodOpen', { hood: word('CLOSED') }, false, null],
    ['kmToService', { distanceToService: number(29_000, 'km') }, 29_000, 'kilometers'],
    ['kmToService', { distanceToService: number(100, 'miles') }, 160, 'kilometers'],
    ['monthsToService', { timeToService: number(23, 'months') }, 23, 'months'],
    ['monthsToService', { timeToService: number(200, 'days') }, 6, 'months'],
    ['monthsToService', { timeToService: number(17, 'days') }, 0, 'months'],
    ['odometer', { odometer: number(30_000, 'km') }, 30_000, 'kilometers'],
    ['odometer', { odometer: number(12_345.6, null) }, 12_345.6, 'kilometers'],
    ['oilLevel', { oilLevelWarning: word('TOO_HIGH') }, 'HIGH', null],
    ['serviceWarningStatus', { serviceWarning: word('NO_WARNING') }, 'NORMAL', null],
    [
      'serviceWarningStatus',
      { serviceWarning: word('DISTANCE_DRIVEN_ALMOST_TIME_FOR_SERVICE') },
      'ALMOST_TIME_FOR_SERVICE',
      null,
    ],
    ['serviceWarningStatus', { serviceWarning: word('ENGINE_HOURS_TIME_FOR_SERVICE') }, 'TIME_FOR_SERVICE', null],
    [
      'serviceWarningStatus',
      { serviceWarning: word('REGULAR_MAINTENANCE_OVERDUE_FOR_SERVICE') },
      'TIME_EXCEEDED',
      null,
    ],
    ['serviceWarningTrigger', { serviceTrigger: word('DISTANCE') }, 'DISTANCE', null],
    ['tailGateOpen', { tailgate: word('OPEN') }, true, null],
    ['tailGateOpen', { tailGate: word('CLOSED') }, false, null],
    [
      'tripMeter1',
      { tripMeterManual: number(3822.9, 'km'), tripMeterAutomatic: number(18.2, 'km') },
      3823,
      'kilometers',
    ],
    ['tripMeter2', { tripMeterManual: number(3822.9, 'km'), tripMeterAutomatic: number(18.2, 'km') }, 18, 'kilometers'],
    ['frontLeftTyrePressure', { frontLeft: word('NO_WARNING') }, 'NORMAL', null],
    ['frontRightTyrePressure', { frontRight: word('VERY_LOW_PRESSURE') }, 'LOW', null],
    ['rearLeftTyrePressure', { rearLeft: word('HIGH_PRESSURE') }, 'HIGH', null],
    ['rearRightTyrePressure', { rearRight: word('LOWSOFT') }, 'LOWSOFT', null],
    ['washerFluidLevel', { washerFluidLevelWarning: word('TOO_LOW') }, 'LOW', null],
    ['frontLeftWindowOpen', { frontLeftWindow: word('CLOSED') }, false, null],
    ['frontRightWindowOpen', { frontRightWindow: word('OPEN') }, true, null],
    ['rearLeftWindowOpen', { rearLeftWindow: word('AJAR') }, true, null],
    ['rearRightWindowOpen', { rearRightWindow: word('CLOSED') }, false, null],
  ];
  for (const [name, data, value, unit] of rows) {
    it(`${name} of ${JSON.stringify(
      Object.values(data).map((member) =>
        member === null
          ? null
          : Object.values(member as object)
              .slice(0, 2)
              .join(' '),
      ),
    )} is ${value}`, () => {
      assert.deepEqual(read(name, data), { value, unit, timestamp });
    });
  }

  it('is read without the data envelope too', () => {
    assert.equal(fromGroup('fuelAmount', { fuelAmount: number(12, 'l') }).payload.value, 12);
  });

  it('is refused where the answer is no group', () => {
    for (const body of [null, [], 'x', { data: [] }])
      assert.throws(() => fromGroup('fuelAmount', body), { code: 'BAD_RESPONSE' });
  });

  const nameless: [ResourceName, string][] = [
    ['carLocked', 'centralLock'],
    ['frontLeftDoorOpen', 'frontLeftDoor'],
    ['frontLeftWindowOpen', 'frontLeftWindow'],
    ['engineRunning', 'engineStatus'],
    ['fuelAmount', 'fuelAmount'],
    ['odometer', 'odometer'],
    ['brakeFluid', 'brakeFluidLevelWarning'],
    ['frontLeftTyrePressure', 'frontLeft'],
    ['monthsToService', 'timeToService'],
  ];
  for (const [name, member] of nameless) {
    it(`${name} is unknown, not closed, off or 0, where it cannot be told`, () => {
      for (const odd of [
        undefined,
        null,
        {},
        [],
        'CLOSED',
        0,
        word(null),
        word(''),
        word([]),
        word({}),
        word('UNSPECIFIED'),
        word('SOMETHING_NEW'),
        number('', 'l'),
        number('ten', 'km'),
      ]) {
        const { value } = read(name, odd === undefined ? {} : { [member]: odd });
        assert.equal(value, null, JSON.stringify(odd));
      }
    });
  }

  it('is unknown where two spellings say different things, and not where one says nothing', () => {
    assert.equal(read('carLocked', { centralLock: word('LOCKED'), carLocked: word('UNLOCKED') }).value, null);
    assert.equal(read('tailGateOpen', { tailgate: word('CLOSED'), tailGate: word('OPEN') }).value, null);
    assert.equal(read('tailGateOpen', { tailgate: word('UNSPECIFIED'), tailGate: word('OPEN') }).value, true);
    assert.equal(read('tailGateOpen', { tailgate: word('OPEN'), tailGate: word('OPEN') }).value, true);
  });

  it('hands on as raw what came instead of a value', () => {
    assert.deepEqual(read('oilLevel', { oilLevelWarning: word('SERVICE_REQUIRED') }), {
      value: null,
      unit: null,
      timestamp,
      raw: 'SERVICE_REQUIRED',
    });
    assert.deepEqual(read('kmToService', { distanceToService: number(5, 'furlongs') }), {
      value: null,
      unit: 'kilometers',
      timestamp,
      raw: 5,
    });
  });

  it('is unknown where a time to service has no unit: it may be days or months', () => {
    assert.deepEqual(read('monthsToService', { timeToService: number(17, null) }), {
      value: null,
      unit: 'months',
      timestamp,
      raw: 17,
    });
  });

  it('does not take the battery’s range of a car that burns fuel', () => {
    assert.equal(
      read('distanceToEmpty', {
        distanceToEmptyTank: null,
        distanceToEmptyBattery: number(29, 'km'),
        averageFuelConsumption: number(4, 'l/100km'),
      }).value,
      null,
    );
  });

  it('is unknown for what the table does not have', () => {
    assert.deepEqual(read('oilPressure', { oilPressure: word('NORMAL') }), {
      value: null,
      unit: null,
      timestamp: null,
    });
  });

  it('never throws, and gives values of the promised type only, whatever stands in a group', () => {
    const odd = [
      null,
      undefined,
      0,
      -1,
      1e308,
      '',
      'x',
      true,
      [],
      {},
      word(true),
      word(3),
      number(-0.2, 'km'),
      { value: { value: 1 } },
      { timestamp: {} },
    ];
    for (const value of odd) {
      const data = Object.fromEntries(
        ['centralLock', 'hood', 'frontLeft', 'tripMeter1', 'odometer', 'highBeamLeftWarning', '__proto__'].map(
          (member) => [member, value],
        ),
      );
      for (const name of [
        'carLocked',
        'hoodOpen',
        'frontLeftTyrePressure',
        'tripMeter1',
        'odometer',
        'bulbFailure',
      ] as const) {
        const { value: result } = read(name, data);
        assert.ok(
          result === null || typeof result === (name === 'tripMeter1' || name === 'odometer' ? 'number' : 'string'),
          `${name}: ${JSON.stringify(value)} gave ${result}`,
        );
      }
    }
  });

  describe('bulbFailure', () => {
    const fine = {
      brakeLightCenterWarning: word('NO_WARNING'),
      hazardLightsWarning: word('UNSPECIFIED'),
      reverseLightsWarning: null,
    };
    const broken = (...members: string[]): object => ({
      ...fine,
      ...Object.fromEntries(members.map((member) => [member, word('FAILURE')])),
    });

    for (const [members, value] of [
      [['highBeamLeftWarning'], 'HIGH_BEAM_LEFT'],
      [['brakeLightLeftWarning', 'brakeLightRightWarning'], 'STOP_ANY'],
      [['turnIndicationRearRightWarning'], 'RIGHT_TURN_ANY'],
      [['highBeamLeftWarning', 'highBeamRightWarning'], 'MULTIPLE'],
      [['fogLightRearWarning', 'registrationPlateLightWarning'], 'MULTIPLE'],
    ] as const) {
      it(`is ${value} for ${members.join(' and ')}`, () => {
        assert.deepEqual(read('bulbFailure', broken(...members)), { value, unit: null, timestamp });
      });
    }

    it('has no word for some lights, and names them as raw', () => {
      assert.deepEqual(read('bulbFailure', broken('registrationPlateLightWarning')), {
        value: null,
        unit: null,
        timestamp,
        raw: 'registrationPlateLightWarning',
      });
    });

    it('has no word for none, and says so as raw', () => {
      assert.deepEqual(read('bulbFailure', fine), { value: null, unit: null, timestamp, raw: 'NO_WARNING' });
    });

    it('does not say that all is well where a light says something new', () => {
      assert.equal(read('bulbFailure', { ...fine, fogLightFrontWarning: word('FLICKERS') }).raw, 'FLICKERS');
    });

    it('is unknown where nothing is told', () => {
      assert.deepEqual(read('bulbFailure', {}), { value: null, unit: null, timestamp: null });
    });
  });
});
