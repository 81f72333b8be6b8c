import { isChargingWord, isPluggedInWord } from './charging-words';
import { groupedResources, type GroupedResource } from './groups';
import { openings, type OpeningKind } from './openings';
import { isReadName, isResourceName, reads, valueTypeOf, type ReadName } from './reads';
import { warningClasses } from './warnings';

/**
 * What kind each value is (docs/internals/contract.md 3.1), with the device class and the state
 * class that such a value has in home automation: the words are those that Home Assistant publishes
 * (test/fixtures/home-assistant.json).
 */
export interface ValueClass {
  kind: 'number' | 'boolean' | 'word' | 'time';
  /** The unit, in words. */
  unit: string | null;
  deviceClass: string | null;
  stateClass: 'measurement' | 'total_increasing' | null;
}

/** A symbol and a device class for each unit in words. A service can have other units. */
const unitClasses: Readonly<Record<string, readonly [symbol: string, deviceClass: string | null]>> = {
  kilometers: ['km', 'distance'],
  miles: ['mi', 'distance'],
  liters: ['L', 'volume_storage'],
  'US gallons': ['gal', 'volume_storage'],
  'kilometers per hour': ['km/h', 'speed'],
  'miles per hour': ['mph', 'speed'],
  'liters per 100 kilometers': ['L/100km', null],
  'kilowatt-hours per 100 kilometers': ['kWh/100km', 'energy_distance'],
  'miles per US gallon': ['mpg', null],
  'miles per imperial gallon': ['mpg', null],
  'miles per kilowatt-hour': ['mi/kWh', 'energy_distance'],
  'kilowatt-hours': ['kWh', 'energy'],
  'degrees celsius': ['°C', 'temperature'],
  'degrees fahrenheit': ['°F', 'temperature'],
  percent: ['%', null],
  watts: ['W', 'power'],
  ampere: ['A', 'current'],
  hours: ['h', 'duration'],
  minutes: ['min', 'duration'],
  days: ['d', 'duration'],
};

/** The symbol of a unit in words; the unit itself if it has none. */
export const symbolOf = (unit: string): string => unitClasses[unit]?.[0] ?? unit;

/**
 * Numbers whose class does not follow from their unit. The sum of 31 days can also fall, so it has
 * no state class.
 */
const numberClasses: Readonly<Record<string, Omit<ValueClass, 'kind' | 'unit'>>> = {
  odometer: { deviceClass: 'distance', stateClass: 'total_increasing' },
  batteryChargeLevel: { deviceClass: 'battery', stateClass: 'measurement' },
  wallboxEnergyToday: { deviceClass: 'energy', stateClass: 'total_increasing' },
  wallboxEnergyMonth: { deviceClass: 'energy', stateClass: 'total_increasing' },
  wallboxEnergyTotal: { deviceClass: 'energy', stateClass: null },
};

const openingClasses: Readonly<Record<OpeningKind, string>> = {
  window: 'window',
  sunroof: 'window',
  door: 'door',
  tailGate: 'opening',
  hood: 'opening',
  tankLid: 'opening',
  lock: 'lock',
};

export const booleanOf = (deviceClass: string | null): ValueClass => ({
  kind: 'boolean',
  unit: null,
  deviceClass,
  stateClass: null,
});
export const classOfOpening = (kind: OpeningKind): ValueClass => booleanOf(openingClasses[kind]);
const problem = booleanOf('problem');
const word: ValueClass = { kind: 'word', unit: null, deviceClass: null, stateClass: null };

function classOfNumber(name: string, unit: string | null): ValueClass {
  const ofUnit = (unit !== null && unitClasses[unit]?.[1]) || null;
  return { kind: 'number', unit, deviceClass: ofUnit, stateClass: 'measurement', ...numberClasses[name] };
}

/** The single read that a member of a group is, under whichever name the service has for it. */
function readOfMember(group: string, member: string): ReadName | undefined {
  for (const [name, row] of Object.entries<GroupedResource>(groupedResources))
    if (row.group === group && 'spellings' in row && row.spellings.includes(member) && isReadName(name)) return name;
  return isReadName(member) && reads[member].value ? member : undefined;
}

const rowOf = (name: string | undefined): GroupedResource | undefined =>
  name !== undefined && isResourceName(name) ? groupedResources[name] : undefined;

/** Whether the words of a member state whether something is wrong, and nothing more. */
function isWarning(read: string, member: string, row: GroupedResource | undefined): boolean {
  if (row && 'words' in row) return Object.keys(row.words).every((one) => Object.hasOwn(warningClasses, one));
  return read === 'warnings' && member.endsWith('Warning');
}

/**
 * The class of a value. It follows from its name and not from the value, so that it stays the same
 * while the value is unknown; only for a member that no table has it follows from the value.
 * @param member of a group; undefined for a single value
 */
export function classOfValue(
  read: string,
  member: string | undefined,
  { value, unit }: { value: unknown; unit: string | null },
): ValueClass {
  if (read === 'chargingDoneAt' || member === 'chargingDoneAt')
    return { kind: 'time', unit: null, deviceClass: 'timestamp', stateClass: null };
  const name = member === undefined ? read : readOfMember(read, member);
  const row = rowOf(name);
  if (member !== undefined && isWarning(read, member, row)) return problem;
  const type = name === undefined ? undefined : valueTypeOf(name);
  if (type?.kind === 'boolean') return classOfBoolean(name, row);
  // Without a number there is no unit: that of the table, unless it depends on the car.
  if (type !== undefined)
    return 'unit' in type ? classOfNumber(name ?? '', unit ?? ('mixedUnits' in type ? null : type.unit)) : word;
  if (typeof value === 'boolean') return booleanOf(null);
  return typeof value === 'number' || unit !== null ? classOfNumber(member ?? read, unit) : word;
}

function classOfBoolean(name: string | undefined, row: GroupedResource | undefined): ValueClass {
  if (name === 'engineRunning') return booleanOf('running');
  const opening = Object.values(openings).find(
    ({ read, name: own }) => row && 'spellings' in row && row.group === read && row.spellings.includes(own),
  );
  return opening === undefined ? booleanOf(null) : classOfOpening(opening.kind);
}

/**
 * The boolean of a word of a group: whether something is wrong, or the engine runs. Null for a word
 * that states neither.
 */
export function booleanOfWord(read: string, member: string, value: unknown): boolean | null {
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : null;
  const row = rowOf(readOfMember(read, member));
  const meant = row && 'words' in row && Object.hasOwn(row.words, value) ? row.words[value] : undefined;
  if (typeof meant === 'boolean') return meant;
  const warning = Object.hasOwn(warningClasses, value) ? warningClasses[value] : undefined;
  return warning === undefined ? null : warning === 'on';
}

/** Questions that words answer: whether the cable is plugged in, and whether the car charges. */
export const questionsOfWords = {
  chargerConnectionStatus: { id: 'pluggedIn', deviceClass: 'plug', answer: isPluggedInWord },
  chargingStatus: { id: 'isCharging', deviceClass: 'battery_charging', answer: isChargingWord },
} as const;
