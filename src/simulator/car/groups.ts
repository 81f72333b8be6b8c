import type { GroupName } from '../../catalogue/groups';
import type { ResourceName } from '../../catalogue/reads';
import { hasTank, rangeKm } from './battery';
import type { ResourceValue } from './resources';
import type { CarState, StatisticName } from './state';

/**
 * The groups of connected v2 (docs/field-notes.md 1.10, docs/energy-location-api.md 4). Each member shows a
 * resource of the car in the words and units that v2 uses, so both interfaces always agree.
 */
export interface GroupMember {
  /** The resource that it shows. */
  from?: ResourceName;
  /** The path in the car and the value, of a member that no resource shows. */
  of?: { path: string; value: (state: CarState) => ResourceValue };
  unit?: string;
  /** From the resource's value to the word of v2; what the table does not hold is UNSPECIFIED. */
  words?: Record<string, string>;
  /** The word, if it depends on more than one resource. */
  word?: (value: (name: ResourceName) => ResourceValue) => ResourceValue;
}

export interface Group {
  members: Record<string, GroupMember>;
}

const levels = {
  VERY_LOW: 'TOO_LOW',
  LOW: 'TOO_LOW',
  NORMAL: 'NO_WARNING',
  HIGH: 'NO_WARNING',
  VERY_HIGH: 'NO_WARNING',
};
const pressure = {
  LOW: 'LOW_PRESSURE',
  LOWSOFT: 'LOW_PRESSURE',
  LOWHARD: 'VERY_LOW_PRESSURE',
  HIGH: 'HIGH_PRESSURE',
  NORMAL: 'NO_WARNING',
};

/** The lamps of v2, with the words of `bulbFailure` that mean that one of them fails (docs/service.md 2.8). */
const lamps: Record<string, readonly string[]> = {
  brakeLightCenterWarning: ['STOP_ANY'],
  brakeLightLeftWarning: ['STOP_ANY'],
  brakeLightRightWarning: ['STOP_ANY'],
  fogLightFrontWarning: ['FOG_FRONT_ANY'],
  fogLightRearWarning: ['FOG_REAR_ANY'],
  positionLightFrontLeftWarning: ['POSITION_ANY'],
  positionLightFrontRightWarning: ['POSITION_ANY'],
  positionLightRearLeftWarning: ['POSITION_ANY'],
  positionLightRearRightWarning: ['POSITION_ANY'],
  highBeamLeftWarning: ['HIGH_BEAM_ANY', 'HIGH_BEAM_LEFT'],
  highBeamRightWarning: ['HIGH_BEAM_ANY', 'HIGH_BEAM_RIGHT'],
  lowBeamLeftWarning: ['LOW_BEAM_ANY', 'LOW_BEAM_LEFT'],
  lowBeamRightWarning: ['LOW_BEAM_ANY', 'LOW_BEAM_RIGHT'],
  daytimeRunningLightLeftWarning: ['DAY_RUNNING_ANY'],
  daytimeRunningLightRightWarning: ['DAY_RUNNING_ANY'],
  turnIndicationFrontLeftWarning: ['LEFT_TURN_ANY'],
  turnIndicationFrontRightWarning: ['RIGHT_TURN_ANY'],
  turnIndicationRearLeftWarning: ['LEFT_TURN_ANY'],
  turnIndicationRearRightWarning: ['RIGHT_TURN_ANY'],
  registrationPlateLightWarning: [],
  sideMarkLightsWarning: [],
  hazardLightsWarning: [],
  reverseLightsWarning: [],
};

const lamp = (failures: readonly string[]): GroupMember => ({
  from: 'bulbFailure',
  word: (value) =>
    failures.includes(String(value('bulbFailure'))) || (value('bulbFailure') === 'MULTIPLE' && failures.length > 0)
      ? 'FAILURE'
      : 'NO_WARNING',
});

const urgency: Partial<Record<string, string>> = {
  ALMOST_TIME_FOR_SERVICE: 'ALMOST_TIME_FOR_SERVICE',
  TIME_FOR_SERVICE: 'TIME_FOR_SERVICE',
  TIME_EXCEEDED: 'OVERDUE_FOR_SERVICE',
};
const occasion: Partial<Record<string, string>> = {
  CALENDAR_TIME: 'REGULAR_MAINTENANCE',
  DISTANCE: 'DISTANCE_DRIVEN',
  ENGINE_HOURS: 'ENGINE_HOURS',
};

/** `TIME_EXCEEDED` because of `DISTANCE` -> `DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE`. */
function serviceWarning(status: ResourceValue, trigger: ResourceValue): string {
  if (status === 'NORMAL') return 'NO_WARNING';
  const when = urgency[String(status)];
  const why = occasion[String(trigger)];
  return when === undefined || why === undefined ? 'UNKNOWN_WARNING' : `${why}_${when}`;
}

const level = (unit: string): GroupMember => ({
  unit,
  of: {
    path: 'energy.batteryChargeLevel',
    value: (state) => (state.plugIn && state.battery.level !== null ? Math.floor(state.battery.level) : null),
  },
});
const batteryRange: GroupMember = {
  unit: 'km',
  of: { path: 'energy.electricRange', value: (state) => rangeKm(state) },
};
const tankRange: GroupMember = {
  unit: 'km',
  of: {
    path: 'resources.distanceToEmpty',
    value: (state) => (hasTank(state) ? (state.resources.distanceToEmpty ?? null) : null),
  },
};
const statistic = (name: StatisticName, unit: string): GroupMember => ({
  unit,
  of: { path: `statistics.${name}`, value: (state) => state.statistics[name] },
});

export const groups: Record<Exclude<GroupName, 'doors' | 'windows'>, Group> = {
  engine: {
    members: {
      oilLevelWarning: { from: 'oilLevel', words: { ...levels, HIGH: 'TOO_HIGH', VERY_HIGH: 'TOO_HIGH' } },
      engineCoolantLevelWarning: { from: 'engineCoolantLevel', words: levels },
    },
  },
  'engine-status': {
    members: { engineStatus: { from: 'engineRunning', words: { true: 'RUNNING', false: 'STOPPED' } } },
  },
  fuel: {
    members: { fuelAmount: { from: 'fuelAmount', unit: 'l' }, batteryChargeLevel: level('%') },
  },
  odometer: { members: { odometer: { from: 'odometer', unit: 'km' } } },
  statistics: {
    members: {
      averageFuelConsumption: { from: 'averageFuelConsumption', unit: 'l/100km' },
      averageFuelConsumptionAutomatic: statistic('averageFuelConsumptionAutomatic', 'l/100km'),
      averageEnergyConsumption: statistic('averageEnergyConsumption', 'kWh/100km'),
      averageEnergyConsumptionAutomatic: statistic('averageEnergyConsumptionAutomatic', 'kWh/100km'),
      averageEnergyConsumptionSinceCharge: statistic('averageEnergyConsumptionSinceCharge', 'kWh/100km'),
      averageSpeed: { from: 'averageSpeed', unit: 'km/h' },
      averageSpeedAutomatic: statistic('averageSpeedAutomatic', 'km/h'),
      tripMeterManual: { from: 'tripMeter1', unit: 'km' },
      tripMeterAutomatic: { from: 'tripMeter2', unit: 'km' },
      distanceToEmptyTank: tankRange,
      distanceToEmptyBattery: batteryRange,
    },
  },
  tyres: {
    members: {
      frontLeft: { from: 'frontLeftTyrePressure', words: pressure },
      frontRight: { from: 'frontRightTyrePressure', words: pressure },
      rearLeft: { from: 'rearLeftTyrePressure', words: pressure },
      rearRight: { from: 'rearRightTyrePressure', words: pressure },
    },
  },
  warnings: {
    members: Object.fromEntries(Object.entries(lamps).map(([name, failures]) => [name, lamp(failures)])),
  },
  diagnostics: {
    members: {
      serviceWarning: {
        from: 'serviceWarningStatus',
        word: (value) => serviceWarning(value('serviceWarningStatus'), value('serviceWarningTrigger')),
      },
      serviceTrigger: {
        from: 'serviceWarningTrigger',
        words: { CALENDAR_TIME: 'CALENDAR_TIME', DISTANCE: 'DISTANCE', ENGINE_HOURS: 'ENGINE_HOURS' },
      },
      engineHoursToService: { from: 'engineHoursToService', unit: 'h' },
      distanceToService: { from: 'kmToService', unit: 'km' },
      washerFluidLevelWarning: { from: 'washerFluidLevel', words: levels },
      timeToService: { from: 'monthsToService', unit: 'months' },
    },
  },
  brakes: {
    members: { brakeFluidLevelWarning: { from: 'brakeFluid', words: levels } },
  },
};
