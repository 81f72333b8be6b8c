import { isConfirmed, isCredible, type KnownValue } from '../car/known-values';
import type { Position } from '../car/places';
import type { FactName, LogValue } from './facts';
import {
  energyOf,
  maxRecords,
  logRecordOf,
  withRecord,
  type Capacity,
  type Known,
  type LogRecord,
  type Terms,
} from './record';
import type { Charge, LogState, Observation, Part } from './types';
import { priceOf, type Tariff } from './tariff';
import { withMeasured } from './wallbox';
import { minuteMs } from '../util/durations';

/** Kilometers: an odometer that rises by less can be another rounding. */
export const minTrip = 1;

/** Percent: a level that differs by less can be a correction by the car. */
const minChange = 3;

/** Percent: the fastest charging in a minute. */
const mostPerMinute = 5;

const numberOf = ({ facts }: LogState, name: FactName): number | null => {
  const value = facts[name]?.value;
  return typeof value === 'number' ? value : null;
};

/** The net one, if it is known. */
export function capacityOf(state: LogState): Capacity | null {
  const [net, gross] = [numberOf(state, 'netCapacity'), numberOf(state, 'grossCapacity')];
  if (net !== null) return { kWh: net, source: 'level-net' };
  return gross === null ? null : { kWh: gross, source: 'level-gross' };
}

/**
 * Applies what an observation shows of the battery.
 * @param here where the car is; null: not known
 */
export function withCharge(
  state: LogState,
  { facts: old }: LogState,
  taken: ReadonlySet<FactName>,
  observation: Observation,
  here: Position | null,
): LogState {
  const { charging: status, level, odometer } = state.facts;
  const end = (from: LogState, at: number, needsEndLevel: boolean): LogState => {
    if (from.charge === null) return from;
    const charge = { ...from.charge, endedAt: Math.max(at, from.charge.seen?.[1] ?? 0), needsEndLevel };
    const charged = { odometer: charge.odometer, receivedAt: observation.receivedAt };
    const charges = withRecord(from.charges, chargeOf(from, charge, observation, here));
    return { ...from, charge, charged, charges };
  };
  let next = state;
  if (taken.has('odometer') && odometer !== undefined && next.charge !== null && hasLeft(next.charge, odometer))
    // A car that charges stands. Where it stands now is another place.
    next = { ...(next.charge.endedAt === null ? end(next, odometer.at, false) : next), charge: null };
  if (taken.has('charging') && status?.value === true) next = withCharging(next, status.at, old);
  if (taken.has('level') && level !== undefined) next = withLevel(next, { level, old: old.level, observation, here });
  if (taken.has('charging') && status?.value === false && next.charge?.endedAt === null)
    next = end(next, status.at, !taken.has('level'));
  return next;
}

function hasLeft({ odometer: before, endedAt, seen, from }: Charge, odometer: KnownValue<LogValue>): boolean {
  if (before === null || Math.round((Number(odometer.value) - before) * 100) / 100 < minTrip) return false;
  return isCredible(odometer, { odometer: before, at: endedAt ?? seen?.[1] ?? from });
}

function withCharging(state: LogState, at: number, old: LogState['facts']): LogState {
  const { charge } = state;
  if (charge?.seen && charge.endedAt === null) {
    const seen: Charge['seen'] = [charge.seen[0], Math.max(charge.seen[1], at)];
    return { ...state, charge: { ...charge, seen } };
  }
  const from = Math.min(at, old.charging?.value === false ? old.charging.at : at);
  const level = Number(old.level?.value);
  const levels = old.level === undefined ? null : { from: level, to: level, at: Math.max(old.level.at, from) };
  const begun: Charge = {
    from,
    seen: [at, at],
    endedAt: null,
    odometer: numberOf(state, 'odometer'),
    levels,
    isFirst: true,
    parts: [],
    before: null,
    needsEndLevel: false,
    chargedBefore: null,
  };
  return { ...state, charge: begun };
}

interface LevelRead {
  level: KnownValue<LogValue>;
  old: KnownValue<LogValue> | undefined;
  observation: Observation;
  here: Position | null;
}

function withLevel(state: LogState, read: LevelRead): LogState {
  const { charge } = state;
  const { level, old } = read;
  if (charge === null) return withUnseen(state, read);
  // Two nodes can share an answer, and a car reports a level again until it has measured a new one:
  // neither confirms it.
  if (!charge.needsEndLevel && level.at === old?.at && level.value === old.value) return state;
  if (charge.endedAt === null) return { ...state, charge: withNext(charge, read, isDriven(state, old)) };
  const settled = withLast(state, charge, read);
  return charge.needsEndLevel ? settled : withUnseen(settled, read);
}

/** Somebody uses the car, or it was driven since a value was received. */
const isDriven = ({ drive, parked }: LogState, old: KnownValue | undefined): boolean =>
  drive !== null || (parked !== null && old !== undefined && parked.arrivedAt > old.receivedAt);

/** The first level after a charge: that of its end, if it had none, or one that can deny it. */
function withLast(state: LogState, charge: Charge, { level, old, observation, here }: LevelRead): LogState {
  const closed = { ...state, charge: null };
  if (state.drive !== null || !(charge.needsEndLevel || isDenied(charge, Number(level.value)))) return closed;
  const next = withNext(charge, { level, observation }, isDriven(state, old));
  const { levels, seen, chargedBefore } = next;
  const others = state.charges.slice(0, -1);
  if (seen === null && levels !== null && levels.to - levels.from < minChange) {
    // The rise was no charge.
    const unseen = state.unseen.filter((received) => received !== state.charged?.receivedAt);
    return { ...closed, charged: chargedBefore, unseen, charges: others };
  }
  const before = state.charges.at(-1);
  const record = withMeasured(chargeOf(state, next, observation, here), before, capacityOf(state));
  const charges = [...others, before?.reasons['kWh'] === 'DRIVEN' ? drivenBetween(record) : record];
  return {
    ...state,
    charge: charge.needsEndLevel && next !== charge ? { ...next, needsEndLevel: false } : null,
    charges,
  };
}

/** A charge that nothing showed but the level. */
function withUnseen(state: LogState, { level, old, observation, here }: LevelRead): LogState {
  const percent = Number(level.value);
  if (old === undefined || !isConfirmed(old) || state.drive !== null) return state;
  const levels = { from: Number(old.value), to: Number(old.value), at: old.at };
  if (!(percent - levels.to >= minChange) || !canRise(levels, percent, level.at)) return state;
  const unseen: Charge = {
    from: Math.min(old.at, level.at),
    seen: null,
    endedAt: level.at,
    odometer: numberOf(state, 'odometer'),
    levels,
    isFirst: false,
    parts: [],
    before: null,
    needsEndLevel: false,
    chargedBefore: state.charged,
  };
  const charge = withNext(unseen, { level, observation }, false);
  const charges = withRecord(state.charges, chargeOf(state, charge, observation, here));
  return {
    ...state,
    charge,
    charged: { odometer: charge.odometer, receivedAt: level.receivedAt },
    // As many as there are records: a flow may never read the odometer.
    unseen: [...state.unseen, level.receivedAt].slice(-maxRecords),
    charges: isDriven(state, old) ? withDriven(charges, 1) : charges,
  };
}

type Levels = NonNullable<Charge['levels']>;

const canRise = ({ to, at: before }: Levels, percent: number, at: number): boolean =>
  percent - to < minChange + (mostPerMinute * Math.max(0, at - before)) / minuteMs;

/** Whether a level shows that the one before it was wrong: only that is far from the others. */
function isDenied({ levels, before }: Charge, percent: number): boolean {
  if (levels === null || !before?.levels || percent <= before.levels.to - minChange) return false;
  return percent <= levels.to - minChange || before.levels.to >= levels.to + minChange;
}

/**
 * With the next level, which denies the last one or confirms it. A level below those that are
 * confirmed is none of a car that charges.
 * @param wasDriven since the level before the charge
 */
function withNext(charge: Charge, read: Pick<LevelRead, 'level' | 'observation'>, wasDriven: boolean): Charge {
  const { level, observation } = read;
  const percent = Number(level.value);
  const { before } = charge;
  const isWrong = before !== null && isDenied(charge, percent);
  const base = isWrong ? { ...charge, ...before, parts: charge.parts.slice(0, before.parts) } : charge;
  const { levels, isFirst, parts } = base;
  if (!isFirst && levels !== null && percent <= levels.to - minChange) return charge;
  // A drive explains why it is lower, so the next level cannot deny it.
  const isExplained = isFirst && wasDriven && levels !== null && percent < levels.to;
  return {
    ...withRise(base, percent, level.at, observation.tariff),
    before: isExplained ? null : { levels, isFirst, parts: parts.length },
  };
}

function withRise(charge: Charge, percent: number, at: number, tariff: Tariff | null): Charge {
  const { levels, isFirst, endedAt, seen } = charge;
  const isBegin =
    levels === null ||
    (isFirst && percent < levels.from) ||
    (levels.to === levels.from && !canRise(levels, percent, at));
  const known = isBegin ? { from: percent, to: percent, at } : levels;
  const [from, to] = [known.at, Math.max(known.at, Math.min(at, endedAt ?? at))];
  const price = tariff?.places.length ? null : priceOf(tariff, null, [from, to], seen !== null);
  const part: Part = { from, to, percent: percent - known.to, price: typeof price === 'number' ? price : null };
  return {
    ...charge,
    levels: { from: known.from, to: Math.max(known.to, percent), at },
    isFirst: false,
    parts: part.percent > 0 ? [...charge.parts, part] : charge.parts,
  };
}

function chargeOf(state: LogState, charge: Charge, terms: Terms, here: Position | null): LogRecord {
  const { from, seen, endedAt, levels, odometer } = charge;
  const kWh: Known = levels === null ? 'NOT_READ' : energyOf(levels.to - levels.from, capacityOf(state));
  return logRecordOf(
    {
      from,
      to: Math.max(from, endedAt ?? from),
      seen,
      positions: [here, here],
      odometer,
      km: 'NOT_A_TRIP',
      kWh,
      liters: 'NOT_A_TRIP',
      batteryFrom: levels?.from ?? null,
      batteryTo: levels?.to ?? null,
      cost: priceOfParts(charge, terms.tariff, here),
    },
    terms,
  );
}

function priceOfParts({ parts, from, seen, endedAt }: Charge, tariff: Tariff | null, here: Position | null) {
  const all = parts.length > 0 ? parts : [{ from, to: endedAt ?? from, percent: 1, price: null }];
  let [sum, percent] = [0, 0];
  for (const part of all) {
    const price = part.price ?? priceOf(tariff, here, [part.from, part.to], seen !== null);
    if (typeof price === 'string') return price;
    sum += price * part.percent;
    percent += part.percent;
  }
  return { perKWh: sum / percent, currency: tariff?.currency ?? null, source: 'tariff' };
}

/** Marks the last reconstructed charges: with a trip between its levels, a charge has no kWh. */
export function withDriven(charges: readonly LogRecord[], count: number): LogRecord[] {
  const last = new Set(count === 0 ? [] : charges.filter(({ reconstructed }) => reconstructed).slice(-count));
  return charges.map((charge) => (last.has(charge) ? drivenBetween(charge) : charge));
}

function drivenBetween(charge: LogRecord): LogRecord {
  const reasons = { ...charge.reasons, batteryFrom: 'DRIVEN', kWh: 'DRIVEN', cost: 'NO_KWH' };
  const { kWh: _kWh, batteryFrom: _from, cost: _cost, ...sources } = charge.sources;
  return { ...charge, batteryFrom: null, kWh: null, cost: null, sources, reasons };
}
