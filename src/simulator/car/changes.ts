/** The changes to a simulated car: their schema, and errors that name each wrong part. */

import * as z from 'zod/mini';
import { VehicleError } from '../../errors';
import { valueProblem } from './resources';
import { above, detailParts, parts, position, values } from './state';

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
    /** Values of the extended resources that follow from no other part of the car. */
    resources: z.optional(
      z.record(
        z.string(),
        z.nullable(z.union([z.number(), z.string(), z.boolean()], { error: 'a number, a text, true, false or null' })),
      ),
    ),
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
/** A car to start with: its VIN, and what differs from the car that is there by default. */
export interface CarOptions extends CarChanges {
  vin: string;
}

/** @throws VehicleError INPUT_INVALID with each part that is wrong behind the refusal */
export function checked<Output>(schema: z.ZodMiniType<Output>, input: unknown, refusal: string): Output {
  const { data, error } = schema.safeParse(input);
  if (error) throw new VehicleError('INPUT_INVALID', `${refusal} ${error.issues.map(explain).join('; ')}.`);
  return data;
}

/** @throws VehicleError INPUT_INVALID */
export function parseChanges(input: unknown): CarChanges {
  const refusal = 'The simulated car cannot be set to this.';
  const valid = checked(changes, input, refusal);
  const problems = problemsOf(valid);
  if (problems.length > 0) throw new VehicleError('INPUT_INVALID', `${refusal} ${problems.join('; ')}.`);
  return valid;
}

/** @throws VehicleError INPUT_INVALID */
export const parseTrip = (input: unknown) => checked(trip, input, 'The simulated car cannot drive this trip.');

const explain = (issue: z.core.$ZodIssue): string => {
  const where = issue.path.join('.') || 'the body';
  return issue.code === 'unrecognized_keys'
    ? `${where}: there is no ${issue.keys.join(', ')}`
    : `${where}: must be ${issue.message.startsWith('Invalid input') ? expected(issue) : issue.message}`;
};

/** Other code in the process may have given zod a language, and with it longer messages. */
const expected = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_type' ? `of type ${issue.expected}` : 'something else';

function problemsOf({ resources = {} }: CarChanges): string[] {
  return Object.entries(resources)
    .map(([name, value]) => valueProblem(name, value))
    .filter((problem) => problem !== '');
}
