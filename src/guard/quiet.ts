/** Hours of the day in which no alert is sent, except in answer to a question. All instants are milliseconds since 1970, UTC. */
export interface QuietHours {
  holdsAt(at: number): boolean;
  /** The time of the next check during quiet hours: not later than the end of the quiet hours, and exactly then at the latest. */
  nextCheck(at: number): number;
}

export const neverQuiet: QuietHours = { holdsAt: () => false, nextCheck: (at) => at };

const minute = 60_000;
const halfHour = 30 * minute;
const day = 24 * 60;
const pattern = /^\s*([01]?\d|2[0-3]):([0-5]\d)\s*[-\u2013]\s*([01]?\d|2[0-3]):([0-5]\d)\s*$/;

/**
 * @param text `22:00-07:00`, over midnight too; the end is not part of it
 * @param timeZone an IANA name; undefined: the machine's own
 * @returns null where the text is not such a range; throws RangeError where the time zone does not exist
 */
export function parseQuietHours(text: string, timeZone?: string): QuietHours | null {
  const [, fromHour, fromMinute, toHour, toMinute] = pattern.exec(text) ?? [];
  const from = Number(fromHour) * 60 + Number(fromMinute);
  const to = Number(toHour) * 60 + Number(toMinute);
  // NaN where the pattern failed. Equal ends would mean never to one reader and always to another.
  if (Number.isNaN(from) || from === to) return null;

  const wall = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  const minuteOfDay = (at: number): number => {
    const [hours, minutes] = wall.format(at).split(':');
    return Number(hours) * 60 + Number(minutes);
  };
  return {
    // Asked of the clock on the wall at that very instant, so a change to or from summer time needs no arithmetic.
    holdsAt(at) {
      const now = minuteOfDay(at);
      return from < to ? from <= now && now < to : from <= now || now < to;
    },
    // Clocks change on a half hour. A check at each half hour never misses the end by the hour that is skipped.
    nextCheck(at) {
      const left = (to - minuteOfDay(at) + day) % day;
      const end = (Math.floor(at / minute) + left) * minute;
      return Math.min(end, (Math.floor(at / halfHour) + 1) * halfHour);
    },
  };
}
