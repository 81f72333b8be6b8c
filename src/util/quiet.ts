import type { VehicleError } from '../errors';
import { minuteMs } from './durations';

/**
 * Hours of the day in which nothing is sent, except in answer to a question. All instants are
 * milliseconds since 1970, UTC.
 */
export interface QuietHours {
  holdsAt(at: number): boolean;
  /** During quiet hours: the time of the next check, at the latest when they end. */
  nextCheck(at: number): number;
}

const neverQuiet: QuietHours = { holdsAt: () => false, nextCheck: (at) => at };

const halfHourMs = 30 * minuteMs;
const minutesPerDay = 24 * 60;
const pattern = /^\s*([01]?\d|2[0-3]):([0-5]\d)\s*[-\u2013]\s*([01]?\d|2[0-3]):([0-5]\d)\s*$/;

/** `22:00-07:00` as minutes of the day; null if the text is something else. */
export function parseRange(text: string): { from: number; to: number } | null {
  const [whole, fromHour, fromMinute, toHour, toMinute] = pattern.exec(text) ?? [];
  if (whole === undefined) return null;
  return { from: Number(fromHour) * 60 + Number(fromMinute), to: Number(toHour) * 60 + Number(toMinute) };
}

/** The hours in which a node sends messages without being asked. */
export interface HoursSettings {
  /**
   * How the range is meant: `always` does not use it, `only` sends in it, `not`
   * outside of it (`not`).
   */
  hours?: 'always' | 'only' | 'not';
  /**
   * `22:00-07:00`, over midnight too; the end is not part of it. Empty: messages at any time,
   * an error with `only`.
   */
  quietHours?: string;
  /** IANA name in which the range is meant; empty: the machine's own. */
  timeZone?: string;
}

/**
 * @param settings as a form or a person wrote them
 * @param fail makes the error of a sentence
 */
export function parseHours(
  settings: { [Name in keyof HoursSettings]?: unknown },
  fail: (problem: string) => VehicleError,
): QuietHours {
  const { quietHours: range = '', timeZone: zone = '' } = settings;
  const hours = settings.hours || 'not';
  if (hours !== 'always' && hours !== 'only' && hours !== 'not') throw fail('The hours must be always, only or not.');
  if (typeof range !== 'string') throw fail('The hours must be a text like 22:00-07:00.');
  if (typeof zone !== 'string') throw fail('The time zone must be a text like Europe/Stockholm.');
  const timeZone = zone.trim() === '' ? undefined : timeZoneOf(zone);
  if (timeZone === null)
    throw fail(
      'There is no such time zone. Write it like Europe/Stockholm, or leave it empty for the time zone of this machine.',
    );
  if (hours === 'always' || (hours === 'not' && range.trim() === '')) return neverQuiet;
  const { from = 0, to = 0 } = parseRange(range) ?? {};
  // Two equal times are refused, because they can mean never as well as always.
  if (from === to) throw fail('The hours must look like 22:00-07:00, with two different times.');
  const quiet = hours === 'only' ? { from: to, to: from } : { from, to };
  return quietHours(quiet, timeZone);
}

/** The name of a time zone as Intl writes it; null if there is none. */
export function timeZoneOf(text: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

function quietHours({ from, to }: { from: number; to: number }, timeZone?: string): QuietHours {
  const wall = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  const minuteOfDay = (at: number): number => {
    const [hours, minutes] = wall.format(at).split(':');
    return Number(hours) * 60 + Number(minutes);
  };
  return {
    // Intl has the local time of that instant, so a change to or from summer time
    // needs no arithmetic.
    holdsAt(at) {
      const now = minuteOfDay(at);
      return from < to ? from <= now && now < to : from <= now || now < to;
    },
    // A change to or from summer time comes at a full or a half hour. With a check at each of them,
    // an hour that the change skips or repeats does not delay the end.
    nextCheck(at) {
      const left = (to - minuteOfDay(at) + minutesPerDay) % minutesPerDay;
      const end = (Math.floor(at / minuteMs) + left) * minuteMs;
      return Math.min(end, (Math.floor(at / halfHourMs) + 1) * halfHourMs);
    },
  };
}
