import { serviceUrgency } from '../catalogue/warnings';
import { capitalized, filled } from '../sentence';
import { dayMs } from '../util/durations';
import type { VehicleEvent } from './types';

/** The words of a language. Each is in lower case if the language's sentences allow it. */
interface EventWords {
  /** BCP 47 tag. */
  language: string;
  /**
   * `{name} is open`, under the name of an event, or `service-soon`, `service-overdue` or
   * `session-without-energy`.
   */
  sentence(key: string): string;
  /** `rear-right window`, for the name of a door, window or warning. */
  name(event: VehicleEvent['event'], member: string): string;
  /** `12 km`, in the units of the vehicle configuration. */
  distance(kilometers: number): string;
}

/**
 * An event as a sentence for a person, without a full stop: "Rear-right window is open".
 * @param now milliseconds since 1970: if the sign-in ends within a day, the
 * sentence also has the time
 */
export function eventText(
  { event, from, to, name, place, target, doneAt, between, session }: VehicleEvent,
  words: EventWords,
  now = 0,
): string {
  const until = Date.parse(between.until);
  const isSoon = event === 'sign-in-ending' && until > now && until - now < dayMs;
  const values: Readonly<Record<string, string>> = {
    name: name === null ? '' : words.name(event, name),
    place: place ?? '',
    date: new Intl.DateTimeFormat(words.language, {
      day: 'numeric',
      month: 'long',
      ...(isSoon && { hour: 'numeric', minute: '2-digit' }),
    }).format(until),
    value: new Intl.NumberFormat(words.language, { maximumFractionDigits: 0 }).format(
      /^battery-|-step$/.test(event) ? Number(to) : 0,
    ),
    distance: event === 'trip-ended' ? words.distance(Number(to) - Number(from)) : '',
    kWh: new Intl.NumberFormat(words.language, { maximumFractionDigits: 2 }).format(session?.kWh ?? 0),
    target: String(target),
    time: doneAt
      ? new Intl.DateTimeFormat(words.language, { hour: 'numeric', minute: '2-digit' }).format(Date.parse(doneAt))
      : '',
  };
  const more = [target == null ? '' : 'target', doneAt ? 'until' : ''].map(
    (key) => key && words.sentence(`charging-${key}`),
  );
  const special =
    event === 'service-due'
      ? { 1: 'service-soon', 3: 'service-overdue' }[serviceUrgency(to)]
      : session?.kWh === null && 'session-without-energy';
  return capitalized(filled(words.sentence(special || event).concat(...more), values), words.language);
}
