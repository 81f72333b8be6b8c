import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { eventNames, hasPlace, type EventName, type EventSettings } from './types';

const defaultRadius = 200;

/** A field of a form holds text; an empty one is missing. */
const number = z.pipe(
  z.unknown(),
  z.transform((input) => (typeof input === 'string' && input.trim() !== '' ? Number(input.replace(',', '.')) : input)),
);
const within = (low: number, high: number) => z.pipe(number, z.number().check(z.minimum(low), z.maximum(high)));

const placeShape = z.lazy(() =>
  z.object({
    name: z.string().check(z.trim(), z.minLength(1)),
    latitude: within(-90, 90),
    longitude: within(-180, 180),
    radius: z.optional(z.unknown()),
  }),
);
const radiusShape = /* @__PURE__ */ within(1, 1_000_000);
const levelShape = /* @__PURE__ */ within(1, 100);

const isEmpty = (input: unknown): boolean => input === undefined || input === null || input === '';

/**
 * Checks the settings of a node, as a form or a person wrote them.
 * @throws VehicleError CONFIG
 */
export function parseEventSettings({
  events,
  level,
  places,
}: {
  events?: unknown;
  level?: unknown;
  places?: unknown;
}): EventSettings {
  const chosen = [...new Set((Array.isArray(events) ? events : []).map(parseEventName))];
  if (chosen.length === 0) throw config('No event is chosen. Choose at least one.');
  if (!isEmpty(places) && !Array.isArray(places)) throw config('The places must be a list.');
  const parsed = (isEmpty(places) ? [] : (places as unknown[])).map(parsePlace);
  if (parsed.length === 0 && chosen.some(hasPlace))
    throw config('“Arrived” and “left” need a place. Add one with its name, latitude and longitude.', {
      status: { word: 'ADD_PLACE' },
    });
  const percent = levelShape.safeParse(isEmpty(level) ? 20 : level);
  if (!percent.success) throw config('The battery level must be a number from 1 to 100.');
  return { events: chosen, level: percent.data, places: parsed };
}

function parseEventName(input: unknown): EventName {
  const name = eventNames.find((known) => known === input);
  if (name !== undefined) return name;
  throw config(sentence`There is no event “${String(input).slice(0, 60)}”. Choose from: ${eventNames}.`);
}

function parsePlace(input: unknown): EventSettings['places'][number] {
  const place = placeShape.safeParse(input);
  if (!place.success)
    throw config(
      'A place needs a name, a latitude from -90 to 90 and a longitude from -180 to 180. Check the list of places.',
    );
  const { name, latitude, longitude, radius: given } = place.data;
  const radius = radiusShape.safeParse(isEmpty(given) ? defaultRadius : given);
  if (!radius.success)
    throw config(sentence`The radius of the place “${name}” must be a number of meters from 1 to 1,000,000.`);
  return { name, latitude, longitude, radius: radius.data };
}

const config = (
  problem: string | Sentence,
  details: ConstructorParameters<typeof VehicleError>[2] = {},
): VehicleError =>
  new VehicleError('CONFIG', sentence`The node cannot watch for events. ${asSentence(problem)}`, details);
