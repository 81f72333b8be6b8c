import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { combine, judge, parseCondition, parseRow, type Reading } from '../../src/index';
import { tried } from '../support/property';
import { minutesAgo, now, readingOf, single } from '../support/readings';

type Answer = boolean | null;

/** A row of a condition node, what was read, and the answer that a person would give. */
interface Row {
  value: string;
  operator: string;
  operand: unknown;
  reading: Reading | undefined;
  answer: Answer;
}

const level = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
const limit = fc.double({ min: -10, max: 110, noNaN: true });

const compared: fc.Arbitrary<Row> = fc
  .tuple(level, limit, fc.boolean(), fc.constantFrom('<', '<=', '>', '>=', '='))
  .map(([is, other, isSame, operator]) => {
    const operand = isSame ? (is ?? 30) : other;
    const order = is === null ? null : Math.sign(is - operand);
    const wanted = { '<': [-1], '<=': [-1, 0], '>': [1], '>=': [0, 1], '=': [0] }[operator] ?? [];
    const answer = order === null ? null : wanted.includes(order);
    return {
      value: 'batteryChargeLevel',
      operator,
      operand,
      reading: single('batteryChargeLevel', is, 'percent'),
      answer,
    };
  });

const between: fc.Arbitrary<Row> = fc
  .tuple(fc.option(fc.integer({ min: 0, max: 100 })), fc.nat(100), fc.nat(100), fc.boolean())
  .map(([is, one, other, isText]) => {
    const answer = is === null ? null : (is - one) * (is - other) <= 0;
    const operand = isText ? `${one} - ${other}` : [one, other];
    return {
      value: 'batteryChargeLevel',
      operator: 'between',
      operand,
      reading: single('batteryChargeLevel', is, 'percent'),
      answer,
    };
  });

/** Kilometers of each unit that the service uses. */
const kilometers: Record<string, number> = { km: 1, kilometers: 1, mi: 1.609344, miles: 1.609344 };
const range: fc.Arbitrary<Row> = fc
  .tuple(
    fc.option(fc.nat(1_000)),
    fc.constantFrom('km', 'kilometers', 'mi', 'miles', 'furlongs', null),
    fc.integer({ min: 0, max: 1_600 }),
  )
  .map(([is, unit, other]) => {
    const factor = unit === null ? undefined : kilometers[unit];
    // Half a kilometer beside whole ones: no rounding decides.
    const operand = other + 0.0005;
    const answer = is === null || factor === undefined ? null : is * factor < operand;
    return { value: 'electricRange', operator: '<', operand, reading: single('electricRange', is, unit), answer };
  });

const known = ['CONNECTED', 'DISCONNECTED', 'FAULT'];
const word: fc.Arbitrary<Row> = fc
  .tuple(
    fc.option(fc.oneof(fc.constantFrom(...known, 'UNSPECIFIED', 'connected', '__proto__'), fc.string())),
    fc.subarray(known, { minLength: 1 }),
    fc.constantFrom('is', 'is not', 'one of'),
  )
  .map(([is, wanted, operator]) => {
    const operand = operator === 'one of' ? wanted.join(', ') : wanted[0]?.toLowerCase();
    const isWanted = operator === 'one of' ? wanted.includes(String(is)) : wanted[0] === is;
    const answer = is === null || !known.includes(is) ? null : isWanted !== (operator === 'is not');
    return {
      value: 'chargerConnectionStatus',
      operator,
      operand,
      reading: single('chargerConnectionStatus', is),
      answer,
    };
  });

const boolean: fc.Arbitrary<Row> = fc
  .tuple(
    fc.constantFrom<unknown>(true, false, null, 'true', 0, 1),
    fc.constantFrom(true, false, 'running', 'not running'),
    fc.constantFrom('is', 'is not'),
  )
  .map(([is, operand, operator]) => {
    const wanted = operand === true || operand === 'running';
    const answer = typeof is === 'boolean' ? (is === wanted) === (operator === 'is') : null;
    return { value: 'engineRunning', operator, operand, reading: single('engineRunning', is), answer };
  });

const sides = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'] as const;
const opening: fc.Arbitrary<Row> = fc
  .tuple(
    fc.constantFrom(...sides),
    fc.array(fc.constantFrom('OPEN', 'AJAR', 'CLOSED', 'UNSPECIFIED', 'closed', null), { minLength: 4, maxLength: 4 }),
  )
  .map(([side, states]) => {
    const payload = Object.fromEntries(sides.map((name, index) => [name, { value: states[index], timestamp: null }]));
    const is = payload[side]?.value;
    const answer = is === 'CLOSED' ? false : is === 'OPEN' || is === 'AJAR' ? true : null;
    return {
      value: `windows.${side}`,
      operator: 'is',
      operand: 'OPEN',
      reading: readingOf('windows', payload),
      answer,
    };
  });

const age: fc.Arbitrary<Row> = fc
  .tuple(fc.option(fc.nat(10_000)), fc.nat(10_000), fc.option(fc.nat()))
  .map(([minutes, operand, value]) => {
    const timestamp = minutes === null ? null : minutesAgo(minutes);
    const answer = minutes === null || value === null ? null : minutes > operand;
    return {
      value: 'odometer',
      operator: 'older than',
      operand,
      reading: readingOf('odometer', { value, unit: 'km', timestamp }),
      answer,
    };
  });

/** North or south of a place, where a degree is 111.2 km anywhere. */
const position: fc.Arbitrary<Row> = fc
  .tuple(
    fc.option(fc.integer({ min: -5_000, max: 5_000 })),
    fc.integer({ min: 1, max: 5_000 }),
    fc.constantFrom('within', 'outside'),
  )
  .filter(([meters, radius]) => meters === null || Math.abs(Math.abs(meters) - radius) > radius / 100)
  .map(([meters, radius, operator]) => {
    const payload = {
      latitude: meters === null ? null : 57.7 + meters / 111_200,
      longitude: meters === null ? null : 11.97,
    };
    const answer = meters === null ? null : Math.abs(meters) < radius === (operator === 'within');
    const operand = { name: 'Home', latitude: 57.7, longitude: 11.97, radius };
    return { value: 'location', operator, operand, reading: readingOf('location', payload), answer };
  });

const failed: fc.Arbitrary<Row> = fc.constant({
  value: 'fuelAmount',
  operator: '>',
  operand: 5,
  reading: undefined,
  answer: null,
});

/** Yes or no where every world agrees: a world has a yes or a no for each unknown answer. */
function agreed(match: 'all' | 'any', answers: readonly Answer[]): Answer {
  const unknown = answers.flatMap((answer, at) => (answer === null ? [at] : []));
  const outcomes = new Set<boolean>();
  for (let world = 0; world < 2 ** unknown.length; world += 1) {
    const filled = answers.map((answer, at) => answer ?? ((world >> unknown.indexOf(at)) & 1) === 1);
    const yes = filled.filter(Boolean).length;
    outcomes.add(match === 'all' ? yes === filled.length : yes > 0);
  }
  return outcomes.size === 1 ? ([...outcomes][0] ?? null) : null;
}

describe('Conditions together', function () {
  this.timeout(0);

  it('give each row the answer of a person, and the whole the answer on which every possible world agrees', () => {
    const seen = new Map<Answer, number>();
    const row = fc.oneof(compared, between, range, word, boolean, opening, age, position, failed);
    fc.assert(
      fc.property(fc.constantFrom('all', 'any'), fc.array(row, { minLength: 1, maxLength: 6 }), (match, rows) => {
        const results = rows.map(({ value, operator, operand, reading, answer }, index) => {
          const condition = parseCondition(index + 1, parseRow(index + 1, { value, operator }), operand, 'CONFIG');
          const { result } = judge(condition, reading, now);
          assert.equal(result, answer);
          return result;
        });
        const whole = combine(match, results);
        assert.equal(
          whole,
          agreed(
            match,
            rows.map(({ answer }) => answer),
          ),
        );
        seen.set(whole, (seen.get(whole) ?? 0) + 1);
      }),
      tried(3_000),
    );
    for (const answer of [true, false, null])
      assert.ok((seen.get(answer) ?? 0) > 300, `${answer}: ${seen.get(answer)}`);
  });
});
