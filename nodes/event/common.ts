const { hasPlace, sharedText, wordsOf, ...shared } = connectedVehicle;

export const type = 'connected-vehicle-event';
export const say = wordsOf(type);

/**
 * Why the events cannot be reported with these places; true if they can.
 * @param vehicle whose places they can name
 */
export function validateEventPlaces(
  events: readonly string[],
  places: readonly unknown[],
  vehicle: string | undefined,
): true | string {
  const reason = shared.validatePlaces(places, shared.namedPlaces(vehicle));
  if (reason !== true) return reason;
  return !events.some(hasPlace) || places.length > 0 || sharedText('cause.ADD_PLACE');
}
