/**
 * Everything that can be read, as tables (docs/service.md 2.1 to 2.8 and 4.1 to 4.3, docs/energy-location-api.md 2 to 4). Data
 * without behaviour: the paths of the client, the dropdown of the editor, the scope check, the documentation and the routes of
 * the simulator follow from these tables.
 */

/** The interfaces of a service, as `msg.vehicle.interface` reports them (docs/message-contract.md 2 and 3). */
export const interfaceNames = ['connected-v2', 'connected-v1', 'extended-v1', 'energy-v2', 'location-v1'] as const;
export type InterfaceName = (typeof interfaceNames)[number];

/** The APIs that a daily quota is counted for (docs/energy-location-api.md 7.1). */
export const apiNames = ['connected', 'energy', 'location'] as const;
export type ApiName = (typeof apiNames)[number];

/** The API that an interface belongs to. */
export const apiOf = {
  'connected-v2': 'connected',
  'connected-v1': 'connected',
  'extended-v1': 'connected',
  'energy-v2': 'energy',
  'location-v1': 'location',
} as const satisfies Record<InterfaceName, ApiName>;

/** The values of the property `interface`; `auto` is v2 where the service offers it and v1 where it does not (docs/message-contract.md 3). */
export const interfaceChoices = ['auto', 'v1', 'v2'] as const;
export type InterfaceChoice = (typeof interfaceChoices)[number];

/** The base path of each interface (docs/service.md 9.1, docs/energy-location-api.md 1). */
export const interfacePaths = {
  'connected-v1': '/connected-vehicle/v1',
  'connected-v2': '/connected-vehicle/v2',
  'extended-v1': '/extended-vehicle/v1',
  'energy-v2': '/energy/v2',
  'location-v1': '/location/v1',
} as const satisfies Record<InterfaceName, string>;

export const json = 'application/json';

export interface Route {
  /** Below the interface's base path; `{vin}` is filled in. */
  path: string;
  /** Value of the accept header; `{vendor}` is the profile's media type vendor (docs/service.md 4.2). */
  accept: string;
}

export interface ConnectedRead {
  routes: Partial<Record<'connected-v1' | 'connected-v2', Route>>;
  /** Besides `openid`, which every request needs (docs/service.md 5.2). */
  scopes: readonly string[];
}

const vehicleData = 'application/vnd.{vendor}.api.connected-vehicle.vehicledata.v1+json';

/** The connected vehicle reads (docs/service.md 4.1, 4.2). */
export const connectedReads = {
  windows: {
    routes: {
      'connected-v1': { path: '/vehicles/{vin}/windows', accept: vehicleData },
      'connected-v2': { path: '/vehicles/{vin}/windows', accept: json },
    },
    scopes: ['conve:windows_status'],
  },
  doors: {
    routes: {
      'connected-v1': { path: '/vehicles/{vin}/doors', accept: vehicleData },
      'connected-v2': { path: '/vehicles/{vin}/doors', accept: json },
    },
    scopes: ['conve:doors_status', 'conve:lock_status'],
  },
  details: {
    routes: { 'connected-v2': { path: '/vehicles/{vin}', accept: json } },
    scopes: ['conve:vehicle_relation'],
  },
  vehicles: {
    routes: { 'connected-v2': { path: '/vehicles', accept: json } },
    scopes: ['conve:vehicle_relation'],
  },
  commands: {
    routes: { 'connected-v2': { path: '/vehicles/{vin}/commands', accept: json } },
    scopes: ['conve:commands'],
  },
  accessibility: {
    routes: { 'connected-v2': { path: '/vehicles/{vin}/command-accessibility', accept: json } },
    scopes: ['conve:command_accessibility'],
  },
} as const satisfies Record<string, ConnectedRead>;

export type ConnectedReadName = keyof typeof connectedReads;

/** The extended resource endpoint (docs/service.md 4.3). */
export const resourceRoute: Route = { path: '/vehicles/{vin}/resources/{resource}', accept: json };

const level5 = ['VERY_LOW', 'LOW', 'NORMAL', 'HIGH', 'VERY_HIGH'] as const;
const pressure7 = ['LOW', 'NORMAL', 'HIGH', 'LOWSOFT', 'LOWHARD', 'NOSENSOR', 'SYSTEMFAULT'] as const;

/** Headings of the dropdown, in the order of the dropdown. */
export const themes = [
  'doors',
  'windows',
  'lock',
  'charging',
  'fuel',
  'trip',
  'location',
  'tyres',
  'engine',
  'service',
  'warnings',
] as const;
export type Theme = (typeof themes)[number];

interface ResourceBase {
  /** Besides `openid`. */
  scope: string;
  theme: Theme;
}

/**
 * How the value of a resource is typed (docs/service.md 2.8). `number` is where the specification does not show whether
 * it is whole. Booleans carry the words that the specification gives to true and false.
 */
export type Resource = ResourceBase &
  (
    | { kind: 'double' | 'integer' | 'number'; unit: string }
    | { kind: 'boolean'; words: { true: string; false: string } }
    | { kind: 'enum'; values: readonly string[] }
  );

const openOrClosed = { true: 'open', false: 'closed' } as const;

/** The 39 extended resources, spelled, scoped and typed as in docs/service.md 2.8. */
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
  cabOpen: { scope: 'exve:doors_status', theme: 'doors', kind: 'boolean', words: openOrClosed },
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
 * A number, or a word of an open set. A number without a unit is in `unit`, unless the service uses several units for it
 * (`mixedUnits`): then its unit is unknown.
 */
export type MemberKind =
  { kind: 'number'; unit: string; mixedUnits?: true } | { kind: 'word'; values: readonly string[] };

/** The members of the energy state (docs/energy-location-api.md 2.3). The service can add words. */
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

/** Single values of the group `statistics` that are no extended resources (docs/energy-location-api.md 4.2). */
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

/** Whole groups of connected v2 (docs/energy-location-api.md 4); the scopes are those besides `openid`. */
export const groupReads = {
  fuel: {
    path: '/vehicles/{vin}/fuel',
    scopes: ['conve:fuel_status', 'conve:battery_charge_level'],
    theme: 'fuel',
  },
  statistics: { path: '/vehicles/{vin}/statistics', scopes: ['conve:trip_statistics'], theme: 'trip' },
  tyres: { path: '/vehicles/{vin}/tyres', scopes: ['conve:tyre_status'], theme: 'tyres' },
  warnings: { path: '/vehicles/{vin}/warnings', scopes: ['conve:warnings'], theme: 'warnings' },
  diagnostics: { path: '/vehicles/{vin}/diagnostics', scopes: ['conve:diagnostics_workshop'], theme: 'service' },
  brakes: { path: '/vehicles/{vin}/brakes', scopes: ['conve:brake_status'], theme: 'service' },
  engine: { path: '/vehicles/{vin}/engine', scopes: ['conve:diagnostics_engine_status'], theme: 'engine' },
  'engine-status': { path: '/vehicles/{vin}/engine-status', scopes: ['conve:engine_status'], theme: 'engine' },
} as const satisfies Record<string, Omit<SingleInterfaceRead, 'interface' | 'payloadKind'>>;

export type GroupReadName = keyof typeof groupReads;
export const groupReadNames = /* @__PURE__ */ Object.keys(groupReads) as GroupReadName[];

/** A read of the newer APIs (energy, location, groups of connected v2), which one interface answers (docs/message-contract.md 3). */
export interface SingleInterfaceRead {
  interface: 'connected-v2' | 'energy-v2' | 'location-v1';
  /** Below the base path of the interface; `{vin}` is filled in. One request answers all reads with the same path. */
  path: string;
  /** Besides `openid`. */
  scopes: readonly string[];
  theme: Theme;
  /** The payload: one member of the answer, or the whole answer. */
  payloadKind: 'member' | 'charging' | 'capabilities' | 'location' | 'group';
}

/** The reads of the newer APIs, which docs/service.md does not have (docs/energy-location-api.md 2 to 4). */
export const singleInterfaceReads = /* @__PURE__ */ singleInterfaceReadRows();

function singleInterfaceReadRows(): Readonly<Record<SingleInterfaceReadName, SingleInterfaceRead>> {
  const energyState = {
    interface: 'energy-v2',
    path: '/vehicles/{vin}/state',
    scopes: ['energy:state:read'],
    theme: 'charging',
  } as const;
  const rowsFor = <Name extends string>(names: readonly Name[], rowOf: (name: Name) => SingleInterfaceRead) =>
    Object.fromEntries(names.map((name) => [name, rowOf(name)])) as Record<Name, SingleInterfaceRead>;
  return {
    charging: { ...energyState, payloadKind: 'charging' },
    ...rowsFor([...chargingMemberNames, 'chargingDoneAt'], () => ({ ...energyState, payloadKind: 'member' })),
    chargingCapabilities: {
      interface: 'energy-v2',
      path: '/vehicles/{vin}/capabilities',
      scopes: ['energy:capability:read'],
      theme: 'charging',
      payloadKind: 'capabilities',
    },
    location: {
      interface: 'location-v1',
      path: '/vehicles/{vin}/location',
      scopes: ['location:read'],
      theme: 'location',
      payloadKind: 'location',
    },
    ...rowsFor(groupReadNames, (name) => ({ interface: 'connected-v2', ...groupReads[name], payloadKind: 'group' })),
    ...rowsFor(statisticsMemberNames, (name) => ({
      interface: 'connected-v2',
      ...groupReads.statistics,
      theme: statisticsMembers[name].theme,
      payloadKind: 'member',
    })),
  };
}

export type SingleInterfaceReadName =
  | 'charging'
  | ChargingMemberName
  | 'chargingDoneAt'
  | 'chargingCapabilities'
  | 'location'
  | GroupReadName
  | StatisticsMemberName;

/** Every name that `connected-vehicle-status` reads (docs/message-contract.md 3), in the order of the dropdown. */
export type ReadName = ConnectedReadName | ResourceName | SingleInterfaceReadName;

/** Kept by the pack itself and answered without a request. */
export const localReadNames = ['journal'] as const;
export type LocalReadName = (typeof localReadNames)[number];

/** Every name that a flow can read, including what the pack answers without a request. */
export type AnyReadName = ReadName | LocalReadName;

// PURE: a bundle that does not use a list leaves out its table as well.
export const connectedReadNames = /* @__PURE__ */ Object.keys(connectedReads) as ConnectedReadName[];
export const resourceNames = /* @__PURE__ */ Object.keys(resources) as ResourceName[];
export const singleInterfaceReadNames = /* @__PURE__ */ Object.keys(singleInterfaceReads) as SingleInterfaceReadName[];
export const readNames: readonly ReadName[] = /* @__PURE__ */ (connectedReadNames as ReadName[]).concat(
  singleInterfaceReadNames,
  resourceNames,
);

/** Object.hasOwn, not `in`: a message may name `constructor`. */
export const isResourceName = (name: string): name is ResourceName => Object.hasOwn(resources, name);
export const isSingleInterfaceReadName = (name: string): name is SingleInterfaceReadName =>
  Object.hasOwn(singleInterfaceReads, name);
export const isGroupReadName = (name: string): name is GroupReadName => Object.hasOwn(groupReads, name);
export const isChargingMemberName = (name: string): name is ChargingMemberName => Object.hasOwn(chargingMembers, name);
export const isStatisticsMemberName = (name: string): name is StatisticsMemberName =>
  Object.hasOwn(statisticsMembers, name);
export const isReadName = (name: string): name is ReadName =>
  Object.hasOwn(connectedReads, name) || isSingleInterfaceReadName(name) || isResourceName(name);
/** The API whose daily quota a read counts for. */
export const apiOfRead = (name: ReadName): ApiName =>
  isSingleInterfaceReadName(name) ? apiOf[singleInterfaceReads[name].interface] : 'connected';
export const isLocalReadName = (name: string): name is LocalReadName => name === 'journal';

/** False for the list of vehicles and for local reads, which cover every vehicle of the account. */
export const needsVehicle = (name: AnyReadName): boolean => name !== 'vehicles' && !isLocalReadName(name);

/** The scopes that a read needs, `openid` included (docs/service.md 4.1 and 2.8). */
export const readScopes = (name: ReadName): readonly string[] => [
  'openid',
  ...(isResourceName(name)
    ? [resources[name].scope]
    : isSingleInterfaceReadName(name)
      ? singleInterfaceReads[name].scopes
      : connectedReads[name].scopes),
];

/** `frontLeftDoorOpen` as "Front left door open": what a dropdown shows where a language has no words of its own. */
export const titleOf = (name: string): string => {
  const words = name
    .replace(/[-_]/g, ' ')
    .replace(/([a-z])([A-Z0-9])/g, '$1 $2')
    .toLowerCase()
    .replace('tail gate', 'tailgate');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
