/** The changes that tests and the control interface make to a simulated car: their schema, and errors that name each wrong part. */

import * as z from 'zod/mini';
import { chargingMemberNames, isResourceName, resourceNames, type ResourceName } from '../../catalogue/reads';
import { VehicleError } from '../../errors';
import { modelPathOf, resourceWords, valueProblem, type ResourceValue } from './resources';
import { eachOpening, newState } from './state';
import { groups } from './groups';

const anyWord = z.nullable(z.string({ error: 'a word such as OPEN, or null' }));
const flag = z.boolean({ error: 'true or false' });
const wait = z.number({ error: 'a number of milliseconds' }).check(z.minimum(0));
const between = (minimum: number, maximum: number, what: string) =>
  z.number({ error: what }).check(z.minimum(minimum, { error: what }), z.maximum(maximum, { error: what }));
const percent = between(0, 100, 'a number of percent from 0 to 100');
const above = (what: string) => z.number({ error: what }).check(z.positive({ error: what }));
const amount = z.nullable(z.number({ error: 'a number, or null' }));
const text = z.nullable(z.string({ error: 'a text, or null' }));

const partial = <Shape extends z.core.$ZodShape>(shape: Shape) => z.optional(z.partial(z.strictObject(shape)));

const step = z.strictObject({
  afterMs: wait,
  status: z.string({ error: 'a status word, or BY_RULE' }),
  acts: z.optional(flag),
});

const windows = eachOpening('windows', anyWord);
const doors = eachOpening('doors', anyWord);

const changes = z.partial(
  z.strictObject({
    details: partial({
      modelYear: z.nullable(z.union([z.number(), z.string()], { error: 'a year' })),
      gearbox: text,
      fuelType: text,
      externalColour: text,
      batteryCapacityKWH: z.nullable(z.number({ error: 'a number of kilowatt-hours, or null' })),
      /** Null: pictures of the simulator's own, with a validity period (docs/service.md 2.2). */
      images: partial({ exteriorImageUrl: text, internalImageUrl: text }),
      descriptions: partial({ model: text, steering: text, upholstery: text }),
    }),
    windows: partial(windows),
    doors: partial(doors),
    cab: anyWord,
    lock: anyWord,
    engineRunning: z.nullable(flag),
    /** Whether the car can be charged at a plug. */
    plugIn: flag,
    battery: partial({
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
    }),
    charger: partial({
      connection: z.enum(['CONNECTED', 'DISCONNECTED', 'FAULT'], { error: 'CONNECTED, DISCONNECTED or FAULT' }),
      type: z.enum(['AC', 'DC'], { error: 'AC or DC' }),
      hasPower: flag,
      /** Whether the car waits for the time that its driver set. */
      scheduled: flag,
    }),
    /** How the energy interface reports the battery, with oddities of real cars (docs/energy-location-api.md 2.5). */
    energy: partial({
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
    }),
    /** The position that the service knows: that of the end of the last trip. */
    location: partial({
      latitude: between(-90, 90, 'a number of degrees from -90 to 90'),
      longitude: between(-180, 180, 'a number of degrees from -180 to 180'),
      altitude: z.nullable(z.number({ error: 'a number of meters, or null' })),
      heading: z.nullable(between(0, 360, 'a number of degrees from 0 to 360, or null')),
      /** False: the driver has switched the sharing of the position off. */
      shared: flag,
    }),
    /** Values of the statistics group that no extended resource has. */
    statistics: partial({
      averageEnergyConsumption: amount,
      averageEnergyConsumptionAutomatic: amount,
      averageEnergyConsumptionSinceCharge: amount,
      averageFuelConsumptionAutomatic: amount,
      averageSpeedAutomatic: amount,
    }),
    /** A car that answers `climatization-stop` with success and goes on (docs/energy-location-api.md 5.1). */
    ignoresClimatizationStop: flag,
    inUse: flag,
    asleep: flag,
    /** False: no internet. */
    reachable: flag,
    powerSaving: flag,
    /** A car without the platform-based infotainment system (docs/service.md 4.1 rule 1). */
    classic: flag,
    /** The answer of accessibility in place of the one that follows from the flags above. Null: that one. */
    availability: z.nullable(z.strictObject({ value: text, unavailableReason: text })),
    /** Values of the extended resources. One that follows from the car (`frontLeftWindowOpen`) changes the car. */
    resources: z.optional(
      z.record(
        z.string(),
        z.nullable(z.union([z.number(), z.string(), z.boolean()], { error: 'a number, a text, true, false or null' })),
      ),
    ),
    /** Names of reads, resources and commands that this car does not have. */
    unsupported: z.array(z.string()),
    /** Commands that the specification does not name, as path segments: `climatization-start` (docs/field-notes.md 1.7). */
    extraCommands: z.array(
      z.string().check(z.regex(/^[a-z0-9-]+$/, { error: 'a path segment such as climatization-start' })),
    ),
    /** A member's JSON on the wire, whatever it is, by its path: `windows.frontLeft`, `lock`, `resources.fuelAmount`. Null: as it was. */
    overrides: z.optional(
      z.record(
        z.string(),
        z.nullable(
          z.union([z.literal('missing'), z.strictObject({ json: z.unknown() })], {
            error: '"missing", {"json": …} or null',
          }),
        ),
      ),
    ),
    /** When a member was last retrieved from the vehicle, ISO-8601, by its path. */
    measuredAt: z.optional(z.record(z.string(), z.string())),
    /** The course of the commands to come. */
    commandPlan: partial({
      /** The statuses at the v1 link, by time; the last one stays. v2 answers with the last one only. */
      steps: z.array(step).check(z.minLength(1, { error: 'at least one step' })),
      /** How long a v2 command blocks. */
      answerAfterMs: wait,
      /** The time from the end of a command until reads show its effect (docs/field-notes.md 1.9: the doors lag). */
      effectAfterMs: wait,
    }),
  }),
);

const trip = z.strictObject({
  km: z.number({ error: 'a number of kilometers' }).check(z.minimum(0, { error: 'at least 0' })),
  minutes: above('a number of minutes above 0'),
  /** The position at the end. Absent: that of the start. */
  latitude: z.optional(between(-90, 90, 'a number of degrees from -90 to 90')),
  longitude: z.optional(between(-180, 180, 'a number of degrees from -180 to 180')),
  altitude: z.optional(z.nullable(z.number({ error: 'a number of meters, or null' }))),
  heading: z.optional(z.nullable(between(0, 360, 'a number of degrees from 0 to 360, or null'))),
});
export type Trip = z.input<typeof trip>;
export type CarChanges = z.input<typeof changes>;
export type Override = 'missing' | { json?: unknown };

/** A car to start with: its VIN, and what differs from the car that is there by default. */
export interface CarOptions extends CarChanges {
  vin: string;
}

/** Parts of the location on the wire that an override may name. */
const locationMembers = ['coordinates', 'timestamp', 'heading'] as const;

/** Every path that an override or a time of measurement may name. */
const memberPaths = new Set<string>([
  ...Object.keys(windows).map((name) => `windows.${name}`),
  ...Object.keys(doors).map((name) => `doors.${name}`),
  'cab',
  'lock',
  'engineRunning',
  'availability',
  ...Object.keys(newState().details).map((name) => `details.${name}`),
  ...resourceNames.map((name) => `resources.${name}`),
  ...chargingMemberNames.map((name) => `energy.${name}`),
  ...chargingMemberNames.map((name) => `capabilities.${name}`),
  'location',
  ...locationMembers.map((name) => `location.${name}`),
  ...Object.entries(groups).flatMap(([group, { members }]) =>
    Object.keys(members).map((member) => `${group}.${member}`),
  ),
]);

/**
 * @returns the validated changes
 * @throws VehicleError INPUT_INVALID, naming each part that is wrong
 */
export function parseChanges(input: unknown): CarChanges {
  const parsed = changes.safeParse(input);
  const problems = parsed.success ? problemsOf(parsed.data) : parsed.error.issues.map(explain);
  if (!parsed.success || problems.length > 0) {
    throw new VehicleError('INPUT_INVALID', `The simulated car cannot be set to this. ${problems.join('; ')}.`);
  }
  return parsed.data;
}

/** @throws VehicleError INPUT_INVALID */
export function parseTrip(input: unknown): z.output<typeof trip> {
  const parsed = trip.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new VehicleError(
    'INPUT_INVALID',
    `The simulated car cannot drive this trip. ${parsed.error.issues.map(explain).join('; ')}.`,
  );
}

const explain = (issue: z.core.$ZodIssue): string => {
  const where = issue.path.join('.') || 'the body';
  return issue.code === 'unrecognized_keys'
    ? `${where}: there is no ${issue.keys.join(', ')}`
    : `${where}: must be ${issue.message.startsWith('Invalid input') ? expected(issue) : issue.message}`;
};

/** Other code in the process may have given zod a language, and with it longer messages. */
const expected = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_type' ? `of type ${issue.expected}` : 'something else';

function problemsOf({ resources = {}, overrides = {}, measuredAt = {} }: CarChanges): string[] {
  return [
    ...Object.entries(resources).map(([name, value]) =>
      isResourceName(name) ? valueProblem(name, value) : `resources: there is no ${name}`,
    ),
    ...[...Object.keys(overrides), ...Object.keys(measuredAt)].map((path) =>
      memberPaths.has(path) ? '' : `there is no member ${path}`,
    ),
    ...Object.entries(measuredAt).map(([path, time]) =>
      Number.isNaN(Date.parse(time)) ? `measuredAt.${path}: must be an ISO-8601 time` : '',
    ),
  ].filter((problem) => problem !== '');
}

/** The changes to the car that a value of a modelled resource stands for: `frontLeftWindowOpen: true` opens the window. */
export function asCarChanges(name: ResourceName, value: ResourceValue): CarChanges {
  const path = modelPathOf(name);
  if (path === null) return { resources: { [name]: value } };
  const [group, member] = path.split('.');
  const word = path === 'engineRunning' ? value : resourceWords(path, value);
  return member === undefined ? { [group ?? '']: word } : { [group ?? '']: { [member]: word } };
}
