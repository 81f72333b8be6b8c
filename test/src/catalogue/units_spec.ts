import { strict as assert } from 'node:assert';
import {
  factorBetween,
  inSystem,
  inUnit,
  unitInWords,
  unitOf,
  unitOnWire,
  unitsBeside,
} from '../../../src/catalogue/units';

/**
 * docs/internals/vendor-api.md 6.2, 12.3 and 14.2: the unit in words, as v2 writes it,
 * and other spellings.
 */
const units: readonly [words: string, wire: string, ...others: string[]][] = [
  ['kilometers', 'km', 'kilometres', 'KM', ' km '],
  ['miles', 'mi', 'mile'],
  ['liters', 'l', 'litres'],
  ['kilometers per hour', 'km/h', 'kilometers_per_hour', 'kmph'],
  ['miles per hour', 'mph', 'mi/h'],
  ['liters per 100 kilometers', 'l/100km', 'l/100 km', 'liters_per_100_kilometers'],
  ['kilowatt-hours per 100 kilometers', 'kWh/100km', 'kWh/100 km', 'kilowatt_hours_per_100_kilometers'],
  ['degrees celsius', 'c', '°c', 'celsius'],
  ['degrees fahrenheit', '°f', '°F', 'fahrenheit'],
  ['percent', '%', 'percentage'],
  ['watts', 'w', 'watt'],
  ['ampere', 'a', 'amp', 'amperes'],
  ['hours', 'h'],
  ['minutes', 'min'],
  ['months', 'months', 'month'],
  ['days', 'day'],
];

describe('A unit', () => {
  for (const [words, wire, ...others] of units)
    it(`${words} is ${wire} on the wire, and read from ${[wire, ...others].join(', ')}`, () => {
      assert.equal(unitOnWire(words), wire);
      for (const spelling of [words, wire, ...others]) assert.equal(unitInWords(spelling), words, spelling);
    });

  it('is passed on as it came if it is new, and is missing if the service gives none, or the type of the value instead', () => {
    assert.deepEqual([unitInWords('furlongs'), unitOnWire('furlongs')], ['furlongs', 'furlongs']);
    assert.deepEqual([null, '', ' ', 'string', 'String'].map(unitInWords), [null, null, null, null, null]);
  });

  const factors: [from: string, to: string, factor: number | null][] = [
    ['kilometers', 'kilometers', 1],
    ['miles', 'kilometers', 1.609344],
    ['kilometers', 'miles', 1 / 1.609344],
    ['miles per hour', 'kilometers per hour', 1.609344],
    ['days', 'months', 12 / 365.25],
    ['months', 'days', null],
    ['days', 'hours', null],
    ['hours', 'months', null],
    ['per kilometers', 'per miles', null],
    ['per miles', 'per kilometers', null],
  ];
  for (const [from, to, factor] of factors)
    it(`${from} in ${to} has the factor ${factor}`, () => assert.equal(factorBetween(from, to), factor));
});

/** By hand: the units of speedometers, fuel labels and thermometers of each country. */
const known: readonly [value: number, unit: string, system: 'metric' | 'uk' | 'us', is: number | null, of: string][] = [
  [42.195, 'kilometers', 'uk', 26.2, 'miles'],
  [42.195, 'kilometers', 'us', 26.2, 'miles'],
  [24_817, 'kilometers', 'uk', 15_421, 'miles'],
  [26.2, 'miles', 'metric', 42.2, 'kilometers'],
  [120, 'kilometers per hour', 'uk', 75, 'miles per hour'],
  [55, 'miles per hour', 'metric', 89, 'kilometers per hour'],
  [50, 'liters', 'uk', 50, 'liters'],
  [50, 'liters', 'us', 13.2, 'US gallons'],
  [13.2, 'US gallons', 'metric', 50, 'liters'],
  [-40, 'degrees celsius', 'us', -40, 'degrees fahrenheit'],
  [-18, 'degrees celsius', 'us', 0, 'degrees fahrenheit'],
  [37, 'degrees celsius', 'us', 99, 'degrees fahrenheit'],
  [100, 'degrees celsius', 'us', 212, 'degrees fahrenheit'],
  [100, 'degrees celsius', 'uk', 100, 'degrees celsius'],
  [212, 'degrees fahrenheit', 'metric', 100, 'degrees celsius'],
  [5, 'liters per 100 kilometers', 'uk', 56.5, 'miles per imperial gallon'],
  [10, 'liters per 100 kilometers', 'us', 23.5, 'miles per US gallon'],
  [30, 'miles per US gallon', 'uk', 36, 'miles per imperial gallon'],
  [40, 'miles per imperial gallon', 'metric', 7.1, 'liters per 100 kilometers'],
  [20, 'kilowatt-hours per 100 kilometers', 'uk', 3.11, 'miles per kilowatt-hour'],
  [15.5, 'kilowatt-hours per 100 kilometers', 'us', 4.01, 'miles per kilowatt-hour'],
  [3.5, 'miles per kilowatt-hour', 'metric', 17.8, 'kilowatt-hours per 100 kilometers'],
  [0, 'kilometers', 'us', 0, 'miles'],
  [-0.01, 'kilometers', 'us', 0, 'miles'],
  [0, 'liters per 100 kilometers', 'uk', null, 'miles per imperial gallon'],
  [0, 'kilowatt-hours per 100 kilometers', 'us', null, 'miles per kilowatt-hour'],
  [-3, 'kilowatt-hours per 100 kilometers', 'us', null, 'miles per kilowatt-hour'],
  [62, 'percent', 'us', 62, 'percent'],
  [7.25, 'kilowatt-hours', 'us', 7.25, 'kilowatt-hours'],
  [3, 'furlongs', 'us', 3, 'furlongs'],
  [3, 'constructor', 'us', 3, 'constructor'],
];

describe('A value in the units of a country', () => {
  for (const [value, unit, system, is, of] of known)
    it(`${value} ${unit} in ${system} is ${is} ${of}`, () =>
      assert.deepEqual(inSystem(system, value, unit), { value: is, unit: of }));

  it('keeps its unit and its digits if the units are those of the car', () => {
    for (const [value, unit] of known) assert.deepEqual(inSystem('car', value, unit), { value, unit });
  });

  it('can be compared in the units of its quantity only', () => {
    assert.deepEqual(unitsBeside('liters'), ['liters', 'US gallons']);
    assert.deepEqual(unitsBeside('percent'), ['percent']);
    assert.equal(unitOf('us', 'liters'), 'US gallons');
    assert.equal(inUnit(1, 'liters', 'miles'), null);
  });
});
