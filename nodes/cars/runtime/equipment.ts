import { isRecord, isReadName, type Reading, type ReadName } from '../../../src/index';

/** Whether a car has a read: true after its first value, false after the service has said that it is not supported. */
export type Equipment = ReadonlyMap<ReadName, boolean>;

/** Returns the reads that a reading proves or excludes. An unknown value proves nothing. */
export function equipmentOf(read: ReadName, { payload }: Reading): [ReadName, boolean][] {
  if (read !== 'charging' || !isRecord(payload)) return shownBy(read, payload);
  // Each member of it can be read by itself.
  const members = Object.entries(payload).flatMap(([name, member]) => (isReadName(name) ? shownBy(name, member) : []));
  return [...shownBy(read, payload), ...members];
}

function shownBy(read: ReadName, payload: unknown): [ReadName, boolean][] {
  if (isRecord(payload) && payload['reason'] === 'NOT_SUPPORTED') return [[read, false]];
  return hasValue(payload) ? [[read, true]] : [];
}

/** Reads of the traction battery: a car without charge level and electric range has none of them. */
const ofBattery = [
  'charging',
  'distanceToEmptyBattery',
  'averageEnergyConsumption',
  'averageEnergyConsumptionAutomatic',
  'averageEnergyConsumptionSinceCharge',
] as const satisfies ReadName[];

/** Returns the reads that the other reads of a car exclude, but none that has had a value or an answer. */
export const excludedBy = (equipment: Equipment): ReadName[] =>
  equipment.get('batteryChargeLevel') === false && equipment.get('electricRange') === false
    ? ofBattery.filter((read) => !equipment.has(read))
    : [];

/** A car without a tank says 0 liters, so 0 shows nothing. */
function hasValue(found: unknown): boolean {
  if (Array.isArray(found)) return found.length > 0;
  if (!isRecord(found)) return ![undefined, null, 0, '', 'UNSPECIFIED'].some((nothing) => nothing === found);
  return 'value' in found ? hasValue(found['value']) : Object.values(found).some(hasValue);
}
