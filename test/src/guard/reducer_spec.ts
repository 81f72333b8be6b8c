import { strict as assert } from 'node:assert';
import { Guard } from '../../../src/guard/reducer';
import { parseSnooze } from '../../../src/guard/request';
import { openingKinds, watchNames, type WatchName } from '../../../src/catalogue/openings';
import type { GuardEvent, GuardReading, OpeningMembers } from '../../../src/guard/types';
import { parseGuardSettings, type GuardSettings } from '../../../src/guard/options';
import { parseGuardState, type GuardState } from '../../../src/guard/state';

/** An event in one line: what is reported about which openings, for how long. */
const brief = (event: GuardEvent): string =>
  event.type === 'alert'
    ? `${event.reason}: ${event.openings.map(({ name, kind, minutes, confirmed }) => `${name} ${kind} ${minutes}${confirmed ? '' : '?'}`).join(', ')}${besides(event.unknown)}`
    : `${event.type} ${event.reason}: ${event.openings.map(({ name, kind }) => `${name} ${kind}`).join(', ')}`;
const besides = (unknown: readonly { name: string }[]): string =>
  unknown.length === 0 ? '' : ` besides ${unknown.map(({ name }) => name).join(', ')}`;

/** A guard in use, with inputs at times like `10:05` (of 1 June 2026, UTC) or at full ISO times. */
class GuardRun {
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
  it('watches every member of the catalogue under its name, and the two that only v2 has', () => {
    const everything = new GuardRun({ watch: openingKinds });
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
    const run = new GuardRun();
    assert.deepEqual(
      run.members('10:00', { frontLeft: null, frontRight: undefined, rearLeft: {}, hatch: { value: 'OPEN' } }),
      [],
    );
    assert.deepEqual(run.ask('10:00'), [
      'cannot-tell asked: frontLeft window, frontRight window, rearLeft window, rearRight window',
    ]);
  });
});

describe('The guard: alerts', () => {
  it('sends one alert when a window has been open for its time, not before', () => {
    const run = new GuardRun();
    assert.deepEqual(run.windows('10:00', open), []);
    assert.equal(run.due(), '10:10');
    assert.deepEqual(run.tick('10:09'), []);
    assert.deepEqual(run.tick('10:10'), ['open-too-long: frontLeft window 10']);
    assert.deepEqual(run.events, [
      {
        type: 'alert',
        at: iso('10:10'),
        reason: 'open-too-long',
        openings: [{ kind: 'window', name: 'frontLeft', since: iso('10:00'), minutes: 10, confirmed: true }],
        unknown: [],
      },
    ]);
    assert.equal(run.due(), null);
    assert.deepEqual(run.windows('12:00', open), []);
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
  it('counts from the timestamp of the car if it is one of the past, else from the reading', () => {
    for (const [what, timestamp, since] of cases) {
      const run = new GuardRun();
      run.members('11:00', { frontLeft: { value: 'OPEN', timestamp } });
      run.ask('11:00');
      const [answer] = run.events;
      assert.equal(answer?.type === 'alert' && answer.openings[0]?.since, since, what);
    }
  });

  it('calls an opening from before a restart unconfirmed until it is read again', () => {
    const run = new GuardRun();
    run.windows('10:00', open);
    run.state = run.guard.resume(JSON.parse(JSON.stringify(run.state)), at('10:08'));
    assert.deepEqual(run.tick('10:10'), [
      'open-too-long: frontLeft window 10? besides frontRight, rearLeft, rearRight',
    ]);
    run.windows('10:12', open);
    assert.deepEqual(run.ask('10:12'), ['asked: frontLeft window 12']);
  });

  it('calls no opening closed after a restart before it is read', () => {
    const run = new GuardRun({ minutes: 0, watch: ['frontLeftWindow', 'tailGate'] });
    run.windows('10:00', open);
    run.doors('10:00', { tailGate: 'CLOSED' });
    run.state = run.guard.resume(JSON.parse(JSON.stringify(run.state)), at('15:00'));
    run.tick('15:01');
    assert.equal(run.guard.view(run.state).allClosed, false);
    assert.deepEqual(run.guard.view(run.state).closed, []);
    assert.deepEqual(run.windows('15:02', closed), [], 'the tailgate may be open by now');
    assert.deepEqual(run.doors('15:03', { tailGate: 'CLOSED' }), ['clear closed: frontLeft window, tailGate tailGate']);
  });

  it('reports nothing unknown because of a restart alone', () => {
    const run = new GuardRun();
    run.windows('10:00', closed);
    run.state = run.guard.resume(JSON.parse(JSON.stringify(run.state)), at('10:08'));
    assert.equal(run.due(), null);
    assert.deepEqual(run.tick('11:00'), []);
  });

  it('counts correctly after the clock is set back', () => {
    const run = new GuardRun({ repeat: 30 });
    run.windows('2026-06-03T10:00:00Z', open);
    run.tick('2026-06-03T10:10:00Z');
    run.snooze('2026-06-03T10:11:00Z', 5);
    assert.deepEqual(run.tick('10:00'), []);
    assert.equal(run.due(), '10:10');
    assert.deepEqual(run.tick('10:10'), ['repeat: frontLeft window 10']);
  });
});

describe('The guard: quiet hours', () => {
  it('are all others where alerts are wanted only between two times: the beginning counts, the end does not', () => {
    const run = new GuardRun({ minutes: 0, hours: 'only', quietHours: '18:00-22:00', timeZone: 'UTC' });
    assert.deepEqual(run.windows('17:00', open), []);
    assert.deepEqual(run.tick('17:59'), []);
    assert.equal(run.tick('18:00').length, 1);
    run.windows('18:30', { frontLeft: 'CLOSED' });
    run.windows('22:00', open);
    assert.deepEqual(run.events, []);
    assert.equal(run.tick('2026-06-02T18:00:00Z').length, 1);
  });

  it('are none where alerts come at any time, whatever two times were chosen before', () => {
    const run = new GuardRun({ minutes: 0, hours: 'always', quietHours: '09:00-20:00', timeZone: 'UTC' });
    assert.equal(run.windows('12:00', open).length, 1);
  });

  it("follow the machine's own clock where no zone is given", () => {
    const local = (hours: number): string => new Date(2026, 5, 1, hours).toISOString();
    const run = new GuardRun({ minutes: 0, quietHours: '12:00-14:00' });
    assert.deepEqual(run.windows(local(13), open), []);
    assert.equal(run.tick(local(14)).length, 1);
  });
});

describe('The guard: only while the car is not in use', () => {
  it('is not worth a write at each poll of a drive', () => {
    const run = new GuardRun({ onlyWhileNotInUse: true });
    run.inUse('10:00', true);
    const { guard, state } = run;
    run.inUse('10:05', true);
    assert.deepEqual(guard.essence(run.state), guard.essence(state));
    run.inUse('10:10', false);
    assert.notDeepEqual(guard.essence(run.state), guard.essence(state));
  });
});

describe('The guard: snooze', () => {
  it('is a number of minutes or until-closed, and anything else is INPUT_INVALID', () => {
    for (const [input, minutes] of [
      [30, 30],
      [' 7.5 ', 7.5],
      [0, 0],
      ['until-closed', null],
    ] as const)
      assert.equal(parseSnooze(input), minutes);
    for (const input of ['', 'soon', -1, '-1', NaN, Infinity, 1e9, null, undefined, true, {}])
      assert.throws(() => parseSnooze(input), { code: 'INPUT_INVALID', message: /until-closed/ });
  });
});

describe('The guard: asked', () => {
  it('answers about openings that are not watched, but sends no alert for them', () => {
    const run = new GuardRun({ minutes: 0 });
    assert.deepEqual(run.doors('10:00', { carLocked: 'UNLOCKED' }), []);
    assert.deepEqual(run.ask('10:01', 'lock'), ['asked: carLocked lock 1']);
    assert.deepEqual(run.guard.readsFor(['lock']), ['windows', 'doors']);
  });
});

describe('The guard: the sunroof', () => {
  const closedBut = members(
    { frontLeft: 'CLOSED', frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', sunroof: 'UNSPECIFIED' },
    '10:00',
  );

  it('is unknown where another reader knew its state before', () => {
    const run = new GuardRun({ watch: ['window', 'sunroof'] });
    run.reading('10:00', { windows: closedBut, hasSunroof: true });
    assert.deepEqual(run.ask('10:01'), ['cannot-tell asked: sunroof sunroof']);
    run.members('10:02', closedBut);
    assert.deepEqual(run.ask('10:03'), ['cannot-tell asked: sunroof sunroof'], 'and stays so');
  });
});

describe('The guard: its state', () => {
  it('is plain JSON, and a step leaves the one before as it was', () => {
    const run = new GuardRun({ repeat: 20 });
    run.windows('10:00', open);
    run.tick('10:10');
    run.snooze('10:12', 3);
    const before = JSON.stringify(run.state);
    const restored = parseGuardState(JSON.parse(before));
    assert.deepEqual(restored, run.state);
    run.windows('10:13', closed);
    assert.equal(JSON.stringify(restored), before);
  });

  it('sends an alert at once that a changed setting makes due, and none for openings that are no longer watched', () => {
    const run = new GuardRun({ minutes: 60, watch: ['window', 'hood'] });
    run.windows('10:00', open);
    run.doors('10:00', { hood: 'OPEN' });
    run.tick('10:20');
    const changed = new GuardRun({ minutes: 10 });
    changed.state = parseGuardState(run.state);
    assert.equal(changed.due(), '10:20');
    assert.deepEqual(changed.tick('10:20'), ['open-too-long: frontLeft window 20']);
    assert.equal(changed.due(), null);
    assert.deepEqual(changed.ask('10:20', 'hood'), ['asked: hood hood 20'], 'asked, it tells what it heard');
  });

  it('starts empty from what is no state', () => {
    for (const odd of [
      undefined,
      null,
      'state',
      [],
      {},
      { at: 'noon', openings: 7 },
      { openings: { frontLeftWindow: { openSince: 'yesterday' } }, snooze: { from: -1, minutes: 'many' } },
      { at: 1e300 },
    ])
      assert.deepEqual(parseGuardState(odd), parseGuardState());
  });

  it('keeps the valid parts of a broken one', () => {
    const run = new GuardRun();
    run.windows('10:00', { frontLeft: 'OPEN', rearLeft: 'OPEN' });
    const stored = JSON.parse(JSON.stringify(run.state)) as GuardState;
    Object.assign(stored.openings.frontLeftWindow ?? {}, { openSince: {} });
    Object.assign(stored, { snooze: 'a little' });
    run.state = parseGuardState(stored);
    assert.deepEqual(run.tick('10:10'), ['open-too-long: rearLeft window 10 besides frontLeft']);
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

  it('are refused with CONFIG and a sentence if they are wrong', () => {
    for (const [settings, message] of refused)
      assert.throws(() => new Guard(settings), { code: 'CONFIG', message }, JSON.stringify(settings));
  });

  it('may be numbers in text, as a form stores them, or nothing at all', () => {
    const run = new GuardRun({ minutes: '5', repeat: '0', minutesFor: { lock: ' 3 ' } });
    run.windows('10:00', open);
    assert.equal(run.due(), '10:05');
    assert.doesNotThrow(() => new Guard());
    assert.doesNotThrow(
      () => new Guard({ quietHours: ' 7:30 – 8:00 ', timeZone: ' Europe/Berlin ', watch: [...watchNames] }),
    );
  });
});
