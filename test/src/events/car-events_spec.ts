import { strict as assert } from 'node:assert';
import { CarEvents, eventNames, eventText, type VehicleEvent } from '../../../src/index';
import { parseEventSettings } from '../../../src/events/settings';
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

  it('those of the sign-in need no read', () => {
    const ofSignIn = { from: null, to: null, name: null, place: null };
    const events = eventsOf(['sign-in-ending', 'sign-in-required']);
    assert.deepEqual(events.reads, []);
    const ending = {
      ...ofSignIn,
      event: 'sign-in-ending',
      between: { since: null, until: '2026-06-15T08:00:00.000Z' },
    };
    assert.deepEqual(events.sample('sign-in-ending', at), ending);
    const required = { ...ofSignIn, event: 'sign-in-required', between: { since: null, until } };
    assert.deepEqual(events.sample('sign-in-required', at), required);
    assert.deepEqual(events.parseEvent(ending), ending);
  });

  it('that were not chosen have no sample', () =>
    assert.throws(() => eventsOf(['locked']).sample('unlocked', at), {
      code: 'INPUT_INVALID',
      message: 'The deployed node does not report this event. Press Done, deploy, then try again.',
    }));

  it('have samples for a place in the west', () => {
    const settings = { events: ['left'], places: [{ name: 'West', latitude: 10, longitude: -20 }] };
    const { from, to } = new CarEvents(settings).sample('left', at);
    assert.deepEqual(
      [from, to],
      [
        { latitude: 10, longitude: -20 },
        { latitude: -10, longitude: 160 },
      ],
    );
    const greenwich = { events: ['left'], places: [{ name: 'Zero', latitude: 51, longitude: 0 }] };
    assert.deepEqual(new CarEvents(greenwich).sample('left', at).to, { latitude: -51, longitude: 180 });
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
  it('give a place without a radius 200 meters', () => {
    const place = { name: 'home', latitude: 57.7, longitude: 11.97 };
    for (const given of [place, { ...place, radius: undefined }, { ...place, radius: '' }])
      assert.deepEqual(parseEventSettings({ events: ['arrived'], places: [given] }).places, [
        { ...place, radius: 200 },
      ]);
  });

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

  it('have the battery level 20 by default, and any number from 1 to 100', () => {
    for (const [level, percent] of [
      [undefined, 20],
      [null, 20],
      ['', 20],
      [1, 1],
      ['100', 100],
      ['12,5', 12.5],
    ] as const)
      assert.equal(new CarEvents({ events: ['battery-above'], level }).sample('battery-above', at).to, percent);
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

  it('are none if the car does not charge, and name no target and no time that the car does not say', () => {
    assert.deepEqual(reported([charging(57), charging(60, 'IDLE'), charging(70, 'DONE'), charging(80, 'NEW')]), []);
    const [event] = reported([
      charging(59),
      charging(60, 'CHARGING', { targetBatteryChargeLevel: null, chargingDoneAt: 7 }),
    ]);
    assert.deepEqual([event?.target, event?.doneAt], [null, null]);
    assert.equal(eventText(event ?? assert.fail(), words), 'Charging, 60 %');
  });

  it('are of 10 percent by default, and of 1 to 50', () => {
    for (const [step, count] of [
      ['', 2],
      [25, 1],
      ['50', 0],
    ] as const)
      assert.equal(reported([charging(61), charging(70), charging(80)], step).length, count);
    for (const step of [0, 51, 'many']) assert.throws(() => reported([], step), { code: 'CONFIG', message: /1 to 50/ });
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

  it('are worth a write where the sign-in or a value of the car is another one, not with each look', () => {
    const events = eventsOf(['sign-in-ending', 'locked']);
    const after = (minutes: number, lock: string, known: Known) => {
      const step = {
        ...none,
        payloads: { doors: { carLocked: { value: lock } } },
        signIn: known,
        at: at + minutes * minute,
      };
      return events.essence(events.step(events.resume(undefined), step).state);
    };
    assert.deepEqual(after(1, 'LOCKED', ends(30)), after(2, 'LOCKED', ends(30)));
    assert.notDeepEqual(after(1, 'LOCKED', ends(30)), after(1, 'UNLOCKED', ends(30)));
    assert.notDeepEqual(after(1, 'LOCKED', ends(30)), after(1, 'LOCKED', ends(31)));
  });

  it('are asked for where one is chosen, and looked at each 5 minutes', () => {
    const known = ends(30);
    const input = (events: CarEvents) => events.inputOf({ readings: new Map(), failed: [] }).signIn;
    assert.deepEqual(input(eventsOf(['locked', 'sign-in-ending'], () => known)), known);
    assert.equal(input(eventsOf(['locked'], () => known)), null);
    const events = eventsOf(['sign-in-ending']);
    const { state } = events.step(events.resume(undefined), { ...none, signIn: known, at });
    assert.equal(events.nextDue(state), at + 5 * minute);
    assert.equal(events.nextDue(events.resume(undefined)), null);
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
