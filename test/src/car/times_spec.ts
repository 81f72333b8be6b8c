import { strict as assert } from 'node:assert';
import { isOlder, receiptAsOf, timesOf } from '../../../src/index';

const at = Date.UTC(2026, 5, 1, 12);
const minute = 60_000;
const day = 24 * 60 * minute;
const iso = (time: number): string => new Date(time).toISOString();

/** The rules that hold for guard, events, status node, polling and tab alike. */
describe('The times of a value', () => {
  it('take a timestamp of the last year for the measurement, one in the future for now, and no other', () => {
    for (const [what, stamp, measuredAt] of [
      ['of an hour ago', iso(at - 60 * minute), at - 60 * minute],
      ['of eleven months ago', iso(at - 330 * day), at - 330 * day],
      ['of two years ago', iso(at - 730 * day), null],
      ['of a clock that was never set', '2016-01-01T00:00:00Z', null],
      ['of 1970', '1970-01-01T00:00:00Z', null],
      ['in the future', iso(at + 60 * minute), at],
      ['that is no time', 'yesterday', null],
      ['that is missing', null, null],
    ] as const)
      assert.equal(timesOf(stamp, { at }).measuredAt, measuredAt, what);
  });

  it('allow a timestamp that lies as far ahead as the clock of the service', () => {
    assert.equal(timesOf(iso(at + 60 * minute), { at, skewMs: 10 * minute }).measuredAt, at + 10 * minute);
    assert.equal(timesOf(iso(at + 60 * minute), { at, skewMs: -10 * minute }).measuredAt, at);
  });

  it('call a value older that was measured earlier, or received earlier if a time of measurement is missing', () => {
    type Seconds = [measured: number | null, received: number];
    const pairs: [what: string, value: Seconds, known: Seconds, older: boolean][] = [
      ['measured and received later', [5, 6], [1, 2], false],
      ['measured earlier, received later', [1, 6], [5, 2], true],
      ['measured later, received earlier', [5, 2], [1, 6], true],
      ['without a timestamp, received later', [null, 6], [1, 2], false],
      ['without a timestamp, received earlier', [null, 2], [1, 6], true],
      ['received earlier than one without a timestamp', [5, 2], [null, 6], true],
      ['of the same answer', [1, 2], [1, 2], false],
    ];
    const times = ([measured, received]: Seconds) => ({
      measuredAt: measured === null ? null : at + measured,
      askedAt: at + received,
    });
    for (const [what, value, known, older] of pairs) assert.equal(isOlder(times(value), times(known)), older, what);
  });

  it('call a value older that was asked for earlier, whenever it was received', () => {
    const slow = timesOf(null, { at, receivedAt: at, askedAt: at - 150_000 });
    const fast = timesOf(null, { at, receivedAt: at - 60_000, askedAt: at - 61_000 });
    assert.deepEqual([isOlder(slow, fast), isOlder(fast, slow)], [true, false]);
  });

  it('count what was received before the clock was set back as older than anything', () => {
    const known = { measuredAt: null, askedAt: receiptAsOf(at + day, at) };
    assert.equal(isOlder(timesOf(null, { at, receivedAt: at - 200 }), known), false);
    assert.equal(receiptAsOf(at - 200, at), at - 200);
  });
});
