import type { ConditionOptions } from './options';

const { conditionValue, sharedText, wordsOf, ...shared } = connectedVehicle;

export const type = 'connected-vehicle-condition';
export const say = wordsOf(type);
export const ofStatus = wordsOf('connected-vehicle-status');
const ofCars = wordsOf('connected-vehicle-cars');

export type Row = Partial<ConditionOptions['conditions'][number]>;
export type Value = NonNullable<ReturnType<typeof conditionValue>>;

export function titleOfValue(name: string): string {
  const { read, member } = conditionValue(name) ?? { read: name };
  if (member === undefined) return ofStatus(`read.${read}`, { defaultValue: shared.titleOf(read) });
  if (member === 'allClosed') return ofStatus(`theme.${read}`);
  return member === 'locked' ? ofStatus('theme.lock') : ofCars(`part.${shared.openingKeyOf(member, read)}`);
}

const textOfWord = (word: string): string =>
  ofCars(`word.${word}`, {
    defaultValue: ofCars(`state.${word}`, { defaultValue: word.toLowerCase().replace(/_/g, ' ') }),
  });

export function choicesOf({ type: kind }: Value): { value: string; label: string }[] {
  if (kind.kind === 'word') return kind.values.map((value) => ({ value, label: textOfWord(value) }));
  if (kind.kind !== 'boolean') return [];
  return (['true', 'false'] as const).map((value) => ({ value, label: textOfWord(kind.words[value]) }));
}

/** Minutes that a condition can have to last: a week. */
export const longest = 10_080;

export const isSource = (row: Row): boolean => shared.sources.some((source) => source === row.operandType);

/**
 * The rows of a flow file, which anybody may have written: one that is not an object has no value.
 */
export const rowsIn = (stored: unknown): Row[] =>
  Array.isArray(stored) ? stored.map((row: Row | null) => ({ ...row, value: String(row?.value ?? '') })) : [];

/** Why a row cannot be checked; undefined if it can. */
export function faultOf(row: Row, vehicle: string | undefined): string | undefined {
  const value = conditionValue(row.value ?? '');
  if (value === undefined) return say('reason.value');
  const interfaces = shared.serviceInterfaces(vehicle);
  if (shared.partsOf(value.read).some((read) => shared.needsOfRead(read, interfaces).scopes.length === 0))
    return say('reason.missing', { title: titleOfValue(value.name) });
  const operator = shared.operatorsOf(value.type).find((one) => one === row.operator);
  if (operator === undefined) return say('reason.operator');
  const lasting = shared.validateWhole(row.forMinutes, 0, longest);
  if (lasting !== true) return lasting;
  if (isSource(row)) return row.operand === '' ? sharedText('reason.source') : undefined;
  // Node-RED fills in ${NAME} when it starts.
  if (/^\$\{[^}]+\}$/.test(String(row.operand))) return undefined;
  const places = shared.namedPlaces(vehicle);
  if (shared.parseOperand(value.type, operator, row.operand, places) !== undefined) return undefined;
  if (operator === 'between') return say('reason.between');
  const isPlace = value.type.kind === 'position' && operator !== 'older than';
  const reason = !isPlace || shared.validatePlaces([row.operand], places);
  return reason === true ? say('reason.operand') : reason;
}

/** True, or the first row that cannot be checked with its reason. */
export function validateRows(rows: readonly Row[], vehicle: string | undefined): true | string {
  if (rows.length === 0) return say('reason.nothing');
  const faults = rows.map((row) => faultOf(row, vehicle));
  const at = faults.findIndex((fault) => fault !== undefined);
  return at < 0 || say('reason.row', { number: at + 1, fault: faults[at] });
}

export const unitText = (unit: string): string => unit && ofStatus(`unit.${unit}`, { count: 2, defaultValue: unit });

/** The unit of what a row compares with, as it is stored. */
export const unitOf = ({ operator, unit }: Row, value: Value | undefined): string =>
  operator === 'older than' ? 'minutes' : value?.type.kind === 'number' ? unit || value.type.unit : '';

/** A list as a field shows it. */
export const textOfOperand = ({ operator, operand = '' }: Row): string =>
  [operand].flat().join(operator === 'between' ? ' - ' : ',');
