import { openingsOf, openingState } from '../catalogue/openings';
import { isReadName, reads, readThemes, type ReadName } from '../catalogue/reads';
import { inUnit, isNoConsumption, roundedIn, unitInWords } from '../catalogue/units';
import { numberIn, parsePlace, positionOf, type Place, type Position } from '../car/places';
import type { Reading } from '../car/reading';
import { isRecord, memberOf } from '../util/json';

/**
 * What a value of the car is, from which its operators and operands follow. `words`:
 * those of true and false.
 */
type ValueKind =
  | { kind: 'number'; unit: string }
  | { kind: 'word'; values: readonly string[] }
  | { kind: 'boolean'; words: { true: string; false: string } }
  | { kind: 'position' };

/** A value that a condition can name: a read, or a member of the windows or doors. */
export interface ConditionValue {
  /** `batteryChargeLevel`, `windows.rearRight`. */
  name: string;
  read: ReadName | 'inOrder';
  /** The member of windows or doors: an opening, `allClosed` or `locked`. */
  member?: string;
  type: ValueKind;
}

/** A value of the car as it was read; null if it is unknown. */
export interface Fact {
  is: number | string | boolean | Position | null;
  /** In words, only of a number. */
  unit: string | null;
  /** ISO-8601. */
  measuredAt: string | null;
  /** The reasons; only `inOrder` has them. */
  reasons?: unknown;
  /** Why a number has no value in the unit. */
  reason?: 'NO_CONSUMPTION';
}

const allClosed: ValueKind = { kind: 'boolean', words: { true: 'all closed', false: 'not all closed' } };
const locked: ValueKind = { kind: 'boolean', words: { true: 'locked', false: 'unlocked' } };
const inOrder: ValueKind = { kind: 'boolean', words: { true: 'in order', false: 'not in order' } };
const opening: ValueKind = { kind: 'word', values: ['open', 'closed'] };
const accessibility: ValueKind = { kind: 'word', values: ['AVAILABLE', 'UNAVAILABLE'] };

/** The value of this name; undefined if a condition can have none. */
export function conditionValue(name: string): ConditionValue | undefined {
  if (name === 'inOrder') return { name, read: name, type: inOrder };
  const [read = '', member, ...more] = name.split('.');
  if (!isReadName(read) || more.length > 0) return undefined;
  const type = member === undefined ? typeOfRead(read) : typeOfMember(read, member);
  return type && { name, read, ...(member !== undefined && { member }), type };
}

function typeOfRead(read: ReadName): ValueKind | undefined {
  if (read === 'location') return { kind: 'position' };
  if (read === 'accessibility') return accessibility;
  const { value } = reads[read];
  if (value === undefined || value.kind === 'boolean') return value;
  if ('unit' in value) return { kind: 'number', unit: value.unit };
  return { kind: 'word', values: value.values };
}

function typeOfMember(read: ReadName, member: string): ValueKind | undefined {
  if (read !== 'windows' && read !== 'doors') return undefined;
  if (member === 'allClosed') return allClosed;
  if (member === 'locked') return read === 'doors' ? locked : undefined;
  return openingsOf[read].some(({ name, kind }) => name === member && kind !== 'lock') ? opening : undefined;
}

/**
 * The values that the form offers, by the headings of the list of reads: each
 * opening once, as a member.
 */
export const conditionValues = (): [heading: string, names: readonly string[]][] =>
  readThemes()
    .map(([heading, names]): [string, readonly string[]] => {
      if (heading === 'lock') return [heading, ['doors.locked']];
      if (heading !== 'windows' && heading !== 'doors')
        return [heading, names.filter((name) => conditionValue(name) !== undefined)];
      const openings = openingsOf[heading].flatMap(({ name, kind }) => (kind === 'lock' ? [] : [name]));
      return [heading, ['allClosed', ...openings].map((member) => `${heading}.${member}`)];
    })
    .filter(([, names]) => names.length > 0);

/** The unit of a number; null for a value that is none. */
export const unitOfValue = ({ type }: ConditionValue): string | null => (type.kind === 'number' ? type.unit : null);

/**
 * The value in a reading. A word that is new, and a number in a unit that cannot be
 * converted, are unknown.
 * @param unit of the number, in words. Default: that of the value
 */
export function factOf(value: ConditionValue, reading: Reading, unit: string | null = unitOfValue(value)): Fact {
  const { read, type } = value;
  const { is, measuredAt, found, given } = knownIn(value, reading, unit);
  const isUnused =
    type.kind === 'number' &&
    typeof found === 'number' &&
    isNoConsumption(found, unitInWords(given) ?? '', unit ?? type.unit);
  return {
    is,
    unit: type.kind === 'number' && is !== null ? unit : null,
    measuredAt,
    ...(isUnused && { reason: 'NO_CONSUMPTION' }),
    ...(read === 'inOrder' && { reasons: memberOf(reading.payload, 'reasons') ?? [] }),
  };
}

/** A value in a reading, and what the car reports of it. Each read takes all of its values. */
export function knownIn(
  { member, type }: ConditionValue,
  { payload, vehicle }: Reading,
  unit: string | null,
): Pick<Fact, 'is' | 'measuredAt'> & { found: unknown; given: unknown } {
  const members = isRecord(payload) ? payload : {};
  const ofPayload = member === undefined ? members : members[member === 'locked' ? 'carLocked' : member];
  const { value: measured, unit: given, timestamp } = isRecord(ofPayload) ? ofPayload : {};
  const measuredAt = member === 'allClosed' ? vehicle.measuredAt : typeof timestamp === 'string' ? timestamp : null;
  const found = member === 'allClosed' || member === 'locked' ? vehicle[member] : measured;
  const is =
    type.kind === 'position'
      ? positionOf(members)
      : type.kind === 'number'
        ? numberOf(found, given, unit ?? type.unit, type.unit)
        : knownOf(type, found);
  return { is, measuredAt, found, given };
}

/**
 * A number in a unit of a condition; null if there is none. In another unit than its own it is
 * rounded, as people see it there.
 * @param own unit of the value
 */
export function numberInUnit(value: number, from: string, to: string, own: string): number | null {
  const converted = inUnit(value, from, to);
  return converted === null || to === own || from === to ? converted : roundedIn(to, converted);
}

function numberOf(value: unknown, given: unknown, unit: string, own: string): number | null {
  const answered = unitInWords(given);
  return typeof value === 'number' && answered !== null ? numberInUnit(value, answered, unit, own) : null;
}

function knownOf(type: Exclude<ValueKind, { kind: 'position' | 'number' }>, value: unknown): Fact['is'] {
  if (type.kind === 'boolean') return typeof value === 'boolean' ? value : null;
  const word = type === opening ? openingState(value) : value;
  return type.values.find((known) => known === word) ?? null;
}

/** The operators of each kind; `older than`, minutes, is one of every kind. */
const operators = {
  number: ['<', '<=', '>', '>=', '=', 'between'],
  word: ['is', 'is not', 'one of'],
  boolean: ['is', 'is not', 'one of'],
  position: ['within', 'outside'],
} as const;
export type Operator = (typeof operators)[keyof typeof operators][number] | 'older than';

export const operatorsOf = ({ kind }: ValueKind): readonly Operator[] => [...operators[kind], 'older than'];

/** Two numbers, with single spaces. */
const range = /^(-?\d+(?:[.,]\d+)?)(?: ?(?:-|–|;|to|and|bis|und|à|et|tot|en|til|till|og|och) ?| )(-?\d+(?:[.,]\d+)?)$/;
const maxRangeText = 100;

/** The two numbers of a range; empty for any other text. */
function boundsIn(text: string): string[] {
  if (text.length > maxRangeText) return [];
  return range.exec(text.trim().replace(/\s+/g, ' '))?.slice(1) ?? [];
}

/**
 * What a value is compared with, from a form or a message; undefined if it does not fit the value
 * and the operator.
 * @param places of the vehicle configuration, which the input can name
 * @returns a number, `[lowest, highest]`, a word, true or false, a list of these, or a place
 */
export function parseOperand(
  type: ValueKind,
  operator: Operator,
  input: unknown,
  places: readonly Place[] = [],
): unknown {
  if (operator === 'older than') return numberIn(input) >= 0 ? numberIn(input) : undefined;
  if (type.kind === 'position') return parsePlace(input, places) ?? undefined;
  if (operator === 'between') {
    const bounds: unknown[] = typeof input === 'string' ? boundsIn(input) : [input].flat();
    const [low, high, ...more] = bounds.map(numberIn).sort((one, other) => one - other);
    return Number.isFinite(low) && Number.isFinite(high) && more.length === 0 ? [low, high] : undefined;
  }
  if (type.kind === 'number') return Number.isFinite(numberIn(input)) ? numberIn(input) : undefined;
  if (operator !== 'one of') return parseWord(type, input);
  const items = typeof input === 'string' ? input.split(',') : [input].flat();
  const words = items.map((item) => parseWord(type, item));
  return words.length === 0 || words.includes(undefined) ? undefined : words;
}

function parseWord(type: ValueKind, input: unknown): string | boolean | undefined {
  // An object may have no text at all.
  const entered = typeof input === 'object' ? '' : String(input).trim().toLowerCase();
  if (type.kind === 'word') return type.values.find((word) => word.toLowerCase() === entered);
  if (type.kind !== 'boolean') return undefined;
  return [true, false].find((value) => entered === String(value) || entered === type.words[value ? 'true' : 'false']);
}
