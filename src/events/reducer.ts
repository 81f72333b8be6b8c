import * as z from 'zod/mini';
import { signals, type Change, type FactValue, type Signal } from './signals';
import type { EventReading, EventSettings, VehicleEvent } from './types';

/** Milliseconds since 1970, as far as a Date reaches. */
const time = z.number().check(z.minimum(0), z.maximum(8.64e15));
const position = z.object({ latitude: z.number(), longitude: z.number() });

const factShape = z.lazy(() =>
  z.object({
    value: z.union([z.string(), z.number(), z.boolean(), position]),
    /** When the car is known to have had the value. */
    at: time,
    /** The newest timestamp of the service; null where it gave none. */
    stampedAt: z.nullable(time),
    /** When the value was first and last read. */
    since: time,
    readAt: time,
  }),
);
type Fact = Omit<z.infer<typeof factShape>, 'value'> & { value: FactValue };

/** Plain JSON: the last known value of each fact. */
export interface EventState {
  facts: Readonly<Record<string, Fact>>;
}

/** The stored state as far as it can be read. Never throws. */
export function parseEventState(stored: unknown): EventState {
  const parsed = z.object({ facts: z.record(z.string(), z.unknown()) }).safeParse(stored);
  const facts: Record<string, Fact> = {};
  for (const [key, value] of Object.entries(parsed.success ? parsed.data.facts : {})) {
    const fact = factShape.safeParse(value);
    if (fact.success) facts[key] = fact.data;
  }
  return { facts };
}

/**
 * Applies a reading: a pure reducer from readings to events. An event needs two known values; an unknown value changes nothing, so
 * that `between` reaches from the last known old value to the first known new one, over outages and restarts.
 */
export function applyReading(
  before: EventState,
  reading: EventReading,
  settings: EventSettings,
): { state: EventState; events: VehicleEvent[] } {
  const facts = new Map(Object.entries(before.facts));
  const events: VehicleEvent[] = [];
  for (const signal of signals) {
    for (const [member, content] of membersOf(signal, reading.payloads[signal.read])) {
      const value = signal.extract(content);
      if (value === null) continue;
      const key = [signal.read, member, signal.fact].filter((part) => part != null).join('.');
      const old = facts.get(key);
      const fact = factOf(value, content['timestamp'], reading, old);
      if (fact === null) continue;
      facts.set(key, fact);
      if (old === undefined) continue;
      const changes = signal.changes(old.value, value, settings);
      if (sameValue(old.value, value)) fact.since = old.since;
      const name = member === null || signal.nameOf === undefined ? null : signal.nameOf(member);
      for (const change of changes) events.push(eventOf(change, old, fact, name));
    }
  }
  events.push(...tripEnd(facts));
  return {
    state: { facts: Object.fromEntries(facts) },
    events: events.filter(({ event }) => settings.events.includes(event)),
  };
}

function* membersOf(
  { members }: Signal,
  payload: unknown,
): Generator<[member: string | null, content: Readonly<Record<string, unknown>>]> {
  if (!isRecord(payload)) return;
  if (members === null) return yield [null, payload];
  for (const member of members === 'all' ? Object.keys(payload) : members) {
    const content = Object.hasOwn(payload, member) ? payload[member] : undefined;
    if (isRecord(content)) yield [member, content];
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Timestamps before this come from a clock that was never set. */
const firstCredible = Date.UTC(2010, 0, 1);

/** @returns null for a state that is older than the known one: timestamps may run backwards (docs/field-notes.md 6.2) */
function factOf(value: FactValue, timestamp: unknown, { at, skewMs = 0 }: EventReading, old?: Fact): Fact | null {
  const given = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  const stamp = given >= firstCredible ? Math.min(given, at + Math.max(0, skewMs)) : null;
  const lastStamp = old?.stampedAt == null ? null : Math.min(old.stampedAt, at + Math.max(0, skewMs));
  if (stamp !== null && lastStamp !== null && stamp < lastStamp) return null;
  return { value, at: Math.min(stamp ?? at, at), stampedAt: stamp ?? lastStamp, since: at, readAt: at };
}

function eventOf({ event, place }: Change, from: Fact, to: Fact, name: string | null): VehicleEvent {
  // A new value that was measured before the old one was read without a timestamp: only its reading is certain.
  const until = to.at >= from.at ? to.at : to.readAt;
  const since = Math.min(from.at, until);
  return {
    event,
    from: from.value,
    to: to.value,
    name,
    place: place ?? null,
    between: { since: new Date(since).toISOString(), until: new Date(until).toISOString() },
  };
}

const sameValue = (one: FactValue, other: FactValue): boolean => JSON.stringify(one) === JSON.stringify(other);

const parkedKey = 'odometer.parked';

/**
 * A trip has ended when the odometer of a parked car has moved. The car must be parked before the odometer was read and still after
 * it: an odometer that was read on the way does not count.
 */
function tripEnd(facts: Map<string, Fact>): VehicleEvent[] {
  const odometer = facts.get('odometer');
  const usage = ['engineRunning', 'accessibility.inUse'].flatMap((key) => facts.get(key) ?? []);
  if (odometer === undefined || usage.length === 0 || usage.some(({ value }) => value === true)) return [];
  const parkedSince = Math.max(...usage.map(({ since }) => since));
  const parkedUntil = Math.max(...usage.map(({ readAt }) => readAt));
  if (odometer.readAt < parkedSince || odometer.readAt > parkedUntil) return [];
  const parked = facts.get(parkedKey);
  facts.set(parkedKey, odometer);
  const hasMoved = parked !== undefined && Number(odometer.value) > Number(parked.value);
  return hasMoved ? [eventOf({ event: 'trip-ended' }, parked, odometer, null)] : [];
}
