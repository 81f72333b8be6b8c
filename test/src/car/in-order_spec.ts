import { strict as assert } from 'node:assert';
import { CarFacts } from '../../../src/car/facts';
import { inOrderOf, type InOrder } from '../../../src/car/in-order';
import { MemoryStateStore, type Reading, type ReadName } from '../../../src/index';
import { minutesAgo, now, readingOf } from '../../support/readings';

const timestamp = minutesAgo(10);
const word = (value: unknown): object => ({ value, unit: null, timestamp });

/** The answers of a car that is in order. */
const calm: Partial<Record<ReadName, Reading>> = {
  windows: readingOf('windows', { frontLeft: word('CLOSED') }, { open: [], unknown: [], allClosed: true }),
  doors: readingOf('doors', { carLocked: word('LOCKED') }, { open: [], unknown: [], allClosed: true, locked: true }),
  warnings: readingOf('warnings', { brakeLightLeftWarning: word('NO_WARNING') }),
  tyres: readingOf('tyres', { frontLeft: word('NO_WARNING'), frontRight: word('NO_WARNING') }),
  brakes: readingOf('brakes', { brakeFluidLevelWarning: word('NO_WARNING') }),
  engine: readingOf('engine', { oilLevelWarning: word('NO_WARNING') }),
  diagnostics: readingOf('diagnostics', {
    serviceWarning: word('NO_WARNING'),
    washerFluidLevelWarning: word('NO_WARNING'),
    distanceToService: { value: 30, unit: 'km', timestamp },
  }),
};

describe('Whether a car is in order', () => {
  let facts: CarFacts;
  const signedIn = { endsAt: null, isRequired: false };
  async function judged(
    changed: Partial<Record<ReadName, Reading | null>> = {},
    more: { signIn?: typeof signedIn | { endsAt: number; isRequired: null }; lacking?: ReadName[]; at?: number } = {},
  ): Promise<InOrder> {
    const readings = new Map<ReadName, Reading>();
    for (const [read, reading] of Object.entries({ ...calm, ...changed }) as [ReadName, Reading | null][]) {
      if (reading === null) continue;
      readings.set(read, reading);
      await facts.observe('A', read, reading.payload, now);
    }
    const { equipment } = await facts.known('A', now);
    const { signIn = signedIn, lacking = [], at = now } = more;
    return inOrderOf({ readings, lacking: new Set(lacking), equipment, signIn, now: at });
  }
  const briefly = ({ value, reasons }: InOrder): unknown[] => [
    value,
    ...reasons.map(({ reason, state, names }) => `${reason} ${state} ${names.join(' ')}`),
  ];

  beforeEach(() => {
    facts = new CarFacts(new MemoryStateStore());
  });

  it('is yes only if every part of it is known and right', async () => {
    assert.deepEqual(briefly(await judged()), [true]);
    for (const read of Object.keys(calm) as ReadName[])
      assert.equal((await judged({ [read]: null })).value, null, read);
  });

  it('keeps a bounded list of the warnings that a service invents, and takes none of the others for one that the car lacks', async () => {
    const store = new MemoryStateStore();
    facts = new CarFacts(store);
    const named = (prefix: string, value: string): Reading =>
      readingOf(
        'tyres',
        Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`${prefix}${index}`, word(value)])),
      );
    for (let day = 0; day < 10; day += 1) await judged({ tyres: named(`x${day}-${'y'.repeat(500)}`, 'NO_WARNING') });
    for (let day = 0; day < 10; day += 1) await judged({ tyres: named(`x${day}-`, 'NO_WARNING') });
    const [{ value: stored } = assert.fail()] = await store.entries('car/');
    assert.ok(JSON.stringify(stored).length < 10_000, String(JSON.stringify(stored).length));
    const { value, reasons, notReported } = await judged({ tyres: named('x9-', 'UNSPECIFIED') });
    assert.deepEqual([value, notReported], [null, []]);
    const names = new Set(reasons.flatMap((reason) => reason.names));
    for (let index = 0; index < 300; index += 1) assert.ok(names.has(`tyres.x9-${index}`), String(index));
  });

  it('is no for each thing that is wrong, also while others are unknown', async () => {
    const tyres = readingOf('tyres', { frontLeft: word('LOW_PRESSURE'), frontRight: word('NEW_WORD') });
    assert.deepEqual(briefly(await judged({ tyres, warnings: null })), [
      false,
      'warnings no tyres.frontLeft',
      'warnings unknown warnings tyres.frontRight',
    ]);
    const due = readingOf('diagnostics', {
      serviceWarning: word('REGULAR_MAINTENANCE_ALMOST_TIME_FOR_SERVICE'),
      washerFluidLevelWarning: word('TOO_LOW'),
    });
    assert.deepEqual(briefly(await judged({ diagnostics: due })), [
      false,
      'warnings no diagnostics.washerFluidLevelWarning',
      'service no diagnostics.serviceWarning',
    ]);
  });

  it('is unknown with a warning of an odd form', async () => {
    for (const value of [true, 1.1]) {
      const odd = readingOf('diagnostics', { serviceWarning: word('NO_WARNING'), brakeFluidLevelWarning: { value } });
      assert.equal((await judged({ diagnostics: odd })).value, null, String(value));
    }
  });

  it('is unknown while it cannot be read what the car has reported', async () => {
    const silent = readingOf('diagnostics', {
      serviceWarning: word('NO_WARNING'),
      brakeFluidLevelWarning: word('UNSPECIFIED'),
    });
    assert.equal((await judged({ diagnostics: silent })).value, true);
    const readings = new Map(Object.entries({ ...calm, diagnostics: silent })) as Map<ReadName, Reading>;
    const known = { readings, lacking: new Set<ReadName>(), signIn: signedIn, now };
    assert.equal(inOrderOf({ ...known, equipment: null }).value, null);
  });

  it('regards a warning that the car has never reported as not fitted, and one that it has reported before as unknown', async () => {
    const lamp = readingOf('warnings', {
      brakeLightLeftWarning: word('NO_WARNING'),
      fogLightFrontWarning: word('UNSPECIFIED'),
    });
    const first = await judged({ warnings: lamp });
    assert.deepEqual([first.value, first.notReported], [true, ['warnings.fogLightFrontWarning']]);
    const tyres = readingOf('tyres', { frontLeft: word('NO_WARNING'), frontRight: word('UNSPECIFIED') });
    const gone = readingOf('tyres', { frontLeft: word('NO_WARNING') });
    for (const reading of [tyres, gone])
      assert.deepEqual(briefly(await judged({ tyres: reading })), [null, 'warnings unknown tyres.frontRight']);
  });

  it('is unknown while the car reports no warning at all, and counts no read that the car does not have', async () => {
    facts = new CarFacts(new MemoryStateStore());
    const silent = Object.fromEntries(
      (['warnings', 'tyres', 'brakes', 'engine', 'diagnostics'] as const).map((read) => [
        read,
        readingOf(read, { someWarning: word('UNSPECIFIED') }),
      ]),
    );
    assert.equal((await judged(silent)).value, null);
    const electric = await judged({ engine: null }, { lacking: ['engine'] });
    assert.deepEqual([electric.value, electric.notReported], [true, ['engine']]);
  });

  it('counts the sign-in before it ends, and the last report of the car', async () => {
    const day = 86_400_000;
    const ending = await judged({}, { signIn: { endsAt: now + 2 * day, isRequired: null } });
    assert.deepEqual(briefly(ending), [false, 'signIn no signIn']);
    assert.equal((await judged({}, { signIn: { endsAt: now + 4 * day, isRequired: null } })).value, true);
    assert.deepEqual(briefly(await judged({}, { at: now + 4 * day })), [null, 'age unknown age']);
  });
});
