import { byName } from '../util/json';
import {
  groupedResources,
  groupReadNames,
  groupReads,
  groups,
  type GroupedResource,
  type GroupName,
  type GroupReadName,
} from './groups';
import type { OpeningRead } from './openings';

/**
 * Everything that can be read, as rows of one table, `reads` (docs/internals/service.md 2.1 to 2.8
 * and 4.1 to 4.3, docs/internals/vendor-api.md 12 to 14). The requests of the client, the dropdown
 * of the editor, the scope check, the schedule of the poller, the documentation and the routes of
 * the simulator follow from it.
 */

/** The APIs that a daily quota is counted for (docs/internals/vendor-api.md 5). */
export const apiNames = ['connected', 'energy', 'location', 'energy-device'] as const;
export type ApiName = (typeof apiNames)[number];

/**
 * The interfaces of a service, as `msg.vehicle.interface` reports them
 * (docs/internals/contract.md 2 and 3): the API that each belongs to, and its base path
 * (docs/internals/service.md 9.1, docs/internals/vendor-api.md 7).
 */
export const interfaces = {
  'connected-v2': { api: 'connected', path: '/connected-vehicle/v2' },
  'connected-v1': { api: 'connected', path: '/connected-vehicle/v1' },
  'extended-v1': { api: 'connected', path: '/extended-vehicle/v1' },
  'energy-v2': { api: 'energy', path: '/energy/v2' },
  'location-v1': { api: 'location', path: '/location/v1' },
  'energy-device-v1': { api: 'energy-device', path: '/energy-device/v1' },
} as const satisfies Record<string, { api: ApiName; path: string }>;
export type InterfaceName = keyof typeof interfaces;
export const interfaceNames = /* @__PURE__ */ Object.keys(interfaces) as InterfaceName[];

/** The interfaces of the specification (docs/internals/service.md 1). */
const specifiedInterfaces: ReadonlySet<InterfaceName> = /* @__PURE__ */ new Set([
  'connected-v2',
  'connected-v1',
  'extended-v1',
] as const);

/**
 * Whether a service has the interfaces of the specification and no other. Its v2 then has the
 * extent of docs/internals/service.md 9.4; that of every other service also has what
 * docs/internals/vendor-api.md 1.10 lists.
 */
export const isAsSpecified = (available: readonly InterfaceName[]): boolean =>
  available.every((name) => specifiedInterfaces.has(name));

/**
 * The route that `auto` chooses of those that a service has, newest first
 * (docs/internals/contract.md 3): the newest. At a service as specified, a route that the
 * specification does not list comes last.
 */
export const newestOf = <Route extends { unlisted?: true }>(
  routes: readonly Route[],
  available: readonly InterfaceName[],
): Route | undefined => (isAsSpecified(available) ? routes.find(({ unlisted }) => !unlisted) : undefined) ?? routes[0];

/** `auto` is the newest that the service has (docs/internals/contract.md 3). */
export const interfaceChoices = ['auto', 'v1', 'v2'] as const;
export type InterfaceChoice = (typeof interfaceChoices)[number];

export const json = 'application/json';

/**
 * The connected vehicle reads (docs/internals/service.md 4.1, 4.2), in the order of the dropdown.
 */
export const connectedReadNames = ['windows', 'doors', 'details', 'vehicles', 'commands', 'accessibility'] as const;
type ConnectedReadName = (typeof connectedReadNames)[number];

/** The extended resource endpoint (docs/internals/service.md 4.3). */
export const resourcePath = '/vehicles/{vin}/resources/{resource}';

const level5 = ['VERY_LOW', 'LOW', 'NORMAL', 'HIGH', 'VERY_HIGH'] as const;
const pressure7 = ['LOW', 'NORMAL', 'HIGH', 'LOWSOFT', 'LOWHARD', 'NOSENSOR', 'SYSTEMFAULT'] as const;

/** Headings of the dropdown, in the order of the dropdown. */
export const themes = [
  'doors',
  'windows',
  'lock',
  'charging',
  'wallbox',
  'fuel',
  'trip',
  'location',
  'tyres',
  'engine',
  'service',
  'warnings',
] as const;
type Theme = (typeof themes)[number];

interface ResourceBase {
  /** Besides `openid`. */
  scope: string;
  theme: Theme;
}

/**
 * How the value of a resource is typed (docs/internals/service.md 2.8). `number`: the specification
 * does not show whether it is whole. Booleans have the words of the specification for true
 * and false.
 */
export type Resource = ResourceBase &
  (
    | { kind: 'double' | 'integer' | 'number'; unit: string }
    | { kind: 'boolean'; words: { true: string; false: string } }
    | { kind: 'enum'; values: readonly string[] }
  );

const openOrClosed = { true: 'open', false: 'closed' } as const;

/** The 39 extended resources, spelled, scoped and typed as in docs/internals/service.md 2.8. */
export const resources = {
  averageFuelConsumption: {
    scope: 'exve:fuel_status',
    theme: 'fuel',
    kind: 'double',
    unit: 'liters per 100 kilometers',
  },
  averageSpeed: { scope: 'exve:vehicle_statistics', theme: 'trip', kind: 'integer', unit: 'kilometers per hour' },
  backupBatteryRemaining: {
    scope: 'exve:diagnostics_workshop',
    theme: 'service',
    kind: 'enum',
    values: ['MINUTES_0', 'MINUTES_5', 'MINUTES_10', 'MINUTES_15', 'MINUTES_20', 'MINUTES_25', 'MINUTES_ABOVE_30'],
  },
  brakeFluid: { scope: 'exve:brake_status', theme: 'service', kind: 'enum', values: level5 },
  bulbFailure: {
    scope: 'exve:warnings',
    theme: 'warnings',
    kind: 'enum',
    values: [
      'LEFT_TURN_ANY',
      'RIGHT_TURN_ANY',
      'LOW_BEAM_ANY',
      'LOW_BEAM_LEFT',
      'LOW_BEAM_RIGHT',
      'HIGH_BEAM_ANY',
      'HIGH_BEAM_LEFT',
      'HIGH_BEAM_RIGHT',
      'FOG_FRONT_ANY',
      'FOG_REAR_ANY',
      'STOP_ANY',
      'POSITION_ANY',
      'DAY_RUNNING_ANY',
      'TRAILER_TURN_ANY',
      'TRAILER_TURN_LEFT_ANY',
      'TRAILER_TURN_RIGHT_ANY',
      'TRAILER_STOP_ANY',
      'TRAILER_ELECTRICAL_FAILURE',
      'MULTIPLE',
    ],
  },
  carLocked: { scope: 'exve:lock_status', theme: 'lock', kind: 'boolean', words: { true: 'locked', false: 'open' } },
  distanceToEmpty: { scope: 'exve:vehicle_statistics', theme: 'fuel', kind: 'integer', unit: 'kilometers' },
  engineCoolantLevel: { scope: 'exve:diagnostics_engine_status', theme: 'engine', kind: 'enum', values: level5 },
  engineCoolantTemp: {
    scope: 'exve:diagnostics_engine_status',
    theme: 'engine',
    kind: 'integer',
    unit: 'degrees celsius',
  },
  engineHoursToService: { scope: 'exve:diagnostics_workshop', theme: 'service', kind: 'integer', unit: 'hours' },
  engineRunning: {
    scope: 'exve:engine_status',
    theme: 'engine',
    kind: 'boolean',
    words: { true: 'running', false: 'not running' },
  },
  externalTemp: { scope: 'exve:vehicle_statistics', theme: 'trip', kind: 'integer', unit: 'degrees celsius' },
  frontLeftDoorOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  frontRightDoorOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  rearLeftDoorOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  rearRightDoorOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  fuelAmount: { scope: 'exve:fuel_status', theme: 'fuel', kind: 'integer', unit: 'liters' },
  hoodOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  kmToService: { scope: 'exve:diagnostics_workshop', theme: 'service', kind: 'integer', unit: 'kilometers' },
  mainBatteryStatus: { scope: 'exve:diagnostics_workshop', theme: 'service', kind: 'enum', values: ['LOW', 'NORMAL'] },
  monthsToService: { scope: 'exve:diagnostics_workshop', theme: 'service', kind: 'integer', unit: 'months' },
  odometer: { scope: 'exve:odometer_status', theme: 'trip', kind: 'number', unit: 'kilometers' },
  oilLevel: { scope: 'exve:diagnostics_engine_status', theme: 'engine', kind: 'enum', values: level5 },
  oilPressure: { scope: 'exve:diagnostics_engine_status', theme: 'engine', kind: 'enum', values: pressure7 },
  serviceWarningStatus: {
    scope: 'exve:diagnostics_workshop',
    theme: 'service',
    kind: 'enum',
    values: ['NORMAL', 'ALMOST_TIME_FOR_SERVICE', 'TIME_FOR_SERVICE', 'TIME_EXCEEDED'],
  },
  serviceWarningTrigger: {
    scope: 'exve:diagnostics_workshop',
    theme: 'service',
    kind: 'enum',
    values: ['CALENDAR_TIME', 'DISTANCE', 'ENGINE_HOURS', 'ECM'],
  },
  tailGateOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  cabOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
  tripMeter1: { scope: 'exve:vehicle_statistics', theme: 'trip', kind: 'integer', unit: 'kilometers' },
  tripMeter2: { scope: 'exve:vehicle_statistics', theme: 'trip', kind: 'integer', unit: 'kilometers' },
  frontLeftTyrePressure: { scope: 'exve:tyre_status', theme: 'tyres', kind: 'enum', values: pressure7 },
  frontRightTyrePressure: { scope: 'exve:tyre_status', theme: 'tyres', kind: 'enum', values: pressure7 },
  rearLeftTyrePressure: { scope: 'exve:tyre_status', theme: 'tyres', kind: 'enum', values: pressure7 },
  rearRightTyrePressure: { scope: 'exve:tyre_status', theme: 'tyres', kind: 'enum', values: pressure7 },
  washerFluidLevel: { scope: 'exve:vehicle_statistics', theme: 'service', kind: 'enum', values: level5 },
  frontLeftWindowOpen: { scope: 'exve:windows_status', theme: 'windows', kind: 'boolean', words: openOrClosed },
  frontRightWindowOpen: { scope: 'exve:windows_status', theme: 'windows', kind: 'boolean', words: openOrClosed },
  rearLeftWindowOpen: { scope: 'exve:windows_status', theme: 'windows', kind: 'boolean', words: openOrClosed },
  rearRightWindowOpen: { scope: 'exve:windows_status', theme: 'windows', kind: 'boolean', words: openOrClosed },
} as const satisfies Record<string, Resource>;

export type ResourceName = keyof typeof resources;

/**
 * A member of a group. A service can send other words than these. A number whose unit the service
 * does not name is in `unit`, but for `mixedUnits`.
 */
export type MemberKind =
  { kind: 'number'; unit: string; mixedUnits?: true } | { kind: 'word'; values: readonly string[] };

/**
 * The members of the energy state (docs/internals/vendor-api.md 12.3). The service can add words.
 */
export const chargingMembers = {
  batteryChargeLevel: { kind: 'number', unit: 'percent' },
  // Kilometers or miles, by the market of the car.
  electricRange: { kind: 'number', unit: 'kilometers', mixedUnits: true },
  chargerConnectionStatus: { kind: 'word', values: ['CONNECTED', 'DISCONNECTED', 'FAULT'] },
  chargingStatus: { kind: 'word', values: ['IDLE', 'CHARGING', 'SCHEDULED', 'DISCHARGING', 'DONE', 'ERROR'] },
  chargingType: { kind: 'word', values: ['AC', 'DC', 'NONE'] },
  chargerPowerStatus: {
    kind: 'word',
    values: ['NO_POWER_AVAILABLE', 'POWER_AVAILABLE_BUT_NOT_ACTIVATED', 'PROVIDING_POWER', 'INITIALIZATION', 'FAULT'],
  },
  estimatedChargingTimeToTargetBatteryChargeLevel: { kind: 'number', unit: 'minutes' },
  chargingCurrentLimit: { kind: 'number', unit: 'ampere' },
  targetBatteryChargeLevel: { kind: 'number', unit: 'percent' },
  chargingPower: { kind: 'number', unit: 'watts' },
} as const satisfies Record<string, MemberKind>;

export type ChargingMemberName = keyof typeof chargingMembers;
export const chargingMemberNames = /* @__PURE__ */ Object.keys(chargingMembers) as ChargingMemberName[];

const perDistance = 'kilowatt-hours per 100 kilometers';

/** Single values of a group, no extended resources (docs/internals/vendor-api.md 14.2). */
export const statisticsMembers = {
  averageEnergyConsumption: { kind: 'number', unit: perDistance, theme: 'charging' },
  averageEnergyConsumptionAutomatic: { kind: 'number', unit: perDistance, theme: 'charging' },
  averageEnergyConsumptionSinceCharge: { kind: 'number', unit: perDistance, theme: 'charging' },
  averageFuelConsumptionAutomatic: { kind: 'number', unit: 'liters per 100 kilometers', theme: 'fuel' },
  averageSpeedAutomatic: { kind: 'number', unit: 'kilometers per hour', theme: 'trip' },
  distanceToEmptyTank: { kind: 'number', unit: 'kilometers', theme: 'fuel' },
  distanceToEmptyBattery: { kind: 'number', unit: 'kilometers', theme: 'charging' },
} as const satisfies Record<string, MemberKind & { theme: Theme }>;

export type StatisticsMemberName = keyof typeof statisticsMembers;
export const statisticsMemberNames = /* @__PURE__ */ Object.keys(statisticsMembers) as StatisticsMemberName[];

// PURE: a bundle that does not use a list leaves out its table as well.
export const resourceNames = /* @__PURE__ */ Object.keys(resources) as ResourceName[];

const kilowattHours = 'kilowatt-hours';
const wallboxScope = 'energy_device:wallbox:read';
const ofWallbox = { scope: wallboxScope, theme: 'wallbox' } as const;

/** What the sessions of a wallbox show (docs/internals/vendor-api.md 17). */
export const wallboxMembers = {
  wallboxCharging: { ...ofWallbox, kind: 'boolean', words: openOrClosed },
  wallboxEnergyToday: { ...ofWallbox, kind: 'double', unit: kilowattHours },
  wallboxEnergyMonth: { ...ofWallbox, kind: 'double', unit: kilowattHours },
  wallboxEnergyTotal: { ...ofWallbox, kind: 'double', unit: kilowattHours },
} as const satisfies Record<string, Resource>;

export type WallboxMemberName = keyof typeof wallboxMembers;
export const wallboxMemberNames = /* @__PURE__ */ Object.keys(wallboxMembers) as WallboxMemberName[];

interface ReadRoute {
  interface: InterfaceName;
  /** Below the interface's base path; `{vin}` or `{wallbox}` is filled in. */
  path: string;
  /** The query has the begin and the end of so many days until today. */
  days?: number;
  /** `{vendor}` is the profile's media type vendor (docs/internals/service.md 4.2). */
  accept: string;
  /** Besides `openid`. */
  scopes: readonly string[];
  /** One request answers all reads whose routes have the same name here. */
  request: string;
  /** The fuel type, which is in the details, decides which member is the value. */
  needsFuelType?: boolean;
  /** The specification does not list this route. */
  unlisted?: true;
}

export interface ReadRow {
  /** The heading in the list of reads. */
  theme: Theme | 'connected';
  /** The newest first. */
  routes: readonly ReadRoute[];
  /** The property `interface` chooses between the versions of the connected interface. */
  hasVersions?: true;
  /** The type of a single value; absent if the answer has more than one. */
  value?: Resource | MemberKind;
  /** Why only the extended interface has it. */
  onlyExtended?: string | undefined;
}

/** Every read (docs/internals/contract.md 3), in the order of the dropdown. */
export const reads = /* @__PURE__ */ readRows();

function readRows(): Readonly<Record<ReadName, ReadRow>> {
  const energyRow = (request: string, path: string, scope: string): ReadRow => ({
    theme: 'charging',
    routes: [routeTo('energy-v2', request, path, [scope])],
  });
  const sessions: ReadRow = {
    theme: 'wallbox',
    routes: [
      {
        ...routeTo('energy-device-v1', 'wallboxSessions', '/wallbox/{wallbox}/chargingsessions', [wallboxScope]),
        days: 31,
      },
    ],
  };
  const energyState = energyRow('charging', '/vehicles/{vin}/state', 'energy:state:read');
  return {
    windows: openingsRow('windows'),
    doors: openingsRow('doors'),
    details: connectedRow('details', '/vehicles/{vin}', 'conve:vehicle_relation'),
    vehicles: connectedRow('vehicles', '/vehicles', 'conve:vehicle_relation'),
    commands: connectedRow('commands', '/vehicles/{vin}/commands', 'conve:commands'),
    accessibility: connectedRow(
      'accessibility',
      '/vehicles/{vin}/command-accessibility',
      'conve:command_accessibility',
    ),
    charging: energyState,
    ...byName(chargingMemberNames, (name) => ({ ...energyState, value: chargingMembers[name] })),
    chargingDoneAt: energyState,
    chargingCapabilities: energyRow('chargingCapabilities', '/vehicles/{vin}/capabilities', 'energy:capability:read'),
    wallboxSessions: sessions,
    ...byName(wallboxMemberNames, (name) => ({ ...sessions, value: wallboxMembers[name] })),
    location: {
      theme: 'location',
      routes: [routeTo('location-v1', 'location', '/vehicles/{vin}/location', ['location:read'])],
    },
    ...byName(groupReadNames, (name) => ({
      theme: groupReads[name].theme,
      routes: [groupRoute(name)],
      hasVersions: true,
    })),
    ...byName(statisticsMemberNames, (name) => ({
      theme: statisticsMembers[name].theme,
      routes: [groupRoute('statistics')],
      value: statisticsMembers[name],
    })),
    ...byName(resourceNames, resourceRow),
  };
}

function routeTo(iface: InterfaceName, request: string, path: string, scopes: readonly string[]): ReadRoute {
  return { interface: iface, path, accept: json, scopes, request };
}

function groupRoute(name: GroupName): ReadRoute {
  return routeTo('connected-v2', name, `/vehicles/{vin}/${name}`, groups[name].scopes);
}

function connectedRow(request: ConnectedReadName, path: string, scope: string): ReadRow {
  return { theme: 'connected', routes: [routeTo('connected-v2', request, path, [scope])], hasVersions: true };
}

/** Version 1 also has windows and doors, with their own media type. */
function openingsRow(name: OpeningRead): ReadRow {
  const route = groupRoute(name);
  const accept = 'application/vnd.{vendor}.api.connected-vehicle.vehicledata.v1+json';
  const inV1: ReadRoute = { ...route, interface: 'connected-v1', accept, request: `${name} v1` };
  return { theme: 'connected', routes: [route, inV1], hasVersions: true };
}

function resourceRow(name: ResourceName): ReadRow {
  const resource: Resource = resources[name];
  const grouped: GroupedResource = groupedResources[name];
  const { theme } = resource;
  const extended = routeTo('extended-v1', name, resourcePath.replace('{resource}', name), [resource.scope]);
  if (grouped.group === null) return { theme, routes: [extended], value: resource, onlyExtended: grouped.reason };
  const ofGroup = { ...groupRoute(grouped.group), needsFuelType: 'withoutFuel' in grouped, unlisted: true } as const;
  return { theme, routes: [ofGroup, extended], value: resource };
}

/** Undefined if no interface has it. The `v1` of a single value is the extended interface. */
export function routeOf(
  name: ReadName,
  available: readonly InterfaceName[],
  choice: InterfaceChoice = 'auto',
): ReadRoute | undefined {
  const { routes, hasVersions } = reads[name];
  const usable = routes.filter((route) => available.includes(route.interface));
  if (hasVersions && choice !== 'auto') return usable.find((route) => route.interface === `connected-${choice}`);
  const extended = choice === 'v1' ? usable.find((route) => route.interface === 'extended-v1') : undefined;
  return extended ?? newestOf(usable, available);
}

/** All reads with the same name need one request together. */
export const requestNameOf = (name: ReadName, available: readonly InterfaceName[], choice?: InterfaceChoice): string =>
  routeOf(name, available, choice)?.request ?? name;

export type ReadName =
  | ConnectedReadName
  | 'charging'
  | ChargingMemberName
  | 'chargingDoneAt'
  | 'chargingCapabilities'
  | 'wallboxSessions'
  | WallboxMemberName
  | 'location'
  | GroupReadName
  | StatisticsMemberName
  | ResourceName;

/** What the pack keeps itself, which it answers without a request. */
export const keptNames = ['journal', 'trips', 'charges'] as const;
export type KeptName = (typeof keptNames)[number];
export const isKeptName = (name: string): name is KeptName => keptNames.some((kept) => kept === name);

/** The reads of `inOrder`, one request each. Its polls use the schedule of the first one. */
export const inOrderReads = ['diagnostics', 'warnings', 'tyres', 'brakes', 'engine', 'windows', 'doors'] as const;

export type AnyReadName = ReadName | KeptName | 'inOrder';

/** The reads that answer a name: none for what the pack keeps itself. */
export const partsOf = (name: AnyReadName): readonly ReadName[] =>
  name === 'inOrder' ? inOrderReads : isKeptName(name) ? [] : [name];

export const readNames = /* @__PURE__ */ Object.keys(reads) as ReadName[];

/** Object.hasOwn, not `in`: a message may name `constructor`. */
export const isReadName = (name: string): name is ReadName => Object.hasOwn(reads, name);
export const isResourceName = (name: string): name is ResourceName => Object.hasOwn(resources, name);

/** Everything that can be read, by the headings of the list and in its order. */
export const readThemes = (): [heading: string, names: readonly AnyReadName[]][] => [
  ...(['connected', ...themes] as const).map((theme): [string, AnyReadName[]] => [
    theme,
    [
      ...readNames.filter((name) => reads[name].theme === theme),
      ...(theme === 'connected' ? ['inOrder' as const] : []),
    ],
  ]),
  ['kept', keptNames],
];

/** The type of a single value; undefined for a read that answers more than one. */
export const valueTypeOf = (name: string): Resource | MemberKind | undefined =>
  isReadName(name) ? reads[name].value : undefined;

/** The versions of the connected interface that have a read or a command. */
export interface Versions {
  v1: boolean;
  v2: boolean;
  /** `auto` is version 1 of the two, because the specification does not list version 2. */
  v1First?: boolean;
}

/** Null for a single value, which does not depend on the version. */
export const versionsOfRead = (name: ReadName): Versions | null => {
  const { routes, hasVersions } = reads[name];
  const has = (version: InterfaceName): boolean => routes.some((route) => route.interface === version);
  return hasVersions ? { v1: has('connected-v1'), v2: has('connected-v2') } : null;
};

/** The API whose daily quota a read counts for: all interfaces of a read belong to one. */
export const apiOfRead = (name: ReadName): ApiName =>
  interfaces[reads[name].routes[0]?.interface ?? 'connected-v2'].api;

/** False for the list of vehicles and for the journal, which cover every vehicle of the account. */
export const needsVehicle = (name: AnyReadName): boolean => name !== 'vehicles' && name !== 'journal';

/** "Front left door open" for `frontLeftDoorOpen`, if a language has no words of its own. */
export const titleOf = (name: string): string => {
  const words = name
    .replace(/[-_]/g, ' ')
    .replace(/([a-z])([A-Z0-9])/g, '$1 $2')
    .toLowerCase()
    .replace('tail gate', 'tailgate')
    .replace('tyre', 'tire');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
