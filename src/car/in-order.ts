import { inOrderReads, type ReadName } from '../catalogue/reads';
import { unspecified } from '../catalogue/openings';
import { serviceUrgency, warningClasses } from '../catalogue/warnings';
import { dayMs } from '../util/durations';
import { isRecord, memberOf } from '../util/json';
import { mayHaveReported, type Equipment } from './equipment';
import type { Reading } from './reading';
import { timesOf } from './times';

/** Why a car is not in order, or why that is not known. */
export interface InOrderReason {
  reason: 'openings' | 'lock' | 'warnings' | 'service' | 'signIn' | 'age';
  state: 'no' | 'unknown';
  /** `windows.rearRight`, or a read of which nothing is known. */
  names: string[];
}

/** `payload` of the read `inOrder` (docs/internals/contract.md 3.5). */
export interface InOrder {
  value: boolean | null;
  reasons: InOrderReason[];
  /** Warnings that this car has never reported. */
  notReported: string[];
  /** ISO-8601: the last report of doors and windows. */
  timestamp: string | null;
}

interface Known {
  readings: ReadonlyMap<ReadName, Reading>;
  /** Reads that this car does not have, according to the service. */
  lacking: ReadonlySet<ReadName>;
  /** Null if what the car has reported before cannot be read. */
  equipment: Equipment | null;
  signIn: { endsAt: number | null; isRequired: boolean | null };
  /** Milliseconds since 1970, by the clock of the service. */
  now: number;
}

/** A report that is older than this may no longer be true. */
const maxAgeMs = 3 * dayMs;
/** A sign-in that ends within this time is no longer in order. */
const signInMs = 3 * dayMs;

/**
 * Whether doors, windows, lock, warnings, service and sign-in are in order. An unknown
 * part never makes a yes.
 */
export function inOrderOf(known: Known): InOrder {
  const { readings, signIn, now } = known;
  const reasons: InOrderReason[] = [];
  const add = (reason: InOrderReason['reason'], state: InOrderReason['state'], names: string[]): void => {
    if (names.length > 0) reasons.push({ reason, state, names });
  };
  const openings = (['windows', 'doors'] as const).map((read) => ({ read, ...readings.get(read)?.vehicle }));
  const named = (list: 'open' | 'unknown'): string[] =>
    openings.flatMap(({ read, [list]: names = list === 'open' ? [] : [''] }) =>
      names.filter((name) => name !== 'carLocked').map((name) => (name === '' ? read : `${read}.${name}`)),
    );
  add('openings', 'no', named('open'));
  add('openings', 'unknown', named('unknown'));
  const locked = readings.get('doors')?.vehicle.locked ?? null;
  if (locked !== true) add('lock', locked === null ? 'unknown' : 'no', ['doors.carLocked']);
  const warnings = warningsOf(known);
  for (const reason of ['warnings', 'service'] as const)
    for (const state of ['no', 'unknown'] as const)
      add(
        reason,
        state,
        warnings[state].filter((name) => (name === service) === (reason === 'service')),
      );
  const { endsAt, isRequired } = signIn;
  if (isRequired === true || (endsAt !== null && endsAt - now < signInMs)) add('signIn', 'no', ['signIn']);
  const timestamp = newestOf([readings.get('windows')?.payload, readings.get('doors')?.payload]);
  const { measuredAt } = timesOf(timestamp, { at: now });
  if (measuredAt === null || now - measuredAt > maxAgeMs) add('age', 'unknown', ['age']);
  const isUnknown = reasons.length > 0 && reasons.every(({ state }) => state === 'unknown');
  return { value: isUnknown ? null : reasons.length === 0, reasons, notReported: warnings.notReported, timestamp };
}

const service = 'diagnostics.serviceWarning';

/** The reads whose members are warnings. */
const warningReads = inOrderReads.filter((read) => read !== 'windows' && read !== 'doors');

/**
 * The state of each warning by name. What a car has never reported is not fitted, if
 * it reports others now.
 */
function warningsOf({ readings, lacking, equipment }: Known): Record<'no' | 'unknown' | 'notReported', string[]> {
  const found = { no: [] as string[], unknown: [] as string[], notReported: [] as string[] };
  let isReporting = false;
  for (const read of warningReads) {
    const members = warningsIn(read, readings.get(read)?.payload);
    const before = Object.keys(equipment ?? {}).filter((name) => name.startsWith(`${read}.`) && !members.has(name));
    for (const name of before) members.set(name, null);
    if (members.size === 0) found[lacking.has(read) ? 'notReported' : 'unknown'].push(read);
    for (const [name, word] of members) {
      const state = stateOf(name, word);
      const isKnown = equipment === null || mayHaveReported(equipment, name);
      const isAbsent = state === null && !isSpecified(word) && !isKnown;
      isReporting ||= state !== null;
      if (state !== true) found[state === false ? 'no' : isAbsent ? 'notReported' : 'unknown'].push(name);
    }
  }
  return isReporting ? found : { ...found, unknown: [...found.unknown, ...found.notReported], notReported: [] };
}

const isSpecified = (word: unknown): boolean => (word ?? '') !== '' && word !== unspecified;

/** False for a warning that is on, null for an unknown one. */
function stateOf(name: string, word: unknown): boolean | null {
  const urgency = name === service ? serviceUrgency(word) : -1;
  if (urgency >= 0) return urgency === 0;
  const known = typeof word === 'string' && Object.hasOwn(warningClasses, word) ? warningClasses[word] : undefined;
  return known === undefined ? null : known === 'off';
}

function warningsIn(read: ReadName, payload: unknown): Map<string, unknown> {
  const warnings = new Map<string, unknown>();
  if (!isRecord(payload)) return warnings;
  for (const name of Object.keys(payload))
    if (read === 'tyres' || name.endsWith('Warning'))
      warnings.set(`${read}.${name}`, memberOf(payload[name], 'value') ?? null);
  return warnings;
}

/** The names of the warnings that a payload contains. */
export function warningsReportedIn(read: ReadName, payload: unknown): string[] {
  const names: string[] = [];
  if (!warningReads.some((part) => part === read)) return names;
  for (const [name, word] of warningsIn(read, payload)) if (isSpecified(word)) names.push(name);
  return names;
}

function newestOf(payloads: readonly unknown[]): string | null {
  const times = payloads
    .flatMap((payload) => Object.values(isRecord(payload) ? payload : {}))
    .map((member) => memberOf(member, 'timestamp'));
  return (
    times
      .filter((time) => typeof time === 'string')
      .sort()
      .at(-1) ?? null
  );
}
