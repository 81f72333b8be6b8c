/**
 * Whether the car has a sunroof though its state is unknown: a car without one has it in `msg.vehicle.absent` instead
 * (src/catalogue/openings.ts). Where other windows are unknown, too, that shows nothing.
 * @param unknown of `msg.vehicle`
 */
export const hasUnknownSunroof = (unknown: unknown): boolean =>
  Array.isArray(unknown) && unknown.length === 1 && unknown[0] === 'sunroof';
