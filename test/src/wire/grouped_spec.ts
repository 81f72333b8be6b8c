import { strict as assert } from 'node:assert';
import type { ResourceName } from '../../../src/catalogue/reads';
import { fromGroup, parseGroup } from '../../../src/wire/grouped';

const at = '2026-08-21T08:01:46.865571Z';
const timestamp = '2026-08-21T08:01:46.865Z';
const word = (value: unknown): object => ({ value, unit: null, timestamp: at });
const number = (value: unknown, unit: string | null): object => ({ value, unit, timestamp: at });
const read = (
  name: ResourceName,
  data: object,
): { value: unknown; unit: string | null; timestamp: string | null; raw?: unknown } =>
  fromGroup(name, { data }, null).payload;

describe('a resource out of a group', () => {
  const fine = {
    brakeLightCenterWarning: word('NO_WARNING'),
    hazardLightsWarning: word('UNSPECIFIED'),
    reverseLightsWarning: null,
  };
  const broken = (...members: string[]): object => ({
    ...fine,
    ...Object.fromEntries(members.map((member) => [member, word('FAILURE')])),
  });
  const rows: [ResourceName, object, unknown, string | null, raw?: object][] = [
    ['averageFuelConsumption', { averageFuelConsumption: number(7.23, 'l/100km') }, 7.23, 'liters per 100 kilometers'],
    [
      'averageSpeed',
      { averageSpeed: number(53, 'km/h'), averageSpeedAutomatic: number(26, 'km/h') },
      53,
      'kilometers per hour',
    ],
    ['brakeFluid', { brakeFluidLevelWarning: word('TOO_LOW') }, 'LOW', null],
    ['engineCoolantLevel', { engineCoolantLevelWarning: word('NO_WARNING') }, 'NORMAL', null],
    ['frontRightDoorOpen', { frontRightDoor: word('AJAR') }, true, null, { value: 'AJAR', unit: null }],
    ['rearRightDoorOpen', { rearRight: word('OPEN') }, true, null],
    ['fuelAmount', { fuelAmount: number('47.3', 'l') }, 47, 'liters', { value: '47.3', unit: 'l' }],
    ['fuelAmount', { fuelAmount: number(0, 'l') }, 0, 'liters'],
    ['kmToService', { distanceToService: number(100, 'miles') }, 160, 'kilometers', { value: 100, unit: 'miles' }],
    ['kmToService', { distanceToService: number(0.4, 'km') }, null, 'kilometers', { value: 0.4, unit: 'km' }],
    ['monthsToService', { timeToService: number(200, 'days') }, 6, 'months', { value: 200, unit: 'days' }],
    ['monthsToService', { timeToService: number(17, 'days') }, null, 'months', { value: 17, unit: 'days' }],
    ['monthsToService', { timeToService: number(-3, 'days') }, null, 'months', { value: -3, unit: 'days' }],
    ['monthsToService', { timeToService: number(0, 'days') }, 0, 'months', { value: 0, unit: 'days' }],
    [
      'odometer',
      { odometer: number('9'.repeat(310), 'km') },
      null,
      'kilometers',
      { value: '9'.repeat(310), unit: 'km' },
    ],
    ['odometer', { odometer: number(`-${'0'.repeat(310)}`, 'km') }, 0, 'kilometers'],
    [
      'averageSpeed',
      { averageSpeed: number(1.7e308, 'mph') },
      null,
      'kilometers per hour',
      { value: 1.7e308, unit: 'mph' },
    ],
    ['odometer', { odometer: number(12_345.6, null) }, 12_345.6, 'kilometers'],
    ['serviceWarningStatus', { serviceWarning: word('NO_WARNING') }, 'NORMAL', null],
    [
      'serviceWarningStatus',
      { serviceWarning: word('DISTANCE_DRIVEN_ALMOST_TIME_FOR_SERVICE') },
      'ALMOST_TIME_FOR_SERVICE',
      null,
      { value: 'DISTANCE_DRIVEN_ALMOST_TIME_FOR_SERVICE', unit: null },
    ],
    [
      'serviceWarningStatus',
      { serviceWarning: word('ENGINE_HOURS_TIME_FOR_SERVICE') },
      'TIME_FOR_SERVICE',
      null,
      { value: 'ENGINE_HOURS_TIME_FOR_SERVICE', unit: null },
    ],
    [
      'serviceWarningStatus',
      { serviceWarning: word('REGULAR_MAINTENANCE_OVERDUE_FOR_SERVICE') },
      'TIME_EXCEEDED',
      null,
    ],
    ['tailGateOpen', { tailGate: word('CLOSED') }, false, null],
    [
      'tripMeter1',
      { tripMeterManual: number(3822.9, 'km'), tripMeterAutomatic: number(18.2, 'km') },
      3823,
      'kilometers',
      { value: 3822.9, unit: 'km' },
    ],
    [
      'tripMeter2',
      { tripMeterManual: number(3822.9, 'km'), tripMeterAutomatic: number(18.2, 'km') },
      18,
      'kilometers',
      { value: 18.2, unit: 'km' },
    ],
    ['frontLeftTyrePressure', { frontLeft: word('NO_WARNING') }, 'NORMAL', null],
    [
      'frontRightTyrePressure',
      { frontRight: word('VERY_LOW_PRESSURE') },
      'LOW',
      null,
      { value: 'VERY_LOW_PRESSURE', unit: null },
    ],
    ['frontRightTyrePressure', { frontRight: word('LOW_PRESSURE') }, 'LOW', null],
    ['rearLeftTyrePressure', { rearLeft: word('HIGH_PRESSURE') }, 'HIGH', null],
    ['rearRightTyrePressure', { rearRight: word('LOWSOFT') }, 'LOWSOFT', null],
    ['rearLeftWindowOpen', { rearLeftWindow: word('AJAR') }, true, null, { value: 'AJAR', unit: null }],
    ['oilLevel', { oilLevelWarning: word('SERVICE_REQUIRED') }, null, null, { value: 'SERVICE_REQUIRED', unit: null }],
    ['kmToService', { distanceToService: number(5, 'furlongs') }, null, 'kilometers', { value: 5, unit: 'furlongs' }],
    // It may be days or months.
    ['monthsToService', { timeToService: number(17, null) }, null, 'months', { value: 17, unit: null }],
    ['bulbFailure', broken('highBeamLeftWarning'), 'HIGH_BEAM_LEFT', null],
    ['bulbFailure', broken('brakeLightLeftWarning', 'brakeLightRightWarning'), 'STOP_ANY', null],
    ['bulbFailure', broken('turnIndicationRearRightWarning'), 'RIGHT_TURN_ANY', null],
    ['bulbFailure', broken('highBeamLeftWarning', 'highBeamRightWarning'), 'MULTIPLE', null],
    ['bulbFailure', broken('fogLightRearWarning', 'registrationPlateLightWarning'), 'MULTIPLE', null],
    // It has no word for some lights, and does not say that all is well if a light has a new word.
    [
      'bulbFailure',
      broken('registrationPlateLightWarning'),
      null,
      null,
      { value: 'registrationPlateLightWarning', unit: null },
    ],
    ['bulbFailure', { ...fine, fogLightFrontWarning: word('FLICKERS') }, null, null, { value: 'FLICKERS', unit: null }],
  ];
  it('has the value, the word and the unit of the extended interface, and raw what they lose', () => {
    for (const [name, data, value, unit, raw] of rows)
      assert.deepEqual(
        read(name, data),
        { value, unit, timestamp, ...(raw && { raw }) },
        `${name} ${JSON.stringify(data)}`,
      );
  });

  const nameless: [ResourceName, string][] = [
    ['carLocked', 'centralLock'],
    ['engineRunning', 'engineStatus'],
    ['fuelAmount', 'fuelAmount'],
    ['odometer', 'odometer'],
    ['brakeFluid', 'brakeFluidLevelWarning'],
    ['frontLeftTyrePressure', 'frontLeft'],
    ['monthsToService', 'timeToService'],
  ];
  it('is unknown, not closed, off or 0, without a readable value', () => {
    for (const [name, member] of nameless)
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
      ])
        assert.equal(
          read(name, odd === undefined ? {} : { [member]: odd }).value,
          null,
          `${name} ${JSON.stringify(odd)}`,
        );
  });

  it('is unknown if two spellings contradict each other, but not if one of them is unspecified', () => {
    assert.equal(read('carLocked', { centralLock: word('LOCKED'), carLocked: word('UNLOCKED') }).value, null);
    assert.equal(read('tailGateOpen', { tailgate: word('CLOSED'), tailGate: word('OPEN') }).value, null);
    assert.equal(read('tailGateOpen', { tailgate: word('UNSPECIFIED'), tailGate: word('OPEN') }).value, true);
    assert.equal(read('tailGateOpen', { tailgate: word('OPEN'), tailGate: word('OPEN') }).value, true);
  });
});

describe('a whole group', () => {
  it('is verbatim: a value with a unit is a number, and the envelope is left out', () => {
    const data = {
      fuelAmount: number('47.3', 'l'),
      gone: null,
      word: { value: '7', unit: null, timestamp: '2026-06-01T06:00:00Z' },
      odd: number('7x', 'l'),
    };
    const older = '2026-06-01T06:00:00.000Z';
    assert.deepEqual(parseGroup({ status: 200, operationId: 'x', data }), {
      payload: {
        fuelAmount: { value: 47.3, unit: 'l', timestamp },
        gone: { value: null, unit: null, timestamp: null },
        word: { value: '7', unit: null, timestamp: older },
        odd: { value: '7x', unit: 'l', timestamp },
      },
      measuredAt: older,
    });
  });
});
