/**
 * What can be read, as tables (specification 2.1 to 2.8, 4.1 to 4.3). Data, no behaviour: the client's paths, the
 * editor's dropdown, the scope check, the README and the simulator's routes all follow from here.
 */

/** Names of the three interfaces, as `msg.vehicle.interface` reports them (contract 3). */
export type InterfaceName = 'connected-v1' | 'connected-v2' | 'extended-v1';

/** What a user may ask for; `auto` is v2 where the service offers it and v1 where it does not (contract 3). */
export const interfaceChoices = ['auto', 'v1', 'v2'] as const;
export type InterfaceChoice = (typeof interfaceChoices)[number];

/** The base path of each interface (specification 9.1). */
export const interfacePaths = {
  'connected-v1': '/connected-vehicle/v1',
  'connected-v2': '/connected-vehicle/v2',
  'extended-v1': '/extended-vehicle/v1',
} as const satisfies Record<InterfaceName, string>;

export const json = 'application/json';

export interface Route {
  /** Below the interface's base path; `{vin}` is filled in. */
  path: string;
  /** Value of the accept header; `{vendor}` is the profile's media type vendor (specification 4.2). */
  accept: string;
}

export interface ConnectedRead {
  routes: Partial<Record<'connected-v1' | 'connected-v2', Route>>;
  /** Besides `openid`, which every request needs (specification 5.2). */
  scopes: readonly string[];
}

const vehicleData = 'application/vnd.{vendor}.api.connected-vehicle.vehicledata.v1+json';

/** The connected vehicle reads (specification 4.1, 4.2). */
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

/** The extended resource endpoint (specification 4.3). */
export const resourceRoute: Route = { path: '/vehicles/{vin}/resources/{resource}', accept: json };

const level5 = ['VERY_LOW', 'LOW', 'NORMAL', 'HIGH', 'VERY_HIGH'] as const;
const pressure7 = ['LOW', 'NORMAL', 'HIGH', 'LOWSOFT', 'LOWHARD', 'NOSENSOR', 'SYSTEMFAULT'] as const;

/** Headings of the dropdown, in the order of the dropdown. */
export const themes = ['doors', 'windows', 'lock', 'fuel', 'trip', 'tyres', 'engine', 'service', 'warnings'] as const;
export type Theme = (typeof themes)[number];

interface ResourceBase {
  /** Besides `openid`. */
  scope: string;
  theme: Theme;
}

/**
 * How the value of a resource is typed (specification 2.8). `number` is where the specification does not show whether
 * it is whole. Booleans carry the words that the specification gives to true and false.
 */
export type Resource = ResourceBase &
  (
    | { kind: 'double' | 'integer' | 'number'; unit: string }
    | { kind: 'boolean'; words: { true: string; false: string } }
    | { kind: 'enum'; values: readonly string[] }
  );

const openOrClosed = { true: 'open', false: 'closed' } as const;

/** The 39 extended resources, spelled, scoped and typed as in specification 2.8. */
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

/** Every name that `connected-vehicle-status` reads (contract 3), in the order of the dropdown. */
export type ReadName = ConnectedReadName | ResourceName;

/** What the pack itself keeps and hands out like a reading, without a request; not part of the specification. */
export const localReadNames = ['journal'] as const;
export type LocalReadName = (typeof localReadNames)[number];

/** Whatever a flow can name as a read. */
export type AnyReadName = ReadName | LocalReadName;

// PURE: a bundle that does not use a list leaves out its table as well.
export const connectedReadNames = /* @__PURE__ */ Object.keys(connectedReads) as ConnectedReadName[];
export const resourceNames = /* @__PURE__ */ Object.keys(resources) as ResourceName[];
export const readNames: readonly ReadName[] = /* @__PURE__ */ (connectedReadNames as ReadName[]).concat(resourceNames);

/** Object.hasOwn, not `in`: a message may name `constructor`. */
export const isResourceName = (name: string): name is ResourceName => Object.hasOwn(resources, name);
export const isReadName = (name: string): name is ReadName =>
  Object.hasOwn(connectedReads, name) || isResourceName(name);
export const isLocalReadName = (name: string): name is LocalReadName => name === 'journal';

/** Not for the list of vehicles, nor for what the pack keeps of all of them. */
export const needsVehicle = (name: AnyReadName): boolean => name !== 'vehicles' && !isLocalReadName(name);

/** The scopes a read needs, `openid` included (specification 4.1, 2.8). */
export const readScopes = (name: ReadName): readonly string[] => [
  'openid',
  ...(isResourceName(name) ? [resources[name].scope] : connectedReads[name].scopes),
];

/** `frontLeftDoorOpen` as "Front left door open": what a dropdown shows where a language has no words of its own. */
export const titleOf = (name: string): string => {
  const words = name
    .replace(/[-_]/g, ' ')
    .replace(/([a-z])([A-Z0-9])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
