import * as z from 'zod/mini';
import { iso } from '../util/clock';
import { positionShape } from '../car/known-values';
import { placeAt, type Place, type Position } from '../car/places';
import type { Tariff } from './tariff';
import { minuteMs } from '../util/durations';

const number = z.nullable(z.number());
const text = z.nullable(z.string());

const endShape = z.lazy(() =>
  z.object({
    /** ISO-8601: the last time at which it was there before, or the first one after. */
    at: z.string(),
    /** The name of a place of the tariff or of the vehicle configuration. */
    place: text,
    position: z.nullable(positionShape),
  }),
);

/** docs/internals/contract.md 5d. What is not known is null, with a word in `reasons`. */
export const recordShape = z.lazy(() =>
  z.object({
    from: endShape,
    to: endShape,
    /** Kilometers at the end. */
    odometer: number,
    km: number,
    kWh: number,
    liters: number,
    kWhPer100km: number,
    batteryFrom: number,
    batteryTo: number,
    minutes: number,
    cost: z.nullable(z.object({ amount: z.number(), currency: text, perKWh: z.number() })),
    /**
     * Seconds: it began at most so long after `from.at`, and ended at most so long before `to.at`.
     */
    bounds: z.object({ from: z.number(), to: z.number() }),
    /** Nothing was read while it happened: it follows from the values before and after. */
    reconstructed: z.boolean(),
    sources: z.record(z.string(), z.string()),
    /** Why a value is null. */
    reasons: z.record(z.string(), z.string()),
  }),
);
export type LogRecord = z.infer<typeof recordShape>;

/** A known value with its source, or the reason why there is none. */
export type Known = { value: number; source: string } | string;

/** In milliseconds since 1970; `seen`: when it was first and last seen, null if it was not. */
interface Times {
  from: number;
  to: number;
  seen: readonly [first: number, last: number] | null;
}

interface Facts extends Times {
  positions: readonly [from: Position | null, to: Position | null];
  odometer: number | null;
  km: Known;
  kWh: Known;
  liters: Known;
  batteryFrom: number | null;
  batteryTo: number | null;
  cost: { perKWh: number; currency: string | null; source: string } | string;
}

export const round = (value: number, digits: number): number => Number(value.toFixed(digits));

/** The prices and places of the vehicle configuration at a time. */
export interface Terms {
  tariff: Tariff | null;
  /** Default: none. */
  places?: readonly Place[];
}

export function logRecordOf(known: Facts, { tariff, places = [] }: Terms): LogRecord {
  const sources: Record<string, string> = {};
  const reasons: Record<string, string> = {};
  const put = (name: string, found: Known, digits = 2): number | null => {
    if (typeof found === 'string') reasons[name] = found;
    else sources[name] = found.source;
    return typeof found === 'string' ? null : round(found.value, digits);
  };
  const read = (name: string, value: number | null): number | null =>
    put(name, value === null ? 'NOT_READ' : { value, source: 'car' });
  const endOf = (name: 'from' | 'to', index: 0 | 1): LogRecord['from'] => {
    const position = known.positions[index];
    const place = (placeAt(tariff?.places ?? [], position) ?? placeAt(places, position))?.name.slice(0, 50) ?? null;
    if (position === null) reasons[`${name}.position`] = 'NOT_READ';
    if (place === null) reasons[`${name}.place`] = position === null ? 'NOT_READ' : 'NO_PLACE';
    return { at: iso(known[name]), place, position };
  };
  const [from, to] = [endOf('from', 0), endOf('to', 1)];
  const km = put('km', known.km, 1);
  const kWh = put('kWh', known.kWh);
  const perDistance = km === null ? reasons['km'] : kWh === null ? reasons['kWh'] : km === 0 ? 'NO_KM' : null;
  return {
    from,
    to,
    odometer: read('odometer', known.odometer),
    km,
    kWh,
    liters: put('liters', known.liters),
    kWhPer100km: put(
      'kWhPer100km',
      perDistance ?? { value: (Number(kWh) / Number(km)) * 100, source: sources['kWh'] ?? '' },
      1,
    ),
    batteryFrom: read('batteryFrom', known.batteryFrom),
    batteryTo: read('batteryTo', known.batteryTo),
    minutes: put('minutes', minutesOf(known), 0),
    cost: costOf(kWh, known.cost, (found) => put('cost', found)),
    bounds: boundsOf(known),
    reconstructed: known.seen === null,
    sources,
    reasons,
  };
}

function boundsOf({ from, to, seen }: Times): LogRecord['bounds'] {
  const [first, last] = seen ?? [to, from];
  return { from: Math.round((first - from) / 1000), to: Math.round((to - last) / 1000) };
}

/** Known if the times are exact to half of the duration. */
function minutesOf(times: Times): Known {
  if (times.seen === null) return 'NOT_SEEN';
  const { from, to } = boundsOf(times);
  const minutes = (times.to - times.from) / minuteMs;
  return (from + to) / 60 <= minutes / 2 ? { value: minutes, source: 'times' } : 'NOT_EXACT';
}

function costOf(kWh: number | null, cost: Facts['cost'], put: (found: Known) => number | null): LogRecord['cost'] {
  if (kWh === null || typeof cost === 'string') {
    put(typeof cost === 'string' ? cost : 'NO_KWH');
    return null;
  }
  const amount = put({ value: kWh * cost.perKWh, source: cost.source }) ?? 0;
  return { amount, currency: cost.currency, perKWh: round(cost.perKWh, 4) };
}

export interface Capacity {
  kWh: number;
  source: 'level-net' | 'level-gross';
}

/** What the energy follows from: percent of a battery. */
export const energyOf = (percent: number, capacity: Capacity | null): Known =>
  capacity === null ? 'NO_CAPACITY' : { value: (percent / 100) * capacity.kWh, source: capacity.source };

export const maxRecords = 100;
export const withRecord = (records: readonly LogRecord[], record: LogRecord): LogRecord[] =>
  [...records, record].slice(-maxRecords);

export const parseRecords = (stored: unknown): LogRecord[] =>
  (Array.isArray(stored) ? (stored as unknown[]) : []).flatMap((one) => recordShape.safeParse(one).data ?? []);
