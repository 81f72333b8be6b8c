import { lockWords, openings, openingWords, type OpeningKey, type OpeningRow } from './openings';

/**
 * The 39 extended resources in the groups of connected v2, for services whose extended interface is
 * gone (docs/internals/vendor-api.md 1.10, 3.4, 7). A row names the members that hold the value and
 * how it is converted to the unit and the meaning of docs/internals/service.md 2.8, or why
 * connected v2 has no such value.
 *
 * Sources by row: "OAS" is the published OpenAPI document of connected v2, "portal" its public
 * endpoint pages, "fixtures" the recorded answers in Home Assistant's public tests. If they differ,
 * every spelling is read.
 */
interface Group {
  /** Besides `openid` (docs/internals/vendor-api.md 4.4; portal). */
  scopes: readonly string[];
}

/**
 * The groups that can be read as a whole (docs/internals/vendor-api.md 14); `theme` is their
 * heading.
 */
export const groupReads = {
  fuel: {
    scopes: ['conve:fuel_status', 'conve:battery_charge_level'],
    theme: 'fuel',
  },
  statistics: { scopes: ['conve:trip_statistics'], theme: 'trip' },
  tyres: { scopes: ['conve:tyre_status'], theme: 'tyres' },
  warnings: { scopes: ['conve:warnings'], theme: 'warnings' },
  diagnostics: { scopes: ['conve:diagnostics_workshop'], theme: 'service' },
  brakes: { scopes: ['conve:brake_status'], theme: 'service' },
  engine: { scopes: ['conve:diagnostics_engine_status'], theme: 'engine' },
  'engine-status': { scopes: ['conve:engine_status'], theme: 'engine' },
} as const satisfies Record<string, Group & { theme: string }>;

export type GroupReadName = keyof typeof groupReads;
export const groupReadNames = /* @__PURE__ */ Object.keys(groupReads) as GroupReadName[];

export const groups = {
  doors: { scopes: ['conve:doors_status', 'conve:lock_status'] },
  windows: { scopes: ['conve:windows_status'] },
  odometer: { scopes: ['conve:odometer_status'] },
  ...groupReads,
} as const satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;

interface GroupMember {
  group: GroupName;
  /** Spellings of the member, the likeliest first. */
  spellings: readonly string[];
}

/** A number in any unit that can be converted to that of docs/internals/service.md 2.8. */
export interface GroupedNumber extends GroupMember {
  /** What is left must not be too long. A value that would become 0 is then unknown. */
  whole?: 'down';
  /** Members of a car that burns no fuel: its fuel type decides, never a missing value. */
  withoutFuel?: readonly string[];
  /** Cars have several units (docs/internals/vendor-api.md 6.2): without one it is unknown. */
  mixedUnits?: true;
}

/** A word with its value in docs/internals/service.md 2.8; any other word is unknown. */
export interface GroupedWord extends GroupMember {
  words: Readonly<Record<string, string | boolean>>;
}

/** The lights with their words; null: docs/internals/service.md 2.8 has none for that light. */
export interface GroupedBulbs {
  group: GroupName;
  bulbs: Readonly<Record<string, string | null>>;
  /** The value of a member whose light has failed. */
  failed: string;
  several: string;
}

interface Ungrouped {
  group: null;
  reason: string;
}

export type GroupedResource = GroupedNumber | GroupedWord | GroupedBulbs | Ungrouped;

/** v2 reports warnings in place of levels; none: the level is right (portal: diagnostics). */
const level = { NO_WARNING: 'NORMAL', TOO_LOW: 'LOW', TOO_HIGH: 'HIGH' } as const;
/** Very low is low; LOWSOFT and LOWHARD have no counterpart (portal: tyres). */
const pressure = {
  NO_WARNING: 'NORMAL',
  LOW_PRESSURE: 'LOW',
  VERY_LOW_PRESSURE: 'LOW',
  HIGH_PRESSURE: 'HIGH',
} as const;

function opening(key: OpeningKey): GroupedWord {
  const { kind, read, name, v2 = key }: OpeningRow = openings[key];
  const [table, isTrue] = kind === 'lock' ? [lockWords, 'closed'] : [openingWords, 'open'];
  const words = Object.entries(table).map(([word, state]) => [word, state === isTrue]);
  return { group: read, spellings: [v2, name], words: Object.fromEntries(words) };
}
const tyre = (member: string): GroupedWord => ({ group: 'tyres', spellings: [member], words: pressure });

export const groupedResources = {
  // OAS and portal: l/100km; fixtures: 7.23.
  averageFuelConsumption: { group: 'statistics', spellings: ['averageFuelConsumption'] },
  // Portal: of the manual trip meter, which v1 reports; averageSpeedAutomatic is another meter.
  averageSpeed: { group: 'statistics', spellings: ['averageSpeed'] },
  backupBatteryRemaining: { group: null, reason: 'connected v2 says nothing of the backup battery' },
  // Portal: UNSPECIFIED, NO_WARNING, TOO_LOW.
  brakeFluid: { group: 'brakes', spellings: ['brakeFluidLevelWarning'], words: level },
  // OAS ExteriorWarning; portal: UNSPECIFIED, NO_WARNING, FAILURE. No trailer among them.
  bulbFailure: {
    group: 'warnings',
    failed: 'FAILURE',
    several: 'MULTIPLE',
    bulbs: {
      brakeLightCenterWarning: 'STOP_ANY',
      brakeLightLeftWarning: 'STOP_ANY',
      brakeLightRightWarning: 'STOP_ANY',
      fogLightFrontWarning: 'FOG_FRONT_ANY',
      fogLightRearWarning: 'FOG_REAR_ANY',
      positionLightFrontLeftWarning: 'POSITION_ANY',
      positionLightFrontRightWarning: 'POSITION_ANY',
      positionLightRearLeftWarning: 'POSITION_ANY',
      positionLightRearRightWarning: 'POSITION_ANY',
      highBeamLeftWarning: 'HIGH_BEAM_LEFT',
      highBeamRightWarning: 'HIGH_BEAM_RIGHT',
      lowBeamLeftWarning: 'LOW_BEAM_LEFT',
      lowBeamRightWarning: 'LOW_BEAM_RIGHT',
      daytimeRunningLightLeftWarning: 'DAY_RUNNING_ANY',
      daytimeRunningLightRightWarning: 'DAY_RUNNING_ANY',
      turnIndicationFrontLeftWarning: 'LEFT_TURN_ANY',
      turnIndicationRearLeftWarning: 'LEFT_TURN_ANY',
      turnIndicationFrontRightWarning: 'RIGHT_TURN_ANY',
      turnIndicationRearRightWarning: 'RIGHT_TURN_ANY',
      registrationPlateLightWarning: null,
      sideMarkLightsWarning: null,
      hazardLightsWarning: null,
      reverseLightsWarning: null,
    },
  },
  cabOpen: { group: null, reason: 'connected v2 has no member for the cab; its tank lid is something else' },
  carLocked: opening('carLocked'),
  // OAS: distanceToEmpty; fixtures: distanceToEmptyTank and distanceToEmptyBattery.
  distanceToEmpty: {
    group: 'statistics',
    spellings: ['distanceToEmptyTank', 'distanceToEmpty'],
    withoutFuel: ['distanceToEmptyBattery'],
  },
  // Portal: UNSPECIFIED, NO_WARNING, TOO_LOW.
  engineCoolantLevel: { group: 'engine', spellings: ['engineCoolantLevelWarning'], words: level },
  engineCoolantTemp: { group: null, reason: 'connected v2 says nothing of the coolant’s temperature' },
  // Fixtures: unit h.
  engineHoursToService: { group: 'diagnostics', spellings: ['engineHoursToService'] },
  // OAS EngineStatus; portal: RUNNING, STOPPED.
  engineRunning: {
    group: 'engine-status',
    spellings: ['engineStatus', 'engineRunning'],
    words: { RUNNING: true, STOPPED: false },
  },
  externalTemp: { group: null, reason: 'connected v2 says nothing of the temperature outside' },
  frontLeftDoorOpen: opening('frontLeftDoor'),
  frontRightDoorOpen: opening('frontRightDoor'),
  rearLeftDoorOpen: opening('rearLeftDoor'),
  rearRightDoorOpen: opening('rearRightDoor'),
  // Portal: always l; fixtures: 47.3, also as text.
  fuelAmount: { group: 'fuel', spellings: ['fuelAmount'] },
  hoodOpen: opening('hood'),
  // Fixtures: unit km.
  kmToService: {
    group: 'diagnostics',
    spellings: ['distanceToService', 'distanceToServiceKm'],
    whole: 'down',
  },
  mainBatteryStatus: { group: null, reason: 'connected v2 says nothing of the main battery’s state' },
  // Fixtures: 23 months, 17 days. Months are rounded down.
  monthsToService: { group: 'diagnostics', spellings: ['timeToService'], whole: 'down', mixedUnits: true },
  // OAS: integer; portal: km.
  odometer: { group: 'odometer', spellings: ['odometer'] },
  // Portal: UNSPECIFIED, NO_WARNING, SERVICE_REQUIRED, TOO_LOW, TOO_HIGH;
  // SERVICE_REQUIRED is not a level.
  oilLevel: { group: 'engine', spellings: ['oilLevelWarning'], words: level },
  oilPressure: { group: null, reason: 'connected v2 reports the oil’s level, not its pressure' },
  // Home Assistant's public list of words; each ends with its urgency.
  serviceWarningStatus: {
    group: 'diagnostics',
    spellings: ['serviceWarning'],
    words: {
      NO_WARNING: 'NORMAL',
      REGULAR_MAINTENANCE_ALMOST_TIME_FOR_SERVICE: 'ALMOST_TIME_FOR_SERVICE',
      ENGINE_HOURS_ALMOST_TIME_FOR_SERVICE: 'ALMOST_TIME_FOR_SERVICE',
      DISTANCE_DRIVEN_ALMOST_TIME_FOR_SERVICE: 'ALMOST_TIME_FOR_SERVICE',
      REGULAR_MAINTENANCE_TIME_FOR_SERVICE: 'TIME_FOR_SERVICE',
      ENGINE_HOURS_TIME_FOR_SERVICE: 'TIME_FOR_SERVICE',
      DISTANCE_DRIVEN_TIME_FOR_SERVICE: 'TIME_FOR_SERVICE',
      REGULAR_MAINTENANCE_OVERDUE_FOR_SERVICE: 'TIME_EXCEEDED',
      ENGINE_HOURS_OVERDUE_FOR_SERVICE: 'TIME_EXCEEDED',
      DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE: 'TIME_EXCEEDED',
    },
  },
  // OAS; null while nothing has triggered (docs/internals/vendor-api.md 6.1).
  serviceWarningTrigger: {
    group: 'diagnostics',
    spellings: ['serviceTrigger'],
    words: { CALENDAR_TIME: 'CALENDAR_TIME', DISTANCE: 'DISTANCE', ENGINE_HOURS: 'ENGINE_HOURS' },
  },
  // docs/internals/vendor-api.md 1.5: both spellings.
  tailGateOpen: opening('tailGate'),
  // Fixtures: Manual and Automatic; OAS: tripMeter1, tripMeter2, in the same order.
  tripMeter1: { group: 'statistics', spellings: ['tripMeterManual', 'tripMeter1'] },
  tripMeter2: { group: 'statistics', spellings: ['tripMeterAutomatic', 'tripMeter2'] },
  frontLeftTyrePressure: tyre('frontLeft'),
  frontRightTyrePressure: tyre('frontRight'),
  rearLeftTyrePressure: tyre('rearLeft'),
  rearRightTyrePressure: tyre('rearRight'),
  // Portal: UNSPECIFIED, NO_WARNING, TOO_LOW.
  washerFluidLevel: { group: 'diagnostics', spellings: ['washerFluidLevelWarning'], words: level },
  frontLeftWindowOpen: opening('frontLeftWindow'),
  frontRightWindowOpen: opening('frontRightWindow'),
  rearLeftWindowOpen: opening('rearLeftWindow'),
  rearRightWindowOpen: opening('rearRightWindow'),
} as const satisfies Record<string, GroupedResource>;

/** Null: unknown. Electric cars also report `NONE` (docs/internals/vendor-api.md 14.7). */
export function burnsFuel(fuelType: string | null): boolean | null {
  const word = fuelType?.trim().toUpperCase() ?? '';
  if (/PETROL|DIESEL/.test(word)) return true;
  return word === 'ELECTRIC' || word === 'NONE' ? false : null;
}
