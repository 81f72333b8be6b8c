import { strict as assert } from 'node:assert';
import { Guard, parseGuardRequest, type GuardEvent, type VehicleError } from '../../../src/index';
import { parseGuardState, type GuardState } from '../../../src/guard/state';

const minute = 60_000;
const start = Date.parse('2026-06-01T10:00:00Z');
const vin = 'YV4952NA4F120DEMO';
const receivedAt = '2026-06-01T09:59:30Z';
const received = Date.parse(receivedAt);
const member = (value: string, timestamp = '2026-06-01T09:58:00Z') => ({ value, timestamp });
const open = { frontLeft: member('OPEN') };

describe('A message to the guard', () => {
  const windows = { windows: open, receivedAt: { windows: received }, failed: [], hasSunroof: false };
  const reading = (values: object) => ({ reading: { vin, values: { type: 'reading', ...values } } });
  const requests: [what: string, message: Record<string, unknown>, request: object][] = [
    ['of anything else asks nothing', { payload: 'hello', topic: 'ask me', ask: null }, {}],
    ['without the answer of a read asks nothing', { payload: {}, vehicle: { vin, read: 'fuel' } }, {}],
    [
      'of a status node is a reading of its vehicle',
      { payload: open, vehicle: { vin, read: 'windows', receivedAt } },
      reading(windows),
    ],
    [
      'with the sunroof alone unknown says that the car has one',
      { payload: open, vehicle: { vin, read: 'windows', receivedAt, unknown: ['sunroof'] } },
      reading({ ...windows, hasSunroof: true }),
    ],
    [
      'with another window unknown too says nothing of a sunroof',
      { payload: open, vehicle: { vin, read: 'windows', receivedAt, unknown: ['rearLeft', 'sunroof'] } },
      reading(windows),
    ],
    [
      'with the lock of the doors unknown says nothing of a sunroof',
      { payload: open, vehicle: { vin, read: 'doors', unknown: ['sunroof'] } },
      reading({ doors: open, receivedAt: {}, failed: [] }),
    ],
    [
      'with a kept value is a read that failed',
      { payload: open, vehicle: { vin, read: 'windows', source: 'kept' } },
      reading({ receivedAt: {}, failed: ['windows'] }),
    ],
    [
      'with another payload is a read that failed',
      { payload: 'OPEN', vehicle: { vin, read: 'doors' } },
      reading({ receivedAt: {}, failed: ['doors'] }),
    ],
    [
      'of several reads has those that failed',
      {
        payload: { windows: open, doors: open },
        vehicle: {
          vin,
          reads: { windows: { receivedAt, unknown: [] }, doors: { source: 'kept' } },
          errors: [null, { read: 'accessibility', code: 'NETWORK' }],
        },
      },
      reading({ ...windows, failed: ['doors'], inUse: null }),
    ],
    [
      'of several reads with one that failed has both',
      {
        payload: { windows: open },
        vehicle: { vin, reads: { windows: { receivedAt } }, errors: [{ read: 'fuel' }, { read: 'doors' }] },
      },
      reading({ ...windows, failed: ['doors'] }),
    ],
    [
      'of several kept reads has none',
      { payload: { windows: open }, vehicle: { vin, source: 'kept', reads: { windows: { receivedAt } } } },
      reading({ receivedAt: {}, failed: ['windows'] }),
    ],
    [
      'of several reads has the use of the car, and when it was received',
      {
        payload: { accessibility: { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' } },
        vehicle: { vin, reads: { accessibility: { receivedAt } }, errors: 'none' },
      },
      reading({ receivedAt: { accessibility: received }, failed: [], inUse: true }),
    ],
    ['with ask asks about everything', { ask: true }, { ask: { only: [] } }],
    ['with ask and an empty name asks about everything', { ask: true, only: '' }, { ask: { only: [] } }],
    ['with ask and null asks about everything', { ask: true, only: null }, { ask: { only: [] } }],
    ['without ask leaves the names alone', { ask: false, only: 'roof' }, {}],
    ['with the topic ask asks about one opening', { topic: 'ask', only: 'hood' }, { ask: { only: ['hood'] } }],
    [
      'asks about a list',
      { ask: true, only: ['window', 'rearLeftDoor'] },
      { ask: { only: ['window', 'rearLeftDoor'] } },
    ],
    ['snoozes for so many minutes', { snooze: ' 2.25 ' }, { snooze: 2.25 }],
    ['snoozes until closed', { snooze: 'until-closed' }, { snooze: null }],
  ];
  for (const [what, message, request] of requests)
    it(what, () => assert.deepEqual(parseGuardRequest(message), request));

  const refused: [message: Record<string, unknown>, sentence: string][] = [
    [{ ask: 'true' }, 'msg.ask must be true, as a boolean. Send a message with msg.ask = true.'],
    ...['1.23.4', '5 minutes', 'x5', [5]].map((snooze): [{ snooze: unknown }, string] => [
      { snooze },
      'A snooze must be a number of minutes, 0 or more. Send minutes, or "until-closed".',
    ]),
    [{ snooze: 527_041 }, 'A snooze must be at most 527040 minutes, a year. Send minutes, or "until-closed".'],
    [
      { ask: true, only: ['hood', 'roof'] },
      'There is no such opening. Send one of these names, or a list: window, sunroof, door, tailGate, hood, tankLid, lock, frontLeftWindow, frontRightWindow, rearLeftWindow, rearRightWindow, frontLeftDoor, frontRightDoor, rearLeftDoor, rearRightDoor, carLocked.',
    ],
  ];
  it('is refused with INPUT_INVALID and a sentence if it is wrong', () => {
    for (const [message, sentence] of refused)
      assert.throws(() => parseGuardRequest(message), {
        code: 'INPUT_INVALID',
        message: sentence,
      } satisfies Partial<VehicleError>);
  });
});

describe('What a guard gives to its node:', () => {
  const guard = new Guard({ minutes: 10, minutesFor: { hood: 20 }, watch: ['frontLeftWindow', 'hood'] });

  it('the reads of what is watched and asked about, and of the use of the car if it matters', () => {
    assert.deepEqual(guard.schedules(60), [{ reads: ['windows', 'doors'], seconds: 60 }]);
    const parked = new Guard({ watch: ['sunroof'], onlyWhileNotInUse: true });
    assert.deepEqual(parked.readsFor(['lock']), ['windows', 'doors', 'accessibility']);
    assert.deepEqual(parked.readsFor(), ['windows', 'accessibility']);
  });

  it('every event can be stored and read, and a damaged one is none', () => {
    const opening = { kind: 'window', name: 'frontLeft' } as const;
    const at = '2026-06-01T10:00:00.000Z';
    const long = { ...opening, since: at, minutes: 3, confirmed: false };
    const events: GuardEvent[] = [
      ...(['open-too-long', 'repeat', 'asked'] as const).map((reason) => ({
        type: 'alert' as const,
        at,
        reason,
        openings: [long],
        unknown: [opening],
      })),
      ...(['closed', 'asked'] as const).map((reason) => ({
        type: 'clear' as const,
        at,
        reason,
        openings: [opening],
        everything: true,
      })),
      ...(['unknown-too-long', 'asked'] as const).map((reason) => ({
        type: 'cannot-tell' as const,
        at,
        reason,
        openings: [opening],
      })),
    ];
    for (const event of events) {
      assert.deepEqual(guard.parseEvent(event), event);
      for (const name of Object.keys(event)) assert.equal(guard.parseEvent({ ...event, [name]: 7 }), null, name);
      for (const name of Object.keys(opening))
        assert.equal(guard.parseEvent({ ...event, openings: [{ ...long, [name]: 7 }] }), null, name);
    }
    for (const name of Object.keys(long))
      assert.equal(guard.parseEvent({ ...events[0], openings: [{ ...long, [name]: [] }] }), null, name);
  });

  it('a clock that is set moves what this process timed, and nothing that is older or that the service timed', () => {
    const state = parseGuardState({
      at: start,
      openings: {
        hood: { openSince: start - 5 * minute, closedAt: start - 20 * minute, measuredAt: start - 5 * minute },
      },
      parkedAt: start - 10 * minute,
      snooze: { from: start - minute, minutes: 5, open: [] },
    });
    const since = start - 10 * minute;
    const set = (byMs: number): GuardState => guard.withClockSet(state, { since, byMs, at: start + byMs });
    const later = set(60 * minute);
    assert.deepEqual(later.snooze, { from: start + 59 * minute, minutes: 5, open: [] });
    assert.equal(later.parkedAt, start + 50 * minute, 'at the start of the process');
    const { openSince, closedAt, measuredAt } = later.openings.hood ?? assert.fail();
    assert.deepEqual(
      [openSince, closedAt, measuredAt],
      [start + 55 * minute, start - 20 * minute, start - 5 * minute],
      'as of the same instants',
    );
    const earlier = set(-30 * minute);
    assert.equal(earlier.openings.hood?.measuredAt, start - 30 * minute, 'nothing is in the future');
    assert.equal(earlier.openings.hood?.closedAt, start - 30 * minute);
    assert.equal(earlier.openings.hood?.openSince, start - 35 * minute);
    assert.equal(guard.withClockSet(state, { since, byMs: -2 * start, at: start }).parkedAt, 0, 'no time before 1970');
  });
});
