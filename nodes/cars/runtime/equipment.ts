import { isRecord, isReadName, type Reading, type ReadName } from '../../../src/index';

/** The reads that a car is known to have: true if it has told a value, false if the service says that it does not have it. */
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

/** A car that has neither a level nor a range to charge has none of these. */
const ofBattery = [
  'charging',
  'distanceToEmptyBattery',
  'averageEnergyConsumption',
  'averageEnergyConsumptionAutomatic',
  'averageEnergyConsumptionSinceCharge',
] as const satisfies ReadName[];

/** Returns the reads that the other reads of a car exclude. What the car has told once is not among them. */
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
