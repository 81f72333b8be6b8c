import {
  capitalized,
  combine,
  isClockKnown,
  isRecord,
  judge,
  minuteMs,
  openingKeyOf,
  parseCondition,
  parseRow,
  readAll,
  unitOf,
  VehicleError,
  type Account,
  type Condition,
  type ConditionResult,
  type ConditionValue,
  type Signal,
} from '../../src/index';
import type { Words } from '../node-red/i18n';
import { literalTypes } from '../node-red/typed-property';
import { clock } from '../node-red/time';
import { inOrderText, textOfValue } from '../node-red/reading-text';
import type { ConditionOptions } from './options';

/** A condition, or a row whose operand only a message brings; then its result is null. */
interface AskedCondition extends Condition {
  isOpen?: true;
}

interface Judged extends ConditionResult {
  condition: AskedCondition;
  /** The value as the sentence shows it, in the units of the vehicle configuration. */
  shown: { value: ConditionResult['is']; unit: string | null };
}

export async function judgeAll(
  account: Account,
  conditions: readonly AskedCondition[],
  { match, vin, maxAgeMs, signal }: { match: 'all' | 'any'; vin: string; maxAgeMs: number; signal: Signal },
) {
  const { client } = account;
  const reads = [...new Set(conditions.map(({ value }) => value.read))];
  const { readings, failures } = await readAll(reads, (read) =>
    account.read(read, { vin, maxAgeMs, signal, units: 'car' }),
  );
  if (signal.aborted) throw failures.values().next().value;
  const { clockSkewMs: skewMs } = client;
  const own = clock().now();
  const now = isClockKnown(skewMs) ? own + skewMs : own;
  const judgeOne = async (condition: AskedCondition): Promise<Judged> => {
    const { value, isOpen, forMinutes } = condition;
    const runs = forMinutes > 0 ? await account.statesOf(vin, value.name) : [];
    const asked: Condition = isOpen ? { ...condition, operator: 'older than', operand: 0, forMinutes: 0 } : condition;
    const reading = readings.get(value.read);
    const at = (time: number): ConditionResult => judge(asked, reading, time, runs);
    const one = at(now);
    // An age that depends on which of two clocks is right is not known.
    const isDoubtful = asked.operator === 'older than' && at(own + skewMs).result !== one.result;
    const unit =
      account.units === 'car' || value.type.kind !== 'number' ? one.unit : unitOf(account.units, value.type.unit);
    const said = unit === one.unit ? one : judge({ ...asked, unit }, reading, now);
    const shown = { value: said.is, unit: said.unit };
    return { condition, shown, ...one, ...((isOpen || isDoubtful) && { result: null }) };
  };
  const judged = await Promise.all(conditions.map(judgeOne));
  const results = judged.map(({ result }) => result);
  return { judged, failures, now, result: combine(match, results) };
}

/**
 * The conditions as a form has them. An operand that comes from another source than the
 * form is not known there.
 * @throws VehicleError CONFIG
 */
export function conditionsOfForm(rows: ConditionOptions['conditions']): AskedCondition[] {
  requireRows(rows);
  return rows.map((row, index) => {
    const parsed = parseRow(index + 1, row);
    return literalTypes.has(row.operandType)
      ? parseCondition(index + 1, parsed, row.operand, 'CONFIG')
      : { ...parsed, operand: null, isOpen: true };
  });
}

/** @throws VehicleError CONFIG if there is none */
export function requireRows(rows: ConditionOptions['conditions']): void {
  if (rows.length === 0)
    throw new VehicleError('CONFIG', 'This node has no condition. Add one and deploy again.', {
      status: { word: 'ADD_CONDITION' },
    });
}

/** More of them would make the sentence too long to read. */
const maxFacts = 5;

/**
 * "Battery level: 24 %, Charging cable: not plugged in". Never with the position, because whoever
 * gets a notification would see it.
 */
export function factsText(words: Words, judged: readonly Judged[], now: number): string {
  const texts = [...new Set(judged.map((one) => factText(words, one, now)))];
  const facts = texts.slice(0, maxFacts).join(', ');
  const count = texts.length - maxFacts;
  return count > 0 ? words.say('condition.more', { facts, count }) : facts;
}

/** "Battery level: 24 %", "Charging cable: not plugged in, for at least 2 h 5 min". */
export function factText(words: Words, one: Judged, now: number): string {
  const { say } = words;
  const { condition, since = null, forMinutes = 0, result } = one;
  const value = valueText(words, one, now);
  const fact =
    condition.value.name === 'inOrder'
      ? capitalized(value, words.language)
      : say('condition.fact', { title: titleOf(words, condition.value), value });
  if (since === null) return fact;
  const minutes = result === true ? Math.floor((now - Date.parse(since)) / minuteMs) : forMinutes;
  const time = result === null ? '' : durationText(minutes);
  return say(`condition.lasted.${String(result)}`, { fact, time });
}

/** "2 h 5 min", as the units are in every language of the pack. */
function durationText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), Math.floor(minutes % 60)];
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`].filter(Boolean).join(' ');
}

function titleOf({ language, say }: Words, { read, member }: ConditionValue): string {
  if (member === undefined) return say(`reading.title.${read}`);
  const key = member === 'locked' ? 'carLocked' : openingKeyOf(member, read);
  const title = say(member === 'allClosed' ? `guard.${read}` : `part.${key}`);
  return capitalized(title, language);
}

function valueText(words: Words, judged: Judged, now: number): string {
  const { say } = words;
  const { value, operator, operand, isOpen } = judged.condition;
  const { is, shown, measuredAt, result, reasons, reason, since = null } = judged;
  const { type } = value;
  const isMet = since === null ? result : true;
  if (value.name === 'inOrder') return inOrderText({ value: is, reasons }, words);
  if (is === null || (isMet === null && !isOpen))
    return say(reason === undefined ? 'condition.unknown' : 'condition.noConsumption');
  if (operator === 'older than') {
    const minutes = Math.max(0, Math.floor((now - Date.parse(measuredAt ?? '')) / minuteMs));
    return say('condition.age', { minutes });
  }
  if (type.kind === 'position') {
    if (isOpen) return say('reading.location');
    const place = isRecord(operand) ? String(operand['name']) : '';
    return say(`condition.${(operator === 'within') === isMet ? 'within' : 'outside'}`, { place });
  }
  if (value.member !== undefined && type.kind === 'boolean')
    return say(`reading.word.${type.words[is === true ? 'true' : 'false']}`);
  return textOfValue(shown, words, value.read) ?? String(is);
}
