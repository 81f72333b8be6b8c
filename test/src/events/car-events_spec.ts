import { strict as assert } from 'node:assert';
import { CarEvents, eventNames, eventText, type VehicleEvent } from '../../../src/index';
import { useTimeZone } from '../../support/time-zone';

const at = Date.parse('2026-06-01T08:00:00Z');
const minute = 60_000;
const day = 24 * 60 * minute;
const until = '2026-06-01T08:00:00.000Z';
const places = [
  { name: 'Home', latitude: 57.7, longitude: 11.97 },
  { name: 'Work', latitude: 10, longitude: -20 },
];

const eventsOf = (events: readonly string[], signIn?: ConstructorParameters<typeof CarEvents>[1]): CarEvents =>
  new CarEvents({ events, level: 80, places }, signIn);

describe('The events of a car:', () => {
  it('each have a sample with two values that can be stored, and of which every part is checked', () => {
    for (const event of eventNames.filter((name) => !name.startsWith('sign-in-'))) {
      const events = eventsOf([event]);
      const sample = events.sample(event, at);
      assert.notDeepEqual(sample.from, sample.to, event);
      assert.deepEqual(sample.between, { since: '2026-06-01T07:58:00.000Z', until }, event);
      assert.equal(sample.place, event === 'arrived' || event === 'left' ? 'Home' : null);
      assert.deepEqual(events.parseEvent(sample), sample, event);
      assert.equal(eventsOf(['sign-in-required']).parseEvent(sample), null, 'not wanted any more');
      for (const part of ['event', 'name', 'place', 'between', 'from', 'to'])
        assert.equal(events.parseEvent({ ...sample, [part]: [] }), null, `${event} ${part}`);
      for (const part of ['since', 'until'])
        assert.equal(events.parseEvent({ ...sample, between: { ...sample.between, [part]: 'now' } }), null, part);
    }
  });

  it('are polled as often as set, those of warnings at most each half hour', () => {
    const all = eventsOf(eventNames);
    const fast = [
      'doors',
      'windows',
      'engineRunning',
      'odometer',
      'accessibility',
      'charging',
      'wallboxSessions',
      'location',
    ];
    const slow = ['diagnostics', 'warnings', 'tyres', 'brakes', 'engine'];
    assert.deepEqual(all.schedules(300), [
      { reads: fast, seconds: 300 },
      { reads: slow, seconds: 1800 },
    ]);
    assert.deepEqual(
      all.schedules(3600).map(({ seconds }) => seconds),
      [3600, 3600],
    );
    assert.deepEqual(
      all.schedules(0).map(({ seconds }) => seconds),
      [0, 0],
      'by messages only',
    );
    assert.deepEqual(eventsOf(['locked']).schedules(60), [{ reads: ['doors'], seconds: 60 }]);
    assert.deepEqual(eventsOf(['sign-in-required']).schedules(60), []);
  });
});

describe('The settings of the events:', () => {
  const refused: [settings: object, sentence: string][] = [
    [{}, 'No event is chosen. Choose at least one.'],
    [{ events: 'locked' }, 'No event is chosen. Choose at least one.'],
    [{ events: ['locked'], places: 'Home' }, 'The places must be a list.'],
    [
      { events: ['left'], places: [{ name: 'Home' }] },
      'A place needs a name, a latitude from -90 to 90, a longitude from -180 to 180, and a radius from 1 to 1,000,000 meters. Check the list of places.',
    ],
    [{ events: ['locked'], level: 0.5 }, 'The battery level must be a number from 1 to 100.'],
    [{ events: ['locked'], level: 101 }, 'The battery level must be a number from 1 to 100.'],
    [{ events: ['crashed'] }, `There is no event “crashed”. Choose from: ${eventNames.join(', ')}.`],
  ];
  it('are refused if they are wrong, and the node status names a missing place', () => {
    for (const [settings, sentence] of refused)
      assert.throws(() => new CarEvents(settings), {
        code: 'CONFIG',
        message: `The node cannot watch for events. ${sentence}`,
      });
    for (const events of [['arrived'], ['left'], ['locked', 'left']])
      assert.throws(() => new CarEvents({ events, places: '' }), {
        code: 'CONFIG',
        message:
          'The node cannot watch for events. “Arrived” and “left” need a place. Add one with its name, latitude and longitude.',
        status: { word: 'ADD_PLACE' },
      });
  });
});

describe('The steps of a charge', () => {
  const words = {
    language: 'en-US',
    sentence: (key: string): string =>
      ({
        'charging-step': 'charging, {value} %',
        'charging-target': ', target {target} %',
        'charging-until': ', until {time}',
      })[key] ?? key,
    name: () => '',
    distance: (kilometers: number) => `${Math.round(kilometers).toLocaleString('en')} km`,
  };
  const value = (found: unknown): object => ({ value: found, unit: null, timestamp: null });
  const charging = (level: number | null, status = 'CHARGING', more = {}): object => ({
    batteryChargeLevel: value(level),
    chargingStatus: value(status),
    targetBatteryChargeLevel: value(90),
    chargingDoneAt: value('2026-06-01T10:30:00.000Z'),
    ...more,
  });
  const reported = (payloads: readonly object[], step: unknown = 10): VehicleEvent[] => {
    const events = new CarEvents({ events: ['charging-step'], step });
    let state = events.resume(undefined);
    return payloads.flatMap((payload, index) => {
      const time = at + index * minute;
      const input = { payloads: { charging: payload }, receivedAt: { charging: time }, signIn: null };
      const result = events.step(state, { ...input, at: time, skewMs: 0 });
      state = result.state;
      return result.events;
    });
  };

  useTimeZone('UTC');

  it('are each multiple of the percent that the level reaches, once, with the target and the time', () => {
    const found = reported([57, 59, null, 60, 60, 63, 59, 82].map((level) => charging(level)));
    assert.deepEqual(
      found.map(({ from, to }) => [from, to]),
      [
        [59, 60],
        [59, 82],
      ],
    );
    const [first] = found;
    assert.deepEqual([first?.target, first?.doneAt], [90, '2026-06-01T10:30:00.000Z']);
    assert.equal(eventText(first ?? assert.fail(), words), 'Charging, 60 %, target 90 %, until 10:30 AM');
  });
});

describe('The events of a sign-in:', () => {
  type Known = { endsAt: number | null; isRequired: boolean | null };
  const none = { payloads: {}, receivedAt: {}, skewMs: 0 };
  /** What is reported of what is known at each time, in days since `at`. */
  const reported = (
    steps: readonly [days: number, known: Known][],
    wanted = ['sign-in-ending', 'sign-in-required'],
  ) => {
    const events = eventsOf(wanted);
    let state = events.resume(undefined);
    return steps.map(([days, signIn]) => {
      const step = events.step(state, { ...none, signIn, at: at + days * day });
      state = events.resume(JSON.parse(JSON.stringify(step.state)));
      return step.events.map(({ event, between }) => `${event} ${between.until.slice(0, 10)}`).join();
    });
  };
  const ends = (days: number | null, isRequired: boolean | null = false): Known => ({
    endsAt: days === null ? null : at + days * day,
    isRequired,
  });

  it('the end is reported 14 and 3 days before it, each once, and not when it is over', () => {
    const steps = [1, 15.9, 16, 17, 26.9, 27, 28, 30, 31].map((days): [number, Known] => [days, ends(30)]);
    const ending = 'sign-in-ending 2026-07-01';
    assert.deepEqual(reported(steps), ['', '', ending, '', '', ending, '', '', '']);
    assert.deepEqual(
      reported([
        [28, ends(30)],
        [29, ends(30)],
      ]),
      [ending, ''],
    );
    assert.deepEqual(reported(steps, ['sign-in-required']).join(''), '', 'not wanted');
    for (const days of [30, 31]) assert.deepEqual(reported([[days, ends(30)]]), [''], 'over before it was looked at');
  });

  it('the end that is not known now is the last known one, and another end is another sign-in', () => {
    const ending = 'sign-in-ending 2026-06-11';
    assert.deepEqual(
      reported([
        [-10, ends(10)],
        [0, ends(null)],
        [1, ends(10)],
      ]),
      ['', ending, ''],
    );
    const later = 'sign-in-ending 2026-06-13';
    assert.deepEqual(
      reported([
        [0, ends(10)],
        [1, ends(12)],
        [2, ends(12)],
      ]),
      [ending, later, ''],
    );
    assert.deepEqual(
      reported([
        [0, ends(null)],
        [20, ends(null)],
      ]),
      ['', ''],
    );
  });

  it('that a person must sign in is reported once until it is done, and no end is reported meanwhile', () => {
    const required = (days: number): string => `sign-in-required 2026-06-${String(1 + days).padStart(2, '0')}`;
    const steps: [number, Known][] = [
      [0, ends(null, true)],
      [1, ends(null, true)],
      [2, ends(null, null)],
      [3, ends(null, false)],
      [4, ends(null, true)],
      [5, ends(10, true)],
      [6, ends(10, false)],
      [7, ends(11, null)],
    ];
    const first = 'sign-in-ending 2026-06-11';
    const second = 'sign-in-ending 2026-06-12';
    assert.deepEqual(reported(steps), [required(0), '', '', '', required(4), required(5), first, second]);
  });
});

describe('The sentence of an event', () => {
  useTimeZone('Europe/Berlin');

  const texts: Readonly<Record<string, string>> = {
    'door-opened': '{name} is open {unknown}',
    'trip-ended': 'trip of {distance}',
    'battery-above': 'battery at {value} %',
    arrived: 'car at {place}',
    locked: 'car locked{name}{place}{value}',
    'service-due': 'service due',
    'service-soon': 'service soon',
    'service-overdue': 'service overdue',
    'sign-in-ending': 'sign-in ends on {date}',
  };
  const words = {
    language: 'en-US',
    sentence: (key: string) => texts[key] ?? assert.fail(key),
    name: (event: string, member: string) => `${member} of ${event}`,
    distance: (kilometers: number) => `${Math.round(kilometers).toLocaleString('en')} km`,
  };
  const event = (name: VehicleEvent['event'], more: Partial<VehicleEvent> = {}): VehicleEvent => ({
    event: name,
    from: null,
    to: null,
    name: null,
    place: null,
    between: { since: null, until: '2026-06-11T12:00:00.000Z' },
    ...more,
  });
  const sentences: [event: VehicleEvent, text: string][] = [
    [event('door-opened', { name: 'frontLeft' }), 'FrontLeft of door-opened is open {unknown}'],
    [event('trip-ended', { from: 12_000, to: 13_500.4 }), 'Trip of 1,500 km'],
    [event('battery-above', { from: 10, to: 80.4 }), 'Battery at 80 %'],
    [event('arrived', { place: 'Home' }), 'Car at Home'],
    [event('locked', { from: 'UNLOCKED', to: 'LOCKED' }), 'Car locked0'],
    [event('service-due', { to: 'REGULAR_MAINTENANCE_TIME_FOR_SERVICE' }), 'Service due'],
    [event('service-due', { to: 'REGULAR_MAINTENANCE_ALMOST_TIME_FOR_SERVICE' }), 'Service soon'],
    [event('service-due', { to: 'DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE' }), 'Service overdue'],
    [event('sign-in-ending'), 'Sign-in ends on June 11'],
    [event('locked', { to: '_OVERDUE_FOR_SERVICE' }), 'Car locked0'],
  ];
  it('has the words of the event with its name, value, place or date', () => {
    for (const [given, text] of sentences) assert.equal(eventText(given, words), text);
  });

  it('names the time of a sign-in that ends within a day, in local time', () => {
    const until = Date.parse('2026-06-11T12:00:00.000Z');
    const at = (now: number) => eventText(event('sign-in-ending'), words, now);
    const time = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' }).format(until);
    for (const left of [1, 86_399_999])
      assert.match(at(until - left), new RegExp(`^Sign-in ends on June 11.* ${time}$`));
    for (const left of [86_400_000, 0, -1]) assert.equal(at(until - left), 'Sign-in ends on June 11');
  });
});
