import { strict as assert } from 'node:assert';
import type { ChargingMemberName } from '../../../src/catalogue/reads';
import {
  parseCharging,
  parseChargingCapabilities,
  parseChargingDoneAt,
  parseChargingMember,
} from '../../../src/wire/charging';

const updatedAt = '2025-03-04T10:14:08Z';
const timestamp = '2025-03-04T10:14:08.000Z';
const ok = (value: unknown, unit?: string): object => ({ status: 'OK', value, ...(unit && { unit }), updatedAt });
const notTold = (code: string): object => ({ status: 'ERROR', code });

/** The car of the portal, docs/internals/vendor-api.md 12.2. */
const demo = {
  batteryChargeLevel: ok(50, 'percentage'),
  electricRange: ok(180, 'km'),
  chargerConnectionStatus: ok('CONNECTED'),
  chargingStatus: ok('IDLE'),
  chargingType: ok('AC'),
  chargerPowerStatus: ok('PROVIDING_POWER'),
  estimatedChargingTimeToTargetBatteryChargeLevel: ok(120, 'minutes'),
  chargingCurrentLimit: ok(32, 'ampere'),
  targetBatteryChargeLevel: ok(85, 'percentage'),
  chargingPower: ok(1600, 'watts'),
};

describe('the energy state', () => {
  describe('while the car charges', () => {
    const left = 'estimatedChargingTimeToTargetBatteryChargeLevel';
    const doneAt = (changes: object) => {
      const body = { ...demo, chargingStatus: ok('CHARGING'), ...changes };
      const { payload, measuredAt } = parseChargingDoneAt(body);
      assert.deepEqual(parseCharging(body).payload['chargingDoneAt'], payload);
      assert.equal(measuredAt, payload.timestamp);
      return payload;
    };

    it('says when it will be done: the minutes left, counted from when the car reported them', () => {
      const status = { status: 'OK', value: 'CHARGING', updatedAt: '2025-03-04T11:00:00Z' };
      for (const charging of [status, ok('charging')])
        assert.deepEqual(doneAt({ chargingStatus: charging }), {
          value: '2025-03-04T12:14:08.000Z',
          unit: null,
          timestamp,
        });
      assert.equal(doneAt({ [left]: ok(1.5, 'minutes') }).value, '2025-03-04T10:15:38.000Z');
    });

    const unknown: [what: string, changes: object, reason: string][] = [
      ...['IDLE', 'SCHEDULED', 'DISCHARGING', 'DONE', 'ERROR'].map((word): [string, object, string] => [
        `it is ${word}`,
        { chargingStatus: ok(word) },
        'NOT_CHARGING',
      ]),
      ['its status is a new word', { chargingStatus: ok('SMART_CHARGING') }, 'UNREADABLE'],
      ['its status is missing', { chargingStatus: undefined }, 'MISSING'],
      ['it cannot tell its status', { chargingStatus: notTold('PROPERTY_NOT_FOUND') }, 'PROPERTY_NOT_FOUND'],
      ['it cannot tell the minutes', { [left]: notTold('NOT_SUPPORTED') }, 'NOT_SUPPORTED'],
      ['nobody knows when it gave them', { [left]: { status: 'OK', value: 120, unit: 'minutes' } }, 'MISSING'],
      ['they are none', { [left]: ok(0, 'minutes') }, 'MISSING'],
      ['they are less than none', { [left]: ok(-3, 'minutes') }, 'MISSING'],
      ['they are the most that the service gives', { [left]: ok(1440, 'minutes') }, 'MISSING'],
    ];
    it('does not say when if it does not charge, or if the minutes are unknown', () => {
      for (const [what, changes, reason] of unknown)
        assert.deepEqual(doneAt(changes), { value: null, unit: null, timestamp: null, reason }, what);
    });
  });

  const odd: [what: string, name: ChargingMemberName, member: unknown, value: unknown, rest?: object][] = [
    ['a missing member', 'chargingPower', undefined, null, { reason: 'MISSING' }],
    ['null', 'chargingPower', null, null, { reason: 'MISSING' }],
    ['a null value', 'chargingPower', ok(null, 'watts'), null, { reason: 'MISSING' }],
    ['text in place of a member', 'chargingPower', '1600', null, { reason: 'UNREADABLE' }],
    ['a list', 'chargingPower', [1600], null, { reason: 'UNREADABLE' }],
    ['an object as the value', 'chargingPower', ok({ watts: 3 }), null, { reason: 'UNREADABLE' }],
    ['a word where a number belongs', 'batteryChargeLevel', ok('half', 'percentage'), null, { reason: 'UNREADABLE' }],
    [
      'an empty text where a number belongs',
      'batteryChargeLevel',
      ok('', 'percentage'),
      null,
      { reason: 'UNREADABLE' },
    ],
    ['a number where a word belongs', 'chargingStatus', ok(1), null, { reason: 'UNREADABLE' }],
    ['an endless number', 'batteryChargeLevel', ok('9'.repeat(310), 'percentage'), null, { reason: 'UNREADABLE' }],
    [
      'an error that still has a value',
      'chargingPower',
      { ...ok(0, 'watts'), status: 'ERROR' },
      null,
      { reason: 'ERROR' },
    ],
    [
      'an error with a sentence as its code',
      'chargingPower',
      { status: 'ERROR', code: 'see <b>here</b>' },
      null,
      { reason: 'ERROR' },
    ],
    ['a number as text', 'batteryChargeLevel', ok('87.3', 'percentage'), 87.3, { unit: 'percent' }],
    ['a new word', 'chargingStatus', ok('SMART_CHARGING'), 'SMART_CHARGING', { unit: null }],
    ['miles', 'electricRange', ok(26, 'miles'), 26, { unit: 'miles' }],
    ['mi', 'electricRange', ok(150, 'mi'), 150, { unit: 'miles' }],
    ['a range without a unit', 'electricRange', ok(150), 150, { unit: null }],
    ['a level without a unit', 'batteryChargeLevel', ok(50), 50, { unit: 'percent' }],
    ['a new unit', 'chargingPower', ok(2, 'horses'), 2, { unit: 'horses' }],
    ['no status', 'chargingPower', { value: 5, unit: 'watts', updatedAt }, 5, { unit: 'watts' }],
    ['minus zero', 'chargingPower', ok(-0, 'watts'), 0, { unit: 'watts' }],
  ];
  it('gives a value with its unit, or null with the reason', () => {
    for (const [what, name, member, value, rest = {}] of odd) {
      const { payload } = parseChargingMember(name, { ...demo, [name]: member });
      assert.ok(Object.is(payload.value, value), `${what}: ${String(payload.value)}`);
      for (const [key, expected] of Object.entries(rest)) assert.equal(payload[key as 'unit'], expected, what);
    }
  });

  it('is refused if the answer is not an object', () => {
    for (const body of [null, [], 'x', 7, { data: [] }])
      assert.throws(() => parseCharging(body), { code: 'BAD_RESPONSE' });
  });
});

describe('the charging capabilities', () => {
  it('are an open map, with the status under the name of the state', () => {
    const body = {
      getEnergyState: {
        isSupported: true,
        batteryChargeLevel: { isSupported: true },
        chargingSystemStatus: { isSupported: false },
        targetBatteryChargeLevel: { isSupported: true, minimum: 40 },
      },
    };
    const { payload } = parseChargingCapabilities(body);
    assert.deepEqual(payload, {
      isSupported: true,
      batteryChargeLevel: { isSupported: true },
      chargingStatus: { isSupported: false },
      targetBatteryChargeLevel: { isSupported: true, minimum: 40 },
    });
    assert.notEqual(payload['batteryChargeLevel'], body.getEnergyState.batteryChargeLevel);
  });

  it('are refused if they are nested too deeply to be copied', () => {
    let nested: unknown = true;
    for (let levels = 0; levels < 20_000; levels += 1) nested = levels % 2 === 0 ? [nested] : { nested };
    for (const body of [{ getEnergyState: { nested } }, { nested }])
      assert.throws(() => parseChargingCapabilities(body), { code: 'BAD_RESPONSE' });
  });
});
