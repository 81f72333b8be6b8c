import { iso } from '../util/clock';
import { isEmpty } from '../util/json';
import type { Reading } from '../car/reading';
import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { maxRecords, round, type LogRecord } from './record';

interface Sum {
  /** `2026-11-27`, `2026-W48`, `2026-11`: of the end, in the time zone of the machine. */
  period: string;
  count: number;
  km: number;
  kWh: number;
  liters: number;
  minutes: number;
  /** By currency; an empty name if none is known. */
  cost: Record<string, number>;
  /** Values that at least one record lacks, so that the sum is too low. */
  incomplete: string[];
  /** The sources of the numbers of the records. */
  sources: Record<string, string[]>;
}

/** Milliseconds since 1970. @throws VehicleError INPUT_INVALID */
function timeIn(input: unknown, name: string, otherwise: number): number {
  if (isEmpty(input)) return otherwise;
  const text = input instanceof Date ? input.getTime() : input;
  // A day alone is a day of the machine.
  const local = typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text;
  const at = typeof local === 'string' || typeof local === 'number' ? new Date(local).getTime() : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new VehicleError(
    'INPUT_INVALID',
    sentence`msg.${name} must be a time, such as 2026-11-01 or a number of milliseconds.`,
  );
}

const two = (number: number): string => String(number).padStart(2, '0');

type Periods<Of> = Record<'day' | 'week' | 'month', Of>;

function periodsOf(at: Date): Periods<string> {
  const [year, month, date] = [at.getFullYear(), at.getMonth(), at.getDate()];
  // The week of a day has the year of its Thursday (ISO 8601).
  const thursday = new Date(Date.UTC(year, month, date + 3 - ((at.getDay() + 6) % 7)));
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 604_800_000);
  const ofMonth = `${year}-${two(month + 1)}`;
  return { day: `${ofMonth}-${two(date)}`, week: `${thursday.getUTCFullYear()}-W${two(week)}`, month: ofMonth };
}

const summed = ['km', 'kWh', 'liters', 'minutes'] as const;
const withSource = [...summed, 'cost'] as const;

function addTo(sum: Sum, record: LogRecord): void {
  sum.count += 1;
  for (const name of summed) sum[name] = round(sum[name] + (record[name] ?? 0), 2);
  const { cost, reasons, sources } = record;
  if (cost !== null) sum.cost[cost.currency ?? ''] = round((sum.cost[cost.currency ?? ''] ?? 0) + cost.amount, 2);
  const missing = withSource.filter((name) => record[name] === null && reasons[name] !== 'NOT_A_TRIP');
  sum.incomplete = [...new Set([...sum.incomplete, ...missing])];
  for (const name of withSource) {
    const source = sources[name];
    if (source !== undefined) sum.sources[name] = [...new Set([...(sum.sources[name] ?? []), source])];
  }
}

/** Newest first, as the records are. */
function sumsOf(records: readonly LogRecord[]): Periods<Sum[]> {
  const sums: Periods<Sum[]> = { day: [], week: [], month: [] };
  for (const record of records) {
    const periods = periodsOf(new Date(record.to.at));
    for (const name of ['day', 'week', 'month'] as const) {
      const period = periods[name];
      let sum = sums[name].find((known) => known.period === period);
      if (sum === undefined) {
        sum = { period, count: 0, km: 0, kWh: 0, liters: 0, minutes: 0, cost: {}, incomplete: [], sources: {} };
        sums[name].push(sum);
      }
      addTo(sum, record);
    }
  }
  return sums;
}

/** The last records of a kind, and the sums of this month. */
export interface LogSummary {
  /** Newest first. Without positions. */
  last: (Omit<LogRecord, 'from' | 'to'> & Record<'from' | 'to', { at: string; place: string | null }>)[];
  month: Sum | null;
  /** Older records of this month may no longer be kept. */
  isCut: boolean;
}

const maxShown = 10;

/** @param records newest first */
export function summaryOfLog(records: readonly LogRecord[], now: number): LogSummary {
  const period = periodsOf(new Date(now)).month;
  const month = sumsOf(records).month.find((sum) => sum.period === period) ?? null;
  const last = records.slice(0, maxShown).map(({ from, to, ...record }) => ({
    ...record,
    from: { at: from.at, place: from.place },
    to: { at: to.at, place: to.place },
  }));
  return { last, month, isCut: month !== null && month.count >= maxRecords };
}

/**
 * The records as a reading of `connected-vehicle-status` (docs/internals/contract.md 3.4): those
 * that ended from one time to another.
 * @throws VehicleError INPUT_INVALID
 */
export function logReading(
  { vin, read }: { vin: string; read: 'trips' | 'charges' },
  records: readonly LogRecord[],
  { from, to }: { from?: unknown; to?: unknown },
  now: number,
): Reading<LogRecord[]> {
  const [since, until] = [timeIn(from, 'from', -Infinity), timeIn(to, 'to', Infinity)];
  const payload = records.filter((one) => Date.parse(one.to.at) >= since && Date.parse(one.to.at) < until);
  const receivedAt = iso(now);
  const vehicle = { vin, read, interface: null, receivedAt, measuredAt: null, source: 'live' as const };
  return { payload, vehicle: { ...vehicle, sums: sumsOf(payload) } };
}
