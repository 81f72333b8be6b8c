import { strict as assert } from 'node:assert';
import { LastReadings, type AnyReading, type ReadingInfo } from '../../../src/index';

const info = (changes: Partial<ReadingInfo> = {}): ReadingInfo => ({
  vin: 'YV4952NA4F120DEMO',
  read: 'windows',
  interface: 'connected-v2',
  receivedAt: '2026-06-01T08:00:00.000Z',
  measuredAt: null,
  source: 'live',
  ...changes,
});
const windows = (value: string, timestamp: string): AnyReading => ({ payload: { frontLeft: { value, timestamp } }, vehicle: info() });

describe('the last readings', () => {
  it('know a change of values from a change of times', () => {
    const last = new LastReadings();
    assert.equal(last.remember('w', windows('CLOSED', '1')), true);
    assert.equal(last.remember('w', windows('CLOSED', '2')), false);
    assert.equal(last.remember('w', windows('OPEN', '2')), true);
    assert.equal(last.remember('other', windows('OPEN', '2')), true);
  });

  it('give the last reading on, marked with its age, whatever became of the message that carried it', () => {
    const last = new LastReadings();
    const reading = windows('CLOSED', '1');
    last.remember('w', reading);
    (reading.payload as Record<string, unknown>)['frontLeft'] = 'changed by a flow';
    const kept = last.kept('w', Date.parse('2026-06-01T08:01:30Z'));
    assert.deepEqual(kept?.payload, { frontLeft: { value: 'CLOSED', timestamp: '1' } });
    assert.equal(kept?.vehicle.source, 'kept');
    assert.equal(kept?.vehicle.ageSeconds, 90);
    assert.equal(last.kept('never read', 0), undefined);
  });

  it('mark each of several readings', () => {
    const last = new LastReadings();
    const several = { payload: {}, vehicle: { ...info(), read: ['windows' as const], reads: { windows: info({ source: 'shared' }) }, errors: [] } };
    last.remember('s', several);
    const { vehicle } = last.kept('s', Date.parse('2026-06-01T08:00:05Z')) as typeof several;
    assert.equal(vehicle.source, 'kept');
    assert.deepEqual(vehicle.reads.windows, { ...info(), source: 'kept', ageSeconds: 5 });
  });
});
