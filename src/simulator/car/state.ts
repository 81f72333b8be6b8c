/** The state of a simulated car. */

import { openingsOf, type OpeningKey, type OpeningRead, type openings } from '../../catalogue/openings';
import { resourceNames, type ChargingMemberName, type ResourceName } from '../../catalogue/reads';
import { defaultValue, modelPathOf, type ResourceValue } from './resources';

/** The status of a step of a command plan: replaced by the result of the rules of the car (docs/service.md 3). */
export const byRule = 'BY_RULE';

type NameIn<Read extends OpeningRead> = Extract<(typeof openings)[OpeningKey], { read: Read }>['name'];
export type WindowName = NameIn<'windows'>;
export type DoorName = Exclude<NameIn<'doors'>, 'carLocked'>;

/** The openings of a read, without the lock, each with a value. */
export const eachOpening = <Read extends OpeningRead, Value>(
  read: Read,
  value: Value,
): Record<Exclude<NameIn<Read>, 'carLocked'>, Value> =>
  // `fromEntries` forgets the names.
  Object.fromEntries(openingsOf(read).flatMap(({ kind, name }) => (kind === 'lock' ? [] : [[name, value]]))) as Record<
    Exclude<NameIn<Read>, 'carLocked'>,
    Value
  >;

/** A step in the course of a command. */
export interface PlanStep {
  /** Counted from when the service took the command. */
  afterMs: number;
  /** Any word, or `BY_RULE`. */
  status: string;
  /** Whether the car carries the command out at this step. Default: if the status is a success. */
  acts?: boolean | undefined;
}

/** Members of the statistics group that no extended resource has. */
export type StatisticName =
  | 'averageEnergyConsumption'
  | 'averageEnergyConsumptionAutomatic'
  | 'averageEnergyConsumptionSinceCharge'
  | 'averageFuelConsumptionAutomatic'
  | 'averageSpeedAutomatic';

export type CarState = {
  details: {
    modelYear: number | string | null;
    gearbox: string | null;
    fuelType: string | null;
    externalColour: string | null;
    batteryCapacityKWH: number | null;
    images: { exteriorImageUrl: string | null; internalImageUrl: string | null };
    descriptions: { model: string | null; steering: string | null; upholstery: string | null };
  };
  windows: Record<WindowName, string | null>;
  doors: Record<DoorName, string | null>;
  cab: string | null;
  lock: string | null;
  engineRunning: boolean | null;
  plugIn: boolean;
  battery: {
    level: number | null;
    target: number;
    capacityKWH: number;
    fullRange: number;
    currentLimit: number;
    power: number;
    timeLapse: number;
  };
  charger: {
    connection: 'CONNECTED' | 'DISCONNECTED' | 'FAULT';
    type: 'AC' | 'DC';
    hasPower: boolean;
    scheduled: boolean;
  };
  energy: {
    errors: Partial<Record<ChargingMemberName, string | null>>;
    capabilities: Partial<Record<ChargingMemberName, boolean | null>>;
    notFound: boolean;
    distanceUnit: 'km' | 'mi' | 'miles';
    tenths: boolean;
    faultWhenDone: boolean;
    powerOnlyWhileCharging: boolean;
  };
  location: {
    latitude: number;
    longitude: number;
    altitude: number | null;
    heading: number | null;
    shared: boolean;
  };
  statistics: Record<StatisticName, number | null>;
  ignoresClimatizationStop: boolean;
  inUse: boolean;
  asleep: boolean;
  reachable: boolean;
  powerSaving: boolean;
  classic: boolean;
  availability: { value: string | null; unavailableReason: string | null } | null;
  resources: Partial<Record<ResourceName, ResourceValue>>;
  unsupported: string[];
  extraCommands: string[];
  commandPlan: { steps: PlanStep[]; answerAfterMs: number; effectAfterMs: number };
};

/** A believable petrol car, locked and closed. */
export const newState = (): CarState => ({
  details: {
    modelYear: 2024,
    gearbox: 'AUTOMATIC',
    fuelType: 'PETROL',
    externalColour: 'Crystal White Pearl',
    batteryCapacityKWH: null,
    images: { exteriorImageUrl: null, internalImageUrl: null },
    descriptions: { model: 'XC60', steering: 'LEFT', upholstery: 'R310' },
  },
  windows: { ...eachOpening('windows', 'CLOSED'), sunroof: 'UNSPECIFIED' },
  doors: eachOpening('doors', 'CLOSED'),
  cab: 'CLOSED',
  lock: 'LOCKED',
  engineRunning: false,
  plugIn: false,
  battery: {
    level: 62,
    target: 90,
    capacityKWH: 78,
    fullRange: 420,
    currentLimit: 16,
    power: 11_000,
    timeLapse: 1,
  },
  charger: { connection: 'DISCONNECTED', type: 'AC', hasPower: true, scheduled: false },
  energy: {
    errors: {},
    capabilities: {},
    notFound: false,
    distanceUnit: 'km',
    tenths: false,
    faultWhenDone: false,
    powerOnlyWhileCharging: false,
  },
  location: { latitude: 57.7087, longitude: 11.9745, altitude: 12, heading: 220, shared: true },
  statistics: {
    averageEnergyConsumption: null,
    averageEnergyConsumptionAutomatic: null,
    averageEnergyConsumptionSinceCharge: null,
    averageFuelConsumptionAutomatic: 7.1,
    averageSpeedAutomatic: 52,
  },
  ignoresClimatizationStop: false,
  inUse: false,
  asleep: false,
  reachable: true,
  powerSaving: false,
  classic: false,
  availability: null,
  resources: Object.fromEntries(
    resourceNames.filter((name) => !modelPathOf(name)).map((name) => [name, defaultValue(name)]),
  ),
  unsupported: [],
  extraCommands: [],
  commandPlan: {
    steps: [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs: 2000, status: 'WAITING' },
      { afterMs: 4000, status: byRule },
    ],
    answerAfterMs: 1500,
    effectAfterMs: 0,
  },
});
