import type { GuardEvent, GuardInput, NamedOpening, OpenOpening } from '../../../src/guard/types';
import type { OpeningKind, WatchName } from '../../../src/catalogue/openings';

/**
 * The guard once more, as simple as possible: no state, no timers. At every minute, and after every
 * input, it works out from the whole history again what must be reported then, given what was
 * reported before. It shares no code with the guard, and knows the clocks of its zones from a table
 * instead of from Intl.
 */
export interface History {
  /** The first minute, milliseconds since 1970. */
  start: number;
  minutes: number;
  /** In the order in which they happen; whole minutes after `start`. */
  inputs: readonly GuardInput[];
  allowed: Record<OpeningKind, number>;
  repeat: number;
  /** Minutes of the day. */
  quiet: { from: number; to: number; zone: Zone } | null;
  watch: readonly WatchName[];
  onlyWhileNotInUse: boolean;
}

const minute = 60_000;

/** Minutes east of Greenwich before, and from, each change of the clocks in 2026. */
const zones = {
  UTC: { before: 0, changes: [] },
  'Europe/Berlin': {
    before: 60,
    changes: [
      [Date.UTC(2026, 2, 29, 1), 120],
      [Date.UTC(2026, 9, 25, 1), 60],
    ],
  },
  'America/St_Johns': {
    before: -210,
    changes: [
      [Date.UTC(2026, 2, 8, 5, 30), -150],
      [Date.UTC(2026, 10, 1, 4, 30), -210],
    ],
  },
  'Australia/Lord_Howe': {
    before: 660,
    changes: [
      [Date.UTC(2026, 3, 4, 15), 630],
      [Date.UTC(2026, 9, 3, 15, 30), 660],
    ],
  },
} as const satisfies Record<string, { before: number; changes: readonly (readonly [when: number, after: number])[] }>;

export type Zone = keyof typeof zones;
export const zoneNames = Object.keys(zones) as [Zone, ...Zone[]];
/** Where clocks change. */
export const changesOf = (zone: Zone): number[] => zones[zone].changes.map(([when]) => when);

function wallMinute(zone: Zone, at: number): number {
  let offset: number = zones[zone].before;
  for (const [when, after] of zones[zone].changes) if (at >= when) offset = after;
  return (((Math.floor(at / minute) + offset) % 1440) + 1440) % 1440;
}

const table: readonly [
  key: WatchName,
  kind: OpeningKind,
  read: 'windows' | 'doors',
  name: string,
  mayBeMissing?: true,
][] = [
  ['frontLeftWindow', 'window', 'windows', 'frontLeft'],
  ['frontRightWindow', 'window', 'windows', 'frontRight'],
  ['rearLeftWindow', 'window', 'windows', 'rearLeft'],
  ['rearRightWindow', 'window', 'windows', 'rearRight'],
  ['sunroof', 'sunroof', 'windows', 'sunroof', true],
  ['frontLeftDoor', 'door', 'doors', 'frontLeft'],
  ['frontRightDoor', 'door', 'doors', 'frontRight'],
  ['rearLeftDoor', 'door', 'doors', 'rearLeft'],
  ['rearRightDoor', 'door', 'doors', 'rearRight'],
  ['tailGate', 'tailGate', 'doors', 'tailGate'],
  ['hood', 'hood', 'doors', 'hood'],
  ['tankLid', 'tankLid', 'doors', 'tankLid', true],
  ['carLocked', 'lock', 'doors', 'carLocked'],
];

type Row = (typeof table)[number];

const rowsNamed = (names: readonly WatchName[]): Row[] =>
  table.filter(([key, kind]) => names.includes(key) || names.includes(kind));

/**
 * What one opening's past amounts to. A number of a moment is its place in the run, for two
 * things may share a minute.
 */
interface Story {
  open: { since: number; fromMoment: number } | null;
  everTold: boolean;
  unknownSince: { since: number; fromMoment: number } | null;
  everRead: boolean;
}

const nothingHeard: Story = { open: null, everTold: false, unknownSince: null, everRead: false };

interface Said {
  moment: number;
  event: GuardEvent;
}

/** Everything that must be reported, in order. */
export function expectedEvents(history: History): GuardEvent[] {
  const said: Said[] = [];
  const happened: Happened[] = [];
  const wakeMoments: number[] = [];
  let past = readPast(happened);
  let moment = 0;
  for (let passed = 0; passed <= history.minutes; passed++) {
    const at = history.start + passed * minute;
    const due: GuardInput[] = [...history.inputs.filter((input) => input.at === at), { type: 'tick', at }];
    for (const input of due) {
      if (input.type !== 'tick') {
        happened.push({ moment, input });
        past = readPast(happened);
      }
      for (const event of atOneMoment(history, past, said, wakeMoments, moment, input)) said.push({ moment, event });
      moment++;
    }
  }
  return said.map(({ event }) => event);
}

interface Happened {
  moment: number;
  input: GuardInput;
}

interface Past {
  stories: ReadonlyMap<Row, Story>;
  use: ReturnType<typeof useOf>;
  snooze: Happened | undefined;
}

/** Everything that follows from the events alone; a tick adds nothing to it. */
const readPast = (happened: readonly Happened[]): Past => ({
  stories: new Map(table.map((row) => [row, storyOf(row, happened)])),
  use: useOf(happened),
  snooze: happened.findLast((one) => one.input.type === 'snooze'),
});

function atOneMoment(
  history: History,
  { stories, use, snooze }: Past,
  said: readonly Said[],
  wakeMoments: number[],
  moment: number,
  input: GuardInput,
): GuardEvent[] {
  const at = input.at;
  const iso = new Date(at).toISOString();
  const events: GuardEvent[] = [];
  const watched = rowsNamed(history.watch);
  const story = (row: Row): Story => stories.get(row) ?? nothingHeard;

  const isUnknown = (row: Row): boolean =>
    (!story(row).everRead || story(row).unknownSince !== null) && (story(row).everTold || row[4] !== true);
  const isClosed = (row: Row): boolean =>
    story(row).everRead && story(row).unknownSince === null && story(row).open === null;
  const allClosed = (rows: readonly Row[]): boolean =>
    rows.some(isClosed) && rows.every((row) => isClosed(row) || (row[4] === true && !story(row).everTold));
  const describe = (row: Row): OpenOpening => {
    const since = story(row).open?.since ?? NaN;
    return {
      ...nameOf(row),
      since: new Date(since).toISOString(),
      minutes: Math.floor((at - since) / minute),
      confirmed: story(row).unknownSince === null,
    };
  };
  const mayClaimAll = (rows: readonly Row[]): boolean =>
    table.every(
      (row) =>
        row[1] === 'lock' ||
        (rows.includes(row) && isClosed(row)) ||
        (row[4] === true && (!story(row).everTold || isClosed(row))),
    );
  const besides = (rows: readonly Row[]): NamedOpening[] =>
    rows.filter((row) => isUnknown(row) && story(row).open === null).map(nameOf);

  const openNow = watched.flatMap((row) => story(row).open ?? []);
  if (openNow.length === 0 || openNow.some(({ fromMoment }) => fromMoment === moment)) wakeMoments.push(moment);

  // The question.
  const saidNow: GuardEvent[] = [];
  if (input.type === 'ask') {
    const asked = input.only === undefined || input.only.length === 0 ? watched : rowsNamed(input.only);
    const open = asked.filter((row) => story(row).open !== null);
    const unknown = asked.filter(isUnknown);
    if (open.length > 0)
      saidNow.push({ type: 'alert', at: iso, reason: 'asked', openings: open.map(describe), unknown: besides(asked) });
    else if (allClosed(asked))
      saidNow.push({
        type: 'clear',
        at: iso,
        reason: 'asked',
        openings: asked.filter(isClosed).map(nameOf),
        everything: mayClaimAll(asked),
      });
    else
      saidNow.push({
        type: 'cannot-tell',
        at: iso,
        reason: 'asked',
        openings: (unknown.length > 0 ? unknown : asked).map(nameOf),
      });
  }
  events.push(...saidNow);
  const before: Said[] = [...said, ...saidNow.map((event) => ({ moment, event }))];

  // All clear: everything is closed, and since the last unasked all clear there was an alert.
  if (allClosed(watched)) {
    const lastClear = before.findLastIndex(({ event }) => event.type === 'clear' && event.reason === 'closed');
    if (
      before
        .slice(lastClear + 1)
        .some(
          ({ event }) =>
            event.type === 'alert' && event.openings.some((opening) => watched.some((row) => isSame(opening, row))),
        )
    ) {
      events.push({
        type: 'clear',
        at: iso,
        reason: 'closed',
        openings: watched.filter(isClosed).map(nameOf),
        everything: mayClaimAll(watched),
      });
    }
  }

  // Must it hold its tongue?
  if (history.onlyWhileNotInUse && use.inUse) return events;
  if (isQuiet(history, at)) return events;
  const snoozeEnd = endOfSnooze(snooze, wakeMoments);
  if (snoozeEnd !== null && at < snoozeEnd) return events;

  // Alerts.
  const unaskedAlerts = before.filter(({ event }) => event.type === 'alert' && event.reason !== 'asked');
  const overdue = watched.filter((row) => {
    const open = story(row).open;
    const from = open === null ? Infinity : history.onlyWhileNotInUse ? Math.max(open.since, use.leftAt) : open.since;
    return at - from >= history.allowed[row[1]] * minute;
  });
  const isNews = (row: Row): boolean => {
    const from = Math.max(story(row).open?.fromMoment ?? 0, history.onlyWhileNotInUse ? use.lastInUseMoment : -1);
    return !unaskedAlerts.some(
      (one) => one.moment >= from && one.event.openings.some((opening) => isSame(opening, row)),
    );
  };
  const lastAlert = unaskedAlerts.at(-1);
  const repeatIsDue =
    history.repeat > 0 && lastAlert !== undefined && at - Date.parse(lastAlert.event.at) >= history.repeat * minute;
  const snoozeIsOver =
    snooze !== undefined && snoozeEnd !== null && (lastAlert === undefined || lastAlert.moment < snooze.moment);
  if (overdue.some(isNews) || (overdue.length > 0 && (repeatIsDue || snoozeIsOver))) {
    const reason = overdue.some(isNews) ? 'open-too-long' : 'repeat';
    events.push({ type: 'alert', at: iso, reason, openings: overdue.map(describe), unknown: besides(watched) });
  }

  // Gone blind.
  const blind = watched.filter((row) => {
    const { unknownSince } = story(row);
    if (unknownSince === null || !isUnknown(row) || at - unknownSince.since < history.allowed[row[1]] * minute)
      return false;
    return ![...before, ...events.map((event) => ({ moment, event }))].some(
      (one) => one.moment >= unknownSince.fromMoment && saidUnknown(one.event, row),
    );
  });
  if (blind.length > 0)
    events.push({ type: 'cannot-tell', at: iso, reason: 'unknown-too-long', openings: blind.map(nameOf) });
  return events;
}

/** One opening, from the first reading on. */
function storyOf([, kind, read, name]: Row, happened: readonly Happened[]): Story {
  const story: Story = { ...nothingHeard };
  let newestTimestamp = -Infinity;
  let newestQuestion = -Infinity;
  let knownClosed = -Infinity;
  for (const { moment, input } of happened) {
    if (input.type !== 'reading') continue;
    const members = input[read];
    if (members === undefined && !(input.failed ?? []).includes(read)) continue;
    story.everRead = true;
    const word = members?.[name]?.value;
    const isOpen = kind === 'lock' ? word === 'UNLOCKED' : word === 'OPEN' || word === 'AJAR';
    const isClosed = kind === 'lock' ? word === 'LOCKED' : word === 'CLOSED';
    const received = members === undefined ? input.at : Math.min(input.receivedAt?.[read] ?? input.at, input.at);
    const asked = members === undefined ? input.at : Math.min(input.askedAt?.[read] ?? received, input.at);
    if (asked < newestQuestion) continue;
    if (!isOpen && !isClosed) {
      if (members !== undefined) newestQuestion = asked;
      if (story.unknownSince === null) story.unknownSince = { since: input.at, fromMoment: moment };
      continue;
    }
    const stamp = Date.parse(String(members?.[name]?.timestamp));
    const hasTimestamp = input.at - stamp < 366 * 1440 * minute;
    // Nothing is measured after it is heard, on whichever clock.
    const serviceNow = input.skewMs !== undefined && input.skewMs > 0 ? input.at + input.skewMs : input.at;
    const measured = stamp > serviceNow ? serviceNow : stamp;
    const parsed = measured > input.at ? input.at : measured;
    if (hasTimestamp && measured < newestTimestamp) continue;
    if (hasTimestamp) newestTimestamp = measured;
    newestQuestion = asked;
    story.everTold = true;
    story.unknownSince = null;
    if (isClosed) {
      knownClosed = Math.max(knownClosed, hasTimestamp ? parsed : received);
      story.open = null;
    } else if (story.open === null) {
      const then = hasTimestamp ? parsed : received;
      story.open = { since: then >= knownClosed ? then : input.at, fromMoment: moment };
    }
  }
  return story;
}

function useOf(happened: readonly Happened[]): { inUse: boolean; leftAt: number; lastInUseMoment: number } {
  let newestQuestion = -Infinity;
  const told = happened.flatMap(({ moment, input }) => {
    if (input.type !== 'reading' || input.inUse === undefined) return [];
    const received = Math.min(input.receivedAt?.accessibility ?? input.at, input.at);
    const asked = Math.min(input.askedAt?.accessibility ?? received, input.at);
    if (asked < newestQuestion) return [];
    newestQuestion = asked;
    return [{ moment, at: input.at, inUse: input.inUse }];
  });
  const lastInUse = told.findLastIndex(({ inUse }) => inUse === true);
  return {
    inUse: lastInUse >= 0 && lastInUse === told.length - 1,
    leftAt: lastInUse >= 0 ? (told[lastInUse + 1]?.at ?? Infinity) : -Infinity,
    lastInUseMoment: told[lastInUse]?.moment ?? -1,
  };
}

/** null: there is no snooze, or nothing was open meanwhile, or something opened. */
function endOfSnooze(snooze: Happened | undefined, wakeMoments: readonly number[]): number | null {
  if (snooze?.input.type !== 'snooze') return null;
  if (snooze.input.minutes !== null) return snooze.input.at + snooze.input.minutes * minute;
  return wakeMoments.some((moment) => moment >= snooze.moment) ? null : Infinity;
}

function isQuiet({ quiet }: History, at: number): boolean {
  if (quiet === null) return false;
  const sinceFrom = (wallMinute(quiet.zone, at) - quiet.from + 1440) % 1440;
  return sinceFrom < (quiet.to - quiet.from + 1440) % 1440;
}

/**
 * Whether an event reported that the state of an opening is unknown, also in a part of a sentence.
 */
function saidUnknown(event: GuardEvent, row: Row): boolean {
  if (event.type === 'clear') return false;
  const unknown =
    event.type === 'alert'
      ? [...event.unknown, ...event.openings.filter(({ confirmed }) => !confirmed)]
      : event.openings;
  return unknown.some((opening) => isSame(opening, row));
}

const nameOf = ([, kind, , name]: Row): NamedOpening => ({ kind, name });
const isSame = (opening: NamedOpening, [, kind, , name]: Row): boolean =>
  opening.kind === kind && opening.name === name;
