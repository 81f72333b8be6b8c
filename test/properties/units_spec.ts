import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { readingIn } from '../../src/car/unit-system';
import { inUnit, roundedIn, unitSystems, unitsBeside } from '../../src/catalogue/units';
import { tried } from '../support/property';
import { readingOf } from '../support/readings';

const spelled = [
  'km',
  'kilometers',
  'mi',
  'l',
  'liters',
  '°C',
  'kWh/100km',
  'l/100 km',
  'mph',
  'percent',
  'kWh',
  'min',
];
const unknown = fc.constantFrom('furlongs', 'mpg', 'gal', '', ' ', 'string', 'constructor', '__proto__', null, 7, {});
const system = fc.constantFrom(...unitSystems);
const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, null, 'LOW', true, '12', undefined));
const measured = (unit: fc.Arbitrary<unknown>) =>
  fc.record({ value, unit, timestamp: fc.constant(null) }, { noNullPrototype: true });
const payloadOf = (unit: fc.Arbitrary<unknown>) =>
  fc.oneof(
    measured(unit),
    fc.dictionary(fc.constantFrom('odometer', 'tripMeter', '__proto__', 'constructor'), measured(unit), {
      noNullPrototype: true,
    }),
  );

describe('A reading in the units of a country', () => {
  it('is the same object if it has no unit that is known, or if the units are those of the car', () => {
    fc.assert(
      fc.property(system, payloadOf(unknown), (units, payload) => {
        const reading = readingOf('odometer', payload);
        assert.equal(readingIn(units, reading), reading);
      }),
      tried(500),
    );
    fc.assert(
      fc.property(payloadOf(fc.constantFrom(...spelled)), (payload) => {
        const reading = readingOf('odometer', payload);
        assert.equal(readingIn('car', reading), reading);
      }),
      tried(500),
    );
  });

  it('never fails, is a copy, and is the same when it is converted once more', () => {
    fc.assert(
      fc.property(system, payloadOf(fc.oneof(unknown, fc.constantFrom(...spelled))), (units, payload) => {
        const reading = readingOf('odometer', payload);
        const before = structuredClone(reading);
        const once = readingIn(units, reading);
        assert.deepEqual(reading, before);
        assert.equal(readingIn(units, once), once);
        assert.equal(typeof once.payload, 'object');
      }),
      tried(500),
    );
  });

  it('is applied to objects only: any other input is passed on as it is', () => {
    fc.assert(
      fc.property(system, fc.anything(), (units, payload) => {
        const reading = readingOf('odometer', payload as object);
        assert.equal(typeof readingIn(units, reading).payload, typeof payload);
      }),
      tried(500),
    );
  });

  it('loses less than its rounding on the way to another unit and back', () => {
    const pair = fc
      .constantFrom(
        'kilometers',
        'kilometers per hour',
        'liters',
        'degrees celsius',
        'kilowatt-hours per 100 kilometers',
      )
      .chain((from) => fc.tuple(fc.constant(from), fc.constantFrom(...unitsBeside(from))));
    fc.assert(
      fc.property(pair, fc.double({ min: 0.1, max: 999_999, noNaN: true }), ([from, to], given) => {
        const there = inUnit(given, from, to) ?? assert.fail();
        const back = inUnit(there, to, from) ?? assert.fail();
        assert.ok(Math.abs(back - given) <= 1e-9 * Math.max(given, 32), `${given} ${from} is ${back} again`);
        assert.ok(Math.abs(roundedIn(to, there) - there) <= 0.5 + 1e-9);
      }),
      tried(500),
    );
  });
});
