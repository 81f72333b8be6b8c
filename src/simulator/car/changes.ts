/** The changes that tests and the control interface make to a simulated car: their schema, and errors that name each wrong part. */

import * as z from 'zod/mini';
import { chargingMemberNames, isResourceName, resourceNames, type ResourceName } from '../../catalogue/reads';
import { VehicleError } from '../../errors';
import { modelPathOf, resourceWords, valueProblem, type ResourceValue } from './resources';
import { above, detailParts, parts, position, values } from './state';
import { groups } from './groups';

type Members = Record<string, z.ZodMiniDefault>;

/** The schemas without their first values, which are not for what a change leaves out. */
const bare = <Shape extends Members>(shape: Shape) =>
  // `fromEntries` forgets the names.
  Object.fromEntries(Object.entries(shape).map(([name, { _zod }]) => [name, _zod.def.innerType])) as {
    [Name in keyof Shape]: Shape[Name]['_zod']['def']['innerType'];
  };

const members = <Shape extends Members>(shape: Shape) => z.optional(z.partial(z.strictObject(bare(shape))));

const changes = z.partial(
  z.strictObject({
    ...bare(values),
    details: z.optional(
      z.partial(
        z.strictObject({
          ...bare(parts.details),
          images: members(detailParts.images),
          descriptions: members(detailParts.descriptions),
        }),
      ),
    ),
    windows: members(parts.windows),
    doors: members(parts.doors),
    battery: members(parts.battery),
    charger: members(parts.charger),
    energy: members(parts.energy),
    location: members(parts.location),
    statistics: members(parts.statistics),
    commandPlan: members(parts.commandPlan),
    /** Values of the extended resources. One that follows from the car (`frontLeftWindowOpen`) changes the car. */
    resources: z.optional(
      z.record(
        z.string(),
        z.nullable(z.union([z.number(), z.string(), z.boolean()], { error: 'a number, a text, true, false or null' })),
      ),
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
  }),
);

const trip = z.strictObject({
  km: z.number({ error: 'a number of kilometers' }).check(z.minimum(0, { error: 'at least 0' })),
  minutes: above('a number of minutes above 0'),
  /** The position at the end. Absent: that of the start. */
  ...z.partial(z.strictObject(position)).shape,
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
  ...Object.keys(parts.windows).map((name) => `windows.${name}`),
  ...Object.keys(parts.doors).map((name) => `doors.${name}`),
  'cab',
  'lock',
  'engineRunning',
  'availability',
  ...Object.keys({ ...parts.details, ...detailParts }).map((name) => `details.${name}`),
  ...resourceNames.map((name) => `resources.${name}`),
  ...chargingMemberNames.map((name) => `energy.${name}`),
  ...chargingMemberNames.map((name) => `capabilities.${name}`),
  'location',
  ...locationMembers.map((name) => `location.${name}`),
  ...Object.entries(groups).flatMap(([group, shown]) => Object.keys(shown).map((member) => `${group}.${member}`)),
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
