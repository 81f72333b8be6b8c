import { strict as assert } from 'node:assert';
import { parseLocation } from '../../../src/wire/readings';

const feature = (
  coordinates: unknown,
  properties: unknown = { timestamp: '2026-09-25T15:40:12.045762046Z', heading: '220' },
) => ({
  data: { type: 'Feature', geometry: { type: 'Point', coordinates }, properties },
  operationId: '535a0d9da5eb410eaa3a83f1f5e19f13',
  status: 200,
});
const nowhere = { latitude: null, longitude: null, altitude: null };

describe('the location', () => {
  it('is unknown, and never 0, without two numbers of a place', () => {
    for (const coordinates of [
      [11.9, 91],
      [181, 57],
      [11.9, null],
      [null, 57],
      [11.9],
      [],
      null,
      undefined,
      'here',
      ['east', 'north'],
      ['', ''],
      [{}, []],
      [Number.NaN, 57],
      [0, 0],
      [[11.9, 57.6]],
    ]) {
      const { latitude, longitude, altitude } = parseLocation(feature(coordinates)).payload;
      assert.deepEqual({ latitude, longitude, altitude }, nowhere, JSON.stringify(coordinates));
    }
  });

  it('reads numbers as text, and a car on the equator or the meridian', () => {
    assert.equal(parseLocation(feature(['11.9', '57.6'])).payload.latitude, 57.6);
    assert.equal(parseLocation(feature([11.9, 0])).payload.latitude, 0);
    assert.equal(parseLocation(feature([0, 51.4])).payload.longitude, 0);
  });

  it('is unknown for a geometry other than a point', () => {
    const { data } = feature([11.9, 57.6]);
    const line = { ...data, geometry: { ...data.geometry, type: 'LineString' } };
    assert.equal(parseLocation({ data: line }).payload.latitude, null);
  });

  for (const [heading, expected] of [
    ['0', 0],
    ['360', 0],
    [90, 90],
    ['-1', null],
    ['361', null],
    ['north', null],
    ['', null],
  ] as const) {
    it(`reads the heading ${JSON.stringify(heading)} as ${expected}`, () =>
      assert.equal(parseLocation(feature([11.9, 57.6], { heading })).payload.heading, expected));
  }

  it('is refused if the answer is not a feature', () => {
    for (const body of [null, [], 'x', {}, { data: {} }, { data: null }])
      assert.throws(() => parseLocation(body), { code: 'BAD_RESPONSE' });
  });
});
