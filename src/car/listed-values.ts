import { openingKeyOf, openings, unspecified } from '../catalogue/openings';
import { titleOf } from '../catalogue/reads';
import {
  booleanOfWord,
  classOfOpening,
  classOfValue,
  questionsOfWords,
  symbolOf,
  unitOfMeasured,
  type ValueClass,
} from '../catalogue/value-classes';
import { isRecord } from '../util/json';
import { plainPayload } from './plain-payload';
import { positionOf } from './places';
import type { AnyReading, Reading } from './reading';

/** One value of the car with all that describes it (docs/internals/contract.md 3.1). */
export interface ListedValue extends Omit<ValueClass, 'kind'> {
  /** Unique in the list, of letters, digits, `-` and `_`. */
  id: string;
  read: string;
  /** Null for a single value. */
  member: string | null;
  title: string;
  kind: ValueClass['kind'] | 'position';
  /** Of the unit. */
  symbol: string | null;
  value: unknown;
  timestamp: string | null;
}

/**
 * The values of a reading as one list. What has no single value, such as the details of the car and the records of trips, is not in it, nor
 * is what this car does not have; what is unknown is there with null.
 */
export function listedValues(reading: AnyReading): ListedValue[] {
  const { payload, vehicle } = reading;
  if (!('reads' in vehicle)) return listOne({ payload, vehicle });
  const payloads = new Map<string, unknown>(Object.entries(payload ?? {}));
  return Object.values(vehicle.reads).flatMap((info) => listOne({ payload: payloads.get(info.read), vehicle: info }));
}

function listOne(reading: Reading): ListedValue[] {
  const { payload } = reading;
  const { read, open, absent = [] } = reading.vehicle;
  if (!isRecord(payload)) return [];
  if (read === 'location') return [positionIn(payload)];
  if (open === undefined && 'value' in payload) return listMeasured(read, undefined, payload);
  const plain = plainPayload(reading);
  return Object.entries(payload).flatMap(([member, measured]) => {
    if (!isRecord(measured) || !('value' in measured) || absent.includes(member)) return [];
    if (open === undefined) return listMeasured(read, member, measured);
    const key = openingKeyOf(member, read);
    const openingClass =
      key === undefined ? classOfValue(read, member, { value: true, unit: null }) : classOfOpening(openings[key].kind);
    return [itemOf(read, member, measured, openingClass, isRecord(plain) ? plain[member] : null, key ?? member)];
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
  const valueClass = classOfValue(read, member, { value, unit: unitOfMeasured(measured['unit']) });
  const own =
    valueClass.kind === 'boolean' && member !== undefined
      ? booleanOfWord(read, member, value)
      : valueClass.kind === 'number' && typeof value !== 'number'
        ? null
        : value === unspecified
          ? null
          : value;
  const name = member ?? read;
  const item = itemOf(read, member, measured, valueClass, own);
  const question = Object.entries(questionsOfWords).find(([of]) => of === name)?.[1];
  if (question === undefined) return [item];
  const { id, deviceClass, yes, no } = question;
  const answer = yes.some((word) => word === value) ? true : no.some((word) => word === value) ? false : null;
  return [item, itemOf(read, id, measured, { kind: 'boolean', unit: null, deviceClass, stateClass: null }, answer)];
}

function positionIn(payload: Record<string, unknown>): ListedValue {
  return itemOf(
    'location',
    undefined,
    payload,
    { kind: 'position', unit: null, deviceClass: null, stateClass: null },
    positionOf(payload),
  );
}
