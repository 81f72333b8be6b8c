import { strict as assert } from 'node:assert';
import { VehicleError } from '../../../src/errors';
import { Guard } from '../../../src/guard/reducer';
import { parseSnooze } from '../../../src/guard/request';
import { openingKinds, watchNames, type WatchName } from '../../../src/catalogue/openings';
import type { GuardEvent, GuardReading, OpeningMembers } from '../../../src/guard/types';
import { parseGuardSettings, type GuardSettings } from '../../../src/guard/options';
import { parseGuardState, type GuardState } from '../../../src/guard/state';

/** An event in one line: what is said of which openings, for how long. */
const brief = (event: GuardEvent): string =>
  event.type === 'alert'
    ? `${event.reason}: ${event.openings.map(({ name, kind, minutes, confirmed }) => `${name} ${kind} ${minutes}${confirmed ? '' : '?'}`).join(', ')}${besides(event.unknown)}`
    : `${event.type} ${event.reason}: ${event.openings.map(({ name, kind }) => `${name} ${kind}`).join(', ')}`;
const besides = (unknown: readonly { name: string }[]): string =>
  unknown.length === 0 ? '' : ` besides ${unknown.map(({ name }) => name).join(', ')}`;

/** A guard in use, with inputs at times like `10:05` (of 1 June 2026, UTC) or at full ISO times. */
class Watchman {
  readonly guard: Guard;
  state: GuardState;
  events: GuardEvent[] = [];

  constructor(settings: GuardSettings = {}) {
    this.guard = new Guard({ minutes: 10, watch: ['window'], ...settings });
    this.state = parseGuardState();
  }

  windows = (time: string, words: Record<string, unknown>, more: { inUse?: boolean | null } = {}): string[] =>
    this.#step({
      type: 'reading',
      at: at(time),
      windows: members({ frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', ...words }, time),
      ...more,
    });
  doors = (time: string, words: Record<string, unknown>): string[] =>
    this.#step({ type: 'reading', at: at(time), doors: members(words, time) });
  members = (time: string, windows: OpeningMembers): string[] => this.#step({ type: 'reading', at: at(time), windows });
  reading = (time: string, reading: Partial<GuardReading>): string[] =>
    this.#step({ type: 'reading', at: at(time), ...reading });
  inUse = (time: string, inUse: boolean | null): string[] => this.#step({ type: 'reading', at: at(time), inUse });
  failed = (time: string, ...failed: ('windows' | 'doors')[]): string[] =>
    this.#step({ type: 'reading', at: at(time), failed });
  tick = (time: string): string[] => this.#step({ type: 'tick', at: at(time) });
  snooze = (time: string, minutes: number | null): string[] => this.#step({ type: 'snooze', at: at(time), minutes });
  ask = (time: string, ...only: WatchName[]): string[] => this.#step({ type: 'ask', at: at(time), only });
  due = (): string | null => {
    const due = this.guard.nextDue(this.state);
    return due === null ? null : new Date(due).toISOString().slice(11, 16);
  };

  #step(input: Parameters<Guard['step']>[1]): string[] {
    const step = this.guard.step(this.state, input);
    this.state = step.state;
    this.events = step.events;
    return step.events.map(brief);
  }
}

const at = (time: string): number => Date.parse(time.length > 5 ? time : `2026-06-01T${time}:00Z`);
const iso = (time: string): string => new Date(at(time)).toISOString();
const members = (words: Record<string, unknown>, time: string): OpeningMembers =>
  Object.fromEntries(Object.entries(words).map(([name, value]) => [name, { value, timestamp: iso(time) }]));
const open = { frontLeft: 'OPEN' };
const closed = { frontLeft: 'CLOSED' };

describe('The guard: what counts as open', () => {
  const words: [word: unknown, opening: string, lock: string][] = [
    ['OPEN', 'open', 'cannot tell'],
    ['AJAR', 'open', 'cannot tell'],
    ['CLOSED', 'closed', 'cannot tell'],
    ['LOCKED', 'cannot tell', 'closed'],
    ['UNLOCKED', 'cannot tell', 'open'],
    ['UNSPECIFIED', 'cannot tell', 'cannot tell'],
    ['open', 'cannot tell', 'cannot tell'],
    ['constructor', 'cannot tell', 'cannot tell'],
    ['', 'cannot tell', 'cannot tell'],
    [null, 'cannot tell', 'cannot tell'],
    [undefined, 'cannot tell', 'cannot tell'],
    [true, 'cannot tell', 'cannot tell'],
    [0, 'cannot tell', 'cannot tell'],
    [['OPEN'], 'cannot tell', 'cannot tell'],
  ];
  const answers: Record<string, string> = { alert: 'open', clear: 'closed', 'cannot-tell': 'cannot tell' };
  for (const [word, opening, lock] of words) {
    it(`takes ${JSON.stringify(word) ?? 'nothing'} of a door as ${opening}, of the lock as ${lock}`, () => {
      for (const [watch, name, expected] of [
        ['tailGate', 'tailGate', opening],
        ['lock', 'carLocked', lock],
      ] as const) {
        const watchman = new Watchman({ watch: [watch] });
        watchman.doors('10:00', { [name]: word });
        watchman.ask('10:00');
        assert.equal(answers[watchman.events[0]?.type ?? ''], expected);
      }
    });
  }

  it('watches every member of the catalogue under its name, and the two that only v2 has', () => {
    const everything = new Watchman({ watch: openingKinds });
    const corners = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'];
    const windows = [...corners, 'sunroof'];
    const doors = ['carLocked', ...corners, 'tailGate', 'hood', 'tankLid'];
    const opened = (names: string[]): OpeningMembers =>
      members(Object.fromEntries(names.map((name) => [name, name === 'carLocked' ? 'UNLOCKED' : 'OPEN'])), '10:00');
    const { state } = everything.guard.step(everything.state, {
      type: 'reading',
      at: at('10:00'),
      windows: opened(windows),
      doors: opened(doors),
    });
    const [answer] = everything.guard.step(state, { type: 'ask', at: at('10:00') }).events;
    assert.ok(answer?.type === 'alert');
    assert.deepEqual(answer.openings.map(({ name }) => name).sort(), [...windows, ...doors].sort());
  });

  it('survives members that are null, missing or not asked for', () => {
    const watchman = new Watchman();
    assert.deepEqual(
      watchman.members('10:00', { frontLeft: null, frontRight: undefined, rearLeft: {}, hatch: { value: 'OPEN' } }),
      [],
    );
    assert.deepEqual(watchman.ask('10:00'), [
      'cannot-tell asked: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
  });
});

describe('The guard: alerts', () => {
  it('sends one alert when a window has been open for its time, not before', () => {
    const watchman = new Watchman();
    assert.deepEqual(watchman.windows('10:00', open), []);
    assert.equal(watchman.due(), '10:10');
    assert.deepEqual(watchman.tick('10:09'), []);
    assert.deepEqual(watchman.tick('10:10'), ['open-too-long: frontLeft window 10']);
    assert.deepEqual(watchman.events, [
      {
        type: 'alert',
        at: iso('10:10'),
        reason: 'open-too-long',
        openings: [{ kind: 'window', name: 'frontLeft', since: iso('10:00'), minutes: 10, confirmed: true }],
        unknown: [],
      },
    ]);
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.windows('12:00', open), []);
  });

  it('sends the alert at once for a time of 0 minutes', () => {
    assert.deepEqual(new Watchman({ minutes: 0 }).windows('10:00', open), ['open-too-long: frontLeft window 0']);
  });

  it('sends no alert for a window that was closed in time', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.windows('10:09', closed);
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.tick('10:10'), []);
    watchman.windows('10:15', open);
    assert.equal(watchman.due(), '10:25');
  });

  it('gives each kind its own time', () => {
    const watchman = new Watchman({ watch: ['tailGate', 'lock'], minutes: 30, minutesFor: { lock: 5 } });
    watchman.doors('10:00', { tailGate: 'OPEN', carLocked: 'UNLOCKED' });
    assert.equal(watchman.due(), '10:05');
    assert.deepEqual(watchman.tick('10:05'), ['open-too-long: carLocked lock 5']);
    assert.equal(watchman.due(), '10:30');
    assert.deepEqual(watchman.tick('10:30'), ['open-too-long: tailGate tailGate 30, carLocked lock 30']);
  });

  it('repeats after the set time for as long as it lasts, counting from the last alert', () => {
    const watchman = new Watchman({ repeat: 15 });
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    assert.equal(watchman.due(), '10:25');
    assert.deepEqual(watchman.windows('10:20', { frontLeft: 'OPEN', rearLeft: 'AJAR' }), []);
    assert.deepEqual(watchman.tick('10:25'), ['repeat: frontLeft window 25']);
    assert.deepEqual(watchman.tick('10:30'), ['open-too-long: frontLeft window 30, rearLeft window 10']);
    assert.equal(watchman.due(), '10:45');
    assert.deepEqual(watchman.tick('11:30'), ['repeat: frontLeft window 90, rearLeft window 70']);
    assert.equal(watchman.due(), '11:45');
  });

  it('watches only the chosen kinds or openings', () => {
    const watchman = new Watchman({ minutes: 0, watch: ['hood', 'rearLeftDoor'] });
    assert.deepEqual(
      watchman.doors('10:00', { rearLeft: 'OPEN', rearRight: 'OPEN', hood: 'CLOSED', carLocked: 'UNLOCKED' }),
      ['open-too-long: rearLeft door 0'],
    );
  });

  it('leaves out the tank lid unless it is named', () => {
    const guard = new Guard({ minutes: 0 });
    const { events } = guard.step(parseGuardState(), {
      type: 'reading',
      at: at('10:00'),
      doors: members({ tankLid: 'OPEN', hood: 'OPEN' }, '10:00'),
    });
    assert.match(events.map(brief)[0] ?? '', /^open-too-long: hood hood 0 besides/);
    assert.ok(!JSON.stringify(events).includes('tankLid'));
  });
});

describe('The guard: since when', () => {
  const cases: [what: string, timestamp: unknown, since: string][] = [
    ['the time at which the car was asked', iso('10:57'), iso('10:57')],
    ['three days ago, if the car told it then', iso('2026-05-29T09:00:00Z'), iso('2026-05-29T09:00:00Z')],
    ['the reading, where the timestamp is missing', null, iso('11:00')],
    ['the reading, where the timestamp is a number', 1780311600000, iso('11:00')],
    ['the reading, where the timestamp is not one', 'yesterday', iso('11:00')],
    ['the reading, where the timestamp is in the future', iso('11:01'), iso('11:00')],
    ['the reading, where the timestamp is years old', '1970-01-01T00:00:00Z', iso('11:00')],
  ];
  for (const [what, timestamp, since] of cases) {
    it(`counts from ${what}`, () => {
      const watchman = new Watchman();
      watchman.members('11:00', { frontLeft: { value: 'OPEN', timestamp } });
      watchman.ask('11:00');
      const [answer] = watchman.events;
      assert.equal(answer?.type === 'alert' && answer.openings[0]?.since, since);
    });
  }

  it('counts from the reading where the window is known to have been closed after the timestamp', () => {
    const watchman = new Watchman();
    watchman.members('10:30', { frontLeft: { value: 'CLOSED', timestamp: null } });
    watchman.members('11:00', { frontLeft: { value: 'OPEN', timestamp: iso('10:20') } });
    assert.deepEqual(watchman.ask('11:00'), ['asked: frontLeft window 0 besides frontRight, rearLeft, rearRight']);
  });

  it('counts from the instant at which it was last known closed, not from before', () => {
    const watchman = new Watchman({ watch: ['frontLeftWindow'] });
    watchman.members('10:00', { frontLeft: { value: 'CLOSED', timestamp: iso('10:00') } });
    watchman.members('10:05', { frontLeft: { value: 'OPEN', timestamp: iso('10:00') } });
    assert.deepEqual(watchman.ask('10:06'), ['asked: frontLeft window 6']);
    const other = new Watchman({ watch: ['frontLeftWindow'] });
    other.members('10:00', { frontLeft: { value: 'CLOSED', timestamp: null } });
    other.members('10:01', { frontLeft: { value: 'CLOSED', timestamp: iso('09:55') } });
    other.members('10:02', { frontLeft: { value: 'OPEN', timestamp: iso('09:57') } });
    assert.deepEqual(other.ask('10:03'), ['asked: frontLeft window 1'], 'it was still closed at 10:00');
  });

  it('takes a slow answer from before a read that failed, and an unknown value whatever its timestamp', () => {
    const watchman = new Watchman({ watch: ['frontLeftWindow'] });
    watchman.failed('10:05', 'windows');
    const windows = { frontLeft: { value: 'CLOSED', timestamp: null } };
    watchman.reading('10:06', { windows, receivedAt: { windows: at('10:04') } });
    assert.deepEqual(watchman.ask('10:06'), ['clear asked: frontLeft window']);
    watchman.members('10:07', { frontLeft: { value: 'CLOSED', timestamp: iso('10:07') } });
    watchman.members('10:08', { frontLeft: { value: 'UNSPECIFIED', timestamp: iso('10:00') } });
    assert.deepEqual(watchman.ask('10:08'), ['cannot-tell asked: frontLeft window']);
  });

  it('counts from the first open value, with any later timestamps', () => {
    const watchman = new Watchman({ minutes: 60 });
    watchman.windows('10:00', open);
    watchman.windows('10:20', open);
    assert.deepEqual(watchman.ask('10:30'), ['asked: frontLeft window 30']);
  });

  it('ignores an answer with an older timestamp', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', closed);
    watchman.windows('10:10', open);
    watchman.tick('10:20');
    assert.deepEqual(
      watchman.members('10:25', members({ frontLeft: 'CLOSED' }, '10:05')),
      [],
      'no all clear from before it was opened',
    );
    assert.deepEqual(watchman.ask('10:25', 'frontLeftWindow'), ['asked: frontLeft window 15']);
  });

  it('ignores an older answer after one with a timestamp in the future', () => {
    const watchman = new Watchman({ minutes: 0, watch: ['frontLeftWindow'] });
    const told = (time: string, value: string, timestamp: string): string[] =>
      watchman.members(time, { frontLeft: { value, timestamp } });
    told('08:00', 'CLOSED', iso('07:00'));
    assert.deepEqual(told('08:01', 'OPEN', '2026-06-01T08:01:30Z'), ['open-too-long: frontLeft window 0']);
    assert.deepEqual(told('08:02', 'CLOSED', iso('07:30')), []);
    assert.deepEqual(told('08:03', 'CLOSED', '2026-06-01T08:03:30Z'), ['clear closed: frontLeft window']);
  });

  it('keeps the order of the timestamps when their clock is known to be ahead', () => {
    const watchman = new Watchman({ minutes: 0, watch: ['frontLeftWindow'] });
    const told = (time: string, value: string, timestamp: string): string[] =>
      watchman.reading(time, { windows: { frontLeft: { value, timestamp } }, skewMs: 10 * 60_000 });
    assert.deepEqual(told('08:01', 'OPEN', iso('08:11')), ['open-too-long: frontLeft window 0']);
    assert.deepEqual(
      told('08:04', 'CLOSED', iso('08:10')),
      [],
      'stamped after the hearing of what is open, but before it',
    );
    assert.deepEqual(told('08:05', 'CLOSED', iso('08:12')), ['clear closed: frontLeft window']);
  });

  it('calls an opening from before a restart unconfirmed until it is read again', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.state = watchman.guard.resume(JSON.parse(JSON.stringify(watchman.state)), at('10:08'));
    assert.deepEqual(watchman.tick('10:10'), [
      'open-too-long: frontLeft window 10? besides frontRight, rearLeft, rearRight',
    ]);
    watchman.windows('10:12', open);
    assert.deepEqual(watchman.ask('10:12'), ['asked: frontLeft window 12']);
  });

  it('calls no opening closed after a restart before it is read', () => {
    const watchman = new Watchman({ minutes: 0, watch: ['frontLeftWindow', 'tailGate'] });
    watchman.windows('10:00', open);
    watchman.doors('10:00', { tailGate: 'CLOSED' });
    watchman.state = watchman.guard.resume(JSON.parse(JSON.stringify(watchman.state)), at('15:00'));
    watchman.tick('15:01');
    assert.equal(watchman.guard.view(watchman.state).allClosed, false);
    assert.deepEqual(watchman.guard.view(watchman.state).closed, []);
    assert.deepEqual(watchman.windows('15:02', closed), [], 'the tailgate may be open by now');
    assert.deepEqual(watchman.doors('15:03', { tailGate: 'CLOSED' }), [
      'clear closed: frontLeft window, tailGate tailGate',
    ]);
  });

  it('reports nothing unknown because of a restart alone', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', closed);
    watchman.state = watchman.guard.resume(JSON.parse(JSON.stringify(watchman.state)), at('10:08'));
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.tick('11:00'), []);
  });

  it('counts correctly after the clock is set back', () => {
    const watchman = new Watchman({ repeat: 30 });
    watchman.windows('2026-06-03T10:00:00Z', open);
    watchman.tick('2026-06-03T10:10:00Z');
    watchman.snooze('2026-06-03T10:11:00Z', 5);
    assert.deepEqual(watchman.tick('10:00'), []);
    assert.equal(watchman.due(), '10:10');
    assert.deepEqual(watchman.tick('10:10'), ['repeat: frontLeft window 10']);
  });
});

describe('The guard: the all clear', () => {
  it('comes once everything is closed again, after an alert only', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    assert.deepEqual(watchman.windows('10:05', closed), []);
    watchman.windows('11:00', { frontLeft: 'OPEN', rearLeft: 'OPEN' });
    watchman.tick('11:10');
    assert.deepEqual(watchman.windows('11:20', { frontLeft: 'OPEN' }), []);
    assert.deepEqual(watchman.windows('11:25', closed), [
      'clear closed: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
    assert.deepEqual(watchman.windows('11:30', closed), []);
  });

  it('comes after an answer too', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.ask('10:01');
    assert.equal(watchman.windows('10:05', closed).length, 1);
  });

  it('is not sent while an opening is unknown', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    assert.deepEqual(watchman.windows('10:12', { frontLeft: 'UNSPECIFIED' }), []);
    assert.deepEqual(watchman.windows('10:14', { frontLeft: 'CLOSED', rearLeft: null }), []);
    assert.equal(watchman.windows('10:16', closed).length, 1);
  });

  it('does not wait for the end of the quiet hours', () => {
    const watchman = new Watchman({ quietHours: '10:15-12:00', timeZone: 'UTC' });
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    assert.equal(watchman.windows('10:30', closed).length, 1);
  });

  it('does not wait for a sunroof that the car does not have', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof'] });
    watchman.windows('10:00', { frontLeft: 'OPEN', sunroof: 'UNSPECIFIED' });
    watchman.tick('10:10');
    assert.equal(watchman.windows('10:20', { frontLeft: 'CLOSED', sunroof: 'UNSPECIFIED' }).length, 1);
  });

  it('waits for a sunroof whose state was known before', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof'] });
    watchman.windows('10:00', { frontLeft: 'OPEN', sunroof: 'CLOSED' });
    watchman.tick('10:10');
    assert.deepEqual(watchman.windows('10:20', { frontLeft: 'CLOSED', sunroof: 'UNSPECIFIED' }), []);
  });
});

describe('The guard: unknown openings', () => {
  it('are reported once, after the time that an opening may stay open', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', closed);
    watchman.windows('10:05', { frontLeft: 'UNSPECIFIED' });
    assert.equal(watchman.due(), '10:15');
    assert.deepEqual(watchman.tick('10:15'), ['cannot-tell unknown-too-long: frontLeft window']);
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.windows('10:40', { frontLeft: null }), []);
    watchman.windows('11:00', closed);
    watchman.windows('11:05', {});
    assert.deepEqual(watchman.tick('11:15'), ['cannot-tell unknown-too-long: frontLeft window']);
  });

  it('are reported together when a read fails for long, and not when it fails for a moment', () => {
    const watchman = new Watchman();
    watchman.failed('10:00', 'windows');
    watchman.windows('10:05', closed);
    assert.deepEqual(watchman.tick('10:10'), []);
    watchman.failed('10:20', 'windows', 'doors');
    watchman.failed('10:25', 'windows');
    assert.deepEqual(watchman.tick('10:30'), [
      'cannot-tell unknown-too-long: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
  });

  it('keep counting if they were open, and are unconfirmed in the alert', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.windows('10:05', { frontLeft: 'UNSPECIFIED', rearLeft: 'UNSPECIFIED' });
    assert.deepEqual(watchman.tick('10:10'), ['open-too-long: frontLeft window 10? besides rearLeft']);
    assert.deepEqual(watchman.tick('10:15'), [], 'the alert said it');
    assert.deepEqual(watchman.windows('10:20', open), []);
    assert.deepEqual(watchman.ask('10:20'), ['asked: frontLeft window 20']);
  });

  it('never count as open', () => {
    const watchman = new Watchman({ minutes: 0, repeat: 1 });
    watchman.windows('10:00', closed);
    assert.deepEqual(watchman.windows('10:05', { frontLeft: 'WIDE' }), [
      'cannot-tell unknown-too-long: frontLeft window',
    ]);
    assert.deepEqual(watchman.tick('11:00'), []);
  });

  it('are not reported before the first read', () => {
    const watchman = new Watchman({ watch: ['window', 'door'] });
    watchman.windows('10:00', closed);
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.tick('12:00'), []);
    assert.deepEqual(watchman.ask('12:00'), [
      'cannot-tell asked: frontLeft door, frontRight door, rearLeft door, rearRight door',
    ]);
  });

  it('are not reported for equipment that the car seems not to have', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof'] });
    watchman.windows('10:00', { ...closed, sunroof: 'UNSPECIFIED' });
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.ask('10:30', 'sunroof'), ['cannot-tell asked: sunroof sunroof']);
  });
});

describe('The guard: quiet hours', () => {
  it('delay alerts and reports of unknown openings until they end, over midnight', () => {
    const watchman = new Watchman({ quietHours: '22:00-07:00', timeZone: 'UTC' });
    watchman.windows('21:55', { frontLeft: 'OPEN', rearLeft: null });
    assert.deepEqual(watchman.tick('22:05'), []);
    assert.deepEqual(watchman.tick('2026-06-02T06:59:00Z'), []);
    assert.deepEqual(
      watchman.tick('2026-06-02T07:00:00Z'),
      ['open-too-long: frontLeft window 545 besides rearLeft'],
      'said once, not in a second message too',
    );
  });

  it('delay nothing before they begin', () => {
    const watchman = new Watchman({ quietHours: '22:00-07:00', timeZone: 'UTC' });
    watchman.windows('21:49', open);
    assert.equal(watchman.tick('21:59').length, 1);
  });

  /** When the alert comes, by a node's own timer, for a window that is opened in the evening before. */
  const alertTime = (zone: string, quietHours: string, opened: string): string => {
    const watchman = new Watchman({ quietHours, timeZone: zone });
    watchman.windows(opened, open);
    for (let looks = 0; looks < 60; looks++) {
      const due = watchman.guard.nextDue(watchman.state);
      assert.ok(due !== null);
      if (watchman.tick(new Date(due).toISOString()).length > 0) return new Date(due).toISOString();
    }
    throw new Error('never');
  };
  const nights: [zone: string, hours: string, opened: string, alert: string, why: string][] = [
    ['Europe/Berlin', '22:00-07:00', '2026-06-01T20:30:00Z', '2026-06-02T05:00:00.000Z', 'a summer night'],
    ['Europe/Berlin', '22:00-07:00', '2026-01-01T21:30:00Z', '2026-01-02T06:00:00.000Z', 'a winter night'],
    [
      'Europe/Berlin',
      '22:00-07:00',
      '2026-03-28T21:30:00Z',
      '2026-03-29T05:00:00.000Z',
      'the night that is an hour short',
    ],
    [
      'Europe/Berlin',
      '22:00-07:00',
      '2026-10-24T20:30:00Z',
      '2026-10-25T06:00:00.000Z',
      'the night that is an hour long',
    ],
    [
      'Europe/Berlin',
      '22:00-02:30',
      '2026-03-28T21:30:00Z',
      '2026-03-29T01:00:00.000Z',
      'an end that the clock leaps over',
    ],
    ['Europe/Berlin', '22:00-02:30', '2026-10-24T20:30:00Z', '2026-10-25T00:30:00.000Z', 'an end that comes twice'],
    [
      'Australia/Lord_Howe',
      '22:00-07:00',
      '2026-10-03T13:00:00Z',
      '2026-10-03T20:00:00.000Z',
      'clocks that change by half an hour',
    ],
    [
      'Asia/Kathmandu',
      '22:10-06:50',
      '2026-06-01T16:30:00Z',
      '2026-06-02T01:05:00.000Z',
      'clocks that are off by a quarter',
    ],
  ];
  for (const [zone, hours, opened, alert, why] of nights) {
    it(`${hours} in ${zone} end when the clock there says so: ${why}`, () =>
      assert.equal(alertTime(zone, hours, opened), alert));
  }

  it('are all others where alerts are wanted only between two times: the beginning counts, the end does not', () => {
    const watchman = new Watchman({ minutes: 0, hours: 'only', quietHours: '18:00-22:00', timeZone: 'UTC' });
    assert.deepEqual(watchman.windows('17:00', open), []);
    assert.deepEqual(watchman.tick('17:59'), []);
    assert.equal(watchman.tick('18:00').length, 1);
    watchman.windows('18:30', { frontLeft: 'CLOSED' });
    watchman.windows('22:00', open);
    assert.deepEqual(watchman.events, []);
    assert.equal(watchman.tick('2026-06-02T18:00:00Z').length, 1);
  });

  it('are none where alerts come at any time, whatever two times were chosen before', () => {
    const watchman = new Watchman({ minutes: 0, hours: 'always', quietHours: '09:00-20:00', timeZone: 'UTC' });
    assert.equal(watchman.windows('12:00', open).length, 1);
  });

  it("follow the machine's own clock where no zone is given", () => {
    const local = (hours: number): string => new Date(2026, 5, 1, hours).toISOString();
    const watchman = new Watchman({ minutes: 0, quietHours: '12:00-14:00' });
    assert.deepEqual(watchman.windows(local(13), open), []);
    assert.equal(watchman.tick(local(14)).length, 1);
  });
});

describe('The guard: only while the car is not in use', () => {
  it('keeps quiet during the drive and counts from its end', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    watchman.windows('10:00', open, { inUse: true });
    assert.equal(watchman.due(), null);
    assert.deepEqual(watchman.tick('11:00'), []);
    watchman.inUse('11:30', false);
    assert.equal(watchman.due(), '11:40');
    assert.deepEqual(watchman.tick('11:40'), ['open-too-long: frontLeft window 100']);
  });

  it('sends a new alert each time that the car is left open', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    watchman.windows('10:00', open, { inUse: false });
    watchman.tick('10:10');
    watchman.inUse('10:20', true);
    watchman.inUse('10:50', false);
    assert.deepEqual(watchman.tick('11:00'), ['open-too-long: frontLeft window 60']);
  });

  it('takes an unknown use for none', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    watchman.windows('10:00', open, { inUse: true });
    watchman.inUse('10:30', null);
    assert.equal(watchman.tick('10:40').length, 1);
  });

  it('takes the newest answer about the use, and none from the future', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    const use = (time: string, inUse: boolean, received: string): unknown =>
      watchman.reading(time, { inUse, receivedAt: { accessibility: at(received) } });
    watchman.windows('09:00', open);
    use('10:00', true, '10:30');
    use('10:05', false, '10:05');
    use('10:06', true, '10:04');
    assert.equal(watchman.due(), '10:15', 'left at 10:05');
    use('10:06', true, '10:06');
    assert.equal(watchman.due(), null);
    use('10:06', false, '10:06');
    assert.equal(watchman.due(), '10:16');
  });

  it('is not worth a write at each poll of a drive', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    watchman.inUse('10:00', true);
    const { guard, state } = watchman;
    watchman.inUse('10:05', true);
    assert.deepEqual(guard.essence(watchman.state), guard.essence(state));
    watchman.inUse('10:10', false);
    assert.notDeepEqual(guard.essence(watchman.state), guard.essence(state));
  });

  it('gives the all clear during a drive', () => {
    const watchman = new Watchman({ onlyWhileNotInUse: true });
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    assert.equal(watchman.windows('10:20', closed, { inUse: true }).length, 1);
  });

  it('does not read the use of the car unless that is set', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open, { inUse: true });
    assert.equal(watchman.tick('10:10').length, 1);
  });
});

describe('The guard: snooze', () => {
  it('delays an alert until it is over', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.snooze('10:05', 30);
    assert.equal(watchman.due(), '10:35');
    assert.deepEqual(watchman.tick('10:34'), []);
    assert.deepEqual(watchman.tick('10:35'), ['open-too-long: frontLeft window 35']);
  });

  it('repeats an alert once when it is over, even without a repeat time', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    watchman.snooze('10:11', 20);
    assert.equal(watchman.due(), '10:31');
    assert.deepEqual(watchman.tick('10:31'), ['repeat: frontLeft window 31']);
    assert.equal(watchman.due(), null);
  });

  it('goes on when everything is closed, and the all clear is sent', () => {
    const watchman = new Watchman({ minutes: 0 });
    watchman.windows('10:00', open);
    watchman.snooze('10:01', 30);
    assert.equal(watchman.windows('10:02', closed).length, 1);
    assert.deepEqual(watchman.windows('10:10', open), []);
    assert.deepEqual(watchman.tick('10:31'), ['open-too-long: frontLeft window 21']);
  });

  it('lasts until everything is closed where no time is given', () => {
    const watchman = new Watchman({ repeat: 5 });
    watchman.windows('10:00', open);
    watchman.snooze('10:05', null);
    assert.equal(watchman.due(), null);
    watchman.windows('15:00', { frontLeft: 'UNSPECIFIED' });
    assert.deepEqual(watchman.tick('16:00'), [], 'unknown is not closed');
    watchman.windows('17:00', closed);
    watchman.windows('18:00', open);
    assert.equal(watchman.tick('18:10').length, 1);
  });

  it('until closed ends when the openings of that time are closed, even if others are unknown', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', { ...open, rearLeft: 'UNSPECIFIED' });
    watchman.snooze('10:05', null);
    watchman.windows('11:00', { ...closed, rearLeft: 'UNSPECIFIED' });
    watchman.windows('12:00', { ...open, rearLeft: 'UNSPECIFIED' });
    assert.equal(watchman.due(), '12:10');
  });

  it('until closed is over when everything is closed', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.snooze('10:05', null);
    watchman.windows('11:00', closed);
    assert.equal(watchman.guard.view(watchman.state).snoozedUntil, null);
  });

  it('until closed ends when something else opens, or the same again', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', { ...open, rearLeft: 'OPEN' });
    watchman.snooze('10:05', null);
    watchman.windows('10:06', open);
    assert.equal(watchman.due(), null);
    watchman.windows('10:07', { ...open, rearLeft: 'OPEN' });
    assert.equal(watchman.due(), '10:10');
  });

  it('of 0 minutes ends one', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.snooze('10:05', null);
    assert.equal(watchman.snooze('10:20', 0).length, 1);
  });

  for (const [input, minutes] of [
    [30, 30],
    ['30', 30],
    [' 7.5 ', 7.5],
    [0, 0],
    ['until-closed', null],
  ] as const) {
    it(`is read from ${JSON.stringify(input)}`, () => assert.equal(parseSnooze(input), minutes));
  }
  for (const input of ['', 'soon', -1, '-1', NaN, Infinity, 1e9, null, undefined, true, {}]) {
    it(`of ${String(input) || 'nothing'} is INPUT_INVALID`, () =>
      assert.throws(
        () => parseSnooze(input),
        (error) =>
          error instanceof VehicleError && error.code === 'INPUT_INVALID' && /until-closed/.test(error.message),
      ));
  }
});

describe('The guard: asked', () => {
  it('answers at once, whether the time is up, and whether it is quiet, snoozed or in use', () => {
    const watchman = new Watchman({ quietHours: '00:00-23:59', timeZone: 'UTC', onlyWhileNotInUse: true });
    watchman.windows('10:00', open, { inUse: true });
    watchman.snooze('10:01', null);
    assert.deepEqual(watchman.ask('10:03'), ['asked: frontLeft window 3']);
    watchman.windows('10:04', closed);
    assert.deepEqual(watchman.ask('10:05'), [
      'clear asked: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
  });

  it('answers about openings that are not watched, but sends no alert for them', () => {
    const watchman = new Watchman({ minutes: 0 });
    assert.deepEqual(watchman.doors('10:00', { carLocked: 'UNLOCKED' }), []);
    assert.deepEqual(watchman.ask('10:01', 'lock'), ['asked: carLocked lock 1']);
    assert.deepEqual(watchman.guard.readsFor(['lock']), ['windows', 'doors']);
  });

  it('does not replace the alert that is still due', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    watchman.ask('10:03');
    assert.deepEqual(watchman.tick('10:10'), ['open-too-long: frontLeft window 10']);
  });

  it('reports nothing again that an answer has called unknown, and gives the all clear of what it called open', () => {
    const watchman = new Watchman({ watch: ['frontLeftWindow', 'tailGate'], minutesFor: { window: 60 } });
    watchman.windows('10:00', open);
    watchman.doors('10:00', { hood: 'OPEN', tailGate: 'UNSPECIFIED' });
    assert.deepEqual(watchman.ask('10:01', 'window', 'hood', 'tailGate'), [
      'asked: frontLeft window 1, hood hood 1 besides tailGate',
    ]);
    assert.deepEqual(watchman.tick('10:30'), []);
    watchman.doors('10:31', { hood: 'OPEN', tailGate: 'CLOSED' });
    assert.deepEqual(watchman.windows('10:32', closed), ['clear closed: frontLeft window, tailGate tailGate']);
  });

  it('answers about some openings only, where only those matter', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof', 'lock'] });
    watchman.windows('10:00', closed);
    watchman.doors('10:00', { carLocked: 'UNLOCKED' });
    assert.deepEqual(watchman.ask('10:01', 'window', 'sunroof'), [
      'clear asked: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
    assert.deepEqual(watchman.ask('10:01', 'carLocked'), ['asked: carLocked lock 1']);
  });

  it('never calls an opening closed that is unknown, not read or not in question', () => {
    const watchman = new Watchman();
    assert.deepEqual(watchman.ask('10:00'), [
      'cannot-tell asked: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
    assert.deepEqual(watchman.ask('10:00', 'hood'), ['cannot-tell asked: hood hood']);
    watchman.windows('10:01', { frontLeft: 'UNSPECIFIED' });
    assert.deepEqual(watchman.ask('10:02'), ['cannot-tell asked: frontLeft window']);
    assert.deepEqual(watchman.ask('10:03'), ['cannot-tell asked: frontLeft window'], 'asked again, answered again');
    assert.deepEqual(watchman.tick('11:00'), [], 'but it need not be said unasked any more');
  });
});

describe('The guard: all', () => {
  const doors = {
    frontLeft: 'CLOSED',
    frontRight: 'CLOSED',
    rearLeft: 'CLOSED',
    rearRight: 'CLOSED',
    tailGate: 'CLOSED',
    hood: 'CLOSED',
  };
  const isEverything = ({ events: [event] }: Watchman): boolean => {
    assert.ok(event?.type === 'clear');
    return event.everything;
  };

  it('is true only for all openings of the car, not for those asked about or watched', () => {
    const watchman = new Watchman({ watch: openingKinds });
    watchman.windows('10:00', open);
    watchman.doors('10:00', doors);
    watchman.ask('10:01', 'door');
    assert.equal(isEverything(watchman), false);
    const single = new Watchman({ watch: ['frontLeftDoor'], minutes: 0 });
    single.doors('10:00', { ...doors, frontLeft: 'OPEN' });
    single.doors('10:01', doors);
    assert.equal(isEverything(single), false);
  });

  it('is said without equipment that the car does not have, not past equipment that stands open', () => {
    const watchman = new Watchman({ watch: openingKinds.filter((kind) => kind !== 'lock') });
    watchman.windows('10:00', closed);
    watchman.doors('10:00', doors);
    watchman.ask('10:01');
    assert.equal(isEverything(watchman), true);
    watchman.windows('10:02', { ...closed, sunroof: 'OPEN' });
    watchman.ask('10:03', 'window', 'door', 'tailGate', 'hood');
    assert.equal(isEverything(watchman), false);
  });
});

describe('The guard: equipment', () => {
  it('that is closed and not watched is no reason against "all", and a sunroof shows nothing of a tank lid', () => {
    const watchman = new Watchman({ watch: ['window', 'door', 'tailGate', 'hood'] });
    watchman.windows('10:00', { ...closed, sunroof: 'CLOSED' });
    const doors = { frontLeft: 'CLOSED', frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED' };
    watchman.doors('10:00', { ...doors, tailGate: 'CLOSED', hood: 'CLOSED', tankLid: 'CLOSED' });
    watchman.ask('10:01');
    const [event] = watchman.events;
    assert.equal(event?.type === 'clear' && event.everything, true);
    const other = new Watchman({ watch: ['frontLeftWindow', 'tankLid'] });
    const lid = members({ tankLid: 'UNSPECIFIED' }, '10:00');
    other.reading('10:00', { windows: members(closed, '10:00'), doors: lid, hasSunroof: true });
    assert.deepEqual(other.ask('10:01'), ['clear asked: frontLeft window']);
  });
});

describe('The guard: the sunroof', () => {
  const closedBut = members(
    { frontLeft: 'CLOSED', frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', sunroof: 'UNSPECIFIED' },
    '10:00',
  );

  it('does not count where nothing proves that the car has one', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof'] });
    watchman.members('10:00', closedBut);
    assert.match(watchman.ask('10:01').join(), /^clear asked/);
  });

  it('is unknown where another reader knew its state before', () => {
    const watchman = new Watchman({ watch: ['window', 'sunroof'] });
    watchman.reading('10:00', { windows: closedBut, hasSunroof: true });
    assert.deepEqual(watchman.ask('10:01'), ['cannot-tell asked: sunroof sunroof']);
    watchman.members('10:02', closedBut);
    assert.deepEqual(watchman.ask('10:03'), ['cannot-tell asked: sunroof sunroof'], 'and stays so');
  });
});

describe('The guard: its state', () => {
  it('is plain JSON, and a step leaves the one before as it was', () => {
    const watchman = new Watchman({ repeat: 20 });
    watchman.windows('10:00', open);
    watchman.tick('10:10');
    watchman.snooze('10:12', 3);
    const before = JSON.stringify(watchman.state);
    const restored = parseGuardState(JSON.parse(before));
    assert.deepEqual(restored, watchman.state);
    watchman.windows('10:13', closed);
    assert.equal(JSON.stringify(restored), before);
  });

  it('survives a restart: durations go on, and no event is repeated', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', open);
    const later = new Watchman();
    later.state = parseGuardState(JSON.parse(JSON.stringify(watchman.state)));
    assert.equal(later.due(), '10:10');
    assert.deepEqual(later.tick('10:31'), ['open-too-long: frontLeft window 31']);
    const latest = new Watchman();
    latest.state = parseGuardState(JSON.parse(JSON.stringify(later.state)));
    assert.deepEqual(latest.tick('10:40'), []);
  });

  it('sends an alert at once that a changed setting makes due, and none for openings that are no longer watched', () => {
    const watchman = new Watchman({ minutes: 60, watch: ['window', 'hood'] });
    watchman.windows('10:00', open);
    watchman.doors('10:00', { hood: 'OPEN' });
    watchman.tick('10:20');
    const changed = new Watchman({ minutes: 10 });
    changed.state = parseGuardState(watchman.state);
    assert.equal(changed.due(), '10:20');
    assert.deepEqual(changed.tick('10:20'), ['open-too-long: frontLeft window 20']);
    assert.equal(changed.due(), null);
    assert.deepEqual(changed.ask('10:20', 'hood'), ['asked: hood hood 20'], 'asked, it tells what it heard');
  });

  for (const odd of [
    undefined,
    null,
    'state',
    42,
    [],
    {},
    { at: 'noon', openings: 7 },
    { openings: { frontLeftWindow: { openSince: 'yesterday' } }, snooze: { from: -1, minutes: 'many' } },
    { at: 1e300 },
  ]) {
    it(`starts with a new state from ${JSON.stringify(odd) ?? 'nothing'}`, () => {
      assert.deepEqual(parseGuardState(odd), parseGuardState());
    });
  }

  it('keeps the valid parts of a broken one', () => {
    const watchman = new Watchman();
    watchman.windows('10:00', { frontLeft: 'OPEN', rearLeft: 'OPEN' });
    const stored = JSON.parse(JSON.stringify(watchman.state)) as GuardState;
    Object.assign(stored.openings.frontLeftWindow ?? {}, { openSince: {} });
    Object.assign(stored, { snooze: 'a little' });
    watchman.state = parseGuardState(stored);
    assert.deepEqual(watchman.tick('10:10'), ['open-too-long: rearLeft window 10 besides frontLeft']);
  });
});

describe('The guard: its settings', () => {
  const refused: [settings: object, why: RegExp][] = [
    [{ minutes: -1 }, /time until an alert.*0 minutes or more/],
    [{ minutes: 'ten' }, /time until an alert must be a number/],
    [{ minutes: NaN }, /time until an alert must be a number/],
    [{ minutes: 1e9 }, /at most/],
    [{ minutesFor: { window: 'ten' } }, /other time of “window”.*time until an alert/],
    [{ minutesFor: { roof: 10 } }, /other times.*window, sunroof/],
    [{ repeat: 'never' }, /repeated/],
    [{ quietHours: '22-7' }, /22:00-07:00/],
    [{ quietHours: '24:00-07:00' }, /22:00-07:00/],
    [{ quietHours: '22:00-22:00' }, /two different times/],
    [{ quietHours: 22 }, /22:00-07:00/],
    [{ quietHours: '22:00-07:00', timeZone: 'Europe/Atlantis' }, /no such time zone/],
    [{ hours: 'sometimes' }, /always, only or not/],
    [{ hours: 'only', quietHours: 'evening' }, /22:00-07:00/],
    [{ hours: 'only', quietHours: ' ' }, /22:00-07:00/],
    [{ watch: [] }, /No opening is chosen/],
    [{ watch: ['roof'] }, /list of these names: window/],
    [{ watch: 'window' }, /list of these names/],
    [{ onlyWhileNotInUse: 'yes' }, /true or false/],
  ];
  it('take their defaults where a field is empty, and a flag from the text of an environment variable', () => {
    const options = parseGuardSettings({ minutes: '', repeat: null, timeZone: '', onlyWhileNotInUse: 'true' });
    assert.deepEqual([options.allowed('window'), options.repeat, options.onlyWhileNotInUse], [10 * 60_000, 0, true]);
    assert.equal(parseGuardSettings({ onlyWhileNotInUse: 'false' }).onlyWhileNotInUse, false);
  });

  for (const [settings, why] of refused) {
    it(`${JSON.stringify(settings)} are refused with CONFIG and a sentence`, () =>
      assert.throws(
        () => new Guard(settings),
        (error) => error instanceof VehicleError && error.code === 'CONFIG' && why.test(error.message),
      ));
  }

  it('may be numbers in text, as a form stores them, or nothing at all', () => {
    const watchman = new Watchman({ minutes: '5', repeat: '0', minutesFor: { lock: ' 3 ' } });
    watchman.windows('10:00', open);
    assert.equal(watchman.due(), '10:05');
    assert.doesNotThrow(() => new Guard());
    assert.doesNotThrow(
      () => new Guard({ quietHours: ' 7:30 – 8:00 ', timeZone: ' Europe/Berlin ', watch: [...watchNames] }),
    );
  });
});
