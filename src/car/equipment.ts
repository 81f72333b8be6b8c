import { burnsFuel, groupedResources } from '../catalogue/groups';
import { isReadName, isResourceName, reads, type ReadName } from '../catalogue/reads';
import { openingIfFitted, openings, unspecified, type FittedName } from '../catalogue/openings';
import { isRecord, memberOf } from '../util/json';

/**
 * Whether a car has a read, or an opening that not every car has: true after its first value, false
 * after the service has reported that it is not supported.
 */
export type Equipment = Partial<Record<EquipmentName, boolean>>;
/** Or a warning that the car has reported, `tyres.frontLeft`. */
type EquipmentName = ReadName | FittedName | `${string}.${string}`;
type Learned = [EquipmentName, boolean];

/** A service names about 40 lamps. */
const maxWarnings = 200;
const maxWarningName = 80;

/** Without its dot, a name is that of a read or an opening. */
const isWarning = (name: string): boolean => name.includes('.');
const hasRoom = (equipment: Equipment, name: string): boolean =>
  name.length <= maxWarningName && Object.keys(equipment).filter(isWarning).length < maxWarnings;

const mayKeep = (equipment: Equipment, name: string): boolean =>
  !isWarning(name) || Object.hasOwn(equipment, name) || hasRoom(equipment, name);

/**
 * Whether the car has reported a warning; also true of a name that was not kept, because
 * there were too many.
 */
export const mayHaveReported = (equipment: Equipment, name: string): boolean =>
  Object.hasOwn(equipment, name) || !hasRoom(equipment, name);

/** Returns what a payload proves or excludes. An unknown value proves nothing. */
export function equipmentOf(read: ReadName, payload: unknown): Learned[] {
  const opening = openingIfFitted[read];
  const state = opening && memberOf(memberOf(payload, openings[opening].name), 'value');
  if (opening !== undefined && typeof state === 'string' && state !== unspecified)
    return [...shownBy(read, payload), [opening, true]];
  if (read !== 'charging' || !isRecord(payload)) return shownBy(read, payload);
  // Each member of it can be read alone.
  const members = Object.entries(payload).flatMap(([name, member]) => (isReadName(name) ? shownBy(name, member) : []));
  return [...shownBy(read, payload), ...members];
}

function shownBy(read: ReadName, payload: unknown): Learned[] {
  if (isRecord(payload) && payload['reason'] === 'NOT_SUPPORTED') return [[read, false]];
  return hasValue(payload) ? [[read, true]] : [];
}

/**
 * Reads of the traction battery: a car without charge level and electric range has none of them.
 */
const ofBattery = [
  'charging',
  'distanceToEmptyBattery',
  'averageEnergyConsumption',
  'averageEnergyConsumptionAutomatic',
  'averageEnergyConsumptionSinceCharge',
] as const satisfies ReadName[];

/**
 * Adds what was learned, and the reads that it excludes, but none that has had
 * a value or an answer.
 * @returns whether there is something new
 */
export function learnEquipment(equipment: Equipment, learned: Learned[]): boolean {
  let isNew = false;
  const learn = ([name, isThere]: Learned): void => {
    if (!mayKeep(equipment, name)) return;
    isNew ||= equipment[name] !== isThere;
    equipment[name] = isThere;
  };
  learned.forEach(learn);
  if (equipment.batteryChargeLevel === false && equipment.electricRange === false)
    for (const read of ofBattery) if (equipment[read] === undefined) learn([read, false]);
  return isNew;
}

/** Merges what two readers of a car have learned: the car has what one of them has read. */
export function mergedEquipment(
  stored: Readonly<Record<string, boolean>>,
  own: Readonly<Record<string, boolean>>,
): Record<string, boolean> {
  const equipment = { ...stored };
  for (const [name, isThere] of Object.entries(own))
    if (mayKeep(equipment, name)) equipment[name] = isThere || (equipment[name] ?? false);
  return equipment;
}

/**
 * Whether a car of this fuel type cannot have a read: that of a tank, or that of a traction
 * battery; false while the fuel type is unknown.
 */
export function isExcludedBy(fuelType: string | null, read: ReadName): boolean {
  const burns = burnsFuel(fuelType);
  const { theme } = reads[read];
  // `PETROL/ELECTRIC` has both.
  if (theme === 'charging') return burns === true && !/ELECTRIC/i.test(fuelType ?? '');
  const isOfBoth = isResourceName(read) && 'withoutFuel' in groupedResources[read];
  return theme === 'fuel' && burns === false && !isOfBoth;
}

/** A car without a tank reports 0 liters, so 0 shows nothing. */
function hasValue(found: unknown): boolean {
  if (Array.isArray(found)) return found.length > 0;
  if (!isRecord(found)) return ![undefined, null, 0, '', 'UNSPECIFIED'].some((nothing) => nothing === found);
  return 'value' in found ? hasValue(found['value']) : Object.values(found).some(hasValue);
}
