const { hasPlace, parsePlace, sharedText, wordsOf } = connectedVehicle;

export const type = 'connected-vehicle-event';
export const say = wordsOf(type);

/** Why the events cannot be reported with these places; true if they can. */
export function validatePlaces(events: readonly string[], places: readonly unknown[]): true | string {
  if (!places.every((place) => parsePlace(place) !== null)) return say('reason.place');
  return !events.some(hasPlace) || places.length > 0 || sharedText('cause.ADD_PLACE');
}
