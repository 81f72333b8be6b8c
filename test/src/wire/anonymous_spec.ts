import { strict as assert } from 'node:assert';
import { anonymousAnswer } from '../../../src/wire/anonymous';

const vin = 'YV1CT9551B1570982';
/** A VIN may consist of letters alone. */
const letters = 'ABCDEFGHIJKLMNOPQ';
const anonymous = (body: unknown): unknown =>
  anonymousAnswer('GET', '/', 200, typeof body === 'string' ? body : JSON.stringify(body)).body;
const nested = (levels: number): unknown => (levels === 0 ? 'DEEP' : { a: nested(levels - 1) });

/** What an answer holds, and what stays of it in *Copy diagnostics*. */
const rows: readonly [what: string, given: unknown, kept: unknown][] = [
  ['the VIN, also as a name', { vin, note: ` ${vin} `, [letters]: 1 }, { vin: '{vin}', note: '{vin}', '[text]': 1 }],
  [
    'words of the service',
    ['CLOSED', ' AJAR ', 'MINUTES_ABOVE_30', 'TYPE2', 'XC40 RECHARGE', 'EX30', 'AC/DC', 'true', 'false', 'null', ''],
    ['CLOSED', 'AJAR', 'MINUTES_ABOVE_30', 'TYPE2', 'XC40 RECHARGE', 'EX30', 'AC/DC', 'true', 'false', 'null', ''],
  ],
  [
    'no text that is no word of the service',
    {
      a: [
        'Anna',
        'myCLOSED',
        'CLOSED!',
        'LOW_fuel',
        'AB_1234',
        'A'.repeat(21),
        'untrue',
        'trueish',
        'A_B_C_D_E_F_G_H_I_J',
      ],
    },
    { a: Array.from({ length: 9 }, () => '[text]') },
  ],
  ['what has no text', { a: true, b: null, c: [], d: {} }, { a: true, b: null, c: [], d: {} }],
  ['names of members that are words', { tyre1: 1, A: 1, tyre12: 1 }, { tyre1: 1, A: 1, '[text]': 1 }],
  ['no other name of a member', { 'a-b': 1 }, { '[text]': 1 }],
  ['no name that begins or ends with something else', { '1a': 1 }, { '[text]': 1 }],
  ['no very long name', { ['a'.repeat(61)]: 1, ['b'.repeat(60)]: 1 }, { '[text]': 1, ['b'.repeat(60)]: 1 }],
  [
    'numbers of up to seven digits, without the decimals of a position',
    { a: [9_999_999, -10_000_000, 10_000_000, 12.34, 57.709, 57.70887, '47.35', '+5', '57.70887', '10000000', '-3'] },
    { a: [9_999_999, 0, 0, 12.34, 58, 58, '47.35', '+5', '58', '0', '-3'] },
  ],
  ['no text that holds a number', { a: ['x5', '5x', '5.', '1.2.3'] }, { a: ['[text]', '[text]', '[text]', '[text]'] }],
  [
    'no id',
    { id: 5, vehicleId: 12, operationId: 'OPEN', uuid: 'A', modelid: 6, modelId: 7, VALID_ID: 8, URLid: 9 },
    { id: 0, vehicleId: 0, operationId: '[text]', uuid: '[text]', modelid: 0, modelId: 0, '[text]': 0, URLid: 0 },
  ],
  [
    'what is no id',
    { width: 5, idle: 'YES', brakeFluid: 'TOO_LOW', tankLid: 'OPEN', lid: 1, isValid: 2, hybrid: 3, grids: 4 },
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
    {
      timestamp: 1_787_300_000,
      readyUntil: 1_787_300_000_000,
      updatedAt: '2026-08-21T08:01:46.865571Z',
      value: '2026-08-21T08:01:46Z',
    },
  ],
  [
    'no number that is no time of these years, or not named as one',
    {
      timestamp: [1_420_070_399, 2_208_988_801],
      timestamps: 1_787_300_000,
      mytimestamp: 1_787_300_000,
      untilNow: 1_787_300_000,
    },
    { timestamp: [0, 0], timestamps: 0, mytimestamp: 0, untilNow: 0 },
  ],
  [
    'no position, but its form: a place in the sea',
    {
      geometry: { type: 'Point', coordinates: [11.97, 57.7, 12] },
      coordinates: [
        [1, 2],
        [3, 4],
      ],
      location: { latitude: 57.7, place: 'HOME' },
      lat: 57.7,
      latitude: '57.7',
      lon: 11.9,
      longitude: 11.9,
      lng: 11.9,
      alt: 12,
      altitude: 12,
      position: 'GOTHENBURG',
      gpsLatitude: 57.7,
      lonE6: 1_197_456,
      vehicleLocation: { since: [57.7] },
      coords: ['57.7'],
      bbox: [11.97],
      x: 5,
    },
    {
      geometry: { type: 'Point', coordinates: [11.5, 57.5, 0] },
      coordinates: [
        [11.5, 57.5],
        [11.5, 57.5],
      ],
      location: { latitude: 0, place: '[text]' },
      lat: 0,
      latitude: '0',
      lon: 0,
      longitude: 0,
      lng: 0,
      alt: 0,
      altitude: 0,
      position: '[text]',
      gpsLatitude: 0,
      lonE6: 0,
      vehicleLocation: { since: [11.5] },
      coords: ['11.5'],
      bbox: [11.5],
      x: 0,
    },
  ],
  ['what only sounds like a position', { plat: 5, lats: 5, lonely: 5 }, { plat: 5, lats: 5, lonely: 5 }],
  [
    'units',
    {
      a: ['km/h', '%'].map((unit) => ({ unit })),
      b: { unit: 'l/100 km' },
      c: { unit: 'kWh/100km' },
      d: { unit: '°C' },
    },
    { a: [{ unit: 'km/h' }, { unit: '%' }], b: { unit: 'l/100 km' }, c: { unit: 'kWh/100km' }, d: { unit: '°C' } },
  ],
  [
    'no other text as a unit, and no unit elsewhere',
    { a: { unit: 'my home' }, b: { unit: '1km' }, c: { unit: 'km!' }, d: { unit: 'kilometersper' }, e: 'km/h' },
    { a: { unit: '[text]' }, b: { unit: '[text]' }, c: { unit: '[text]' }, d: { unit: '[text]' }, e: '[text]' },
  ],
  [
    'paths of links, without host, ids and query',
    [
      { href: `https://api.example.com/connected-vehicle/v2/vehicles/${vin}/requests/428d0ed9?token=x` },
      { href: 'vehicles/doors' },
      { href: 'http://[' },
    ],
    [{ href: '/connected-vehicle/v2/vehicles/{vin}/requests/[text]' }, { href: '/vehicles/doors' }, { href: '[text]' }],
  ],
  [
    'messages, without what is no word',
    { message: `Quota of  ${letters} resets in 03:30:56. It’s 123 or 1234; a@b.c x1 x${'a'.repeat(30)}` },
    { message: 'Quota of … resets in 03:30:56. It’s 123 or … … … …' },
  ],
  [
    'messages, without capitalized names inside a sentence, hosts and numbers in groups',
    [
      { message: 'User Anna Svensson has no Car. Ask Anna, O’Neill or anna.svensson at nas.anna.lan, 070 123 45 67.' },
      { message: 'Not Found, Too Many Requests, Access Denied. Client not allowed to access Location API' },
    ],
    [
      { message: 'User … … has no Car. Ask … … or … at … … … … …' },
      { message: 'Not Found, Too Many Requests, Access Denied. Client not allowed to access Location API' },
    ],
  ],
  [
    'no part of the VIN that has six characters in a row, or letters and digits',
    [
      { vin, wmi: 'YV1', vds: 'CT9551', last: 570982, number: '1570982', groups: 'YV1 CT9 551 B15 709 82' },
      { ['a'.concat(vin.slice(3, 9))]: 1, value: 'YV1_CT_955_1B', other: ['T95', 551, 'YV', 'CT_OPEN'] },
      { message: `No car YV1 CT9 551 B15 709 82 nor ${vin.toLowerCase()}` },
    ],
    [
      { vin: '{vin}', wmi: '[text]', vds: '[text]', last: 0, number: '0', groups: '[text]' },
      { '[text]': 1, value: '[text]', other: ['[text]', 551, 'YV', 'CT_OPEN'] },
      { message: 'No car … … … … … … nor …' },
    ],
  ],
  [
    'no text in capitals that mixes letters and digits like most number plates, and no two words but a model',
    {
      a: ['ABC123', 'ABC 123', 'B XY 123', 'AB12 CDE', 'AB70 CDE', 'ABC12D', 'ABC1', 'AB/12CDE', 'AB_1C', 'B12'],
      b: ['ANNA SVENSSON', 'EX30 AB'],
    },
    { a: Array.from({ length: 10 }, () => '[text]'), b: ['[text]', '[text]'] },
  ],
  [
    'nothing of what is named like something of the owner',
    {
      licensePlate: 'MYCAR',
      registrationNumber: 1234,
      owner: { a: 'ANNA', b: [12, { since: '2026-08-21T08:01:46Z' }] },
      firstname: 'ANNA',
      postalCode: 41101,
      city: 'GOTHENBURG',
      phone_number: '123',
      wifi: 'HOME',
      apiKey: 'ABCDEF',
      ACCOUNT: 'ANNA',
    },
    {
      licensePlate: '[text]',
      registrationNumber: 0,
      owner: { a: '[text]', b: [0, { since: '[text]' }] },
      firstname: '[text]',
      postalCode: 0,
      city: '[text]',
      '[text]': '[text]',
      wifi: '[text]',
      apiKey: '[text]',
      ACCOUNT: '[text]',
    },
  ],
  [
    'what only sounds like something of the owner',
    {
      registrationPlateLightWarning: 'NO_WARNING',
      positionLightFrontLeftWarning: 'FAILURE',
      township: 5,
      capacityKWH: 78,
    },
    {
      registrationPlateLightWarning: 'NO_WARNING',
      positionLightFrontLeftWarning: 'FAILURE',
      township: 5,
      capacityKWH: 78,
    },
  ],
  [
    'descriptions, details, titles and types alike, and no other text',
    {
      description: 'No car.',
      detail: 'No car.',
      title: 'No car.',
      type: 'No car.',
      messages: 'No car.',
      mytype: 'No car.',
    },
    {
      description: 'No car.',
      detail: 'No car.',
      title: 'No car.',
      type: 'No car.',
      messages: '[text]',
      mytype: '[text]',
    },
  ],
  ['40 words of a message', { message: 'so '.repeat(50) }, { message: 'so '.repeat(40).trim() }],
  [
    'a text that is no JSON, without its end',
    `Access denied ${'no '.repeat(80)}`,
    `Access denied ${'no '.repeat(38)}`.trim(),
  ],
  [
    'a body that is too deep, without the end',
    nested(13),
    JSON.parse(JSON.stringify(nested(12)).replace('DEEP', '[text]')),
  ],
  ['a body of twelve levels', nested(12), nested(12)],
];

describe('An answer for a bug report', () => {
  for (const [what, given, kept] of rows) it(`has ${what}`, () => assert.deepEqual(anonymous(given), kept));

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
