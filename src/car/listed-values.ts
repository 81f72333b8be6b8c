import { openingKeyOf, openings, unspecified } from '../catalogue/openings';
import { titleOf } from '../catalogue/reads';
import {
  booleanOf,
  booleanOfWord,
  classOfOpening,
  classOfValue,
  questionsOfWords,
  symbolOf,
  type ValueClass,
} from '../catalogue/value-classes';
import { unitInWords } from '../catalogue/units';
import { isRecord, memberOf } from '../util/json';
import { plainPayload } from './plain-payload';
import { positionOf } from './places';
import { readingsIn, type AnyReading, type Reading } from './reading';

/** One value of the car with all that describes it (docs/internals/contract.md 3.1). */
export interface ListedValue extends Omit<ValueClass, 'kind'> {
  /** Unique in the list, of letters, digits, `-` and `_`. */
  id: string;
  read: string;
  /** Null for a single value. */
  member: string | null;
  title: string;
  kind: ValueClass['kind'] | 'position';
  /** The symbol of the unit. */
  symbol: string | null;
  value: unknown;
  timestamp: string | null;
}

/**
 * The values of a reading as one list. What has no single value, such as the details of the
 * car and the records of trips, is not in it, nor is what this car does not have; what is
 * unknown is there with null.
 */
export const listedValues = (reading: AnyReading): ListedValue[] => readingsIn(reading).flatMap(listOne);

const positionClass = { kind: 'position', unit: null, deviceClass: null, stateClass: null } as const;

function listOne(reading: Reading): ListedValue[] {
  const { payload } = reading;
  const { read, open, absent = [] } = reading.vehicle;
  if (!isRecord(payload)) return [];
  if (read === 'location') return [itemOf(read, undefined, payload, positionClass, positionOf(payload))];
  if (open === undefined && 'value' in payload) return listMeasured(read, undefined, payload);
  const plain = open === undefined ? undefined : plainPayload(reading);
  return Object.entries(payload).flatMap(([member, measured]) => {
    if (!isRecord(measured) || !('value' in measured) || absent.includes(member)) return [];
    if (open === undefined) return listMeasured(read, member, measured);
    const key = openingKeyOf(member, read);
    const openingClass =
      key === undefined ? classOfValue(read, member, { value: true, unit: null }) : classOfOpening(openings[key].kind);
    return [itemOf(read, member, measured, openingClass, memberOf(plain, member), key ?? member)];
  });
}

function itemOf(
  read: string,
  member: string | undefined,
  { timestamp }: Record<string, unknown>,
  { kind, unit, deviceClass, stateClass }: Pick<ListedValue, 'kind' | 'unit' | 'deviceClass' | 'stateClass'>,
  value: unknown,
  name = member ?? read,
): ListedValue {
  const id = member === undefined ? read : `${read}_${member}`;
  return {
    id: id.replaceAll(/[^\w-]/g, '_'),
    read,
    member: member ?? null,
    title: titleOf(read === 'tyres' && member !== undefined ? `${member}Tyre` : name),
    kind,
    unit,
    symbol: unit === null ? null : symbolOf(unit),
    deviceClass,
    stateClass,
    value: value ?? null,
    timestamp: typeof timestamp === 'string' ? timestamp : null,
  };
}

function listMeasured(read: string, member: string | undefined, measured: Record<string, unknown>): ListedValue[] {
  const { value } = measured;
  const valueClass = classOfValue(read, member, { value, unit: unitInWords(measured['unit']) });
  const isUnknown = value === unspecified || (valueClass.kind === 'number' && typeof value !== 'number');
  const isWord = valueClass.kind === 'boolean' && member !== undefined;
  const own = isWord ? booleanOfWord(read, member, value) : isUnknown ? null : value;
  const name = member ?? read;
  const item = itemOf(read, member, measured, valueClass, own);
  const question = Object.entries(questionsOfWords).find(([of]) => of === name)?.[1];
  if (question === undefined) return [item];
  const { id, deviceClass, answer } = question;
  return [item, itemOf(read, id, measured, booleanOf(deviceClass), answer(value))];
}
