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
import { asSentence, sentence, type Sentence } from '../sentence';
import { isRecord } from '../util/json';
import { parseHours, type HoursSettings, type QuietHours } from '../util/quiet';
import { minuteMs } from '../util/durations';

/**
 * The settings of a guard; each has a default. Numbers may be text, as an
 * editor's form stores them.
 */
export interface GuardSettings extends HoursSettings {
  /** Minutes that an opening may stay open before an alert (10). */
  minutes?: number | string;
  /** Other minutes for some kinds. */
  minutesFor?: Partial<Record<OpeningKind, number | string>>;
  /** Minutes until the alert is repeated; 0 = never (0). */
  repeat?: number | string;
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
  watched: readonly OpeningKey[];
  onlyWhileNotInUse: boolean;
}

const minutesPerYear = 366 * 24 * 60;

/** A count of minutes, as a number or as a form's text; else what is wrong with it. */
export function minutesOf(input: unknown, what: string): number | Sentence {
  const minutes = typeof input === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(input) ? Number(input) : input;
  if (typeof minutes !== 'number' || Number.isNaN(minutes))
    return sentence`${asSentence(what)} must be a number of minutes, 0 or more.`;
  if (minutes < 0) return sentence`${asSentence(what)} must be 0 minutes or more.`;
  return minutes <= minutesPerYear
    ? minutes
    : sentence`${asSentence(what)} must be at most ${minutesPerYear} minutes, a year.`;
}

/** An empty field of a form is missing, and a flag from an environment variable is text. */
const meantBy = (value: unknown): unknown =>
  value === '' || value === null ? undefined : value === 'true' || value === 'false' ? value === 'true' : value;

/** @throws VehicleError CONFIG */
export function parseGuardSettings(settings: Unchecked<GuardSettings>): GuardOptions {
  const filled: Unchecked<GuardSettings> = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, meantBy(value)]),
  );
  const { minutes = 10, minutesFor = {}, repeat = 0 } = filled;
  const { watch = defaultWatch, onlyWhileNotInUse = false } = filled;
  const allowed = milliseconds(minutes, untilAlert);
  const kinds: readonly string[] = openingKinds;
  if (!isRecord(minutesFor) || Object.keys(minutesFor).some((kind) => !kinds.includes(kind)))
    throw guardConfigError(
      sentence`The other times must be an object with minutes under these names: ${openingKinds}.`,
    );
  const allowedFor = new Map(
    Object.entries(minutesFor).map(([kind, input]) => [
      kind,
      milliseconds(input, untilAlert, (fault) => sentence`Correct the other time of “${kind}”. ${fault}`),
    ]),
  );
  const repeatAfter = milliseconds(repeat, 'The time until an alert is repeated');
  const quiet = parseHours(filled, guardConfigError);
  if (!Array.isArray(watch) || !watch.every((name): name is WatchName => watchNames.some((known) => known === name)))
    throw guardConfigError(sentence`The watched openings must be a list of these names: ${watchNames}.`);
  if (typeof onlyWhileNotInUse !== 'boolean') throw guardConfigError('“Parked only” must be true or false.');
  const watched = openingsNamed(watch);
  if (watched.length === 0) throw guardConfigError('No opening is chosen. Choose at least one kind of opening.');
  return {
    allowed: (kind) => allowedFor.get(kind) ?? allowed,
    repeat: repeatAfter,
    quiet,
    watched,
    onlyWhileNotInUse,
  };
}

const untilAlert = 'The time until an alert';

function milliseconds(input: unknown, what: string, explain = (fault: Sentence): Sentence => fault): number {
  const minutes = minutesOf(input, what);
  if (typeof minutes !== 'number') throw guardConfigError(explain(minutes));
  return minutes * minuteMs;
}

const guardConfigError = (problem: string | Sentence): VehicleError =>
  new VehicleError('CONFIG', sentence`The guard cannot start. ${asSentence(problem)}`);
