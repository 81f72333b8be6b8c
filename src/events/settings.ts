import { faultOfPlace, numberIn, parsePlace, type Place } from '../car/places';
import { VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { isEmpty, itemsIn } from '../util/json';
import { eventNames, hasPlace, type EventName, type EventSettings } from './types';

/**
 * Checks the settings of a node, as a form or a person wrote them.
 * @throws VehicleError CONFIG
 */
export function parseEventSettings({
  events,
  level,
  step,
  places,
  namedPlaces = [],
}: {
  events?: unknown;
  level?: unknown;
  step?: unknown;
  places?: unknown;
  /** Those of the vehicle configuration, which `places` can name. */
  namedPlaces?: readonly Place[];
}): EventSettings {
  const chosen = [...new Set(itemsIn(events).map(parseEventName))];
  if (chosen.length === 0)
    throw eventConfigError('No event is chosen. Choose at least one.', { status: { word: 'CHOOSE_EVENT' } });
  if (!isEmpty(places) && !Array.isArray(places)) throw eventConfigError('The places must be a list.');
  const parsed = itemsIn(places).map((place) => placeOf(place, namedPlaces));
  if (parsed.length === 0 && chosen.some(hasPlace))
    throw eventConfigError('“Arrived” and “left” need a place. Add one with its name, latitude and longitude.', {
      status: { word: 'ADD_PLACE' },
    });
  const percent = isEmpty(level) ? 20 : numberIn(level);
  if (!(percent >= 1 && percent <= 100)) throw eventConfigError('The battery level must be a number from 1 to 100.');
  const steps = isEmpty(step) ? 10 : numberIn(step);
  if (!(steps >= 1 && steps <= 50))
    throw eventConfigError('The steps while charging must be a number from 1 to 50 percent.');
  return { events: chosen, level: percent, step: steps, places: parsed };
}

function parseEventName(input: unknown): EventName {
  const name = eventNames.find((known) => known === input);
  if (name !== undefined) return name;
  throw eventConfigError(sentence`There is no event “${String(input)}”. Choose from: ${eventNames}.`);
}

function placeOf(input: unknown, namedPlaces: readonly Place[]): Place {
  const place = parsePlace(input, namedPlaces);
  if (place === null) throw eventConfigError(sentence`${faultOfPlace(input)} Check the list of places.`);
  return place;
}

/** The error of faulty settings. */
export const eventConfigError = (
  problem: string | Sentence,
  details: ConstructorParameters<typeof VehicleError>[2] = {},
): VehicleError =>
  new VehicleError('CONFIG', sentence`The node cannot watch for events. ${asSentence(problem)}`, details);
