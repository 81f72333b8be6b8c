import { strict as assert } from 'node:assert';
import {
  commandOptions,
  commandStatusOptions,
  parseOptions,
  statusOptions,
  vehicleOptions,
} from '../../../nodes/runtime';

describe('The properties of the nodes', () => {
  it('take their defaults if a flow file has no values', () => {
    assert.deepEqual(parseOptions(statusOptions, {}), {
      name: '',
      vehicle: '',
      vin: '',
      vinType: 'str',
      read: 'windows',
      readType: 'str',
      reads: [],
      interface: 'auto',
      poll: 0,
      payload: 'object',
      emit: 'always',
    });
    assert.equal(parseOptions(vehicleOptions, {}).requestsPerDay, 10_000);
    assert.deepEqual(parseOptions(vehicleOptions, {}).places, []);
    assert.equal(parseOptions(commandOptions, {}).command, '');
    assert.equal(parseOptions(commandStatusOptions, {}).timeout, 180);
  });

  it('take lists from the text of an environment variable, each name once', () => {
    const { access, interfaces } = parseOptions(vehicleOptions, { access: 'lock, climate lock', interfaces: '' });
    assert.deepEqual([access, interfaces], [['lock', 'climate'], []]);
    assert.deepEqual(parseOptions(vehicleOptions, {}).access, ['lock', 'unlock', 'honk-flash']);
    for (const wrong of ['fly', ['lock', 7], 7, {}])
      assert.throws(() => parseOptions(vehicleOptions, { access: wrong }), { code: 'CONFIG', message: /“access/ });
  });

  it('name what is wrong with a place of a vehicle configuration', () => {
    const { places } = parseOptions(vehicleOptions, { places: [{ name: 'Home', latitude: '57,7', longitude: 11 }] });
    assert.deepEqual(places, [{ name: 'Home', latitude: 57.7, longitude: 11, radius: 200 }]);
    const message = /^The longitude of the place “Home” must be a number/;
    const wrong = [{ name: 'Home', latitude: 57.7, longitude: 'east' }];
    assert.throws(() => parseOptions(vehicleOptions, { places: wrong }), { code: 'CONFIG', message });
  });

  it('take numbers as text, and their defaults if the field is empty', () => {
    assert.equal(parseOptions(statusOptions, { poll: '60' }).poll, 60);
    assert.equal(parseOptions(commandStatusOptions, { timeout: '', interval: null }).interval, 5);
  });

  it('name the property that is wrong', () => {
    for (const poll of ['soon', '-1', ' ', true, Number.NaN])
      assert.throws(() => parseOptions(statusOptions, { poll }), { code: 'CONFIG', message: /“poll”/ });
  });
});
