import { strict as assert } from 'node:assert';
import {
  LastReadings,
  readEach,
  VehicleError,
  type AnyReading,
  type AnyReadName,
  type Reading,
} from '../../../src/index';
import type { ReadingInfo, SeveralReading } from '../../../src/car/reading';

const info = (changes: Partial<ReadingInfo> = {}): ReadingInfo => ({
  vin: 'YV4952NA4F120DEMO',
  read: 'windows',
  interface: 'connected-v2',
  receivedAt: '2026-06-01T08:00:00.000Z',
  measuredAt: null,
  source: 'live',
  ...changes,
});
const windows = (value: string, timestamp: string): AnyReading => ({
  payload: { frontLeft: { value, timestamp } },
  vehicle: info(),
});

const now = Date.parse('2026-06-01T08:01:00Z');

describe('the last readings', () => {
  it('ignore a change of timestamps alone', () => {
    const last = new LastReadings();
    assert.equal(last.remember('w', windows('CLOSED', '1'), now), true);
    assert.equal(last.remember('w', windows('CLOSED', '2'), now), false);
    assert.equal(last.remember('w', windows('OPEN', '2'), now), true);
    assert.equal(last.remember('other', windows('OPEN', '2'), now), true);
  });

  it('report no change when an answer arrives that was received before the known one, and keep the known one', () => {
    const last = new LastReadings();
    const at = (receivedAt: string, value: string): AnyReading => ({
      payload: { frontLeft: { value, timestamp: null } },
      vehicle: info({ receivedAt }),
    });
    const told = [at('2026-06-01T08:00:05.000Z', 'OPEN'), at('2026-06-01T08:00:00.000Z', 'CLOSED')].map((reading) =>
      last.remember('w', reading, now),
    );
    assert.deepEqual(told, [true, false]);
    assert.equal(last.remember('w', at('2026-06-01T08:00:09.000Z', 'OPEN'), now), false);
    assert.deepEqual(last.kept('w', now)?.payload, { frontLeft: { value: 'OPEN', timestamp: null } });
    const setBack = Date.parse('2026-06-01T07:00:00Z');
    assert.equal(last.remember('w', at('2026-06-01T07:00:00.000Z', 'CLOSED'), setBack), true);
  });

  it('return the last reading with its age, even if a flow changed its message', () => {
    const last = new LastReadings();
    const reading = windows('CLOSED', '1');
    last.remember('w', reading, now);
    (reading.payload as Record<string, unknown>)['frontLeft'] = 'changed by a flow';
    const kept = last.kept('w', Date.parse('2026-06-01T08:01:30Z'));
    assert.deepEqual(kept?.payload, { frontLeft: { value: 'CLOSED', timestamp: '1' } });
    assert.equal(kept?.vehicle.source, 'kept');
    assert.equal(kept?.vehicle.ageSeconds, 90);
    assert.equal(last.kept('never read', 0), undefined);
  });

  describe('of several reads', () => {
    const reads: AnyReadName[] = ['doors', 'windows'];
    /** `null`: that read fails. */
    const several = (values: Partial<Record<AnyReadName, string | null>>): Promise<SeveralReading> =>
      readEach(reads, (read): Promise<Reading> => {
        const value = values[read];
        if (value === null) return Promise.reject(new VehicleError('NOT_SUPPORTED', 'gone'));
        return Promise.resolve({ payload: { value }, vehicle: info({ read }) });
      });
    it('report no change when a read fails or works again, but do if the value differs from before the failure', async () => {
      const last = new LastReadings();
      const told: boolean[] = [];
      for (const windowValue of ['CLOSED', null, 'CLOSED', null, 'OPEN', null])
        told.push(last.remember('s', await several({ doors: 'CLOSED', windows: windowValue }), now));
      assert.deepEqual(told, [true, false, false, false, true, false]);
    });

    it('complete what is due with the last values of the others, and leave out what failed then', async () => {
      const last = new LastReadings();
      last.remember('s', await several({ doors: 'CLOSED', windows: 'CLOSED' }), now);
      last.remember('s', await several({ doors: 'CLOSED', windows: null }), now);
      const doors = await readEach(['doors'], (read) =>
        Promise.resolve({ payload: { value: 'OPEN' }, vehicle: info({ read }) }),
      );
      const { payload, vehicle } = last.filled('s', doors, now);
      assert.deepEqual([payload, vehicle.errors.map(({ read }) => read)], [{ doors: { value: 'OPEN' } }, ['windows']]);
    });

    it('mark what they add with its age, and add nothing to a read that is the only one', async () => {
      const last = new LastReadings();
      const alone = await readEach(['doors'], (read) =>
        Promise.resolve({ payload: { value: 'OPEN' }, vehicle: info({ read }) }),
      );
      assert.equal(last.filled('s', alone, now), alone);
      last.remember('w', windows('CLOSED', '1'), now);
      assert.equal(last.filled('w', alone, now), alone);
      last.remember('s', await several({ doors: 'CLOSED', windows: 'AJAR' }), now);
      const { payload, vehicle } = last.filled('s', alone, now);
      assert.deepEqual(payload, { doors: { value: 'OPEN' }, windows: { value: 'AJAR' } });
      assert.deepEqual(vehicle.reads, {
        doors: info({ read: 'doors' }),
        windows: { ...info(), source: 'kept', ageSeconds: 60 },
      });
    });

    it('name a read that never answered among the failures, each once', async () => {
      const last = new LastReadings();
      const down = new VehicleError('SERVICE_ERROR', 'Down.');
      last.failed('s', ['doors'], down);
      last.remember('w', windows('CLOSED', '1'), now);
      last.failed('w', ['windows'], down);
      last.remember('s', await several({ doors: 'CLOSED', windows: null }), now);
      const failures = (): unknown => (last.kept('s', now) as SeveralReading).vehicle.errors;
      assert.deepEqual(failures(), [{ read: 'windows', code: 'NOT_SUPPORTED', message: 'gone' }]);
      last.failed('s', ['doors'], down);
      assert.deepEqual(failures(), [{ read: 'windows', code: 'NOT_SUPPORTED', message: 'gone' }]);
      last.failed('s', ['windows'], down);
      assert.deepEqual(failures(), [{ read: 'windows', code: 'SERVICE_ERROR', message: 'Down.' }]);
    });
  });

  it('are bounded in number: the one that was read longest ago is forgotten', () => {
    const last = new LastReadings();
    for (let i = 0; i < 100; i += 1) last.remember(`${i}`, windows('CLOSED', '1'), now);
    last.remember('0', windows('CLOSED', '2'), now);
    last.remember('100', windows('CLOSED', '1'), now);
    assert.equal(last.kept('1', 0), undefined);
    assert.notEqual(last.kept('0', 0), undefined);
    assert.notEqual(last.kept('100', 0), undefined);
  });
});
