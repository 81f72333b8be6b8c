import { strict as assert } from 'node:assert';
import { Guard } from '../../../src/guard/reducer';
import { parseSnooze } from '../../../src/guard/request';
import { watchNames, type WatchName } from '../../../src/catalogue/openings';
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

describe('The guard: quiet hours', () => {
  it('are all others if alerts are wanted only between two times: the beginning counts, the end does not', () => {
    const run = new GuardRun({ minutes: 0, hours: 'only', quietHours: '18:00-22:00', timeZone: 'UTC' });
    assert.deepEqual(run.windows('17:00', open), []);
    assert.deepEqual(run.tick('17:59'), []);
    assert.equal(run.tick('18:00').length, 1);
    run.windows('18:30', { frontLeft: 'CLOSED' });
    run.windows('22:00', open);
    assert.deepEqual(run.events, []);
    assert.equal(run.tick('2026-06-02T18:00:00Z').length, 1);
  });

  it('are none if alerts come at any time, whatever two times were chosen before', () => {
    const run = new GuardRun({ minutes: 0, hours: 'always', quietHours: '09:00-20:00', timeZone: 'UTC' });
    assert.equal(run.windows('12:00', open).length, 1);
  });

  it("follow the machine's own clock if no zone is given", () => {
    const local = (hours: number): string => new Date(2026, 5, 1, hours).toISOString();
    const run = new GuardRun({ minutes: 0, quietHours: '12:00-14:00' });
    assert.deepEqual(run.windows(local(13), open), []);
    assert.equal(run.tick(local(14)).length, 1);
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

describe('The guard: the sunroof', () => {
  const closedBut = members(
    { frontLeft: 'CLOSED', frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', sunroof: 'UNSPECIFIED' },
    '10:00',
  );

  it('is unknown even if another reader knew its state before', () => {
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

  it('starts empty from data that is no state', () => {
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
  it('take their defaults if a field is empty, and a flag from the text of an environment variable', () => {
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
