import { groupedResources, groupReadNames, type GroupedResource, type GroupReadName } from '../../catalogue/groups';
import { resourceNames, resources, statisticsMembers, type Resource, type ResourceName } from '../../catalogue/reads';
import { unitOnWire } from '../../catalogue/units';
import { byName } from '../../util/json';
import { hasTank, rangeKm } from './battery';
import { modelPathOf, type ResourceValue } from './resources';
import { parts, type CarState, type StatisticName } from './state';

/**
 * A member of a group of connected v2 (docs/internals/vendor-api.md 1.10, 14). It shows a
 * resource of the car, or a part that no resource shows, in the words and units of v2, so both
 * interfaces always agree.
 */
interface GroupMember {
  /** What it shows; the time of the member is that of this path. */
  path: string;
  unit: string | null;
  /**
   * Null if the car has none, such as the charge of a petrol car.
   * @param resource the value of a resource
   */
  value(state: CarState, resource: (name: ResourceName) => ResourceValue): ResourceValue;
}

type GroupName = GroupReadName | 'odometer';
export const groupNames: readonly GroupName[] = [...groupReadNames, 'odometer'];

/** The members of each group: the catalogue's rows the other way round. */
export const groups = groupsOfCatalogue();

function groupsOfCatalogue(): Record<GroupName, Record<string, GroupMember>> {
  const made: typeof groups = byName(groupNames, () => ({}));
  for (const name of resourceNames) {
    const row: GroupedResource = groupedResources[name];
    if (row.group === null || row.group === 'doors' || row.group === 'windows') continue;
    const member = (unit: string | null, value: GroupMember['value']): GroupMember => ({
      path: modelPathOf(name) ?? `resources.${name}`,
      unit,
      value,
    });
    if ('bulbs' in row)
      for (const [lamp, failure] of Object.entries(row.bulbs))
        made[row.group][lamp] = member(null, (_state, resource) => lampWord(failure, resource(name)));
    else if ('words' in row)
      made[row.group][row.spellings[0] ?? ''] = member(null, (_state, resource) => {
        if (name === 'serviceWarningStatus') return serviceWarning(resource(name), resource('serviceWarningTrigger'));
        // Nothing has triggered a warning that is not there (docs/internals/vendor-api.md 6.1).
        const isIdle = name === 'serviceWarningTrigger' && resource('serviceWarningStatus') === 'NORMAL';
        return isIdle ? null : wordOf(row.words, resource(name));
      });
    else made[row.group][row.spellings[0] ?? ''] = member(unitOf(name), (_state, resource) => resource(name));
  }
  // `keys` forgets the names.
  for (const name of Object.keys(parts.statistics) as StatisticName[])
    made.statistics[name] = part(`statistics.${name}`, statisticsMembers[name].unit, (state) => state.statistics[name]);
  made.statistics['distanceToEmptyBattery'] = part('energy.electricRange', 'kilometers', rangeKm);
  made.statistics['distanceToEmptyTank'] = part('resources.distanceToEmpty', 'kilometers', (state, resource) => {
    const range = hasTank(state) ? resource('distanceToEmpty') : null;
    return typeof range === 'number' ? Math.floor(range) : null;
  });
  made.fuel['batteryChargeLevel'] = part('energy.batteryChargeLevel', 'percent', ({ plugIn, battery: { level } }) =>
    plugIn && level !== null ? Math.floor(level) : null,
  );
  return made;
}

function unitOf(name: ResourceName): string | null {
  const resource: Resource = resources[name];
  return 'unit' in resource ? unitOnWire(resource.unit) : null;
}

function part(path: string, unit: string, value: GroupMember['value']): GroupMember {
  return { path, unit: unitOnWire(unit), value };
}

/** Words of docs/internals/service.md 2.8 that v2 does not have. */
const coarser: Partial<Record<string, string>> = {
  VERY_LOW: 'TOO_LOW',
  VERY_HIGH: 'TOO_HIGH',
  LOWSOFT: 'LOW_PRESSURE',
  LOWHARD: 'VERY_LOW_PRESSURE',
};

const wordOf = (words: Readonly<Record<string, string | boolean>>, value: ResourceValue): string =>
  Object.keys(words).find((word) => words[word] === value) ?? coarser[String(value)] ?? 'UNSPECIFIED';

/**
 * A lamp fails if its kind does (`HIGH_BEAM_ANY`: on both sides), or several kinds.
 * @param failure null: `bulbFailure` has no word for the lamp
 */
function lampWord(failure: string | null, value: ResourceValue): string {
  if (value === null) return 'UNSPECIFIED';
  return failure !== null && [failure, failure.replace(/_(LEFT|RIGHT)$/, '_ANY'), 'MULTIPLE'].includes(String(value))
    ? 'FAILURE'
    : 'NO_WARNING';
}

const occasions: Partial<Record<string, string>> = {
  CALENDAR_TIME: 'REGULAR_MAINTENANCE',
  DISTANCE: 'DISTANCE_DRIVEN',
  ENGINE_HOURS: 'ENGINE_HOURS',
};

/** `TIME_EXCEEDED` because of `DISTANCE` -> `DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE`. */
function serviceWarning(status: ResourceValue, trigger: ResourceValue): string {
  if (status === null) return 'UNSPECIFIED';
  if (status === 'NORMAL') return 'NO_WARNING';
  const words = Object.entries(groupedResources.serviceWarningStatus.words);
  const occasion = occasions[String(trigger)] ?? '?';
  return words.find(([word, means]) => means === status && word.startsWith(occasion))?.[0] ?? 'UNKNOWN_WARNING';
}
