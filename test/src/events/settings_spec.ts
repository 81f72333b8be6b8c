import { strict as assert } from 'node:assert';
import { parseEventSettings } from '../../../src/events/settings';

describe('The settings of the events', () => {
  it('give a place without a radius 200 meters', () => {
    const place = { name: 'home', latitude: 57.7, longitude: 11.97 };
    for (const given of [place, { ...place, radius: undefined }, { ...place, radius: '' }])
      assert.deepEqual(parseEventSettings({ events: ['arrived'], places: [given] }).places, [
        { ...place, radius: 200 },
      ]);
  });
});
