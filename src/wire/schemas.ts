import * as z from 'zod/mini';
import { isRecord } from '../util/json';

/**
 * The shapes of the wire (docs/internals/service.md 2, docs/internals/vendor-api.md 1 to 3),
 * tolerant by design: each member may be missing, null, new or odd, and does not affect the other
 * members (docs/internals/vendor-api.md 6.1). An unreadable member becomes null.
 */

export type Scalar = string | number | boolean;

const scalarOf = (input: unknown): Scalar | null =>
  typeof input === 'string' || typeof input === 'boolean' || (typeof input === 'number' && Number.isFinite(input))
    ? input
    : null;
const scalar = z.catch(z.pipe(z.unknown(), z.transform(scalarOf)), null);
/** A missing member has its own way to null, because a failure that is caught costs more. */
const orNull = <Schema extends z.ZodMiniType>(schema: Schema) => z.catch(z._default(z.nullable(schema), null), null);
const text = orNull(z.string());

/** ISO 8601 with a date and a time, with 0 to 9 fraction digits; without a zone it is UTC. */
const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/i;

/** The ends of Unix times in seconds and in milliseconds (docs/internals/vendor-api.md 3.1). */
const secondsEnd = 1e11;
const millisecondsEnd = 1e14;

/** The values of an answer mostly have one time, which a parked car reports again. */
const parsedTimes = new Map<string, string | null>();
const maxParsedTimes = 200;
/** A longer text is no time, and would take memory for nothing. */
const longestTime = 40;

/** ISO-8601 in UTC, of ISO text or of Unix time, also as text; else null. */
export function toTimestamp(input: unknown): string | null {
  if (typeof input !== 'string' || input.length > longestTime) return parseTime(input);
  const known = parsedTimes.get(input);
  if (known !== undefined) return known;
  const time = parseTime(input);
  if (parsedTimes.size >= maxParsedTimes) parsedTimes.clear();
  parsedTimes.set(input, time);
  return time;
}

function parseTime(input: unknown): string | null {
  const text = typeof input === 'string' ? input.trim() : '';
  const [whole, minutes, fraction = '', zone = 'Z'] = isoPattern.exec(text) ?? [];
  const number = /^\d{9,16}$/.test(text) ? Number(text) : input;
  let ms = Number.NaN;
  if (whole !== undefined) ms = Date.parse(`${minutes}${fraction.slice(0, 4)}${zone}`);
  else if (typeof number === 'number' && number > 0)
    ms = number > millisecondsEnd ? number / 1000 : number > secondsEnd ? number : number * 1000;
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

const timestamp = z.catch(z.pipe(z.unknown(), z.transform(toTimestamp)), null);

/** `{ value, unit, timestamp }`, the shape of every measured value. */
export interface Measured {
  value: Scalar | null;
  unit: string | null;
  timestamp: string | null;
}

export const notMeasured: Measured = { value: null, unit: null, timestamp: null };

/** True for a value that looks measured, or for an explicit null. */
export const isMeasured = (input: unknown): boolean =>
  input === null || (typeof input === 'object' && 'value' in input);

/** Every read parses many of them, so this needs no schema. */
export function parseMeasured(input: unknown): Measured {
  if (!isRecord(input)) return { ...notMeasured };
  const { value, unit, timestamp } = input;
  return {
    value: scalarOf(value),
    unit: typeof unit === 'string' ? unit : null,
    timestamp: toTimestamp(timestamp),
  };
}

/** `Number('')` is 0, which no empty tank may become. */
const numberPattern = /^[+-]?\d+(\.\d+)?$/;

/**
 * A finite number, also one that is written as text; null for everything else. Never minus zero.
 */
export function toNumber(input: unknown): number | null {
  const number = typeof input === 'string' && numberPattern.test(input.trim()) ? Number(input) : input;
  return typeof number === 'number' && Number.isFinite(number) ? number + 0 : null;
}

/**
 * A number, null if it is not reported (docs/internals/service.md 2.2); v1 sends `modelYear` as
 * text.
 */
const number = z.catch(z.pipe(z.unknown(), z.transform(toNumber)), null);

/** docs/internals/vendor-api.md 1.4: a car can send the word "null" if it has no upholstery. */
const descriptiveText = z.catch(
  z.nullable(
    z.pipe(
      z.string(),
      z.transform((word) => (word === 'null' ? null : word)),
    ),
  ),
  null,
);

/** Null if the service has no picture. */
const imageUrl = z.pipe(
  text,
  z.transform((url) => (url?.trim() ? url : null)),
);
const images = z.object({ exteriorImageUrl: imageUrl, internalImageUrl: imageUrl });
const descriptions = z.object({
  model: descriptiveText,
  steering: descriptiveText,
  upholstery: z.optional(descriptiveText),
});
const noImages = () => ({ exteriorImageUrl: null, internalImageUrl: null });
const noDescriptions = () => ({ model: null, steering: null });

export const detailsShape = z.lazy(() =>
  z.object({
    vin: text,
    modelYear: number,
    gearbox: text,
    fuelType: text,
    externalColour: text,
    /** Kilowatt-hours; absent if the service does not send it (docs/internals/service.md 2.2). */
    batteryCapacityKWH: z.optional(number),
    images: z.catch(images, noImages),
    descriptions: z.catch(descriptions, noDescriptions),
  }),
);

/** docs/internals/service.md 2.1; or `id` (docs/internals/vendor-api.md 3.2). */
export const vehicleItem = z.object({ vin: text, id: text });

/** docs/internals/service.md 2.6. */
export const commandItem = z.object({ command: text, href: text });

/** docs/internals/service.md 2.7; the reason has two places (docs/internals/vendor-api.md 1.8). */
export const accessibilityShape = z.lazy(() =>
  z.object({
    availabilityStatus: z.catch(z.object({ value: text, unavailableReason: z.optional(z.unknown()), timestamp }), {
      value: null,
      unavailableReason: null,
      timestamp: null,
    }),
    unavailableReason: z.optional(z.unknown()),
  }),
);

/** An operation id is passed on to flows and logs, so only the characters of an id are accepted. */
export const identifier = /^[\w.:-]{1,128}$/;
const operationId = orNull(z.string().check(z.regex(identifier)));

/** The link of a v1 command (docs/internals/service.md 2.5). */
export const asyncShape = z.object({ status: text, id: text, href: text, expires: timestamp });

/** docs/internals/service.md 2.5, docs/internals/vendor-api.md 1.9, 2.2: the places of a status. */
export const invocationShape = z.lazy(() =>
  z.object({
    status: scalar,
    invokeStatus: text,
    operationId,
    message: text,
    async: orNull(asyncShape),
    readyToUnlockUntil: orNull(z.number()),
  }),
);
