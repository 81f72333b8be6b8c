import { strict as assert } from 'node:assert';
import { isOlder, receiptAsOf, timesOf } from '../../../src/index';

const at = Date.UTC(2026, 5, 1, 12);
const minute = 60_000;
const day = 24 * 60 * minute;
const iso = (time: number): string => new Date(time).toISOString();

/*
 * Version 1.0.0 had these rules several times, and their answers differed. Each row has the former answers beside the one that holds
 * now for guard, events, status node, polling and tab.
 */
describe('The times of a value', () => {
  // [what, timestamp, when the guard of 1.0.0 took it for measured, when the events did, when it is taken now]
  const timestamps: [what: string, stamp: unknown, guard: number | null, events: number | null, now: number | null][] =
    [
      ['of an hour ago', iso(at - 60 * minute), at - 60 * minute, at - 60 * minute, at - 60 * minute],
      ['of eleven months ago', iso(at - 330 * day), at - 330 * day, at - 330 * day, at - 330 * day],
      ['of two years ago', iso(at - 730 * day), null, at - 730 * day, null],
      ['of a clock that was never set', '2016-01-01T00:00:00Z', null, Date.UTC(2016, 0, 1), null],
      ['of 1970', '1970-01-01T00:00:00Z', null, null, null],
      ['in the future', iso(at + 60 * minute), at, at, at],
      ['that is no time', 'yesterday', null, null, null],
      ['that is missing', null, null, null, null],
    ];
  for (const [what, stamp, guard, events, now] of timestamps)
    it(`take a timestamp ${what}${guard === events ? '' : ', of which guard and events said different things'}`, () => {
      assert.equal(timesOf(stamp, { at }).measuredAt, now);
      assert.ok(now === guard || now === events);
    });

  it('allow a timestamp that lies as far ahead as the clock of the service', () => {
    assert.equal(timesOf(iso(at + 60 * minute), { at, skewMs: 10 * minute }).measuredAt, at + 10 * minute);
    assert.equal(timesOf(iso(at + 60 * minute), { at, skewMs: -10 * minute }).measuredAt, at);
  });

  // Seconds after `at`: [what, value, known, older for guard and events of 1.0.0, older for the tab of 1.0.0, older now]
  type Seconds = [measured: number | null, received: number];
  const pairs: [what: string, value: Seconds, known: Seconds, reducers: boolean, tab: boolean, now: boolean][] = [
    ['measured and received later', [5, 6], [1, 2], false, false, false],
    ['measured earlier, received later', [1, 6], [5, 2], true, false, true],
    ['measured later, received earlier', [5, 2], [1, 6], false, true, true],
    ['without a timestamp, received later', [null, 6], [1, 2], false, false, false],
    ['without a timestamp, received earlier', [null, 2], [1, 6], false, true, true],
    ['received earlier than one without a timestamp', [5, 2], [null, 6], false, true, true],
    ['of the same answer', [1, 2], [1, 2], false, false, false],
  ];
  const times = ([measured, received]: Seconds) => ({
    measuredAt: measured === null ? null : at + measured,
    askedAt: at + received,
  });
  for (const [what, value, known, reducers, tab, now] of pairs)
    it(`call a value ${what} ${now ? 'older' : 'no older'}${reducers === tab ? '' : ', of which reducers and tab said different things'}`, () =>
      assert.equal(isOlder(times(value), times(known)), now));

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
