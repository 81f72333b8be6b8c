import {
  clockTime,
  getOrMake,
  isReadName,
  isRecord,
  isSeveral,
  memberOf,
  openingKeyOf,
  openings,
  readingsIn,
  titleOf,
  unitInWords,
  valueTypeOf,
  type AnyReading,
  type InOrderReason,
  type Reading,
} from '../../src/index';
import type { Words } from './i18n';
import type { StatusStyle } from './node-status';
import { clock } from './time';

/** The node status of a reading. */
interface ReadingText {
  style: Extract<StatusStyle, 'good' | 'attention' | 'unclear'>;
  text: string;
}

/** Values whose words need no title: "locked", "not charging", "plugged in". */
const selfNamed: ReadonlySet<string> = new Set(['carLocked', 'chargingStatus', 'chargerConnectionStatus']);

/** A longer text would run over the nodes beside it. */
const maxLength = 70;

/**
 * Describes a reading in a few words; null if nothing is known. Never contains the position: a
 * status is sent to every open editor.
 */
export function describeReading(reading: AnyReading, words: Words): ReadingText | null {
  if (!isSeveral(reading)) return describeOne(reading, words, true);
  const parts = readingsIn(reading).flatMap((one) => describeOne(one, words, false) ?? []);
  const failed = reading.vehicle.errors.length;
  const texts: string[] = [];
  for (const text of new Set(parts.map((part) => part.text)))
    if (texts.length === 0 || [...texts, text].join(', ').length <= maxLength) texts.push(text);
  if (failed > 0) texts.push(words.say('reading.failed', { count: failed }));
  if (texts.length === 0) return null;
  const isCalm = failed === 0 && parts.every(({ style }) => style === 'good');
  return { style: isCalm ? 'good' : 'attention', text: texts.join(', ') };
}

/** @param isAlone whether the node has no other read; otherwise the text is shorter */
function describeOne({ payload, vehicle }: Reading, words: Words, isAlone: boolean): ReadingText | null {
  const { read } = vehicle;
  if (vehicle.open !== undefined) return describeOpenings(read, vehicle, words, isAlone);
  if (Array.isArray(payload)) return good(counted(isReadName(read) ? read : 'entries', payload.length, words));
  if (!isRecord(payload)) return null;
  switch (read) {
    case 'details':
      return good(isRecord(payload['descriptions']) ? payload['descriptions']['model'] : null);
    case 'accessibility':
      return describeAccessibility(payload, words);
    case 'charging':
      return describeCharging(payload, words);
    case 'chargingDoneAt':
      return good(chargedAt(payload, words));
    case 'chargingCapabilities':
      return good(counted('values', Object.keys(payload).length, words));
    case 'inOrder':
      return { style: styleOfOrder(payload['value']), text: inOrderText(payload, words) };
    case 'location':
      return payload['latitude'] === null ? null : good(words.say('reading.location'));
    case 'fuel':
      return describeNumbers(payload, ['fuelAmount', 'batteryChargeLevel'], words);
    case 'statistics':
      return describeNumbers(payload, ['distanceToEmptyTank', 'distanceToEmptyBattery'], words);
    case 'engine-status':
      return good(textOfValue(payload['engineStatus'], words));
    case 'tyres':
    case 'warnings':
    case 'diagnostics':
    case 'brakes':
    case 'engine':
      return describeWarnings(read, payload, words);
    default:
      return describeValue(read, payload, words, isAlone);
  }
}

const styleOfOrder = (value: unknown): ReadingText['style'] =>
  value === true ? 'good' : value === false ? 'attention' : 'unclear';

/** "not in order: rear-right window open, 2 warnings", "cannot tell, unknown: lock". */
export function inOrderText(payload: { value?: unknown; reasons?: unknown }, words: Words): string {
  const { say } = words;
  const reasons = (Array.isArray(payload.reasons) ? payload.reasons : []) as InOrderReason[]; // Of the library.
  const faults = reasons
    .filter(({ state }) => state === 'no')
    .map(({ reason, names }) => {
      if (reason === 'openings') {
        const parts = names.map((name) => name.split('.'));
        const open = parts.map(([read = '', name = '']) =>
          say(`part.${openingKeyOf(name, read)}`, { defaultValue: name }),
        );
        return say('reading.open', { names: open.slice(0, 8).join(', ') });
      }
      if (reason === 'lock') return say('reading.word.unlocked');
      if (reason !== 'warnings') return say(`reading.inOrder.${reason}`);
      const named = names.slice(0, 3).map((name) => warningName(name, words));
      return `${counted('warnings', names.length, words)} (${named.join(', ')}${names.length > 3 ? ', …' : ''})`;
    });
  const unknown = reasons.filter(({ state, reason }) => state === 'unknown' && reason !== 'age');
  const names = unknown.map(({ reason }) => say(`reading.inOrder.of.${reason}`)).join(', ');
  if (names !== '') faults.push(say('reading.inOrder.unknown', { names }));
  if (reasons.some(({ reason }) => reason === 'age')) faults.push(say('reading.inOrder.age'));
  return say(`reading.inOrder.${String(payload.value ?? null)}`, { reasons: faults.join(', ') });
}

/** "rear fog light", "front-left tire". */
function warningName(name: string, { say }: Words): string {
  const [read, member = ''] = name.split('.');
  const key = read === 'tyres' ? `${member}Tyre` : member;
  return say(`event.name.${key}`, { defaultValue: titleOf(key) });
}

const good = (text: unknown): ReadingText | null =>
  typeof text === 'string' && text !== '' ? { style: 'good', text } : null;

const counted = (key: string, count: number, { say, language }: Words): string =>
  say(`reading.${key}_${count === 1 ? 'one' : 'other'}`, { count: numberFormatOf(language).format(count) });

function describeOpenings(
  read: string,
  { open = [], allClosed, locked }: Reading['vehicle'],
  words: Words,
  isAlone: boolean,
): ReadingText | null {
  const { say } = words;
  const isUnlocked = locked === false;
  const lock =
    locked === undefined || locked === null ? [] : [say(isUnlocked ? 'reading.word.unlocked' : 'reading.word.locked')];
  if (open.length > 0)
    return { style: 'attention', text: [openText(read, open, words), ...(isUnlocked ? lock : [])].join(', ') };
  // A car that is known to be unlocked is shown as unlocked, even if other values are unknown.
  if (isUnlocked) return { style: 'attention', text: lock.join() };
  if (allClosed !== true || locked === null) return null;
  const closed = isAlone || lock.length === 0 ? [say(`reading.${read}Closed`)] : [];
  return good([...closed, ...lock].join(', '));
}

/** "rear-right window open", "2 windows open", "hood, tailgate open". */
function openText(read: string, open: readonly string[], words: Words): string {
  const { say } = words;
  const isOfKind = (name: string): boolean => {
    const key = openingKeyOf(name, read);
    return key !== undefined && `${openings[key].kind}s` === read;
  };
  if (open.length > 1 && open.every(isOfKind)) return counted(`${read}Open`, open.length, words);
  const names = open.slice(0, 8).map((name) => say(`part.${openingKeyOf(name, read)}`, { defaultValue: name }));
  return say('reading.open', { names: names.join(', ') });
}

function describeAccessibility(
  { value, unavailableReason }: Record<string, unknown>,
  words: Words,
): ReadingText | null {
  if (value === 'AVAILABLE') return good(words.say('reading.available'));
  if (value !== 'UNAVAILABLE') return null;
  const reason = typeof unavailableReason === 'string' ? wordOf(unavailableReason, words) : '';
  return {
    style: 'attention',
    text: [words.say('reading.unavailable'), reason].filter((part) => part !== '').join(': '),
  };
}

/**
 * "charging, 62 %, until 23:40". No member is derived from another one
 * (docs/internals/vendor-api.md 12.3).
 */
function describeCharging(payload: Record<string, unknown>, words: Words): ReadingText | null {
  const status = valueOf(payload, 'chargingStatus');
  const connection = valueOf(payload, 'chargerConnectionStatus');
  const first = status === null || (status === 'IDLE' && connection !== null) ? connection : status;
  const parts = [
    typeof first === 'string' ? wordOf(first, words) : null,
    textOfValue(payload['batteryChargeLevel'], words),
    chargedAt(payload['chargingDoneAt'], words),
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  const isFault = [status, connection].some((word) => word === 'ERROR' || word === 'FAULT');
  return { style: isFault ? 'attention' : 'good', text: parts.join(', ') };
}

const chargedAt = (doneAt: unknown, { say, translate }: Words): string | null =>
  isRecord(doneAt) && typeof doneAt['value'] === 'string'
    ? say('reading.until', { time: translate(clockTime(Date.parse(doneAt['value']), clock().now())) })
    : null;

/** The numbers that a car has; one without a tank reports 0 liters. */
function describeNumbers(payload: Record<string, unknown>, names: readonly string[], words: Words): ReadingText | null {
  const numbers = names.filter((name) => typeof valueOf(payload, name) === 'number');
  const nonZero = numbers.filter((name) => valueOf(payload, name) !== 0);
  const texts = (nonZero.length > 0 ? nonZero : numbers).map((name) => textOfValue(memberOf(payload, name), words));
  if (texts.length > 0) return good(texts.join(', '));
  return Object.keys(payload).length === 0 ? null : good(counted('values', Object.keys(payload).length, words));
}

function describeWarnings(read: string, payload: Record<string, unknown>, words: Words): ReadingText | null {
  const known = Object.keys(payload)
    .filter((name) => read === 'tyres' || name.endsWith('Warning'))
    .map((name) => valueOf(payload, name))
    .filter((value) => value !== null && value !== 'UNSPECIFIED');
  const raised = known.filter((value) => value !== 'NO_WARNING');
  if (known.length === 0) return null;
  if (raised.length === 0) return good(words.say('reading.noWarnings'));
  return { style: 'attention', text: counted('warnings', raised.length, words) };
}

/**
 * A lamp that fails, a level other than normal, and a fault need attention; a new word is shown as
 * any other value. Among others, a value has its name.
 */
function describeValue(
  read: string,
  payload: Record<string, unknown>,
  words: Words,
  isAlone: boolean,
): ReadingText | null {
  const type = valueTypeOf(read);
  const known: readonly unknown[] = type !== undefined && 'values' in type ? type.values : [];
  const calm = known.includes('NORMAL') ? ['NORMAL'] : known.filter((word) => word !== 'FAULT' && word !== 'ERROR');
  const isCalm = read !== 'bulbFailure' && (!known.includes(payload['value']) || calm.includes(payload['value']));
  const text = textOfValue(payload, words, read);
  const isNamed = isAlone || selfNamed.has(read) || text === null;
  const described = good(
    isNamed ? text : words.say('condition.fact', { title: words.say(`reading.title.${read}`), value: text }),
  );
  return described === null || isCalm ? described : { ...described, style: 'attention' };
}

/** A measured value with its unit; null if it is unknown. */
export function textOfValue(measured: unknown, words: Words, read?: string): string | null {
  const { value, unit } = isRecord(measured) ? measured : {};
  if (typeof value === 'number') {
    const number = numberFormatOf(words.language).format(value);
    return typeof unit === 'string' ? `${number} ${unitOf(unit, value, words)}` : number;
  }
  if (typeof value === 'boolean') return booleanText(value, read, words);
  return typeof value === 'string' && value !== '' ? wordOf(value, words) : null;
}

function booleanText(value: boolean, read: string | undefined, { say }: Words): string {
  const type = read === undefined ? undefined : valueTypeOf(read);
  if (read === 'carLocked') return say(value ? 'reading.word.locked' : 'reading.word.unlocked');
  if (type?.kind !== 'boolean') return String(value);
  const { words } = type;
  return say(`reading.word.${value ? words.true : words.false}`);
}

/** A unit in words or of the wire, in short. */
function unitOf(unit: string, value: number, { say }: Words): string {
  const key = `reading.unit.${unitInWords(unit) ?? unit}`;
  return say(`${key}_${value === 1 ? 'one' : 'other'}`, { defaultValue: say(key, { defaultValue: unit }) });
}

/** `TIME_FOR_SERVICE` in the language, or as "time for service" if it is new. */
const wordOf = (word: string, { say }: Words): string =>
  say(`reading.word.${word}`, { defaultValue: word.toLowerCase().replaceAll('_', ' ') });

const valueOf = (payload: Record<string, unknown>, name: string): unknown =>
  memberOf(memberOf(payload, name), 'value') ?? null;

/** By language: making one takes longer than all else that a status needs. */
const numberFormats = new Map<string, Intl.NumberFormat>();

const numberFormatOf = (language: string): Intl.NumberFormat =>
  getOrMake(numberFormats, language, () => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));
