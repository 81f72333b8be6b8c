import { strict as assert } from 'node:assert';
import { placeOf, readEach, VehicleError, type AnyReadName, type Reading } from '../../../src/index';
import { isTripEnd } from '../../../src/car/times';
import type { ReadingInfo } from '../../../src/car/reading';

const vin = 'YV4952NA4F120DEMO';
const reading = (read: AnyReadName, payload: unknown, more: Partial<ReadingInfo> = {}): Reading => ({
  payload,
  vehicle: {
    vin,
    read,
    interface: 'connected-v2',
    receivedAt: '2026-06-01T08:00:00.000Z',
    measuredAt: null,
    source: 'live',
    ...more,
  },
});

describe('Several reads at once', () => {
  const both = (doors: Partial<ReadingInfo>, fuel: Partial<ReadingInfo>) =>
    readEach(['doors', 'fuel'], (name) => Promise.resolve(reading(name, name, name === 'doors' ? doors : fuel)));

  it('are one message with what each has, the latest receipt and the oldest value', async () => {
    const doors = { receivedAt: '2026-06-01T08:00:02.000Z', measuredAt: '2026-06-01T07:00:00Z' };
    const fuel = { receivedAt: '2026-06-01T08:00:01.000Z', measuredAt: '2026-06-01T06:00:00Z', vin: null };
    assert.deepEqual(await both(doors, fuel), {
      payload: { doors: 'doors', fuel: 'fuel' },
      vehicle: {
        vin,
        read: ['doors', 'fuel'],
        interface: 'connected-v2',
        receivedAt: '2026-06-01T08:00:02.000Z',
        measuredAt: '2026-06-01T06:00:00Z',
        source: 'live',
        reads: {
          doors: reading('doors', '', doors).vehicle,
          fuel: reading('fuel', '', fuel).vehicle,
        },
        errors: [],
      },
      failures: new Map(),
    });
    const others = await both({ ...fuel, measuredAt: null }, { ...doors, measuredAt: '2026-06-01T06:30:00Z' });
    assert.deepEqual(
      [others.vehicle.vin, others.vehicle.receivedAt, others.vehicle.measuredAt],
      [vin, '2026-06-01T08:00:02.000Z', '2026-06-01T06:30:00Z'],
    );
  });

  it('have their failures in the order of the reads, and fail with the first only if nothing was read', async () => {
    const after = (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        let turns = milliseconds;
        const turn = (): void => void (turns-- === 0 ? resolve() : setImmediate(turn));
        turn();
      });
    const failing = async (name: AnyReadName): Promise<Reading> => {
      await after({ doors: 9, fuel: 3 }[String(name)] ?? 6);
      if (name === 'windows') return reading(name, {});
      throw name === 'fuel' ? new VehicleError('NOT_SUPPORTED', 'No tank.') : new VehicleError('NETWORK', `${name}.`);
    };
    const { vehicle, payload } = await readEach(['doors', 'odometer', 'windows', 'fuel'], failing);
    assert.deepEqual(payload, { windows: {} });
    assert.deepEqual(vehicle.errors, [
      { read: 'doors', code: 'NETWORK', message: 'doors.' },
      { read: 'odometer', code: 'NETWORK', message: 'odometer.' },
      { read: 'fuel', code: 'NOT_SUPPORTED', message: 'No tank.' },
    ]);
    await assert.rejects(readEach(['doors', 'fuel'], failing), { code: 'NETWORK', message: 'doors.' });
    await assert.rejects(readEach([], failing), {
      code: 'INPUT_INVALID',
      message: 'No read is chosen. Choose at least one, or send a list of names in msg.read.',
    });
  });
});

describe('The place of a reading', () => {
  const position = { latitude: 57.7, longitude: 11.97, altitude: 10 };
  const several = (...reads: AnyReadName[]) =>
    readEach(reads, (name) => Promise.resolve(reading(name, name === 'location' ? position : {})));

  it('is its position, alone or among several', async () => {
    assert.deepEqual(placeOf(reading('location', position)), { lat: 57.7, lon: 11.97 });
    assert.deepEqual(placeOf(await several('doors', 'location')), { lat: 57.7, lon: 11.97 });
  });
});

describe('A trip', () => {
  const odometers: [before: number | null, now: number | null, inUse: boolean | null, isOver: boolean][] = [
    [100, 101, false, true],
    [100, 101, null, true],
    [0, 1, false, true],
    [100, 101, true, false],
    [100, 100, false, false],
    [100, 99, false, false],
    [null, 101, false, false],
    [-1, null, false, false],
  ];
  for (const [before, now, inUse, isOver] of odometers)
    it(`is ${isOver ? '' : 'not '}over between ${before} and ${now} km if the use is ${inUse}`, () =>
      assert.equal(isTripEnd(before, now, inUse), isOver));
});
