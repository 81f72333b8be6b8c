import { isRecord } from '../util/json';
import { round, type Capacity, type LogRecord } from './record';

/** In milliseconds since 1970. */
export interface ChargingSession {
  from: number;
  /** Infinity while it is open. */
  to: number;
  /** Its end is not known: the next session of its connector begins at `to`. */
  isStuck?: boolean;
  /** Null if it is not known, or not final. */
  kWh: number | null;
}

/** docs/internals/contract.md 3.2. A session that has no begin can be any time. */
export function sessionsOf(payload: unknown): ChargingSession[] {
  const items = (Array.isArray(payload) ? (payload as unknown[]) : []).filter(isRecord);
  const timeOf = (input: unknown, otherwise: number): number =>
    typeof input === 'string' ? Date.parse(input) : otherwise;
  const begins = items.map(({ start, connector }) => ({ from: timeOf(start, -Infinity), connector }));
  return items.map(({ end, open, kWh, connector }, index) => {
    const { from = -Infinity } = begins[index] ?? {};
    const later = begins.flatMap((other) => (other.connector === connector && other.from > from ? [other.from] : []));
    // A connector has one session at a time, and an end can get lost.
    const [to, next] = [timeOf(end, Infinity), Math.min(Infinity, ...later)];
    const isFinal = open === false && typeof kWh === 'number';
    return { from, to: Math.min(to, next), ...(next < to && { isStuck: true }), kWh: isFinal ? kWh : null };
  });
}

/** A level is a whole percent, at both ends. */
const levelError = 2;
/** A share of what level and gross capacity show: net is smaller, and some energy is lost. */
const [least, most] = [0.8, 1.4];

function isOfRise(
  { kWh }: Pick<ChargingSession, 'kWh'>,
  { batteryFrom, batteryTo }: LogRecord,
  capacity: Capacity,
): boolean {
  if (kWh === null || batteryFrom === null || batteryTo === null) return false;
  const energyOf = (percent: number): number => (percent / 100) * capacity.kWh;
  const rise = batteryTo - batteryFrom;
  return kWh >= least * energyOf(rise - levelError) && kWh <= most * energyOf(rise + levelError);
}

/**
 * The charges with the energy that the wallbox has measured: if one session and one charge
 * are at the same time, and the energy fits the rise of the level. Any other session can be
 * that of another car.
 */
export function withSessions(
  charges: readonly LogRecord[],
  sessions: readonly ChargingSession[],
  capacity: Capacity | null,
): readonly LogRecord[] {
  if (capacity === null) return charges;
  const timed = charges.map((charge) => {
    const from = Date.parse(charge.from.at);
    // When it was first seen: it may have begun then.
    return { charge, from, seen: from + charge.bounds.from * 1000, to: Date.parse(charge.to.at) };
  });
  const isDuring = ({ from, seen, to }: (typeof timed)[number], session: ChargingSession): boolean =>
    session.from < to && session.to > (session.isStuck ? seen : from);
  const measured = timed.map((one) => {
    const { charge } = one;
    const [session, ...others] = sessions.filter((other) => isDuring(one, other));
    if (session === undefined || others.length > 0 || !isOfRise(session, charge, capacity)) return charge;
    return timed.filter((other) => isDuring(other, session)).length === 1 ? measuredAs(charge, session.kWh) : charge;
  });
  return measured.some((charge, index) => charge !== charges[index]) ? measured : charges;
}

/** A charge made again with a later level keeps the measured energy, if that still fits. */
export function withMeasured(charge: LogRecord, before: LogRecord | undefined, capacity: Capacity | null): LogRecord {
  const isMeasured = before?.sources['kWh'] === 'wallbox' && capacity !== null && isOfRise(before, charge, capacity);
  return isMeasured ? measuredAs(charge, before.kWh) : charge;
}

function measuredAs(charge: LogRecord, measured: number | null): LogRecord {
  const kWh = round(measured ?? 0, 2);
  if (charge.kWh === kWh && charge.sources['kWh'] === 'wallbox') return charge;
  const { kWh: _reason, ...reasons } = charge.reasons;
  const cost = charge.cost && { ...charge.cost, amount: round(kWh * charge.cost.perKWh, 2) };
  return { ...charge, kWh, cost, sources: { ...charge.sources, kWh: 'wallbox' }, reasons };
}
