import { openingKeys, openings } from '../../../src/index';
import type { OpeningName } from '../../../src/simulator/index';
import type { CarSummary } from '../runtime/cars';
import type { ShownValue, ShownName } from '../../vehicle/shown-values';

const { isReadName, numberText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

export interface CarRow {
  name: ShownName;
  label: string;
  text: string;
  tone: 'plain' | 'attention' | 'unknown';
  fact: ShownValue | undefined;
}

interface CarRowGroup {
  title: string;
  rows: CarRow[];
}

type ShownValues = CarSummary['facts'];

/** All but the lock, which has its own line. */
const isOpening = (name: ShownName): name is OpeningName => name !== 'carLocked' && Object.hasOwn(openings, name);
const openingsIn = (read: 'windows' | 'doors') =>
  openingKeys.filter((key) => isOpening(key) && openings[key].read === read);

const groups: readonly (readonly [title: string, names: readonly ShownName[]])[] = [
  ['car', ['carLocked', 'availability', 'engineRunning', 'location']],
  ['windows', openingsIn('windows')],
  ['doors', openingsIn('doors')],
  [
    'energy',
    [
      'batteryChargeLevel',
      'chargingStatus',
      'chargerConnectionStatus',
      'electricRange',
      'fuelAmount',
      'distanceToEmpty',
      'odometer',
    ],
  ],
];

/** Every car has these: they are shown before they were read. */
const isAlwaysShown = (name: ShownName): boolean =>
  name === 'carLocked' || (isOpening(name) && !('ifFitted' in openings[name]));

/** The read of a *car status* node that has the value of a line. A door is read with the others. */
export const readFor = (name: ShownName): string =>
  name === 'availability'
    ? 'accessibility'
    : ([`${name}Open`, name].find(isReadName) ?? (isOpening(name) ? openings[name].read : name));

/** A word or a unit of the service; one that the catalogue does not have is shown as it came. */
const translated = (group: 'word' | 'unit', key: string): string => say(`${group}.${key}`, { defaultValue: key });

export function rowGroupsOf(facts: ShownValues): CarRowGroup[] {
  return groups.flatMap(([title, names]) => {
    const rows = names.flatMap((name) => rowOf(name, facts));
    return rows.length === 0 ? [] : [{ title: say(`group.${title}`), rows }];
  });
}

function rowOf(name: ShownName, facts: ShownValues): CarRow[] {
  const fact = facts[name];
  if ((fact === undefined && !isAlwaysShown(name)) || fact?.value === 'absent') return [];
  const { text, tone } = meaningOf(name, fact, facts);
  if (name !== 'distanceToEmpty' || typeof facts.electricRange?.value !== 'number')
    return [{ name, label: say(`name.${name}`), text, tone, fact }];
  // Beside the electric range it is the range of the tank. A car without a tank repeats the
  // electric range here.
  const liters = facts.fuelAmount?.value;
  const hasTank = typeof liters === 'number' && liters > 0;
  return hasTank ? [{ name, label: say('name.tankRange'), text, tone, fact }] : [];
}

function meaningOf(name: ShownName, fact: ShownValue | undefined, facts: ShownValues): Pick<CarRow, 'text' | 'tone'> {
  if (fact === undefined) return { text: say('state.notRead'), tone: 'unknown' };
  const { value, unit } = fact;
  if (value === null) return { text: say('state.unknown'), tone: 'unknown' };
  // A link takes the place of it, if the user may have the position.
  if (name === 'location') return { text: say('state.known'), tone: 'plain' };
  if (isOpening(name)) return { text: say(`state.${value}`), tone: value === 'closed' ? 'plain' : 'attention' };
  if (name === 'carLocked')
    return {
      text: say(value === true ? 'state.locked' : 'state.unlocked'),
      tone: value === true ? 'plain' : 'attention',
    };
  if (name === 'engineRunning')
    return { text: say(value === true ? 'state.running' : 'state.off'), tone: value === true ? 'attention' : 'plain' };
  if (typeof value === 'number') return { text: measureText(value, unit), tone: 'plain' };
  const text = translated('word', String(value));
  const minutes = facts.estimatedChargingTimeToTargetBatteryChargeLevel?.value;
  const charges = name === 'chargingStatus' && value === 'CHARGING' && typeof minutes === 'number' && minutes > 0;
  return { text: charges ? say('state.charging', { text, time: durationText(minutes) }) : text, tone: 'plain' };
}

/** `62 %` */
export const measureText = (value: number, unit: string | null = null): string =>
  `${numberText(value, 1)} ${unit === null ? '' : translated('unit', unit)}`.trim();

/** `2 h 48 min`, which every language writes the same, on one line. */
export function durationText(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}\u00a0h\u00a0${Math.round(minutes % 60)}\u00a0min` : `${Math.round(minutes)}\u00a0min`;
}
