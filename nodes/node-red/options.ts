import * as z from 'zod/mini';
import { asSentence, interfaceChoices, isEmpty, sentence, VehicleError, type Sentence } from '../../src/index';

/**
 * The schemas of properties that several nodes have (docs/internals/contract.md 2 to 5). A flow
 * file may be older, odd or hand-written: a missing property has its default, and a wrong one is
 * an error that names it.
 */

export const interfaceChoice = z._default(z.enum(interfaceChoices), 'auto');

export const text = z._default(
  z.pipe(
    z.string(),
    z.transform((value: string) => value.trim()),
  ),
  '',
);

const converted = <Shape extends z.ZodMiniType>(convert: (value: unknown) => unknown, shape: Shape) =>
  z.pipe(z.pipe(z.optional(z.unknown()), z.transform(convert)), shape);

/**
 * Names of a list, each once. From an environment variable they are text, with commas or
 * spaces between them.
 */
export const listOf = <Name extends string>(names: readonly Name[], fallback: readonly Name[]) =>
  converted(
    (value) => {
      const list =
        typeof value === 'string' ? value.split(/[\s,]+/).filter((name) => name !== '') : (value ?? fallback);
      return Array.isArray(list) ? [...new Set(list as unknown[])] : list;
    },
    z.array(z.enum(names as readonly [Name, ...Name[]])), // No list of names is empty.
  );

/** A flag from an environment variable is text. */
export const flag = (fallback: boolean) =>
  converted((value) => {
    if (isEmpty(value)) return fallback;
    return value === 'true' ? true : value === 'false' ? false : value;
  }, z.boolean());

/** A number field of the editor holds text, and an empty one its default. */
export const number = (fallback: number, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  converted(
    (value) => {
      if (isEmpty(value)) return fallback;
      return typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    },
    z.number().check(z.minimum(minimum), z.maximum(maximum)),
  );

/** Seconds: 0 turns polling off; otherwise at least one. */
export const poll = (fallback: number) =>
  number(fallback, 0).check(z.refine((seconds) => seconds === 0 || seconds >= 1));

/** When guard and event node send without being asked; the library checks it (`HoursSettings`). */
export const hours = () => ({
  hours: z._default(z.unknown(), 'not'),
  quietHours: z._default(z.unknown(), ''),
  timeZone: z._default(z.unknown(), ''),
});

/** The sources of a property. With `str` and `num` the property is the value itself. */
const valueTypes = ['str', 'num', 'msg', 'flow', 'global', 'env', 'jsonata'] as const;
export const stringType = z._default(z.enum(valueTypes), 'str');
export const numberType = z._default(z.enum(valueTypes), 'num');
export const jsonType = z._default(z.enum([...valueTypes, 'json']), 'json');

/** The properties of a node for a car: the ones that all of them have, and its own. */
export const nodeOptions = <Shape extends z.core.$ZodLooseShape>(own: () => Shape) =>
  z.lazy(() => z.object({ name: text, vehicle: text, vin: text, vinType: stringType, ...own() }));

/** @param faulty makes the error of a member, by its name */
const parserWith =
  (faulty: (member: Sentence) => VehicleError) =>
  <Shape extends z.ZodMiniType>(shape: Shape, given: unknown): z.infer<Shape> => {
    const parsed = shape.safeParse(given);
    if (parsed.success) return parsed.data as z.infer<Shape>; // The compiler cannot infer it.
    throw faulty(asSentence(parsed.error.issues[0]?.path.join('.') ?? ''));
  };

/** Checks what a flow file holds. @throws VehicleError CONFIG, with the name of what is wrong */
export const parseOptions = parserWith(
  (property) =>
    new VehicleError(
      'CONFIG',
      sentence`The property “${property}” of this node is not valid. Open the node, correct it and deploy again.`,
    ),
);

/**
 * Checks what the editor sent.
 * @throws VehicleError INPUT_INVALID, with the name of what is wrong
 */
export const parseBody = parserWith(
  (member) =>
    new VehicleError(
      'INPUT_INVALID',
      sentence`The field “${member}” of this form is not valid. Correct it and try again.`,
    ),
);
