import { timesOf } from '../car/times';
import { faultOfPlace, isInside, type Place, type Position } from '../car/places';
import type { Reading } from '../car/reading';
import { lasted, type StateRun } from '../car/state-runs';
import { VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { unitInWords, unitsBeside } from '../catalogue/units';
import { iso } from '../util/clock';
import { closestName } from '../util/closest';
import {
  conditionValue,
  conditionValues,
  factOf,
  numberInUnit,
  operatorsOf,
  parseOperand,
  unitOfValue,
  type ConditionValue,
  type Fact,
  type Operator,
} from './values';
import { minuteMs } from '../util/durations';

/** Yes, no, or null if the values do not decide it. */
type Truth = boolean | null;

export interface Condition {
  value: ConditionValue;
  operator: Operator;
  /** As `parseOperand` returns it. */
  operand: unknown;
  /**
   * The unit of the operand and of the value that is compared with it, in words; null
   * for what is no number.
   */
  unit: string | null;
  /** How long it has to be met; 0: it is enough that it is met now. */
  forMinutes: number;
}

/** A condition with what was read (docs/internals/contract.md 5c). */
export interface ConditionResult extends Fact {
  value: string;
  operator: Operator;
  operand: unknown;
  result: Truth;
  /**
   * Only with a time that it has to last. `since`: ISO-8601, from when on it is known to be met;
   * null: it is not met.
   */
  forMinutes?: number;
  since?: string | null;
}

/** A row of the form. The operand is parsed later, because it may come from a message. */
type ConditionRow = Omit<Condition, 'operand'>;

interface RowInput {
  value: string;
  operator: string;
  /** Default: that of the value. */
  unit?: string;
  forMinutes?: number;
}

/**
 * The value, the operator and the unit of a row.
 * @param number of the row, from 1
 * @throws VehicleError CONFIG
 */
export function parseRow(
  number: number,
  { value: name, operator, unit: given = '', forMinutes = 0 }: RowInput,
): ConditionRow {
  const value = conditionValue(name);
  if (value === undefined) {
    const near = closestName(
      name,
      conditionValues().flatMap(([, names]) => names),
    );
    const hint =
      near === undefined ? asSentence('Choose a value from the list in the node.') : sentence`Did you mean “${near}”?`;
    throw faulty('CONFIG', number, sentence`There is no value “${name}”. ${hint}`);
  }
  const operators = operatorsOf(value.type);
  const known = operators.find((one) => one === operator);
  if (known === undefined)
    throw faulty('CONFIG', number, sentence`Choose one of these comparisons for “${name}”: ${operators}.`);
  // An age has a unit and a time already.
  if (known === 'older than') return { value, operator: known, unit: unitOfValue(value), forMinutes: 0 };
  return { value, operator: known, unit: unitOfRow(number, value, given), forMinutes };
}

function unitOfRow(number: number, value: ConditionValue, given: string): string | null {
  const own = unitOfValue(value);
  if (own === null) return null;
  const units = unitsBeside(own);
  const unit = unitInWords(given) ?? own;
  if (units.includes(unit)) return unit;
  throw faulty('CONFIG', number, sentence`Choose one of these units for “${value.name}”: ${units}.`);
}

/**
 * The row with its operand.
 * @param code INPUT_INVALID if the operand came from a message or another source
 * @param places of the vehicle configuration
 * @throws VehicleError of this code
 */
export function parseCondition(
  number: number,
  row: ConditionRow,
  input: unknown,
  code: 'CONFIG' | 'INPUT_INVALID',
  places: readonly Place[] = [],
): Condition {
  const operand = parseOperand(row.value.type, row.operator, input, places);
  if (operand === undefined) throw faulty(code, number, needOf(row, input));
  return { ...row, operand };
}

function needOf({ value: { name, type }, operator }: ConditionRow, input: unknown): Sentence {
  if (operator === 'older than') return asSentence('An age needs a number of minutes.');
  if (operator === 'between') return sentence`“${name}” needs two numbers, such as “20 - 80”.`;
  if (type.kind === 'position') return faultOfPlace(input);
  if (type.kind === 'number') return sentence`“${name}” needs a number.`;
  return sentence`“${name}” needs one of: ${type.kind === 'word' ? type.values : Object.values(type.words)}.`;
}

const faulty = (code: 'CONFIG' | 'INPUT_INVALID', number: number, fault: Sentence): VehicleError =>
  new VehicleError(code, sentence`Condition ${number} cannot be checked. ${fault}`);

/**
 * Judges one condition. A value that is unknown answers none, an age included.
 * @param reading of the read of the value; undefined if it failed
 * @param now by the clock behind the timestamps, in milliseconds since 1970
 * @param runs which values the car has had, for a condition that has to last
 */
export function judge(
  { value, operator, operand, unit, forMinutes }: Condition,
  reading: Reading | undefined,
  now: number,
  runs: readonly StateRun[] = [],
): ConditionResult {
  const fact = reading === undefined ? { is: null, unit: null, measuredAt: null } : factOf(value, reading, unit);
  const isMet = fact.is === null ? null : compare(operator, fact.is, operand, ageOf(fact, now));
  const judged = { value: value.name, operator, operand, ...fact, result: isMet };
  if (forMinutes === 0) return judged;
  if (isMet !== true) return { ...judged, forMinutes, since: null };
  const ofState = (seen: NonNullable<Fact['is']>): Truth => {
    // What was seen is in the unit of the value.
    const own = unitOfValue(value) ?? '';
    const is = typeof seen === 'number' ? numberInUnit(seen, own, unit ?? own, own) : seen;
    return is === null ? null : compare(operator, is, operand, null);
  };
  const ms = forMinutes * minuteMs;
  const { result, since } = lasted(runs, ofState, { now, ms });
  // What was seen has a unit, so only a number without consumption cannot be compared.
  const isUnused = result === null && runs.some((run) => run.to >= now - ms && ofState(run.value) === null);
  return {
    ...judged,
    forMinutes,
    since: since === null ? null : iso(since),
    result,
    ...(isUnused && { reason: 'NO_CONSUMPTION' }),
  };
}

/** Minutes; null if the time of the value is unknown or not credible. */
function ageOf({ measuredAt }: Fact, now: number): number | null {
  const { measuredAt: at } = timesOf(measuredAt, { at: now });
  return at === null ? null : (now - at) / minuteMs;
}

function compare(operator: Operator, is: NonNullable<Fact['is']>, operand: unknown, age: number | null): Truth {
  // `parseOperand` returns an operand of the type of its operator, and each operator fits
  // the kind of the value.
  const [number, position] = [is as number, is as Position];
  const [limit, words, place] = [operand as number, operand as unknown[], operand as Place];
  switch (operator) {
    case 'older than':
      return age === null ? null : age > limit;
    case '<':
      return number < limit;
    case '<=':
      return number <= limit;
    case '>':
      return number > limit;
    case '>=':
      return number >= limit;
    case 'between': {
      const [low = 0, high = 0] = operand as number[]; // Two numbers.
      return number >= low && number <= high;
    }
    case '=':
    case 'is':
      return is === operand;
    case 'is not':
      return is !== operand;
    case 'one of':
      return words.includes(is);
    case 'within':
    case 'outside':
      return isInside(position, place) === (operator === 'within');
  }
}

/** With `all`, one no decides; with `any`, one yes decides, even if others are unknown. */
export function combine(match: 'all' | 'any', results: readonly Truth[]): Truth {
  const decides = match === 'any';
  if (results.includes(decides)) return decides;
  return results.includes(null) ? null : !decides;
}
