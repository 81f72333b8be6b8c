/** The schema of each part of a simulated car, with its first value. */

import * as z from 'zod/mini';
import { openingsOf, type OpeningKey, type OpeningRead, type openings } from '../../catalogue/openings';
import { chargingMemberNames, resourceNames, type ResourceName } from '../../catalogue/reads';
import { byName } from '../../util/json';
import { defaultValue, modelPathOf, type ResourceValue } from './resources';

/** A step with this status has the result of the rules of the car (docs/internals/service.md 3). */
export const byRule = 'BY_RULE';

type NameIn<Read extends OpeningRead> = Extract<(typeof openings)[OpeningKey], { read: Read }>['name'];

type NamedIn<Read extends OpeningRead> = Exclude<NameIn<Read>, 'carLocked'>;

/** The openings of a read, without the lock, each with a value. */
const eachOpening = <Read extends OpeningRead, Value>(read: Read, value: Value): Record<NamedIn<Read>, Value> =>
  byName(
    // The rows of a read have its names.
    openingsOf[read].flatMap(({ kind, name }) => (kind === 'lock' ? [] : [name as NamedIn<Read>])),
    () => value,
  );

/** A member, and its value in the car that is there by default. */
const first = z._default;

const anyWord = z.nullable(z.string({ error: 'a word such as OPEN, or null' }));
const flag = z.boolean({ error: 'true or false' });
const wait = z.number({ error: 'a number of milliseconds' }).check(z.minimum(0));
const between = (minimum: number, maximum: number, what: string) =>
  z.number({ error: what }).check(z.minimum(minimum, { error: what }), z.maximum(maximum, { error: what }));
const percent = between(0, 100, 'a number of percent from 0 to 100');
export const above = (what: string) => z.number({ error: what }).check(z.positive({ error: what }));
const amount = z.nullable(z.number({ error: 'a number, or null' }));
const text = z.nullable(z.string({ error: 'a text, or null' }));

const step = z.strictObject({
  /** Counted from when the service accepted the command. */
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

export const detailParts = {
  /**
   * Null: pictures of the simulator's own, with a validity period (docs/internals/service.md 2.2).
   */
  images: { exteriorImageUrl: first(text, null), internalImageUrl: first(text, null) },
  descriptions: { model: first(text, 'XC60'), steering: first(text, 'LEFT'), upholstery: first(text, 'R310') },
};

/** The parts of a car that have members. */
export const parts = {
  details: {
    modelYear: first(z.nullable(z.union([z.number(), z.string()], { error: 'a year' })), 2024),
    gearbox: first(text, 'AUTOMATIC'),
    fuelType: first(text, 'PETROL'),
    externalColour: first(text, 'Crystal White Pearl'),
    batteryCapacityKWH: first(z.nullable(z.number({ error: 'a number of kilowatt-hours, or null' })), null),
  },
  windows: { ...eachOpening('windows', first(anyWord, 'CLOSED')), sunroof: first(anyWord, 'UNSPECIFIED') },
  doors: eachOpening('doors', first(anyWord, 'CLOSED')),
  battery: {
    /** Percent. Null: unknown. */
    level: first(z.nullable(percent), 62),
    target: first(percent, 90),
    /** Nominal capacity. */
    capacityKWH: first(above('a number of kilowatt-hours above 0'), 78),
    /** Kilometers at 100 percent. */
    fullRange: first(above('a number of kilometers above 0'), 420),
    /** Amperes. */
    currentLimit: first(above('a number of amperes above 0'), 16),
    /** Watts up to 80 percent. */
    power: first(above('a number of watts above 0'), 11_000),
    /** How many times faster than the clock the battery charges. */
    timeLapse: first(above('a factor above 0'), 1),
  },
  charger: {
    connection: first(
      z.enum(['CONNECTED', 'DISCONNECTED', 'FAULT'], { error: 'CONNECTED, DISCONNECTED or FAULT' }),
      'DISCONNECTED',
    ),
    type: first(z.enum(['AC', 'DC'], { error: 'AC or DC' }), 'AC'),
    hasPower: first(flag, true),
    /** Whether the car waits for the time that its driver set. */
    scheduled: first(flag, false),
  },
  /** Oddities of real cars (docs/internals/vendor-api.md 12.5). */
  energy: {
    /** Members that answer with an error code, `NOT_SUPPORTED`; null: with a value. */
    errors: first(z.partialRecord(z.enum(chargingMemberNames), z.nullable(z.string())), {}),
    /** Members whose capability differs from the truth. Null: it does not differ. */
    capabilities: first(z.partialRecord(z.enum(chargingMemberNames), z.nullable(flag)), {}),
    /** Whether the service answers 404 for this car. */
    notFound: first(flag, false),
    distanceUnit: first(z.enum(['km', 'mi', 'miles'], { error: 'km, mi or miles' }), 'km'),
    /** Whether the level has a decimal place. */
    tenths: first(flag, false),
    faultWhenDone: first(flag, false),
    powerOnlyWhileCharging: first(flag, false),
  },
  /** The position that the service knows: that of the end of the last trip. */
  location: {
    latitude: first(position.latitude, 57.7087),
    longitude: first(position.longitude, 11.9745),
    altitude: first(position.altitude, 12),
    heading: first(position.heading, 220),
    /** False: the driver has switched the sharing of the position off. */
    shared: first(flag, true),
  },
  /** Values of the statistics group that no extended resource has. */
  statistics: {
    averageEnergyConsumption: first(amount, null),
    averageEnergyConsumptionAutomatic: first(amount, null),
    averageEnergyConsumptionSinceCharge: first(amount, null),
    averageFuelConsumptionAutomatic: first(amount, 7.1),
    averageSpeedAutomatic: first(amount, 52),
  },
  commandPlan: {
    /**
     * The statuses at the v1 link, by time; the last one stays. v2 answers with the last one only.
     */
    steps: first(z.array(step).check(z.minLength(1, { error: 'at least one step' })), [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs: 2000, status: 'WAITING' },
      { afterMs: 4000, status: byRule },
    ]),
    /** How long a v2 command blocks; for a car that is not reached: `limitOf`. */
    answerAfterMs: first(wait, 1500),
    /** The time until reads show the effect: doors lag (docs/internals/vendor-api.md 1.9). */
    effectAfterMs: first(wait, 0),
  },
};

/** The parts of a car that are one value. */
export const values = {
  cab: first(anyWord, 'CLOSED'),
  lock: first(anyWord, 'LOCKED'),
  engineRunning: first(z.nullable(flag), false),
  /** Whether the car can be charged at a plug. */
  plugIn: first(flag, false),
  /** The id of its wallbox; null: it has none. */
  wallbox: first(text, null),
  /**
   * The car answers with success, and its climate continues (docs/internals/vendor-api.md 15.1).
   */
  ignoresClimatizationStop: first(flag, false),
  inUse: first(flag, false),
  asleep: first(flag, false),
  /** False: no internet. */
  reachable: first(flag, true),
  powerSaving: first(flag, false),
  /**
   * The car lacks the platform-based infotainment system (docs/internals/service.md 4.1 rule 1).
   */
  classic: first(flag, false),
  /** `climatization-start`, which the specification lacks (docs/internals/vendor-api.md 1.7). */
  extraCommands: first(
    z.array(z.string().check(z.regex(/^[a-z0-9-]+$/, { error: 'a path segment such as climatization-start' }))),
    [],
  ),
};

const whole = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  // Each member has its first value, which a generic shape does not show.
  z.prefault(z.object(shape), {} as never);

const carState = z.object({
  ...values,
  details: whole({
    ...parts.details,
    images: whole(detailParts.images),
    descriptions: whole(detailParts.descriptions),
  }),
  windows: whole(parts.windows),
  doors: whole(parts.doors),
  battery: whole(parts.battery),
  charger: whole(parts.charger),
  energy: whole(parts.energy),
  location: whole(parts.location),
  statistics: whole(parts.statistics),
  commandPlan: whole(parts.commandPlan),
});
export type CarState = z.output<typeof carState> & { resources: Partial<Record<ResourceName, ResourceValue>> };

/** A member of the statistics group that no extended resource has. */
export type StatisticName = keyof CarState['statistics'];

/** A believable petrol car, locked and closed. */
export const newState = (): CarState => ({
  ...carState.parse({}),
  resources: Object.fromEntries(
    resourceNames.filter((name) => !modelPathOf(name)).map((name) => [name, defaultValue(name)]),
  ),
});
