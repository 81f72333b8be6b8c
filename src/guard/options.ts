import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import {
  defaultWatch,
  openingKinds,
  openingsNamed,
  watchNames,
  type OpeningKey,
  type OpeningKind,
  type WatchName,
} from '../catalogue/openings';
import { neverQuiet, parseQuietHours, type QuietHours } from './quiet';

/** The settings of a guard; each has a default. Numbers may be text, as an editor's form stores them. */
export interface GuardSettings {
  /** Minutes that an opening may stay open before an alert (10). */
  minutes?: number | string;
  /** Other minutes for some kinds. */
  minutesFor?: Partial<Record<OpeningKind, number | string>>;
  /** Minutes until the alert is repeated; 0 = never (0). */
  repeat?: number | string;
  /** `22:00-07:00`; empty: none. */
  quietHours?: string;
  /** IANA name in which the quiet hours are meant; empty: the machine's own. */
  timeZone?: string;
  /** Kinds or single openings (`defaultWatch`). */
  watch?: readonly WatchName[];
  /** Count only the time in which the car is not in use (false). */
  onlyWhileNotInUse?: boolean;
}

/** As a form or a person wrote them. */
export type Unchecked<Settings> = { [Name in keyof Settings]?: unknown };

/** The validated settings. Durations are in milliseconds. */
export interface GuardOptions {
  allowed(kind: OpeningKind): number;
  repeat: number;
  quiet: QuietHours;
  /** IANA name; empty: the machine's own. */
  timeZone: string;
  watched: readonly OpeningKey[];
  onlyWhileNotInUse: boolean;
}

const minute = 60_000;
const watchError = `The watched openings must be a list of these names: ${watchNames.join(', ')}.`;
const aYear = 366 * 24 * 60;

/** A count of minutes, as a number or as a form's text. */
export const minutesSchema = (what: string) =>
  z
    .union([z.number(), z.pipe(z.string().check(z.regex(/^\s*\d+(\.\d+)?\s*$/)), z.transform(Number))], {
      error: `${what} must be a number of minutes, 0 or more.`,
    })
    .check(
      z.minimum(0, { error: `${what} must be 0 minutes or more.` }),
      z.maximum(aYear, { error: `${what} must be at most ${aYear} minutes, a year.` }),
    );

const schema = z.lazy(() =>
  z.object({
    minutes: z._default(minutesSchema('The time until an alert'), 10),
    minutesFor: z._default(
      z.partialRecord(z.enum(openingKinds), minutesSchema('The time until an alert'), {
        error: `The other times must be an object with minutes under these names: ${openingKinds.join(', ')}.`,
      }),
      {},
    ),
    repeat: z._default(minutesSchema('The time until an alert is repeated'), 0),
    quietHours: z._default(z.string({ error: 'The quiet hours must be a text like 22:00-07:00.' }), ''),
    timeZone: z._default(z.string({ error: 'The time zone must be a text like Europe/Stockholm.' }), ''),
    watch: z._default(z.array(z.enum(watchNames, { error: watchError }), { error: watchError }), [...defaultWatch]),
    onlyWhileNotInUse: z._default(z.boolean({ error: '“Parked only” must be true or false.' }), false),
  }),
);

/** An empty field of a form is missing, and an environment variable gives a flag as text. */
const meantBy = (value: unknown): unknown =>
  value === '' || value === null ? undefined : value === 'true' || value === 'false' ? value === 'true' : value;

/** @throws VehicleError CONFIG */
export function parseGuardSettings(settings: Unchecked<GuardSettings>): GuardOptions {
  const parsed = schema.safeParse(
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, meantBy(value)])),
  );
  if (!parsed.success) {
    const { path = [], message = 'The settings cannot be read.' } = parsed.error.issues[0] ?? {};
    const [property, kind] = path;
    throw config(
      property === 'minutesFor' && kind !== undefined
        ? `Correct the other time of “${String(kind)}”. ${message}`
        : message,
    );
  }
  const { minutes, minutesFor, repeat, quietHours, timeZone, watch, onlyWhileNotInUse } = parsed.data;
  const watched = openingsNamed(watch);
  const zone = parseTimeZone(timeZone);
  if (watched.length === 0) throw config('No opening is chosen. Choose at least one kind of opening.');
  return {
    allowed: (kind) => (minutesFor[kind] ?? minutes) * minute,
    repeat: repeat * minute,
    quiet: quietHoursOf(quietHours, zone),
    timeZone: zone,
    watched,
    onlyWhileNotInUse,
  };
}

function quietHoursOf(text: string, timeZone: string): QuietHours {
  if (text.trim() === '') return neverQuiet;
  const quiet = parseQuietHours(text, timeZone === '' ? undefined : timeZone);
  if (quiet !== null) return quiet;
  throw config('The quiet hours must look like 22:00-07:00, with two different times. Leave them empty for none.');
}

function parseTimeZone(text: string): string {
  const timeZone = text.trim();
  if (timeZone === '') return '';
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    throw config(
      'There is no such time zone. Write it like Europe/Stockholm, or leave it empty for the time of this machine.',
    );
  }
}

const config = (sentence: string): VehicleError => new VehicleError('CONFIG', `The guard cannot start. ${sentence}`);
