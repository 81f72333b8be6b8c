const { hasPlace, sharedText, wordsOf, ...shared } = connectedVehicle;

export const type = 'connected-vehicle-event';
export const say = wordsOf(type);

/** Why the events cannot be reported with these places; true if they can. @param vehicle whose places they can name */
export function validatePlaces(
  events: readonly string[],
  places: readonly unknown[],
  vehicle: string | undefined,
): true | string {
  const wrong = places.map((place) => shared.validatePlace(place, vehicle)).find((reason) => reason !== true);
  if (wrong !== undefined) return wrong;
  return !events.some(hasPlace) || places.length > 0 || sharedText('cause.ADD_PLACE');
}
