import { strict as assert } from 'node:assert';
import {
  defaultWatch,
  judgeOpenings,
  lockState,
  openingIfFitted,
  openingKeyOf,
  openingsNamed,
  openingsOf,
  openingState,
  watchNames,
} from '../../../src/catalogue/openings';

describe('The openings of a car', () => {
  const rows = [...openingsOf.windows, ...openingsOf.doors];
  const kinds = ['window', 'sunroof', 'door', 'tailGate', 'hood', 'tankLid', 'lock'] as const;

  it('have a key for each name and its read or kind', () => {
    for (const { name, kind, read } of rows) {
      const key = openingKeyOf(name, read) ?? assert.fail(name);
      assert.deepEqual([openingKeyOf(name, kind), openingsNamed([key])], [key, [key]], key);
      assert.equal(openingKeyOf(name, 'fuel'), undefined);
      assert.equal(openingKeyOf('boot', read), undefined);
    }
    assert.equal(openingKeyOf('frontLeft', 'windows'), 'frontLeftWindow');
    assert.equal(openingKeyOf('frontLeft', 'door'), 'frontLeftDoor');
    assert.equal(openingKeyOf('carLocked', 'lock'), 'carLocked');
  });

  it('are watched by kind or one by one, all but the tank lid if nothing is chosen', () => {
    assert.deepEqual(watchNames.slice(0, kinds.length), kinds);
    assert.equal(new Set(watchNames).size, watchNames.length);
    assert.deepEqual(
      defaultWatch,
      kinds.filter((kind) => kind !== 'tankLid'),
    );
    const counts = kinds.map((kind) => openingsNamed([kind]).length);
    assert.deepEqual(counts, [4, 1, 4, 1, 1, 1, 1]);
    assert.deepEqual(openingsNamed([]), []);
    assert.deepEqual(openingsNamed(['hood', 'window', 'frontLeftWindow']), [
      'frontLeftWindow',
      'frontRightWindow',
      'rearLeftWindow',
      'rearRightWindow',
      'hood',
    ]);
  });

  it('come in the order of their message, the lock first', () => {
    const names = (read: 'windows' | 'doors') => openingsOf[read].map(({ name }) => name);
    const corners = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'];
    assert.deepEqual(names('doors'), ['carLocked', ...corners, 'tailGate', 'hood', 'tankLid']);
    assert.deepEqual(names('windows'), [...corners, 'sunroof']);
  });

  it('are not all fitted', () => {
    assert.deepEqual({ ...openingIfFitted }, { windows: 'sunroof', doors: 'tankLid' });
  });

  it('are open or closed by the words of the service alone', () => {
    const words = ['OPEN', 'AJAR', 'CLOSED', 'LOCKED', 'UNLOCKED', 'UNSPECIFIED', 'toString', 7, null];
    assert.deepEqual(words.map(openingState), ['open', 'open', 'closed', null, null, null, null, null, null]);
    assert.deepEqual(words.map(lockState), [null, null, null, 'closed', 'open', null, null, null, null]);
  });

  const closed = { frontLeft: 'CLOSED', rearRight: 'CLOSED' };
  const judged: [what: string, members: Record<string, unknown>, hasSunroof: boolean | undefined, openness: object][] =
    [
      ['none', {}, undefined, { allClosed: true, open: [], unknown: [] }],
      ['closed ones', closed, undefined, { allClosed: true, open: [], unknown: [] }],
      ['an open one', { ...closed, hood: 'AJAR' }, undefined, { allClosed: false, open: ['hood'], unknown: [] }],
      ['an unknown one', { ...closed, hood: 'NEW' }, undefined, { allClosed: null, open: [], unknown: ['hood'] }],
      [
        'an open and an unknown one',
        { ...closed, hood: null, tailGate: 'OPEN' },
        undefined,
        { allClosed: false, open: ['tailGate'], unknown: ['hood'] },
      ],
      [
        'an open car that is closed',
        { carLocked: 'UNLOCKED', ...closed },
        undefined,
        { allClosed: true, open: [], locked: false, unknown: [] },
      ],
      ['a locked car', { carLocked: 'LOCKED' }, undefined, { allClosed: true, open: [], locked: true, unknown: [] }],
      [
        'an unknown lock',
        { carLocked: 'OPEN', ...closed },
        undefined,
        { allClosed: true, open: [], locked: null, unknown: ['carLocked'] },
      ],
      [
        'an unknown lock and an unknown door',
        { carLocked: 'OPEN', hood: 'LOCKED' },
        undefined,
        { allClosed: null, open: [], locked: null, unknown: ['carLocked', 'hood'] },
      ],
      [
        'a sunroof that the car lacks',
        { ...closed, sunroof: 'UNSPECIFIED' },
        false,
        { allClosed: true, open: [], unknown: [], absent: ['sunroof'] },
      ],
      [
        'a sunroof that the car may have',
        { ...closed, sunroof: 'UNSPECIFIED' },
        undefined,
        { allClosed: null, open: [], unknown: ['sunroof'] },
      ],
      [
        'a sunroof with a new word',
        { ...closed, sunroof: 'TILTED' },
        false,
        { allClosed: null, open: [], unknown: ['sunroof'] },
      ],
      [
        'another opening without a word',
        { ...closed, hood: 'UNSPECIFIED' },
        false,
        { allClosed: null, open: [], unknown: ['hood'] },
      ],
      [
        'a sunroof among other unknown ones',
        { hood: null, sunroof: 'UNSPECIFIED' },
        false,
        { allClosed: null, open: [], unknown: ['hood', 'sunroof'] },
      ],
      [
        'a sunroof beside a lock',
        { carLocked: 'LOCKED', sunroof: 'UNSPECIFIED' },
        false,
        { allClosed: null, open: [], locked: true, unknown: ['sunroof'] },
      ],
    ];
  it('are all closed only if each is known to be', () => {
    for (const [what, members, hasSunroof, openness] of judged) {
      const values = Object.entries(members).map(([name, value]) => [name, { value }] as const);
      assert.deepEqual(judgeOpenings(values, hasSunroof), openness, what);
    }
  });
});
