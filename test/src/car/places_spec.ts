import { strict as assert } from 'node:assert';
import { isInside, parsePlace, parsePlaces } from '../../../src/car/places';

const home = { name: 'Home', latitude: 57.7, longitude: 11.97, radius: 200 };

describe('The places of a vehicle configuration', () => {
  it('are read as a form, an import or a hand writes them', () => {
    for (const none of [undefined, null, '', []]) assert.deepEqual(parsePlaces(none), []);
    const given = { name: ' Home ', latitude: '57,7', longitude: ' 11.97', radius: '' };
    assert.deepEqual(parsePlaces([given, { ...home, name: 'Work', radius: '1' }]), [
      home,
      { ...home, name: 'Work', radius: 1 },
    ]);
    for (const furthest of [
      { ...home, latitude: -90, longitude: -180, radius: 1 },
      { ...home, latitude: 90, longitude: 180, radius: 1_000_000 },
    ])
      assert.deepEqual(parsePlaces([furthest]), [furthest]);
  });

  const faults: [places: unknown, sentence: RegExp][] = [
    ['Home', /^The places must be a list\.$/],
    [[home, { ...home, name: ' ' }], /^Place 2 of the vehicle configuration has no name\. Enter one\.$/],
    [[null], /^Place 1 .* has no name/],
    [['Home'], /^Place 1 .* has no name/],
    [
      [home, { ...home, name: 'Home ' }],
      /^The vehicle configuration has two places “Home”\. Give each its own name\.$/,
    ],
    [[{ name: 'Home' }], /^The latitude of the place “Home” must be a number from -90 to 90, such as 57\.70887\./],
    [[{ ...home, latitude: 90.1 }], /^The latitude of the place “Home”/],
    [[{ ...home, latitude: '57.7, 11.97' }], /^The latitude of the place “Home”/],
    [[{ ...home, latitude: true }], /^The latitude of the place “Home”/],
    [[{ ...home, latitude: [57] }], /^The latitude of the place “Home”/],
    [[{ ...home, longitude: '' }], /^The longitude of the place “Home” must be a number from -180 to 180/],
    [[{ ...home, longitude: -181 }], /^The longitude of the place “Home”/],
    [[{ ...home, radius: 0 }], /^The radius of the place “Home” must be a number from 1 to 1,000,000 meters/],
    [[{ ...home, radius: 1_000_001 }], /^The radius of the place “Home”/],
    [[{ ...home, radius: 'near' }], /^The radius of the place “Home”/],
  ];
  for (const [places, message] of faults)
    it(`are refused with a sentence: ${JSON.stringify(places)}`, () => {
      assert.throws(() => parsePlaces(places), { code: 'CONFIG', message });
    });

  it('are found by their exact names, and a place with coordinates is its own', () => {
    assert.deepEqual(parsePlace(' Home ', [home]), home);
    for (const none of ['home', 'Work', '', '[object Object]']) assert.equal(parsePlace(none, [home]), null);
    assert.deepEqual(parsePlace({ ...home, latitude: 1 }, [home]), { ...home, latitude: 1 });
    assert.equal(parsePlace({ name: 'Home' }, [home]), null, 'an incomplete place of its own names none');
  });
});

describe('A place', () => {
  // A degree of a great circle of the earth (6,371 km) is 111,195 m; one of longitude at 60° north
  // is half of that, less 1 m.
  const distances: [from: number[], to: number[], meters: number][] = [
    [[10, 20], [11, 20], 111_195],
    [[0, 20], [0, 19], 111_195],
    [[60, 10], [60, 11], 55_597],
    [[-60, 10], [-60, 9], 55_597],
    [[89.5, 0], [89.5, 180], 111_195],
  ];
  for (const [[latitude = 0, longitude = 0], [otherLatitude = 0, otherLongitude = 0], meters] of distances)
    it(`has a car inside its radius that is ${meters} m away, and no car 2 m outside of it`, () => {
      const car = { latitude: otherLatitude, longitude: otherLongitude };
      const place = { name: 'Home', latitude, longitude };
      assert.equal(isInside(car, { ...place, radius: meters + 1 }), true);
      assert.equal(isInside(car, { ...place, radius: meters - 2 }), false);
    });

  it('has no car inside that is on the other side of the earth', () =>
    assert.equal(
      isInside({ latitude: 0, longitude: 180 }, { ...home, latitude: 0, longitude: 0, radius: 1e6 }),
      false,
    ));
});
