import { strict as assert } from 'node:assert';
import type { InterfaceName, ReadName } from '../../../src/catalogue/reads';
import { readingOf } from '../../../src/car/reading';

const at = '2026-06-01T07:00:00.000Z';
const older = '2026-06-01T06:00:00.000Z';
const measured = (value: unknown, unit: string | null = null, timestamp: string | null = at) => ({
  value,
  unit,
  timestamp,
});
const unmeasured = { value: null, unit: null, timestamp: null };
const closed = { value: 'CLOSED', timestamp: at };
const unknown = { value: null, timestamp: null };
const windows = {
  frontLeftWindow: measured('CLOSED'),
  frontRightWindow: measured('CLOSED'),
  rearLeftWindow: measured('CLOSED', null, older),
  rearRightWindow: measured('UNSPECIFIED', null, '2026-06-01T05:00:00Z'),
};
const corners = { frontLeft: closed, frontRight: closed, rearLeft: { ...closed, timestamp: older } };
const unspecified = { value: 'UNSPECIFIED', timestamp: '2026-06-01T05:00:00.000Z' };
const battery = { batteryChargeLevel: { status: ' ok ', value: 50, unit: 'percentage', updatedAt: at } };

interface Answer {
  read: ReadName;
  body: unknown;
  payload: unknown;
  interface?: InterfaceName;
  isFitted?: boolean;
  burnsFuel?: boolean;
  measuredAt?: string | null;
}
const answers: Record<string, Answer> = {
  'windows, of which the oldest value counts': {
    read: 'windows',
    body: { data: windows },
    payload: { ...corners, rearRight: unspecified },
    measuredAt: '2026-06-01T05:00:00.000Z',
  },
  'a sunroof that is missing though the car has one': {
    read: 'windows',
    body: { data: windows },
    isFitted: true,
    payload: { ...corners, rearRight: unspecified, sunroof: unknown },
    measuredAt: '2026-06-01T05:00:00.000Z',
  },
  'a sunroof that v1 never has': {
    read: 'windows',
    interface: 'connected-v1',
    body: { frontLeft: measured('CLOSED') },
    isFitted: true,
    payload: { frontLeft: closed, frontRight: unknown, rearLeft: unknown, rearRight: unknown },
  },
  'a group, verbatim': {
    read: 'fuel',
    body: {
      status: 200,
      operationId: 'x',
      data: {
        fuelAmount: measured('47.3', 'l'),
        gone: null,
        word: measured('7', null, older),
        odd: measured('7x', 'l'),
      },
    },
    payload: {
      fuelAmount: measured(47.3, 'l'),
      gone: unmeasured,
      word: measured('7', null, older),
      odd: measured('7x', 'l'),
    },
    measuredAt: older,
  },
  'a single value of a group': {
    read: 'averageSpeedAutomatic',
    body: { data: { averageSpeedAutomatic: measured(26, 'km/h') } },
    payload: measured(26, 'kilometers per hour'),
  },
  'a resource without a unit': {
    read: 'averageFuelConsumption',
    body: { data: { averageFuelConsumption: measured('7.234567', ' ') } },
    payload: measured(7.234567, 'liters per 100 kilometers'),
  },
  'a word with blanks': {
    read: 'engineRunning',
    body: { data: { engineStatus: measured(' running ') } },
    payload: measured(true),
  },
  'lights, of which none has failed': {
    read: 'bulbFailure',
    body: { data: { lowBeamLeftWarning: measured('NO_WARNING'), fogLightRearWarning: measured(null, null, older) } },
    payload: { ...measured(null, null, older), raw: { value: 'NO_WARNING', unit: null } },
    measuredAt: older,
  },
  'the range of a car that burns fuel': {
    read: 'distanceToEmpty',
    body: { data: { distanceToEmptyTank: measured(480, 'km'), distanceToEmptyBattery: measured(30, 'km') } },
    burnsFuel: true,
    payload: measured(480, 'kilometers'),
  },
  'the range of a car that burns none': {
    read: 'distanceToEmpty',
    body: { data: { distanceToEmptyTank: measured(480, 'km'), distanceToEmptyBattery: measured(30, 'km') } },
    burnsFuel: false,
    payload: measured(30, 'kilometers'),
  },
  'no range of a car that may burn fuel': {
    read: 'distanceToEmpty',
    body: { data: { distanceToEmptyTank: measured(480, 'km'), distanceToEmptyBattery: measured(30, 'km') } },
    payload: { ...unmeasured, unit: 'kilometers' },
    measuredAt: null,
  },
  'a resource of the extended interface': {
    read: 'tailGateOpen',
    interface: 'extended-v1',
    body: { data: null, resourceValue: measured(' Open ') },
    payload: measured(true),
  },
  'the energy state, with a member that is new': {
    read: 'charging',
    body: { ...battery, cable: { value: 1, updatedAt: older }, plug: { status: 'ERROR' }, odd: { seen: 1 } },
    payload: {
      batteryChargeLevel: measured(50, 'percent'),
      ...Object.fromEntries(
        [
          'electricRange',
          'chargerConnectionStatus',
          'chargingStatus',
          'chargingType',
          'chargerPowerStatus',
          'estimatedChargingTimeToTargetBatteryChargeLevel',
          'chargingCurrentLimit',
          'targetBatteryChargeLevel',
          'chargingPower',
        ].map((name) => [name, { ...unmeasured, reason: 'MISSING' }]),
      ),
      cable: measured(1, null, older),
      plug: { ...unmeasured, reason: 'ERROR' },
      chargingDoneAt: { ...unmeasured, reason: 'MISSING' },
    },
    measuredAt: older,
  },
  'one member of the energy state': { read: 'batteryChargeLevel', body: battery, payload: measured(50, 'percent') },
  'a code with blanks': {
    read: 'batteryChargeLevel',
    body: { batteryChargeLevel: { status: 'ERROR', code: ' NOT_SUPPORTED ' } },
    payload: { ...unmeasured, reason: 'NOT_SUPPORTED' },
    measuredAt: null,
  },
  'when it will be charged': {
    read: 'chargingDoneAt',
    body: {
      chargingStatus: { value: ' charging ' },
      estimatedChargingTimeToTargetBatteryChargeLevel: { value: 90, updatedAt: at },
    },
    payload: measured('2026-06-01T08:30:00.000Z'),
  },
  'what it can charge': {
    read: 'chargingCapabilities',
    body: { getEnergyState: { chargingSystemStatus: { isSupported: true, limits: [1, null, { a: 2 }] } } },
    payload: { chargingStatus: { isSupported: true, limits: [1, null, { a: 2 }] } },
    measuredAt: null,
  },
  'a position': {
    read: 'location',
    interface: 'location-v1',
    body: { data: { geometry: { coordinates: [180, -90, 5, 7] }, properties: { heading: '360', timestamp: at } } },
    payload: { latitude: -90, longitude: 180, altitude: 5, heading: 0, timestamp: at },
  },
  'the list of commands': {
    read: 'commands',
    body: { commands: [{ command: 'HONK_AND_FLASH', href: '/x' }, { href: '/y' }, 7] },
    payload: [{ command: 'honk-flash', href: '/x' }],
    measuredAt: null,
  },
  'the reason of a car that takes no commands': {
    read: 'accessibility',
    body: { availabilityStatus: measured('UNAVAILABLE'), unavailableReason: { value: 'CAR_IN_USE' } },
    payload: { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE', timestamp: at },
  },
};

const parse = (read: ReadName, body: unknown, context: Parameters<typeof readingOf>[2]) =>
  readingOf({ vin: null, read }, { body, receivedAt: 0, askedAt: 0, source: 'live' }, context);

describe('The answer to a read gives', () => {
  for (const [what, answer] of Object.entries(answers))
    it(what, () => {
      const { read, body, interface: iface = 'connected-v2', isFitted = null, burnsFuel = null } = answer;
      const { payload, vehicle } = parse(read, body, { interface: iface, isFitted, burnsFuel });
      assert.deepEqual(payload, answer.payload);
      if (answer.measuredAt !== undefined) assert.equal(vehicle.measuredAt, answer.measuredAt);
    });

  it('no sunroof for a car that has none', () => {
    const body = { ...windows, rearRightWindow: measured('OPEN'), sunroof: measured('UNSPECIFIED') };
    for (const [isFitted, absent] of [
      [false, ['sunroof']],
      [null, undefined],
      [true, undefined],
    ] as const) {
      const { vehicle } = parse('windows', body, { interface: 'connected-v2', isFitted, burnsFuel: null });
      assert.deepEqual(vehicle.absent, absent);
    }
  });

  it('an error where it is something else', () => {
    const context = { interface: 'extended-v1', isFitted: null, burnsFuel: null } as const;
    for (const [read, body] of [
      ['odometer', 'x'],
      ['odometer', null],
      ['windows', []],
      ['location', { type: 'Feature' }],
      ['vehicles', { vehicles: {} }],
      ['commands', { data: 'x' }],
    ] as const)
      assert.throws(() => parse(read, body, context), { code: 'BAD_RESPONSE' }, read);
  });
});
