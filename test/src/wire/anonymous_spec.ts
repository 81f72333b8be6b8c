import { strict as assert } from 'node:assert';
import { anonymousAnswer } from '../../../src/wire/anonymous';

const vin = 'YV1CT9551B1570982';
const anonymous = (body: unknown): unknown =>
  anonymousAnswer('GET', '/', 200, typeof body === 'string' ? body : JSON.stringify(body)).body;
const nested = (levels: number): unknown => (levels === 0 ? 'DEEP' : { a: nested(levels - 1) });
const texts = (count: number): string[] => Array.from({ length: count }, () => '[text]');

/** What an answer holds, and what stays of it in *Copy diagnostics*. */
const rows: readonly [what: string, given: unknown, kept: unknown][] = [
  [
    'the VIN, also as a name',
    { vin, note: ` ${vin} `, ABCDEFGHIJKLMNOPQ: 1 },
    { vin: '{vin}', note: '{vin}', '[text]': 1 },
  ],
  ['no token of a charging card', { idToken: 'MYCARD', token: 'DEADBEEF' }, { idToken: '[text]', token: '[text]' }],
  [
    'words in capitals',
    ['CLOSED', ' AJAR ', 'NO_WARNING', 'MINUTES_5', 'MINUTES_ABOVE_30', 'AC', 'A', 'true', 'false', 'null', ''],
    ['CLOSED', 'AJAR', 'NO_WARNING', 'MINUTES_5', 'MINUTES_ABOVE_30', 'AC', 'A', 'true', 'false', 'null', ''],
  ],
  [
    'no other text',
    ['Anna', 'ANNA SVENSSON', 'myCLOSED', 'CLOSED!', 'LOW_fuel', 'A'.repeat(21), 'A_'.repeat(9).concat('A'), 'untrue'],
    texts(8),
  ],
  [
    'no number plate',
    ['ABC123', 'ABC 123', 'B XY 123', 'AB12 CDE', 'ABC12D', 'ABC1', 'AB/12CDE', 'AB_12', 'GBG_123', 'ABCD_12', 'B12'],
    texts(11),
  ],
  [
    'no sentence and no address, whatever its name',
    {
      message: 'User Anna has no car. Ask nas or anna@nas.lan',
      description: 'Forbidden at 57 degrees 42 minutes',
      type: 'No car.',
      url: 'https://nas/1',
    },
    { message: '[text]', description: '[text]', type: '[text]', url: '[text]' },
  ],
  ['no text that is no JSON', 'Access denied', '[text]'],
  ['names of members that are words', { tyre1: 1, A: 1, tyre12: 1 }, { tyre1: 1, A: 1, '[text]': 1 }],
  [
    'no other name of a member',
    { 'a-b': 1, ['b'.repeat(60)]: 1, ['a'.repeat(61)]: 1 },
    { '[text]': 1, ['b'.repeat(60)]: 1 },
  ],
  ['no name that begins with something else', { '1a': 1 }, { '[text]': 1 }],
  [
    'whole numbers of up to six digits',
    { a: 999_999, b: -1_000_000, c: 1_000_000, d: '47', e: '+5', f: '1000000', g: '-3' },
    { a: 999_999, b: 0, c: 0, d: '47', e: '+5', f: '0', g: '-3' },
  ],
  [
    'no decimals of two numbers beside one unit: they can be a position',
    { latitude: 57.70887, longitude: '11.97456', unit: 'km' },
    { latitude: 58, longitude: '12', unit: 'km' },
  ],
  [
    'decimals beside a known unit only',
    [{ value: 6.54, unit: 'l/100km' }, { value: '6.54', unit: ' KM ' }, { value: 57.71, unit: 'home' }, { a: 57.71 }],
    [{ value: 6.54, unit: 'l/100km' }, { value: '6.54', unit: 'KM' }, { value: 58, unit: '[text]' }, { a: 58 }],
  ],
  ['no text that holds a number', ['x5', '5x', '5.', '1.2.3'], texts(4)],
  [
    'no id',
    { id: 5, ids: 5, vehicleId: 12, operationId: 'OPEN', uuid: 'A', modelIds: 7, URLID: 9 },
    { id: 0, ids: 0, vehicleId: 0, operationId: '[text]', uuid: '[text]', modelIds: 0, URLID: 0 },
  ],
  [
    'no number that is no time of these years, or not named as one',
    {
      timestamp: { timestamp: 1_420_070_399, untilNow: 1_787_300_000 },
      readyUntil: 2_208_988_801,
      timestamps: 1_787_300_000,
      mytimestamp: 1_787_300_000,
    },
    { timestamp: { timestamp: 0, untilNow: 0 }, readyUntil: 0, timestamps: 0, mytimestamp: 0 },
  ],
  [
    'no list of numbers, which is a position: a place in the sea',
    {
      geometry: { type: 'Point', coordinates: [11.97, 57.7, 12] },
      any: [
        [1, 2],
        [3, 4],
      ],
      texts: ['57.70887', '11.97'],
    },
    {
      geometry: { type: 'Point', coordinates: [11.5, 57.5, 0] },
      any: [
        [11.5, 57.5],
        [11.5, 57.5],
      ],
      texts: ['58', '12'],
    },
  ],
  [
    'no other text as a unit, and no unit elsewhere',
    [{ unit: 'my home' }, { unit: '1km' }, { unit: 'anna' }, { e: 'km/h' }],
    [{ unit: '[text]' }, { unit: '[text]' }, { unit: '[text]' }, { e: '[text]' }],
  ],
  [
    'paths of links, without host, ids and query',
    [
      { href: `https://api.example.com/connected-vehicle/v2/vehicles/${vin}/requests/428d0ed9?token=x` },
      { href: 'vehicles/doors' },
      { href: 'http://[' },
      { href: 'nas' },
    ],
    [
      { href: '/connected-vehicle/v2/vehicles/{vin}/requests/[text]' },
      { href: '/vehicles/doors' },
      { href: '[text]' },
      { href: '[text]' },
    ],
  ],
  [
    'a body that is too deep, without the end',
    nested(13),
    JSON.parse(JSON.stringify(nested(12)).replace('DEEP', '[text]')),
  ],
];

/** What stays as it is. */
const whole: readonly [what: string, given: unknown][] = [
  ['what has no text', { a: true, b: null, c: [], d: {} }],
  [
    'what is no id',
    { width: 5, idle: 'YES', brakeFluid: 'TOO_LOW', tankLid: 'OPEN', lid: 1, isValid: 2, hybrid: 3, grids: 4 },
  ],
  [
    'times',
    {
      timestamp: 1_787_300_000,
      readyUntil: 1_787_300_000_000,
      updatedAt: '2026-08-21T08:01:46.865571Z',
      value: '2026-08-21T08:01:46Z',
    },
  ],
  ['known units', [{ unit: 'km/h' }, { unit: '%' }, { unit: 'l/100 km' }, { unit: 'kWh/100km' }, { unit: '°C' }]],
  ['a body of twelve levels', nested(12)],
];

describe('An answer for a bug report', () => {
  for (const [what, given, kept = given] of [...rows, ...whole])
    it(`has ${what}`, () => assert.deepEqual(anonymous(given), kept));

  it('has method, status and a path without VIN and ids', () => {
    const path = (given: string): string => anonymousAnswer('POST', given, 404, '').path;
    assert.deepEqual(anonymousAnswer('POST', `/energy/v2/vehicles/${vin.toLowerCase()}/state`, 404, ''), {
      method: 'POST',
      path: '/energy/v2/vehicles/{vin}/state',
      status: 404,
      body: '',
    });
    for (const kept of ['/a-b-c-d', '/tyre1', '/engine-status', '//', `/${'a'.repeat(40)}`])
      assert.equal(path(kept), kept);
    for (const gone of ['/428d0', '/a-b-c-d-e', '/v22', '/1a', '/a!', `/${'a'.repeat(41)}`])
      assert.equal(path(gone), '/[text]', gone);
  });
});
