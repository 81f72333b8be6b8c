/** Hours of the day in which no alert is sent, except in answer to a question. All instants are milliseconds since 1970, UTC. */
export interface QuietHours {
  holdsAt(at: number): boolean;
  /** During quiet hours: the time of the next check, at the latest when they end. */
  nextCheck(at: number): number;
}

export const neverQuiet: QuietHours = { holdsAt: () => false, nextCheck: (at) => at };

const minute = 60_000;
const halfHour = 30 * minute;
const day = 24 * 60;
const pattern = /^\s*([01]?\d|2[0-3]):([0-5]\d)\s*[-\u2013]\s*([01]?\d|2[0-3]):([0-5]\d)\s*$/;

/** `22:00-07:00` as minutes of the day; null where the text is something else. */
export function parseRange(text: string): { from: number; to: number } | null {
  const [whole, fromHour, fromMinute, toHour, toMinute] = pattern.exec(text) ?? [];
  if (whole === undefined) return null;
  return { from: Number(fromHour) * 60 + Number(fromMinute), to: Number(toHour) * 60 + Number(toMinute) };
}

/**
 * @param text `22:00-07:00`, over midnight too; the end is not part of it
 * @param timeZone an IANA name; undefined: the machine's own
 * @returns null where the text is not such a range; throws RangeError where the time zone does not exist
 */
export function parseQuietHours(text: string, timeZone?: string): QuietHours | null {
  const { from = 0, to = 0 } = parseRange(text) ?? {};
  // Two equal times are refused, because they can mean never as well as always.
  if (from === to) return null;

  const wall = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  const minuteOfDay = (at: number): number => {
    const [hours, minutes] = wall.format(at).split(':');
    return Number(hours) * 60 + Number(minutes);
  };
  return {
    // Intl gives the local time of that instant, so a change to or from summer time needs no arithmetic.
    holdsAt(at) {
      const now = minuteOfDay(at);
      return from < to ? from <= now && now < to : from <= now || now < to;
    },
    // A change to or from summer time comes at a full or a half hour. With a check at each of them, an hour that the change skips or
    // repeats does not delay the end.
    nextCheck(at) {
      const left = (to - minuteOfDay(at) + day) % day;
      const end = (Math.floor(at / minute) + left) * minute;
      return Math.min(end, (Math.floor(at / halfHour) + 1) * halfHour);
    },
  };
}
