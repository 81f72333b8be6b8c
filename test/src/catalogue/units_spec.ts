import { strict as assert } from 'node:assert';
import { services } from '../../../src/index';
import { factorBetween, unitInWords, unitOnWire } from '../../../src/catalogue/units';

/** docs/internals/vendor-api.md 6.2, 12.3 and 14.2: the unit in words, as v2 writes it, and other spellings. */
const units: readonly [words: string, wire: string, ...others: string[]][] = [
  ['kilometers', 'km', 'kilometres', 'KM', ' km '],
  ['miles', 'mi', 'mile'],
  ['liters', 'l', 'litres'],
  ['kilometers per hour', 'km/h', 'kilometers_per_hour', 'kmph'],
  ['miles per hour', 'mph', 'mi/h'],
  ['liters per 100 kilometers', 'l/100km', 'l/100 km', 'liters_per_100_kilometers'],
  ['kilowatt-hours per 100 kilometers', 'kWh/100km', 'kWh/100 km', 'kilowatt_hours_per_100_kilometers'],
  ['degrees celsius', 'c', '°c', 'celsius'],
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

  it('is handed on as it came where it is new, and is none where the service names none or the type of the value', () => {
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

describe('The services', () => {
  it('are Volvo Cars as its portal describes it, and two whose addresses are filled in', () => {
    assert.deepEqual(services['volvo-cars'], {
      service: 'volvo-cars',
      baseUrl: 'https://api.volvocars.com',
      apiKeyHeader: 'vcc-api-key',
      mediaTypeVendor: 'volvocars',
      authorizeUrl: 'https://volvoid.eu.volvocars.com/as/authorization.oauth2',
      tokenUrl: 'https://volvoid.eu.volvocars.com/as/token.oauth2',
      issuer: { url: 'https://volvoid.eu.volvocars.com', domain: 'volvocars.com' },
      redirectUrl: '',
      availableInterfaces: ['connected-v2', 'energy-v2', 'location-v1', 'energy-device-v1'],
    });
    const filledIn = {
      baseUrl: '',
      apiKeyHeader: 'vendor-api-key',
      mediaTypeVendor: 'vendor',
      authorizeUrl: '',
      tokenUrl: '',
      issuer: null,
      redirectUrl: '',
      availableInterfaces: [
        'connected-v2',
        'connected-v1',
        'extended-v1',
        'energy-v2',
        'location-v1',
        'energy-device-v1',
      ],
    };
    assert.deepEqual(services.demo, { service: 'demo', ...filledIn });
    assert.deepEqual(services.custom, { service: 'custom', ...filledIn });
  });
});
