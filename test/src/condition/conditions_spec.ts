import { strict as assert } from 'node:assert';
import { conditionValues, judge, parseCondition, parseRow, type Reading } from '../../../src/index';
import { minutesAgo, now, readingOf, single } from '../../support/readings';

const conditionOf = (value: string, operator: string, operand: unknown, code: 'CONFIG' | 'INPUT_INVALID' = 'CONFIG') =>
  parseCondition(1, parseRow(1, { value, operator }), operand, code);
const resultOf = (value: string, operator: string, operand: unknown, reading?: Reading): boolean | null =>
  judge(conditionOf(value, operator, operand), reading, now).result;

describe('A condition', () => {
  const home = { name: 'Home', latitude: 57.7, longitude: 11.97, radius: 200 };
  const level = (value: unknown): Reading => single('batteryChargeLevel', value, 'percent');
  const windows = (members: Record<string, string | null>, allClosed: boolean | null): Reading =>
    readingOf(
      'windows',
      Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value, timestamp: minutesAgo(90) }])),
      { allClosed, measuredAt: minutesAgo(90) },
    );
  const rows: [value: string, operator: string, operand: unknown, reading: Reading | undefined, boolean | null][] = [
    ['batteryChargeLevel', '<=', '30', level(30), true],
    ['batteryChargeLevel', '>', '29,5', level(30), true],
    ['batteryChargeLevel', '>=', 30.5, level(30), false],
    ['batteryChargeLevel', 'between', '20 à 80', level(80), true],
    ['batteryChargeLevel', 'between', '20 till 80', level(81), false],
    ['batteryChargeLevel', 'between', `20${' '.repeat(96)}80`, level(79), true],
    ['batteryChargeLevel', 'between', ' 20\t;\n80,5 ', level(80), true],
    ['externalTemp', 'between', '-5 -3', single('externalTemp', 3, 'degrees celsius'), true],
    ['externalTemp', 'between', '-5--3', single('externalTemp', -4, 'degrees celsius'), true],
    ['batteryChargeLevel', '<', 30, level('29'), null],
    ['externalTemp', 'between', '-5 to 3', single('externalTemp', -4, 'degrees celsius'), true],
    ['odometer', '>', 100, single('odometer', 70, 'mi'), true],
    ['odometer', '>', 100, single('odometer', 70, 'furlongs'), null],
    ['chargingStatus', 'one of', 'DONE, IDLE', single('chargingStatus', 'IDLE'), true],
    ['chargingStatus', 'one of', ['DONE'], single('chargingStatus', 'IDLE'), false],
    ['engineRunning', 'is not', 'true', single('engineRunning', null), null],
    ['engineRunning', 'is not', true, single('engineRunning', 'STOPPED'), null],
    ['windows.allClosed', 'is', 'true', windows({ rearRight: 'OPEN' }, false), false],
    ['windows.allClosed', 'is', true, windows({ rearRight: null }, null), null],
    ['windows.rearRight', 'is not', 'OPEN', windows({ rearRight: 'UNSPECIFIED' }, null), null],
    ['windows.sunroof', 'is', 'CLOSED', windows({ rearRight: 'CLOSED' }, true), null],
    ['windows.allClosed', 'older than', 60, windows({ rearRight: 'CLOSED' }, true), true],
    ['windows.rearRight', 'older than', 120, windows({ rearRight: 'CLOSED' }, true), false],
    ['windows.rearRight', 'older than', 60, windows({ rearRight: null }, null), null],
    ['odometer', 'older than', 1, single('odometer', 1, 'km', 30_000_000), null],
    ['odometer', 'older than', 1, single('odometer', 1, 'km', -30), false],
    ['odometer', 'older than', 0, single('odometer', 1, 'km', 5), true],
    [
      'doors.locked',
      'is',
      'locked',
      readingOf('doors', { carLocked: { value: 'LOCKED', timestamp: minutesAgo(1) } }, { locked: true }),
      true,
    ],
    ['doors.locked', 'is', 'unlocked', readingOf('doors', {}, { locked: null }), null],
    [
      'doors.locked',
      'older than',
      1,
      readingOf('doors', { carLocked: { value: 'LOCKED', timestamp: minutesAgo(2) } }, { locked: true }),
      true,
    ],
    ['accessibility', 'is', 'AVAILABLE', single('accessibility', 'UNAVAILABLE'), false],
    ['location', 'outside', home, readingOf('location', { latitude: 57.8, longitude: null }), null],
    ['location', 'outside', home, readingOf('location', { latitude: null, longitude: 11.97 }), null],
  ];
  it('is true, false, or null for a value that is unknown or cannot be compared', () => {
    for (const [value, operator, operand, reading, result] of rows) {
      const what = `${value} ${operator} ${JSON.stringify(operand)} for ${JSON.stringify(reading?.payload)}`;
      assert.equal(resultOf(value, operator, operand, reading), result, what);
    }
  });

  it('says the value with its unit and its time', () => {
    const { is, unit, measuredAt } = judge(
      conditionOf('electricRange', '<', 50),
      single('electricRange', 10, 'mi'),
      now,
    );
    assert.deepEqual({ is, unit, measuredAt }, { is: 16.09344, unit: 'kilometers', measuredAt: minutesAgo(5) });
  });

  const faults: [title: string, value: string, operator: string, operand: unknown, sentence: RegExp][] = [
    ['a value that does not exist', 'batteryLevel', '<', 1, /^Condition 1 .*no value “batteryLevel”/],
    ['a value that resembles none', 'x', '<', 1, /no value “x”\. Choose a value from the list in the node/],
    ['an event', 'window-opened', 'is', 'OPEN', /no value “window-opened”/],
    ['a read with several values', 'statistics', '<', 1, /no value “statistics”/],
    ['a member that does not exist', 'windows.rearRigth', 'is', 'OPEN', /Did you mean “windows.rear/],
    ['the lock of the windows', 'windows.locked', 'is', true, /no value/],
    ['a name of every object', 'constructor', 'is', true, /no value/],
    ['an operator of another kind', 'doors.locked', '<', 1, /compared with one of: is, is not, one of, older than/],
    ['a word for a number', 'batteryChargeLevel', '<', 'low', /needs a number/],
    ['one number for two', 'batteryChargeLevel', 'between', '20', /two numbers/],
    ['a text of more than 100 characters', 'batteryChargeLevel', 'between', `20${' '.repeat(97)}80`, /two numbers/],
    ['60 kB of blanks', 'batteryChargeLevel', 'between', `1${' '.repeat(60_000)}x`, /two numbers/],
    ['two numbers in one', 'batteryChargeLevel', 'between', '2080', /two numbers/],
    ['three numbers in a text', 'batteryChargeLevel', 'between', '1 - 2 - 3', /two numbers/],
    ['a number and a word for two', 'batteryChargeLevel', 'between', [20, 'high'], /two numbers/],
    ['three numbers for two', 'batteryChargeLevel', 'between', [1, 2, 3], /two numbers/],
    ['a word that the value cannot have', 'chargingStatus', 'is', 'FULL', /needs one of: IDLE, CHARGING/],
    ['an empty list', 'chargingStatus', 'one of', [], /needs one of/],
    ['a number for a yes', 'doors.locked', 'is', 1, /needs one of: locked, unlocked/],
    ['an object without a prototype', 'chargingStatus', 'is', Object.create(null), /needs one of: IDLE, CHARGING/],
    ['a list of such objects', 'doors.locked', 'one of', [Object.create(null)], /needs one of: locked, unlocked/],
    ['a place without coordinates', 'location', 'within', { name: 'Home' }, /latitude/],
    ['a place without a name', 'location', 'within', { ...home, name: ' ' }, /needs a name/],
    ['a place with no radius', 'location', 'within', { ...home, radius: 0 }, /radius/],
    ['a negative age', 'odometer', 'older than', -1, /number of minutes/],
  ];
  it('is refused with CONFIG and a sentence if a part of it is wrong', () => {
    for (const [title, value, operator, operand, message] of faults)
      assert.throws(() => conditionOf(value, operator, operand), { code: 'CONFIG', message }, title);
  });

  it('offers each value once: an opening as a member, the lock as one of the doors, no read with several values', () => {
    const offered = new Map(conditionValues());
    assert.deepEqual(offered.get('lock'), ['doors.locked']);
    assert.deepEqual(
      offered.get('windows'),
      ['allClosed', 'frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'sunroof'].map((name) => `windows.${name}`),
    );
    assert.deepEqual(
      offered.get('doors'),
      ['allClosed', 'frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'tailGate', 'hood', 'tankLid'].map(
        (name) => `doors.${name}`,
      ),
    );
    assert.deepEqual(offered.get('location'), ['location']);
    assert.ok([...offered.values()].every((names) => names.length > 0));
  });
});
