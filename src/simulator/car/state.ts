/** The state of a simulated car: the schema of each part of it, and the car that is there by default. */

import * as z from 'zod/mini';
import { openingsOf, type OpeningKey, type OpeningRead, type openings } from '../../catalogue/openings';
import { chargingMemberNames, resourceNames, type ResourceName } from '../../catalogue/reads';
import { defaultValue, modelPathOf, type ResourceValue } from './resources';

/** The status of a step of a command plan: replaced by the result of the rules of the car (docs/internals/service.md 3). */
export const byRule = 'BY_RULE';

type NameIn<Read extends OpeningRead> = Extract<(typeof openings)[OpeningKey], { read: Read }>['name'];
export type WindowName = NameIn<'windows'>;
export type DoorName = Exclude<NameIn<'doors'>, 'carLocked'>;

/** The openings of a read, without the lock, each with a value. */
const eachOpening = <Read extends OpeningRead, Value>(
  read: Read,
  value: Value,
): Record<Exclude<NameIn<Read>, 'carLocked'>, Value> =>
  // `fromEntries` forgets the names.
  Object.fromEntries(openingsOf(read).flatMap(({ kind, name }) => (kind === 'lock' ? [] : [[name, value]]))) as Record<
    Exclude<NameIn<Read>, 'carLocked'>,
    Value
  >;

const anyWord = z.nullable(z.string({ error: 'a word such as OPEN, or null' }));
const flag = z.boolean({ error: 'true or false' });
const wait = z.number({ error: 'a number of milliseconds' }).check(z.minimum(0));
const between = (minimum: number, maximum: number, what: string) =>
  z.number({ error: what }).check(z.minimum(minimum, { error: what }), z.maximum(maximum, { error: what }));
const percent = between(0, 100, 'a number of percent from 0 to 100');
export const above = (what: string) => z.number({ error: what }).check(z.positive({ error: what }));
const amount = z.nullable(z.number({ error: 'a number, or null' }));
const text = z.nullable(z.string({ error: 'a text, or null' }));

/** A step in the course of a command. */
const step = z.strictObject({
  /** Counted from when the service took the command. */
  afterMs: wait,
  /** Any word, or `BY_RULE`. */
  status: z.string({ error: 'a status word, or BY_RULE' }),
  /** Whether the car carries the command out at this step. Default: if the status is a success. */
  acts: z.optional(flag),
});
export type PlanStep = z.output<typeof step>;

export const position = {
  latitude: between(-90, 90, 'a number of degrees from -90 to 90'),
  longitude: between(-180, 180, 'a number of degrees from -180 to 180'),
  altitude: z.nullable(z.number({ error: 'a number of meters, or null' })),
  heading: z.nullable(between(0, 360, 'a number of degrees from 0 to 360, or null')),
};

/** Parts of `details` that have members of their own. */
export const detailParts = {
  /** Null: pictures of the simulator's own, with a validity period (docs/internals/service.md 2.2). */
  images: { exteriorImageUrl: text, internalImageUrl: text },
  descriptions: { model: text, steering: text, upholstery: text },
};

/** The parts of a car that have members. */
export const parts = {
  details: {
    modelYear: z.nullable(z.union([z.number(), z.string()], { error: 'a year' })),
    gearbox: text,
    fuelType: text,
    externalColour: text,
    batteryCapacityKWH: z.nullable(z.number({ error: 'a number of kilowatt-hours, or null' })),
  },
  windows: eachOpening('windows', anyWord),
  doors: eachOpening('doors', anyWord),
  battery: {
    /** Percent. Null: unknown. */
    level: z.nullable(percent),
    target: percent,
    /** Nominal capacity. */
    capacityKWH: above('a number of kilowatt-hours above 0'),
    /** Kilometers at 100 percent. */
    fullRange: above('a number of kilometers above 0'),
    /** Amperes. */
    currentLimit: above('a number of amperes above 0'),
    /** Watts up to 80 percent. */
    power: above('a number of watts above 0'),
    /** How many times faster than the clock the battery charges. */
    timeLapse: above('a factor above 0'),
  },
  charger: {
    connection: z.enum(['CONNECTED', 'DISCONNECTED', 'FAULT'], { error: 'CONNECTED, DISCONNECTED or FAULT' }),
    type: z.enum(['AC', 'DC'], { error: 'AC or DC' }),
    hasPower: flag,
    /** Whether the car waits for the time that its driver set. */
    scheduled: flag,
  },
  /** How the energy interface reports the battery, with oddities of real cars (docs/internals/vendor-api.md 12.5). */
  energy: {
    /** Members that answer with an error, by its code: `NOT_SUPPORTED`. Null: the member has a value. */
    errors: z.partialRecord(z.enum(chargingMemberNames), z.nullable(z.string())),
    /** Members whose capability differs from the truth. Null: it does not differ. */
    capabilities: z.partialRecord(z.enum(chargingMemberNames), z.nullable(flag)),
    /** Whether the service answers 404 for this car. */
    notFound: flag,
    distanceUnit: z.enum(['km', 'mi', 'miles'], { error: 'km, mi or miles' }),
    /** Whether the level has a decimal place. */
    tenths: flag,
    faultWhenDone: flag,
    powerOnlyWhileCharging: flag,
  },
  /** The position that the service knows: that of the end of the last trip. */
  location: {
    ...position,
    /** False: the driver has switched the sharing of the position off. */
    shared: flag,
  },
  /** Values of the statistics group that no extended resource has. */
  statistics: {
    averageEnergyConsumption: amount,
    averageEnergyConsumptionAutomatic: amount,
    averageEnergyConsumptionSinceCharge: amount,
    averageFuelConsumptionAutomatic: amount,
    averageSpeedAutomatic: amount,
  },
  /** The course of the commands to come. */
  commandPlan: {
    /** The statuses at the v1 link, by time; the last one stays. v2 answers with the last one only. */
    steps: z.array(step).check(z.minLength(1, { error: 'at least one step' })),
    /** How long a v2 command blocks. */
    answerAfterMs: wait,
    /** The time from the end of a command until reads show its effect (docs/internals/vendor-api.md 1.9: the doors lag). */
    effectAfterMs: wait,
  },
};

/** The parts of a car that are one value. */
export const values = {
  cab: anyWord,
  lock: anyWord,
  engineRunning: z.nullable(flag),
  /** Whether the car can be charged at a plug. */
  plugIn: flag,
  /** A car that answers `climatization-stop` with success and goes on (docs/internals/vendor-api.md 15.1). */
  ignoresClimatizationStop: flag,
  inUse: flag,
  asleep: flag,
  /** False: no internet. */
  reachable: flag,
  powerSaving: flag,
  /** A car without the platform-based infotainment system (docs/internals/service.md 4.1 rule 1). */
  classic: flag,
  /** The answer of accessibility in place of the one that follows from the flags above. Null: that one. */
  availability: z.nullable(z.strictObject({ value: text, unavailableReason: text })),
  /** Names of reads, resources and commands that this car does not have. */
  unsupported: z.array(z.string()),
  /** Commands that the specification does not name, as path segments: `climatization-start` (docs/internals/vendor-api.md 1.7). */
  extraCommands: z.array(
    z.string().check(z.regex(/^[a-z0-9-]+$/, { error: 'a path segment such as climatization-start' })),
  ),
};

type Whole<Shape> = { [Member in keyof Shape]: z.output<Shape[Member]> };
type Parts = { [Part in keyof typeof parts]: Whole<(typeof parts)[Part]> };
export type CarState = Omit<Parts, 'details'> &
  Whole<typeof values> & {
    details: Parts['details'] & { [Part in keyof typeof detailParts]: Whole<(typeof detailParts)[Part]> };
    resources: Partial<Record<ResourceName, ResourceValue>>;
  };

/** A member of the statistics group that no extended resource has. */
export type StatisticName = keyof CarState['statistics'];

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
