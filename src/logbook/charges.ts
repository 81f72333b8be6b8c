import { isConfirmed, isCredible, type KnownValue } from '../car/known-values';
import type { Position } from '../car/places';
import type { FactName, LogValue } from './facts';
import { energyOf, recordOf, withRecord, type Known, type LogRecord, type Terms } from './record';
import type { Charge, LogState, Observation, Part } from './types';
import { priceOf, type Tariff } from './tariff';

/** Kilometers: an odometer that rises by less can be another rounding. */
export const minTrip = 1;

/** Percent: a level that rises by less can be a correction by the car. */
const minUnseenRise = 3;

const numberOf = ({ facts }: LogState, name: FactName): number | null => {
  const value = facts[name]?.value;
  return typeof value === 'number' ? value : null;
};

export const capacityOf = (state: LogState): { net: number | null; gross: number | null } => ({
  net: numberOf(state, 'netCapacity'),
  gross: numberOf(state, 'grossCapacity'),
});

/** Applies what an observation shows of the battery. @param here where the car is; null: not known */
export function withCharge(
  state: LogState,
  { facts: old }: LogState,
  taken: ReadonlySet<FactName>,
  observation: Observation,
  here: Position | null,
): LogState {
  const { charging: status, level, odometer } = state.facts;
  const end = (from: LogState, at: number, waits: boolean): LogState => ended(from, { at, waits, observation, here });
  let next = state;
  if (taken.has('odometer') && odometer !== undefined && next.charge !== null && hasLeft(next.charge, odometer))
    // A car that charges stands. Where it stands now is another place.
    next =
      next.charge.endedAt === null ? { ...end(next, odometer.at, false), charge: null } : { ...next, charge: null };
  if (taken.has('charging') && status?.value === true) next = goingOn(next, status.at, old);
  if (taken.has('level') && level !== undefined) next = withLevel(next, { level, old: old.level, observation, here });
  if (taken.has('charging') && status?.value === false && next.charge?.endedAt === null)
    next = end(next, status.at, !taken.has('level'));
  return next;
}

function hasLeft({ odometer: before, endedAt, seen, from }: Charge, odometer: KnownValue<LogValue>): boolean {
  if (before === null || Math.round((Number(odometer.value) - before) * 100) / 100 < minTrip) return false;
  return isCredible(odometer, { odometer: before, at: endedAt ?? seen?.[1] ?? from });
}

function goingOn(state: LogState, at: number, old: LogState['facts']): LogState {
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
  };
  return { ...state, charge: begun };
}

interface LevelRead {
  level: KnownValue<LogValue>;
  old: KnownValue<LogValue> | undefined;
  observation: Observation;
  here: Position | null;
}

function withLevel(state: LogState, { level, old, observation, here }: LevelRead): LogState {
  const { charge, drive, parked } = state;
  const percent = Number(level.value);
  if (charge !== null) {
    const risen = withRise(charge, percent, level.at, observation.tariff);
    return charge.endedAt === null
      ? { ...state, charge: risen }
      : {
          ...state,
          charge: null,
          charges: [...state.charges.slice(0, -1), chargeOf(state, risen, observation, here)],
        };
  }
  const before = Number(old?.value);
  if (old === undefined || !isConfirmed(old) || drive !== null || !(percent - before >= minUnseenRise)) return state;
  const unseen: Charge = {
    from: Math.min(old.at, level.at),
    seen: null,
    endedAt: level.at,
    odometer: numberOf(state, 'odometer'),
    levels: { from: before, to: before, at: old.at },
    isFirst: false,
    parts: [],
  };
  const record = chargeOf(state, withRise(unseen, percent, level.at, observation.tariff), observation, here);
  const charges = withRecord(state.charges, record);
  const isDriven = parked !== null && parked.arrivedAt > old.receivedAt;
  const charged = { odometer: unseen.odometer, receivedAt: level.receivedAt };
  const received = [...state.unseen, level.receivedAt];
  return { ...state, charged, unseen: received, charges: isDriven ? withDriven(charges, 1) : charges };
}

function withRise(charge: Charge, percent: number, at: number, tariff: Tariff | null): Charge {
  const { levels, isFirst, endedAt, seen } = charge;
  const known = levels === null || (isFirst && percent < levels.from) ? { from: percent, to: percent, at } : levels;
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

interface End {
  at: number;
  /** For the first level after the end. */
  waits: boolean;
  observation: Observation;
  here: Position | null;
}

function ended(state: LogState, { at, waits, observation, here }: End): LogState {
  if (state.charge === null) return state;
  const charge = { ...state.charge, endedAt: Math.max(at, state.charge.seen?.[1] ?? 0) };
  return {
    ...state,
    charge: waits ? charge : null,
    charged: { odometer: charge.odometer, receivedAt: observation.receivedAt },
    charges: withRecord(state.charges, chargeOf(state, charge, observation, here)),
  };
}

function chargeOf(state: LogState, charge: Charge, terms: Terms, here: Position | null): LogRecord {
  const { from, seen, endedAt, levels, odometer } = charge;
  const kWh: Known = levels === null ? 'NOT_READ' : energyOf(levels.to - levels.from, capacityOf(state));
  return recordOf(
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

/** The last reconstructed charges, each between two levels, also with a trip between them: how much was charged is not known. */
export function withDriven(charges: readonly LogRecord[], count: number): LogRecord[] {
  const last = new Set(count === 0 ? [] : charges.filter(({ reconstructed }) => reconstructed).slice(-count));
  return charges.map((charge) => (last.has(charge) ? drivenBetween(charge) : charge));
}

function drivenBetween(charge: LogRecord): LogRecord {
  const reasons = { ...charge.reasons, batteryFrom: 'DRIVEN', kWh: 'DRIVEN', cost: 'NO_KWH' };
  const { kWh: _kWh, batteryFrom: _from, cost: _cost, ...sources } = charge.sources;
  return { ...charge, batteryFrom: null, kWh: null, cost: null, sources, reasons };
}
