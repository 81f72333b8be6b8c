import type { Random } from '../../support/random';

/**
 * The events once more, by brute force: from the whole history of one fact it works out what must
 * be reported. It shares no code with src/events, and has its own table.
 */
export interface HistoryReading {
  at: number;
  payloads: Record<string, unknown>;
  receivedAt: Record<string, number>;
  /** When each read was asked for: an answer to a later question can come first. */
  askedAt?: Record<string, number>;
}

export interface Expected {
  event: string;
  name: string | null;
  place: string | null;
  since: number;
  until: number;
}

export interface OraclePlace {
  name: string;
  latitude: number;
  longitude: number;
  radius: number;
}

/** The distance on the sphere by the law of cosines; the reducer uses the haversine. */
export function distance(
  one: { latitude: number; longitude: number },
  other: { latitude: number; longitude: number },
): number {
  const rad = Math.PI / 180;
  const cos =
    Math.sin(one.latitude * rad) * Math.sin(other.latitude * rad) +
    Math.cos(one.latitude * rad) * Math.cos(other.latitude * rad) * Math.cos((other.longitude - one.longitude) * rad);
  return 6_371_000 * Math.acos(Math.max(-1, Math.min(1, cos)));
}

type Content = Record<string, unknown>;
type Told = { reading: HistoryReading; at: number; receivedAt: number; value: unknown; stamp: number | null };
interface Track {
  read: string;
  member: string | null;
  /** The state that a value means; undefined: unknown. */
  stateOf: (content: Content) => string | undefined;
  /** The event of a change from one state to another. */
  event: (from: string, to: string) => string | null;
  name?: string;
  place?: string;
  /** Whether the reading can show the event. */
  only?: (reading: HistoryReading) => boolean;
}

const words =
  (table: Record<string, string>) =>
  ({ value }: Content): string | undefined =>
    typeof value === 'string' ? new Map(Object.entries(table)).get(value) : undefined;
const to =
  (table: Record<string, string>) =>
  (from: string, now: string): string | null =>
    from === now ? null : (table[now] ?? null);

const openWords = { OPEN: 'open', AJAR: 'open', CLOSED: 'closed' };
const opening = (read: string, member: string, kind: string): Track => ({
  read,
  member,
  stateOf: words(openWords),
  event: to({ open: `${kind}-opened`, closed: `${kind}-closed` }),
  name: member,
});
const corners = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'];
const lampWords = Object.fromEntries([
  ['NO_WARNING', 'off'],
  ...['FAILURE', 'SERVICE_REQUIRED', 'TOO_LOW', 'TOO_HIGH', 'VERY_LOW_PRESSURE', 'LOW_PRESSURE', 'HIGH_PRESSURE'].map(
    (word) => [word, 'on'],
  ),
]) as Record<string, string>;
const lamp = (read: string, member: string, name = member): Track => ({
  read,
  member,
  stateOf: words(lampWords),
  event: to({ on: 'warning-on', off: 'warning-off' }),
  name,
});
const urgency: [RegExp, number][] = [
  [/^NO_WARNING$/, 0],
  [/_ALMOST_TIME_FOR_SERVICE$/, 1],
  [/_OVERDUE_FOR_SERVICE$/, 3],
  [/_TIME_FOR_SERVICE$/, 2],
];

const tracks = (level: number, places: readonly OraclePlace[]): Track[] => [
  {
    read: 'doors',
    member: 'carLocked',
    stateOf: words({ LOCKED: 'l', UNLOCKED: 'u' }),
    event: to({ l: 'locked', u: 'unlocked' }),
  },
  ...corners.map((member) => opening('doors', member, 'door')),
  opening('doors', 'tailGate', 'tailgate'),
  opening('doors', 'hood', 'hood'),
  ...[...corners, 'sunroof'].map((member) => opening('windows', member, 'window')),
  {
    read: 'engineRunning',
    member: null,
    stateOf: ({ value }) => (typeof value === 'boolean' ? String(value) : undefined),
    event: to({ true: 'engine-started', false: 'engine-stopped' }),
  },
  {
    read: 'charging',
    member: 'chargerConnectionStatus',
    stateOf: words({ CONNECTED: 'in', DISCONNECTED: 'out' }),
    event: to({ in: 'charger-connected', out: 'charger-disconnected' }),
  },
  {
    read: 'charging',
    member: 'chargerConnectionStatus',
    stateOf: words({ CONNECTED: 'fine', DISCONNECTED: 'fine', FAULT: 'fault' }),
    event: to({ fault: 'charger-fault' }),
  },
  {
    read: 'charging',
    member: 'chargingStatus',
    stateOf: words({
      IDLE: 'fine',
      CHARGING: 'fine',
      SCHEDULED: 'fine',
      DISCHARGING: 'fine',
      DONE: 'fine',
      ERROR: 'fault',
    }),
    event: to({ fault: 'charger-fault' }),
  },
  {
    read: 'charging',
    member: 'chargingStatus',
    stateOf: words({ IDLE: 'no', CHARGING: 'yes', SCHEDULED: 'no', DISCHARGING: 'no', DONE: 'done', ERROR: 'no' }),
    event: (from, now) =>
      from === now
        ? null
        : now === 'yes'
          ? 'charging-started'
          : now === 'done'
            ? 'charging-done'
            : from === 'yes'
              ? 'charging-stopped'
              : null,
  },
  {
    read: 'charging',
    member: 'batteryChargeLevel',
    stateOf: ({ value }) => (typeof value === 'number' ? (value < level ? 'low' : 'high') : undefined),
    event: to({ low: 'battery-below', high: 'battery-above' }),
  },
  {
    read: 'charging',
    member: 'batteryChargeLevel',
    stateOf: ({ value }) => (typeof value === 'number' ? String(Math.floor(value / 10)) : undefined),
    event: (from, now) => (Number(now) > Number(from) ? 'charging-step' : null),
    only: ({ payloads }) => {
      const { chargingStatus } = payloads['charging'] as Record<string, Content>;
      return chargingStatus?.['value'] === 'CHARGING';
    },
  },
  ...places.map((place): Track => ({
    read: 'location',
    member: null,
    stateOf: ({ latitude, longitude }) =>
      typeof latitude === 'number' && typeof longitude === 'number'
        ? distance({ latitude, longitude }, place) <= place.radius
          ? 'in'
          : 'out'
        : undefined,
    event: to({ in: 'arrived', out: 'left' }),
    place: place.name,
  })),
  {
    read: 'diagnostics',
    member: 'serviceWarning',
    stateOf: ({ value }) => {
      const found = urgency.find(([pattern]) => typeof value === 'string' && pattern.test(value));
      return found === undefined ? undefined : String(found[1]);
    },
    event: (from, now) => (now > from ? 'service-due' : null),
  },
  lamp('warnings', 'brakeLightLeftWarning'),
  lamp('warnings', 'lowBeamRightWarning'),
  lamp('tyres', 'frontLeft', 'frontLeftTyre'),
  lamp('brakes', 'brakeFluidLevelWarning'),
  lamp('engine', 'oilLevelWarning'),
  lamp('diagnostics', 'washerFluidLevelWarning'),
  {
    read: 'accessibility',
    member: null,
    stateOf: words({ AVAILABLE: 'a', UNAVAILABLE: 'u' }),
    event: to({ a: 'available', u: 'unavailable' }),
  },
];

const contentOf = (reading: HistoryReading, read: string, member: string | null): Content | undefined => {
  const payload = reading.payloads[read] as Record<string, Content | null> | undefined;
  return (member === null ? payload : payload?.[member]) ?? undefined;
};

/**
 * The states that a track received, in the order of their times: a state that is older than a
 * received one is left out.
 */
function toldOf(
  history: readonly HistoryReading[],
  read: string,
  member: string | null,
  isKnown: (content: Content) => boolean,
): Told[] {
  const told: Told[] = [];
  let newest: number | null = null;
  let asked = 0;
  for (const reading of history) {
    const content = contentOf(reading, read, member);
    if (content === undefined || !isKnown(content)) continue;
    const time = typeof content['timestamp'] === 'string' ? Date.parse(content['timestamp']) : Number.NaN;
    const stamp = reading.at - time < 366 * 24 * 60 * minute ? Math.min(time, reading.at) : null;
    const receivedAt = reading.receivedAt[read] ?? reading.at;
    const askedAt = reading.askedAt?.[read] ?? receivedAt;
    if (askedAt < asked || (stamp !== null && newest !== null && stamp < newest)) continue;
    newest = stamp ?? newest;
    asked = askedAt;
    told.push({ reading, at: reading.at, receivedAt, value: content, stamp });
  }
  return told;
}

const between = (from: Told, now: Told): { since: number; until: number } => {
  const had = from.stamp ?? from.receivedAt;
  const has = now.stamp ?? now.receivedAt;
  return { since: had, until: has >= had ? has : now.at };
};

export function expectedEvents(
  history: readonly HistoryReading[],
  level: number,
  places: readonly OraclePlace[],
): (Expected & { at: number })[] {
  const expected: (Expected & { at: number })[] = [];
  /** The readings with a fault of the charger: two members may report it, and it is one event. */
  const faults = new Set<HistoryReading>();
  for (const { read, member, stateOf, event, only, name = null, place = null } of tracks(level, places)) {
    const told = toldOf(history, read, member, (content) => stateOf(content) !== undefined);
    told.forEach((now, i) => {
      const from = told[i - 1];
      if (from === undefined) return;
      const what = event(stateOf(from.value as Content) ?? '', stateOf(now.value as Content) ?? '');
      if (only?.(now.reading) === false) return;
      if (what === null || (what === 'charger-fault' && faults.has(now.reading))) return;
      if (what === 'charger-fault') faults.add(now.reading);
      expected.push({ event: what, name, place, at: now.at, ...between(from, now) });
    });
  }
  return [...expected, ...tripEnds(history)];
}

/**
 * A trip has ended if the odometer has grown since the last one and the car was parked while it
 * showed the same, five seconds more or less.
 */
function tripEnds(history: readonly HistoryReading[]): (Expected & { at: number })[] {
  const expected: (Expected & { at: number })[] = [];
  let last: Told | null = null;
  history.forEach((reading, i) => {
    const past = history.slice(0, i + 1);
    const odometers = toldOf(past, 'odometer', null, ({ value }) => typeof value === 'number');
    const odometer = odometers.at(-1);
    const told = [
      toldOf(past, 'engineRunning', null, ({ value }) => typeof value === 'boolean').map((told) => ({
        at: told.receivedAt,
        used: (told.value as Content)['value'] === true,
      })),
      toldOf(
        past,
        'accessibility',
        null,
        ({ value, unavailableReason }) =>
          value === 'AVAILABLE' ||
          (value === 'UNAVAILABLE' &&
            (unavailableReason === 'CAR_IN_USE' || unavailableReason === 'POWER_SAVING_MODE')),
      ).map((told) => ({ at: told.receivedAt, used: (told.value as Content)['unavailableReason'] === 'CAR_IN_USE' })),
    ].filter((source) => source.length > 0);
    // What shows use is no longer news if the other source shows none a quarter of an hour later.
    const unused = Math.max(...told.map((source) => (source.at(-1)?.used === false ? (source.at(-1)?.at ?? 0) : 0)));
    const sources = told.filter((source) => !source.at(-1)?.used || unused - (source.at(-1)?.at ?? 0) < 15 * minute);
    if (odometer === undefined || sources.length === 0 || sources.some((source) => source.at(-1)?.used)) return;
    const firstParked = (source: { at: number; used: boolean }[]): number =>
      source[source.findLastIndex(({ used }) => used) + 1]?.at ?? Infinity;
    const parkedSince = Math.max(...sources.map(firstParked));
    const parkedUntil = Math.max(...sources.map((source) => source.at(-1)?.at ?? 0));
    const kilometers = ({ value }: Told): number => Number((value as Content)['value']);
    const other = odometers.findLastIndex((told) => kilometers(told) !== kilometers(odometer));
    const first = odometers[other + 1]?.receivedAt ?? 0;
    if (odometer.receivedAt < parkedSince - 5_000 || first > parkedUntil + 5_000) return;
    // A number that is lower, or higher than a car can have come since, has to come twice.
    const timeOf = ({ stamp, receivedAt, at }: Told): number => Math.min(stamp ?? receivedAt, at);
    if (last !== null && first >= odometer.receivedAt) {
      const driven = kilometers(odometer) - kilometers(last);
      const hours = Math.max(0, timeOf(odometer) - timeOf(last)) / (60 * minute);
      if (driven < 0 || driven > 50 + 300 * hours) return;
    }
    if (last !== null && kilometers(odometer) > kilometers(last))
      expected.push({ event: 'trip-ended', name: null, place: null, at: reading.at, ...between(last, odometer) });
    last = odometer;
  });
  return expected;
}

const minute = 60_000;
const oddValues = [null, undefined, 'UNSPECIFIED', 'NEW_WORD', 17.5, {}, '', 'open'] as const;

/**
 * The life of a car in readings: mostly true, with unknown and odd values, missing and late
 * timestamps, and failed reads.
 */
export function randomHistory(
  random: Random,
  start: number,
): { history: HistoryReading[]; level: number; places: OraclePlace[] } {
  const home = { name: 'home', latitude: 57.7 + random.next() * 1.5, longitude: 11.97, radius: 200 };
  const places = [
    home,
    { name: 'work', latitude: home.latitude + 0.05, longitude: 12.1, radius: random.between(1, 5000) },
  ];
  const level = random.between(1, 100);
  const odd = random.pick([0, 0, 0.05, 0.3]);
  const noStamp = random.pick([0, 0, 0.3, 1]);
  const late = random.pick([0, 0, 0.1]);
  const slow = random.pick([0, 0.2, 1]);
  const truth = new Map<string, { value: unknown; at: number }>();
  let at = start;
  const history: HistoryReading[] = [];
  const past: { at: number; content: Content }[] = [];

  const member = (key: string, choices: readonly [unknown, ...unknown[]]): Content => {
    const known = truth.get(key);
    if (known === undefined || random.chance(0.3))
      truth.set(key, { value: random.pick(choices), at: at - random.between(0, 90_000) });
    const { value, at: since } = truth.get(key) ?? { value: null, at };
    if (random.chance(late) && past.length > 0) {
      const old = random.pick(past as [(typeof past)[number], ...typeof past]);
      if (old.content['key'] === key) return old.content;
    }
    const stamp = random.chance(noStamp)
      ? random.pick([
          null,
          'yesterday',
          '1970-01-01T00:00:00Z',
          new Date(at - 400 * 24 * 60 * minute).toISOString(),
          new Date(at + 3 * minute).toISOString(),
        ])
      : new Date(since).toISOString();
    const content: Content = { key, value: random.chance(odd) ? random.pick(oddValues) : value, timestamp: stamp };
    past.push({ at, content });
    return content;
  };
  const group = (
    read: string,
    names: readonly string[],
    choices: readonly [unknown, ...unknown[]],
  ): Record<string, unknown> => Object.fromEntries(names.map((name) => [name, member(`${read} ${name}`, choices)]));
  let odometer = 1_000;

  for (let count = random.between(2, 40); count > 0; count -= 1) {
    at += random.pick([0, 20_000, minute, 2 * minute, 40 * minute]);
    const payloads: Record<string, unknown> = {};
    if (random.chance(0.8))
      payloads['doors'] = {
        ...group('doors', [...corners, 'tailGate', 'hood'], ['OPEN', 'CLOSED', 'AJAR']),
        ...group('doors', ['carLocked'], ['LOCKED', 'UNLOCKED']),
      };
    if (random.chance(0.5)) payloads['windows'] = group('windows', [...corners, 'sunroof'], ['OPEN', 'CLOSED', 'AJAR']);
    if (random.chance(0.6)) payloads['engineRunning'] = member('engineRunning', [true, false]);
    if (random.chance(0.6)) {
      if (random.chance(0.3)) odometer += random.between(1, 40);
      const { timestamp } = member('odometer', [1]);
      payloads['odometer'] = {
        value: random.chance(odd) ? random.pick([null, 7, odometer + 5_000]) : odometer,
        unit: 'kilometers',
        timestamp,
      };
    }
    if (random.chance(0.6))
      payloads['charging'] = {
        ...group('charging', ['chargerConnectionStatus'], ['CONNECTED', 'DISCONNECTED', 'FAULT']),
        ...group('charging', ['chargingStatus'], ['IDLE', 'CHARGING', 'SCHEDULED', 'DONE', 'ERROR', 'DISCHARGING']),
        ...group('charging', ['batteryChargeLevel'], [5, 20, 50.5, 80, 100, level]),
        ...group('charging', ['chargerPowerStatus'], ['FAULT', 'PROVIDING_POWER']),
      };
    if (random.chance(0.5)) {
      const { value, timestamp } = member('location', [
        home,
        places[1],
        { latitude: 10, longitude: 10 },
        { latitude: home.latitude + 0.0017, longitude: home.longitude },
      ]);
      const { latitude = null, longitude = null } = (value ?? {}) as Content;
      payloads['location'] = { latitude, longitude, altitude: null, heading: null, timestamp };
    }
    if (random.chance(0.3))
      payloads['diagnostics'] = {
        ...group(
          'diagnostics',
          ['serviceWarning'],
          [
            'NO_WARNING',
            'REGULAR_MAINTENANCE_ALMOST_TIME_FOR_SERVICE',
            'ENGINE_HOURS_TIME_FOR_SERVICE',
            'DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE',
            'UNKNOWN_WARNING',
          ],
        ),
        ...group('diagnostics', ['washerFluidLevelWarning'], ['NO_WARNING', 'TOO_LOW']),
      };
    if (random.chance(0.3))
      payloads['warnings'] = group(
        'warnings',
        ['brakeLightLeftWarning', 'lowBeamRightWarning'],
        ['NO_WARNING', 'FAILURE'],
      );
    if (random.chance(0.3))
      payloads['tyres'] = group('tyres', ['frontLeft'], ['NO_WARNING', 'LOW_PRESSURE', 'VERY_LOW_PRESSURE']);
    if (random.chance(0.3)) payloads['brakes'] = group('brakes', ['brakeFluidLevelWarning'], ['NO_WARNING', 'TOO_LOW']);
    if (random.chance(0.3))
      payloads['engine'] = group('engine', ['oilLevelWarning'], ['NO_WARNING', 'SERVICE_REQUIRED']);
    if (random.chance(0.5)) {
      const { value, timestamp } = member('accessibility', ['AVAILABLE', 'UNAVAILABLE']);
      payloads['accessibility'] = {
        value,
        unavailableReason:
          value === 'UNAVAILABLE' ? random.pick(['CAR_IN_USE', 'NO_INTERNET', 'POWER_SAVING_MODE']) : null,
        timestamp,
      };
    }
    const receivedAt = Object.fromEntries(
      Object.keys(payloads).map((read) => [read, at - random.pick([0, 0, 700, 5_000, 90_000])]),
    );
    const askedAt = Object.fromEntries(
      Object.entries(receivedAt).map(([read, time]) => [
        read,
        time - (random.chance(slow) ? random.between(0, 150_000) : 0),
      ]),
    );
    history.push({ at, payloads, receivedAt, askedAt });
  }
  return { history, level, places };
}
