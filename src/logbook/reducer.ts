import { asOf, knownValueOf, parkedOdometer, sameMomentMs, usageOf, type KnownValue } from '../car/known-values';
import { isOlder, timesOf } from '../car/times';
import type { Position } from '../car/places';
import { capacityOf, minTrip, withCharge, withDriven } from './charges';
import type { FactName, LogValue } from './facts';
import { energyOf, logRecordOf, withRecord, type Known, type LogRecord, type Terms } from './record';
import { withSessions } from './wallbox';
import {
  endNames,
  type Arrival,
  type Drive,
  type EndName,
  type EndValues,
  type LogState,
  type Observation,
  type Parked,
} from './types';

/** Applies what an answer shows: a pure reducer from observations to trips and charges. */
export function observed(before: LogState, observation: Observation): LogState {
  const { sessions = [] } = observation;
  if (sessions.length > 0) {
    const charges = withSessions(before.charges, sessions, capacityOf(before));
    return charges === before.charges ? before : { ...before, charges };
  }
  const facts = { ...before.facts };
  for (const name of Object.keys(facts) as FactName[]) {
    const fact = facts[name];
    // A later one is from before the clock was set back.
    if (fact !== undefined && fact.readAt > (observation.appliedAt ?? observation.at))
      facts[name] = asOf(fact, observation.at, observation.skewMs);
  }
  const taken = new Set<FactName>();
  for (const [name, value, timestamp] of observation.values) {
    const times = timesOf(timestamp, observation);
    const old = facts[name];
    if (old !== undefined && isOlder(times, old)) continue;
    facts[name] = knownValueOf(value, times, observation.at, old);
    taken.add(name);
  }
  if (taken.size === 0) return before;
  let state: LogState = { ...before, facts };
  const isUsage = taken.has('engineRunning') || taken.has('inUse');
  if (isUsage) state = withUsage(state, before);
  if (isUsage || taken.has('odometer')) state = withOdometer(state, observation);
  state = withCharge(state, before, taken, observation, positionIn(state));
  return withEnd(withMoment(state, observation), observation);
}

const sourcesOf = ({ facts }: LogState) => [facts.engineRunning, facts.inUse];

const latest = (facts: readonly KnownValue[], isUsed: boolean): number | null =>
  facts.reduce<number | null>((at, fact) => (fact.value === isUsed ? Math.max(at ?? 0, fact.at) : at), null);

function withUsage(state: LogState, before: LogState): LogState {
  const usage = usageOf(sourcesOf(state));
  const usedAt = latest(usage, true);
  const { drive } = state;
  if (usedAt !== null) {
    const begun = drive ?? { from: latest(usageOf(sourcesOf(before)), false), seen: [usedAt, usedAt] };
    const seen: Drive['seen'] = [begun.seen[0], Math.max(begun.seen[1], usedAt)];
    return { ...state, drive: { from: begun.from, seen, endedAt: null }, arrival: null };
  }
  if (drive === null || drive.endedAt !== null) return state;
  return { ...state, drive: { ...drive, endedAt: Math.max(drive.seen[1], latest(usage, false) ?? 0) } };
}

function withOdometer(state: LogState, observation: Observation): LogState {
  const { parked, drive } = state;
  const odometer = parkedOdometer(state.facts.odometer, sourcesOf(state), parked);
  if (odometer === null) return state;
  const { at, receivedAt } = odometer;
  const value = Number(odometer.value);
  const km = parked === null ? null : Math.round((value - parked.odometer) * 100) / 100;
  // What is received later may follow a trip that the odometer has not shown yet.
  const upTo = receivedAt + sameMomentMs;
  if (parked !== null && km !== null && km >= 0 && km < minTrip) {
    const values = { ...parked.values, ...valuesSince(state, parked, upTo) };
    const stood = { ...parked, at: Math.max(parked.at, at), receivedAt, values };
    return { ...state, drive: null, unseen: state.unseen.filter((received) => received > upTo), parked: stood };
  }
  const isTrip = parked !== null && value > parked.odometer;
  const arrivedAt = drive === null ? odometer.since : Math.max(...usageOf(sourcesOf(state)).map(({ since }) => since));
  const now: Parked = {
    odometer: value,
    at,
    receivedAt,
    arrivedAt: isTrip ? arrivedAt - sameMomentMs : 0,
    measuredFrom: isTrip ? (drive?.seen[1] ?? parked.at) : 0,
    values: {},
  };
  const moved = {
    ...state,
    drive: null,
    unseen: [],
    arrival: null,
    parked: { ...now, values: valuesSince(state, now, upTo) },
  };
  if (!isTrip) return moved;
  const hasEnded = (state.charged?.receivedAt ?? 0) > parked.receivedAt + sameMomentMs;
  const isCharged = hasEnded || state.charge?.endedAt === null;
  const arrival: Arrival = { from: parked, odometer: value, at, drive, isCharged, to: {} };
  const later = state.unseen.filter((received) => received > parked.receivedAt + sameMomentMs);
  const charges = drive === null ? withDriven(state.charges, later.length) : state.charges;
  return { ...moved, arrival, charges, trips: withRecord(state.trips, tripOf(moved, arrival, observation)) };
}

function valuesSince({ facts }: LogState, { arrivedAt, measuredFrom }: Parked, upTo = Infinity): EndValues {
  const values: EndValues = {};
  for (const name of endNames) {
    const fact = facts[name];
    if (fact === undefined || fact.receivedAt < arrivedAt || fact.receivedAt > upTo) continue;
    if (fact.measuredAt === null || fact.measuredAt >= measuredFrom) values[name] = fact.value;
  }
  return values;
}

/** Where the car is, if it has not moved since that was read. */
function positionIn(state: LogState): Position | null {
  const { parked, drive, facts } = state;
  const position = parked === null ? facts.position?.value : valuesSince(state, parked).position;
  return drive === null && typeof position === 'object' ? position : null;
}

/** These belong to a charge that has begun, not to the trip before it. */
const changedByCharge: ReadonlySet<EndName> = new Set(['level', 'sinceCharge']);

/** With values that were received at the moment at which the car was known to be parked. */
function withMoment(state: LogState, { receivedAt }: Observation): LogState {
  const { parked } = state;
  const upTo = (parked?.receivedAt ?? -Infinity) + sameMomentMs;
  if (parked === null || receivedAt > upTo) return state;
  return { ...state, parked: { ...parked, values: { ...parked.values, ...valuesSince(state, parked, upTo) } } };
}

function withEnd(state: LogState, observation: Observation): LogState {
  const { arrival, parked, charged } = state;
  if (arrival === null || parked === null) return state;
  const isCharged = state.facts.charging?.value === true || (charged?.receivedAt ?? 0) > parked.arrivedAt;
  const found = (Object.entries(valuesSince(state, parked)) as [EndName, LogValue][]).filter(
    ([name]) => !(name in arrival.to) && !(isCharged && changedByCharge.has(name)),
  );
  if (found.length === 0) return state;
  const filled = { ...arrival, to: { ...arrival.to, ...Object.fromEntries(found) } };
  const trips = [...state.trips.slice(0, -1), tripOf(state, filled, observation)];
  return { ...state, arrival: filled, trips };
}

const numberIn = (values: EndValues, name: EndName): number | null =>
  typeof values[name] === 'number' ? values[name] : null;
const positionAt = ({ position }: EndValues): Position | null => (typeof position === 'object' ? position : null);

/** Kilometers: with more difference, the trip meter counts more than this trip. */
const meterRounding = 1;

function tripOf(state: LogState, arrival: Arrival, terms: Terms): LogRecord {
  const { from, at, odometer, drive, to } = arrival;
  const km = odometer - from.odometer;
  const liters = litersOf(arrival, km);
  const last = state.charges.findLast(({ cost }) => cost !== null)?.cost;
  const burnsFuel = typeof liters !== 'string' && liters.value > 0;
  const seen = drive?.seen ?? null;
  const start = seen === null ? from.at : Math.min(Math.max(from.at, drive?.from ?? 0), seen[0]);
  const end = seen === null ? at : Math.max(Math.min(at, drive?.endedAt ?? at), seen[1]);
  return logRecordOf(
    {
      from: start,
      to: Math.max(start, end),
      seen,
      positions: [positionAt(from.values), positionAt(to)],
      odometer,
      km: { value: km, source: 'odometer' },
      kWh: energyOfTrip(state, arrival, km),
      liters,
      batteryFrom: numberIn(from.values, 'level'),
      batteryTo: numberIn(to, 'level'),
      cost: burnsFuel ? 'FUEL' : last ? { ...last, source: 'last-charge' } : 'NO_PRICE',
    },
    terms,
  );
}

const isOfOneTrip = ({ to }: Arrival, km: number): boolean =>
  Math.abs((numberIn(to, 'meter') ?? Infinity) - km) <= meterRounding;

function energyOfTrip(state: LogState, arrival: Arrival, km: number): Known {
  const { from, to, isCharged } = arrival;
  const [automatic, sinceCharge] = [numberIn(to, 'automatic'), numberIn(to, 'sinceCharge')];
  if (automatic !== null && isOfOneTrip(arrival, km))
    return { value: (automatic * km) / 100, source: 'consumption-automatic' };
  if (sinceCharge !== null && !isCharged && state.charged?.odometer === from.odometer)
    return { value: (sinceCharge * km) / 100, source: 'consumption-since-charge' };
  const [before, after] = [numberIn(from.values, 'level'), numberIn(to, 'level')];
  if (isCharged) return 'CHARGED';
  if (before === null || after === null) return 'NOT_READ';
  return after > before ? 'LEVEL_ROSE' : energyOf(before - after, capacityOf(state));
}

function litersOf(arrival: Arrival, km: number): Known {
  const { from, to } = arrival;
  const average = numberIn(to, 'fuelAutomatic');
  if (average !== null && isOfOneTrip(arrival, km))
    return { value: (average * km) / 100, source: 'consumption-automatic' };
  const [before, after] = [numberIn(from.values, 'fuel'), numberIn(to, 'fuel')];
  if (before === null || after === null) return 'NOT_READ';
  return after > before ? 'REFUELED' : { value: before - after, source: 'level' };
}
