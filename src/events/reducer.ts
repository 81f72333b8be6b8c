import * as z from 'zod/mini';
import {
  asOf,
  knownValueOf,
  knownValueShapeOf,
  parkedOdometer,
  positionShape,
  time,
  type KnownValue,
} from '../car/known-values';
import type { ReadName } from '../catalogue/reads';
import { isOlder, isTripEnd, timesOf, type ValueTimes } from '../car/times';
import { setNewest } from '../util/bounded';
import { iso } from '../util/clock';
import { dayMs, hourMs, minuteMs } from '../util/durations';
import { isRecord, memberOf } from '../util/json';
import { signals, type Change, type FactValue, type EventSignal } from './signals';
import { isOfSignIn, type EventReading, type EventSettings, type VehicleEvent } from './types';
import type { WallboxSession } from '../wire/wallbox';
import { hashed } from '../state/state-store';

export const factValueShape = z.lazy(() => z.union([z.string(), z.number(), z.boolean(), positionShape]));

const knownValueShape = z.lazy(() => knownValueShapeOf<FactValue>(factValueShape));
type KnownFact = KnownValue<FactValue>;

const signInShape = z.lazy(() =>
  z.object({
    /** When it was last asked. */
    at: time,
    /** When the sign-in ends; null if that is not known. */
    endsAt: z.nullable(time),
    /** Before how many days of this end an event was sent. */
    warnedDays: z.nullable(z.number()),
    /** Only a person can help: the sign-in has ended, or the API key is refused. */
    isRequired: z.boolean(),
  }),
);

/** Plain JSON: the last known value of each fact, and what was reported of the sign-in. */
export interface EventState {
  facts: Readonly<Record<string, KnownFact>>;
  signIn?: z.infer<typeof signInShape> | undefined;
}

/** The stored state as far as it can be read. Never throws. */
export function parseEventState(stored: unknown): EventState {
  const parsed = z
    .object({ facts: z.record(z.string(), z.unknown()), signIn: z.optional(z.unknown()) })
    .safeParse(stored);
  const facts: Record<string, KnownFact> = {};
  for (const [key, value] of Object.entries(parsed.success ? parsed.data.facts : {})) {
    const fact = knownValueShape.safeParse(value);
    if (fact.success) facts[key] = fact.data;
  }
  return { facts, signIn: signInShape.safeParse(parsed.data?.signIn).data };
}

/** Days before the end of a sign-in at which an event is sent. */
const warnings = [3, 14];

export interface SignInKnown {
  /** Milliseconds since 1970; null if that is not known. */
  endsAt: number | null;
  /** Null: nothing was asked with it yet. */
  isRequired: boolean | null;
}

/** Applies what is known of the sign-in: a pure reducer, as for the facts of the car. */
export function applySignIn(
  { signIn: before, ...state }: EventState,
  { endsAt, isRequired: required }: SignInKnown,
  at: number,
  { events: wanted }: EventSettings,
): { state: EventState; events: VehicleEvent[] } {
  // With another end, somebody has signed in since.
  const isSame = before !== undefined && (endsAt === null || before.endsAt === endsAt);
  const wasRequired = isSame && before.isRequired;
  const isRequired = required ?? wasRequired;
  const end = endsAt ?? (isSame ? before.endsAt : null);
  const warned = isSame ? before.warnedDays : null;
  const due = end === null || end <= at ? null : (warnings.find((days) => end - at <= days * dayMs) ?? null);
  const isNew = due !== null && !isRequired && (warned === null || due < warned);
  const events = [
    ...(isNew ? [signInEvent('sign-in-ending', end ?? at)] : []),
    ...(isRequired && !wasRequired ? [signInEvent('sign-in-required', at)] : []),
  ];
  return {
    state: { ...state, signIn: { at, endsAt: end, warnedDays: isNew ? due : warned, isRequired } },
    events: events.filter(({ event }) => wanted.includes(event)),
  };
}

const signInEvent = (event: VehicleEvent['event'], until: number): VehicleEvent => ({
  event,
  from: null,
  to: null,
  name: null,
  place: null,
  between: { since: null, until: iso(until) },
});

/**
 * Values of the car, among which each event but those of trips and the sign-in has two
 * that it follows from.
 */
const sampleWords =
  'CLOSED OPEN LOCKED UNLOCKED DISCONNECTED CONNECTED FAULT IDLE CHARGING DONE NO_WARNING FAILURE REGULAR_MAINTENANCE_TIME_FOR_SERVICE AVAILABLE UNAVAILABLE';
const sampleValues = ({ level, places }: EventSettings): FactValue[] => [
  ...sampleWords.split(' '),
  false,
  true,
  level,
  level - 1,
  // A place, and the other side of the earth.
  ...places.slice(0, 1).flatMap(({ latitude, longitude }) => [
    { latitude, longitude },
    { latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180 },
  ]),
];

/** An event with sample values, to try what a flow does with it. */
export function sampleEvent(event: VehicleEvent['event'], settings: EventSettings, at: number): VehicleEvent {
  if (isOfSignIn(event)) return signInEvent(event, event === 'sign-in-ending' ? at + 14 * dayMs : at);
  const between = { since: iso(at - 2 * minuteMs), until: iso(at) };
  if (event === 'charging-session-ended') {
    const times = { start: iso(at - 3 * hourMs), end: iso(at), open: false };
    return sessionEvent({ id: '1001', ...times, kWh: 7.25, connector: 1, token: 'APP' }, between);
  }
  if (event === 'charging-step') {
    const { step } = settings;
    const charge = { target: 2 * step, doneAt: iso(at + hourMs) };
    return { event, from: step - 1, to: step, name: null, place: null, ...charge, between };
  }
  const values = sampleValues(settings);
  for (const { members, nameOf, isKnown, changes } of signals)
    for (const from of values.filter(isKnown))
      for (const to of values.filter(isKnown)) {
        const change = changes(from, to, settings).find((one) => one.event === event);
        if (change === undefined) continue;
        const member = members === 'all' ? 'brakeLightLeftWarning' : (members?.[0] ?? '');
        return { event, from, to, name: nameOf?.(member) ?? null, place: change.place ?? null, between };
      }
  return { event, from: 12_000, to: 12_012, name: null, place: null, between };
}

const keyOf = ({ read, fact }: EventSignal, member: string | null): string =>
  [read, member, fact].filter((part) => part != null).join('.');

/**
 * Applies a reading: a pure reducer from readings to events. An event needs two known values; an
 * unknown value changes nothing, so that `between` reaches from the last known old value to the
 * first known new one, over outages and restarts.
 */
export function applyReading(
  before: EventState,
  reading: EventReading,
  settings: EventSettings,
): { state: EventState; events: VehicleEvent[] } {
  const facts = new Map(
    Object.entries(before.facts).map(([key, fact]) => [key, asOf(fact, reading.at, reading.skewMs)]),
  );
  const events: VehicleEvent[] = [];
  for (const signal of signals) {
    for (const [member, content] of membersOf(signal, reading.payloads[signal.read])) {
      const value = signal.extract === undefined ? content['value'] : signal.extract(content);
      if (!signal.isKnown(value)) continue;
      const key = keyOf(signal, member);
      const old = facts.get(key);
      const times = timesIn(reading, signal.read, content['timestamp']);
      if (old !== undefined && isOlder(times, old)) continue;
      const fact = knownValueOf(value, times, reading.at, old);
      setNewest(facts, key, fact, maxFacts);
      // A stored value can be one that no car has.
      if (old === undefined || !signal.isKnown(old.value)) continue;
      const changes = signal.changes(old.value, value, settings);
      const name = member === null || signal.nameOf === undefined ? null : signal.nameOf(member);
      for (const change of changes) {
        const charge = change.event === 'charging-step' ? chargeOf(reading.payloads.charging) : {};
        // The level may also rise after a charge, or by a correction of the car.
        if (charge === null) continue;
        if (signal.once === true && events.some(({ event }) => event === change.event)) continue;
        events.push({ ...eventOf(change, old, fact, name), ...charge });
      }
    }
  }
  const parked = parkedFact(facts);
  if (parked !== null) {
    const before = facts.get(parkedKey);
    if (before !== undefined && isTripEnd(Number(before.value), Number(parked.value), false))
      events.push(eventOf({ event: 'trip-ended' }, before, parked, null));
    facts.set(parkedKey, parked);
  }
  events.push(...endedSessions(facts, reading));
  return {
    state: { ...before, facts: Object.fromEntries(facts) },
    events: events.filter(({ event }) => settings.events.includes(event)),
  };
}

const timesIn = ({ at, skewMs, receivedAt, askedAt }: EventReading, read: ReadName, timestamp: unknown): ValueTimes =>
  timesOf(timestamp, { at, skewMs, receivedAt: receivedAt?.[read], askedAt: askedAt?.[read] });

/** A service names about 40 lamps; further names are ignored. */
const maxMembers = 100;
/** More than all reads have together; those that were read last are kept. */
const maxFacts = 300;

function* membersOf(
  { members }: EventSignal,
  payload: unknown,
): Generator<[member: string | null, content: Readonly<Record<string, unknown>>]> {
  if (!isRecord(payload)) return;
  if (members === null) return yield [null, payload];
  for (const member of members === 'all' ? Object.keys(payload).slice(0, maxMembers) : members) {
    const content = memberOf(payload, member);
    if (isRecord(content)) yield [member, content];
  }
}

function eventOf({ event, place }: Change, from: KnownFact, to: KnownFact, name: string | null): VehicleEvent {
  // The old value had no timestamp, so its time is when it was received. If the new timestamp is
  // older than that, use the time at which the new value was read.
  const until = to.at >= from.at ? to.at : to.readAt;
  const since = Math.min(from.at, until);
  return {
    event,
    from: from.value,
    to: to.value,
    name,
    place: place ?? null,
    between: { since: iso(since), until: iso(until) },
  };
}

const sessionKey = 'wallboxSessions.ended';
/** An end that is later is none: a service can write a day far ahead for a session that is open. */
const maxAheadMs = 5 * minuteMs;
/**
 * More than a wallbox has in the 31 days of an answer. Of more, only the last ones can come late.
 */
const maxLate = 100;

/** A session that has ended, when, and a short name of it. */
interface Ended {
  session: WallboxSession;
  until: number;
  key: string;
}

/**
 * The sessions that were not known to have ended: a wallbox that was offline reports a session
 * late. The fact is the time from which on all are known, and their keys.
 */
function endedSessions(facts: Map<string, KnownFact>, reading: EventReading): VehicleEvent[] {
  const { wallboxSessions: payload } = reading.payloads;
  if (!Array.isArray(payload)) return [];
  const old = facts.get(sessionKey);
  const times = timesIn(reading, 'wallboxSessions', null);
  if (old !== undefined && isOlder(times, old)) return [];
  const [since = '', ...known] = String(old?.value ?? '').split(' ');
  const knownSince = Number.isNaN(Date.parse(since)) ? 0 : Date.parse(since);
  // The cast: what the parser of this read returns.
  const ended = endedIn(payload as WallboxSession[], reading.at).filter(({ until }) => until >= knownSince);
  // The sessions from before the first reading are no news.
  const first = old === undefined ? (ended.at(-1)?.until ?? 0) : 0;
  const tooOld = ended.at(-maxLate - 1);
  const keys = ended.slice(-maxLate).map(({ key }) => key);
  const kept = [...known.filter((key) => !keys.includes(key)), ...keys].slice(-2 * maxLate);
  const value = [iso(Math.max(knownSince, first, tooOld === undefined ? 0 : tooOld.until + 1)), ...kept].join(' ');
  setNewest(facts, sessionKey, knownValueOf(value, times, reading.at, old), maxFacts);
  if (old === undefined) return [];
  return ended
    .filter(({ key }) => !known.includes(key))
    .map(({ session, until }) => sessionEvent(session, { since: iso(Math.min(old.at, until)), until: iso(until) }));
}

/** Oldest first; those that end at once in one order, in any order of the service. */
function endedIn(sessions: readonly WallboxSession[], at: number): Ended[] {
  const byKey = new Map<string, Ended>();
  for (const session of sessions) {
    const until = session.end === null ? Infinity : Date.parse(session.end);
    // Its end and its energy can be corrected.
    const key = hashed(JSON.stringify([session.id ?? session.end, session.start, session.connector])).slice(0, 12);
    if (until <= at + maxAheadMs) byKey.set(key, { session, until, key });
  }
  const orderOf = ({ session: { start, id }, key }: Ended): string => [start, id, key].join(' ');
  return [...byKey.values()].sort((one, other) => one.until - other.until || (orderOf(one) < orderOf(other) ? -1 : 1));
}

const sessionEvent = (session: WallboxSession, between: VehicleEvent['between']): VehicleEvent => ({
  event: 'charging-session-ended',
  from: session.start,
  to: session.end,
  name: null,
  place: null,
  between,
  session,
});

/**
 * To which level the car charges, and until when, as far as it reports it;
 * null: it does not charge.
 */
function chargeOf(charging: unknown): Pick<VehicleEvent, 'target' | 'doneAt'> | null {
  const valueOf = (name: string): unknown => memberOf(memberOf(charging, name), 'value');
  if (valueOf('chargingStatus') !== 'CHARGING') return null;
  const [target, doneAt] = [valueOf('targetBatteryChargeLevel'), valueOf('chargingDoneAt')];
  return { target: typeof target === 'number' ? target : null, doneAt: typeof doneAt === 'string' ? doneAt : null };
}

const parkedKey = 'odometer.parked';

/** The odometer of the parked car. */
function parkedFact(facts: ReadonlyMap<string, KnownFact>): KnownFact | null {
  const before = facts.get(parkedKey);
  const sources = ['engineRunning', 'accessibility.inUse'].map((key) => facts.get(key));
  const stood = before && { odometer: Number(before.value), at: before.at };
  return parkedOdometer(facts.get('odometer'), sources, stood ?? null);
}
