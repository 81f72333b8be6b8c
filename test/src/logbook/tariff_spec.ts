import { strict as assert } from 'node:assert';
import { parseTariff, priceOf } from '../../../src/logbook/tariff';

const night = { hours: '22:00-06:00', perKWh: 0.2 };
const berlin = { perKWh: 0.4, timeZone: 'Europe/Berlin', hours: [night] };
const here = { latitude: 50, longitude: 10 };

describe('A tariff', () => {
  const faults: [input: unknown, currency: unknown, sentence: RegExp][] = [
    ['cheap', '', /A price must be a number, such as 0\.32\.$/],
    ['', '', /A price must be a number/],
    [undefined, '', /A price must be a number/],
    [Infinity, '', /A price must be a number/],
    ['0.3', 'EURO', /“EURO” is not a currency code\. Enter three letters/],
    [{ perKWh: 1, currency: 7 }, '', /“7” is not a currency code/],
    [{ perKWh: 1, hours: '22:00-06:00' }, '', /The hours must be a list/],
    [{ perKWh: 1, hours: [{ hours: '25:00-06:00', perKWh: 1 }] }, '', /The hours must look like 22:00-07:00/],
    [{ perKWh: 1, hours: [{ hours: '', perKWh: 1 }] }, '', /The hours must look like/],
    [{ perKWh: 1, hours: [{ perKWh: 1 }] }, '', /The hours must be a text/],
    [{ perKWh: 1, hours: [{ hours: '06:00-06:00', perKWh: 1 }] }, '', /two different times/],
    [{ perKWh: 1, hours: [night], timeZone: 'Mars' }, '', /There is no such time zone/],
    [{ perKWh: 1, places: {} }, '', /The places must be a list/],
    [{ perKWh: 1, places: [{ name: 'Home', perKWh: 1 }] }, '', /The vehicle configuration has no place “Home”/],
    [{ perKWh: 1, places: [{ name: 'Home', latitude: 50, perKWh: 1 }] }, '', /A place needs a name, a latitude/],
    [{ perKWh: 1, places: [{ name: 'Home', ...here }] }, '', /A price must be a number/],
  ];
  for (const [input, currency, sentence] of faults)
    it(`${JSON.stringify(input)} ${String(currency)} is refused with a sentence`, () => {
      assert.throws(() => parseTariff(input, currency), { code: 'CONFIG', message: sentence });
      assert.throws(
        () => parseTariff(input, currency),
        /^Error: The tariff of the vehicle configuration cannot be used\.|The tariff/,
      );
    });

  const prices: [
    what: string,
    tariff: unknown,
    position: typeof here | null,
    from: string,
    to: string,
    isEven: boolean,
    price: unknown,
  ][] = [
    ['a price', 0.3, null, '2026-06-01T10:00Z', '2026-06-04T12:00Z', false, 0.3],
    ['a price with a comma', ' 0,3', null, '2026-06-01T10:00Z', '2026-06-01T12:00Z', true, 0.3],
    ['a price below 0', -0.02, null, '2026-06-01T10:00Z', '2026-06-01T12:00Z', true, -0.02],
    ['a night', berlin, null, '2026-06-01T20:30Z', '2026-06-02T03:30Z', true, 0.2],
    ['an hour of which half is night', berlin, null, '2026-06-01T19:30Z', '2026-06-01T20:30Z', true, 0.3],
    ['in the winter, an hour later', berlin, null, '2026-01-01T20:30Z', '2026-01-01T21:30Z', true, 0.3],
    // 22:00 to 7:00: 7 hours of night and 1 of day when the clock goes forward at 2:00.
    [
      'the night that is short of an hour',
      berlin,
      null,
      '2026-03-28T21:00Z',
      '2026-03-29T05:00Z',
      true,
      (7 * 0.2 + 0.4) / 8,
    ],
    ['the night with an hour more', berlin, null, '2026-10-24T20:00Z', '2026-10-25T06:00Z', true, (9 * 0.2 + 0.4) / 10],
    ['some time in between', berlin, null, '2026-06-01T19:30Z', '2026-06-01T20:30Z', false, 'TIME_NOT_KNOWN'],
    ['some time at one price', berlin, null, '2026-06-01T10:30Z', '2026-06-01T12:30Z', false, 0.4],
    ['days', berlin, null, '2026-06-01T10:30Z', '2026-06-03T12:30Z', true, 'TIME_NOT_KNOWN'],
    [
      'a place',
      { ...berlin, places: [{ name: 'Work', ...here, perKWh: '0' }] },
      here,
      '2026-06-01T10:30Z',
      '2026-06-03T12:30Z',
      true,
      0,
    ],
    [
      'no place',
      { ...berlin, places: [{ name: 'Work', ...here, perKWh: '0' }] },
      { latitude: 51, longitude: 10 },
      '2026-06-01T10:30Z',
      '2026-06-01T11:30Z',
      true,
      0.4,
    ],
    [
      'a place that is not known',
      { ...berlin, places: [{ name: 'Work', ...here, perKWh: '0' }] },
      null,
      '2026-06-01T10:30Z',
      '2026-06-01T11:30Z',
      true,
      'PLACE_NOT_KNOWN',
    ],
  ];
  for (const [what, tariff, position, from, to, isEven, price] of prices)
    it(`prices ${what}`, () => {
      const found = priceOf(parseTariff(tariff), position, [Date.parse(from), Date.parse(to)], isEven);
      if (typeof price === 'number' && typeof found === 'number') assert.ok(Math.abs(found - price) < 1e-9, `${found}`);
      else assert.equal(found, price);
    });

  it('has a currency in three letters', () => {
    assert.equal(parseTariff(1, ' sek ').currency, 'SEK');
    assert.equal(parseTariff({ perKWh: 1, currency: 'NOK' }, 'SEK').currency, 'NOK');
    assert.equal(parseTariff(1).currency, null);
    assert.equal(priceOf(null, null, [0, 0], true), 'NO_TARIFF');
  });

  it('has the price of a place of the vehicle configuration by its name', () => {
    const named = [{ name: 'Home', ...here, radius: 300 }];
    const { places } = parseTariff({ perKWh: 0.4, places: [{ name: ' Home ', perKWh: '0,25' }] }, '', named);
    assert.deepEqual(places, [{ ...named[0], perKWh: 0.25, hours: [] }]);
    const own = { name: 'Home', latitude: 51, longitude: 10, radius: 200, perKWh: 0.3 };
    assert.deepEqual(parseTariff({ perKWh: 0.4, places: [own] }, '', named).places, [{ ...own, hours: [] }]);
  });
});
