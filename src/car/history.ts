import type { ReadName } from '../catalogue/reads';
import { newestAt } from '../util/bounded';
import { memberOf } from '../util/json';
import { hourMs } from '../util/durations';

/** The values of which a line over the last seven days is kept, by the names of their reads. */
export const historyNames = [
  'batteryChargeLevel',
  'fuelAmount',
  'electricRange',
  'distanceToEmpty',
] as const satisfies ReadName[];

type HistoryName = (typeof historyNames)[number];

/**
 * An hour since 1970, and the last value of each of `historyNames` that was read in it; null if
 * there was none.
 */
type HistoryRow = (number | null)[];

/**
 * The points of each line, oldest first: milliseconds since 1970, and the value in
 * the unit of its read.
 */
export type Lines = Partial<Record<HistoryName, [time: number, value: number][]>>;

const hoursKept = 7 * 24;

/**
 * Adds the values of an answer to the row of this hour. The time is that of this machine, because
 * the clock of a car may be wrong. Rows of a time at which the clock of the machine was wrong stay
 * until 168 newer rows have replaced them, and `linesOf` leaves them out.
 * @param now in milliseconds since 1970
 * @returns whether this is the first value of the hour
 */
export function addToHistory(rows: HistoryRow[], read: ReadName, payload: unknown, now: number): boolean {
  const level = (name: HistoryName): number | null => levelOf(name === read ? payload : memberOf(payload, name));
  // Most reads have none.
  if (historyNames.every((name) => level(name) === null)) return false;
  const values = historyNames.map(level);
  const hour = Math.floor(now / hourMs);
  const row = rows.find(([known]) => known === hour);
  if (row === undefined) rows.push([hour, ...values]);
  else values.forEach((value, index) => (row[index + 1] = value ?? row[index + 1] ?? null));
  rows.splice(0, rows.length - hoursKept);
  return row === undefined;
}

/** The rows of two readers of the car. @param now in milliseconds since 1970 */
export function mergedHistory(stored: readonly HistoryRow[], own: readonly HistoryRow[], now: number): HistoryRow[] {
  const rows = new Map(stored.map((row) => [row[0], row]));
  for (const row of own) {
    const other = rows.get(row[0]);
    rows.set(row[0], other === undefined ? row : row.map((value, index) => value ?? other[index] ?? null));
  }
  return newestAt([...rows.values()], ([hour]) => Number(hour) * hourMs, { now, max: hoursKept });
}

/** The lines of the last seven days. @param now in milliseconds since 1970 */
export function linesOf(rows: readonly HistoryRow[], now: number): Lines {
  const lines: Lines = {};
  for (const [hour, ...values] of [...rows].sort(([one], [other]) => Number(one) - Number(other))) {
    const time = Number(hour) * hourMs;
    if (time > now || time <= now - hoursKept * hourMs) continue;
    historyNames.forEach((name, index) => {
      const value = values[index];
      if (typeof value === 'number') (lines[name] ??= []).push([time, value]);
    });
  }
  return lines;
}

/** Short enough for a row: percent, liters or kilometers with one decimal. */
function levelOf(member: unknown): number | null {
  const value = memberOf(member, 'value');
  return typeof value === 'number' && value >= 0 && value < 10_000 ? Math.round(value * 10) / 10 : null;
}
