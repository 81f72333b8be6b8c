import { ampereLimits } from '../catalogue/commands';
import { VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import { iso } from '../util/clock';
import { isRecord } from '../util/json';
import { dayMs } from '../util/durations';

/** Three phases of 230 volts at the highest current. */
const maxWatt = ampereLimits.maximum * 690;
/** A day in quarters of an hour. */
const maxPeriods = 96;

/**
 * A time of day can have begun a day ago. What is further away is a mistake, such as
 * seconds for milliseconds.
 */
const maxAheadDays = 366;

/** A part of a schedule as a person wrote it, checked; times in milliseconds since 1970. */
interface Period {
  from: number;
  to: number;
  power: { $type: 'AmperePeriod'; ampere: number } | { $type: 'WattPeriod'; watt: number };
}

/**
 * A list of `{ from, to, ampere | watt }` as the service accepts it
 * (docs/internals/vendor-api.md 17): its periods follow each other, so a gap becomes a period of 0
 * ampere. A period that has begun keeps its beginning: copies of a flow must send the same.
 * @throws VehicleError INPUT_INVALID
 */
export function parseSchedule(input: unknown, now: number): object {
  if (!Array.isArray(input) || input.length === 0 || input.length > maxPeriods)
    throw refused(
      sentence`The schedule must be a list of 1 to ${maxPeriods} periods, each like {"from": "22:00", "to": "06:00", "ampere": 16}.`,
    );
  const periods = input
    .map((item: unknown, index) => periodOf(item, index + 1, now))
    .sort((one, other) => one.from - other.from);
  const [first] = periods;
  const filled = periods.flatMap(({ from, to, power }, index) => {
    const gapFrom = periods[index - 1]?.to ?? from;
    if (from < gapFrom) throw refused(sentence`Two periods of the schedule overlap.`);
    const gap = { $type: 'AmperePeriod', ampere: 0, duration: durationOf(from - gapFrom) };
    return [...(from > gapFrom ? [gap] : []), { ...power, duration: durationOf(to - from) }];
  });
  return { start: iso(first?.from ?? now), periods: filled, scheduleId: null };
}

function periodOf(item: unknown, number: number, now: number): Period {
  const { from, to, ampere, watt } = isRecord(item) ? item : {};
  if ([from, to].some(isNoDay))
    throw refused(sentence`Period ${number} of the schedule has a day that is not in the calendar.`);
  const end = momentOf(to, now);
  // The last such time of day before the end.
  const begin = end === null ? null : momentOf(from, end, -1);
  if (begin === null || end === null)
    throw refused(
      sentence`Period ${number} of the schedule needs “from” and “to”: a time of day such as 22:00, or a time with its date such as 2026-11-28T22:00:00Z.`,
    );
  if (begin >= end) throw refused(sentence`Period ${number} of the schedule ends before it begins.`);
  if (end <= now) throw refused(sentence`Period ${number} of the schedule is in the past.`);
  if (begin < now - dayMs)
    throw refused(
      sentence`Period ${number} of the schedule began more than a day ago. A number is a time in milliseconds since 1970.`,
    );
  if (end > now + maxAheadDays * dayMs)
    throw refused(
      sentence`Period ${number} of the schedule ends more than ${maxAheadDays} days from now. A number is a time in milliseconds since 1970.`,
    );
  const { minimum, maximum } = ampereLimits;
  if (watt === undefined && isAmpere(ampere)) return { from: begin, to: end, power: { $type: 'AmperePeriod', ampere } };
  if (ampere === undefined && typeof watt === 'number' && watt >= 0 && watt <= maxWatt)
    return { from: begin, to: end, power: { $type: 'WattPeriod', watt } };
  throw refused(
    sentence`Period ${number} of the schedule needs either “ampere”, 0 or ${minimum} to ${maximum}, or “watt”, 0 to ${maxWatt}.`,
  );
}

/** 0 pauses. */
const isAmpere = (input: unknown): input is number =>
  typeof input === 'number' && (input === 0 || (input >= ampereLimits.minimum && input <= ampereLimits.maximum));

/**
 * A time with its date and zone, or the next (or last) one of the day in local time;
 * null for anything else.
 */
function momentOf(input: unknown, near: number, direction: 1 | -1 = 1): number | null {
  if (typeof input === 'number') return Number.isFinite(new Date(input).getTime()) ? input : null;
  if (typeof input !== 'string') return null;
  const [, hours, minutes] = /^\s*([01]?\d|2[0-3]):([0-5]\d)\s*$/.exec(input) ?? [];
  if (hours !== undefined) {
    const day = new Date(near);
    const at = (offset: number): number =>
      new Date(day.getFullYear(), day.getMonth(), day.getDate() + offset, Number(hours), Number(minutes)).getTime();
    return [at(0), at(direction)].find((time) => (time - near) * direction > 0) ?? null;
  }
  const time = /^\s*\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)\s*$/.test(input) ? Date.parse(input) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** 30 February, which `Date.parse` reads as a day in March. */
function isNoDay(input: unknown): boolean {
  const [, year, month, day] = (typeof input === 'string' && /^\s*(\d{4})-(\d\d)-(\d\d)T/.exec(input)) || [];
  return Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

/** `hh:mm:ss`, with days in front as `d.hh:mm:ss`. */
function durationOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  const days = Math.floor(seconds / 86_400);
  return `${days > 0 ? `${days}.` : ''}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}

const refused = (fault: Sentence): VehicleError =>
  new VehicleError('INPUT_INVALID', sentence`${fault} Nothing was sent.`);
