import { lockState, openingKeys, openings, openingState } from '../../catalogue/openings';
import { isResourceName, resources, type Resource, type ResourceName } from '../../catalogue/reads';

/** The value of an extended resource of a simulated car (docs/internals/service.md 2.8). */
export type ResourceValue = number | string | boolean | null;

/** The resources that follow from another part of the car, with its path. */
const modelled: Partial<Record<string, string>> = {
  carLocked: 'lock',
  engineRunning: 'engineRunning',
  cabOpen: 'cab',
  ...Object.fromEntries(
    openingKeys.map((key) => [`${key}Open`, `${openings[key].read}.${openings[key].name}`] as const),
  ),
};

export const modelPathOf = (name: ResourceName): string | null => modelled[name] ?? null;

/** Values that make a believable car; a row of the catalogue that is not here gets `fallback`. */
const defaults: Partial<Record<string, ResourceValue>> = {
  averageFuelConsumption: 6.8,
  averageSpeed: 47,
  backupBatteryRemaining: 'MINUTES_ABOVE_30',
  bulbFailure: 'FOG_REAR_ANY',
  distanceToEmpty: 520,
  engineCoolantTemp: 21,
  engineHoursToService: 210,
  externalTemp: 14,
  fuelAmount: 38,
  kmToService: 12400,
  monthsToService: 7,
  odometer: 24817,
  serviceWarningTrigger: 'CALENDAR_TIME',
  tripMeter1: 312,
  tripMeter2: 1840,
  washerFluidLevel: 'NORMAL',
};

export const defaultValue = (name: ResourceName): ResourceValue => defaults[name] ?? fallback(resources[name]);

function fallback(row: Resource): ResourceValue {
  if (row.kind === 'boolean') return false;
  if (row.kind === 'enum') return row.values.includes('NORMAL') ? 'NORMAL' : (row.values[0] ?? null);
  return row.kind === 'double' ? 1.5 : 1;
}

/** Empty if the value fits. Any word is allowed: a real service also sends unknown ones. */
export function valueProblem(name: string, value: ResourceValue): string {
  if (!isResourceName(name) || modelPathOf(name) !== null) return `resources: there is no ${name}`;
  const { kind } = resources[name];
  const type = kind === 'boolean' || kind === 'enum' ? { boolean: 'boolean', enum: 'string' }[kind] : 'number';
  return value === null || typeof value === type ? '' : `resources.${name}: must be a ${type}, or null`;
}

/** A word of the car as the boolean of an extended resource; null for a word that means neither. */
export function asBoolean(word: unknown): boolean | null {
  if (typeof word === 'boolean') return word;
  const [opening, lock] = [openingState(word), lockState(word)];
  if (opening !== null) return opening === 'open';
  return lock === null ? null : lock === 'closed';
}
