import { isEmpty } from './util/json';
import { VehicleError } from './errors';

/**
 * 17 characters of A-Z and 0-9 (docs/internals/contract.md 2). Not the ISO alphabet: demonstration
 * VINs hold an O (docs/internals/vendor-api.md 6.2).
 */
export const vinPattern = /^[A-Z0-9]{17}$/;

/** A VIN as it is compared, whichever way a person wrote it; empty for anything but a text. */
export const normalVin = (input: unknown): string => (typeof input === 'string' ? input.trim().toUpperCase() : '');

/**
 * Validates a VIN of a person or a message. Every VIN passes here before it becomes part of a URL.
 * @returns the VIN in upper case, trimmed
 * @throws VehicleError VIN_INVALID
 */
export function parseVin(input: unknown): string {
  if (isEmpty(input)) {
    throw new VehicleError(
      'VIN_INVALID',
      'No vehicle is named. Press “Find my car” in the vehicle configuration, enter the VIN there, or send it in msg.vin.',
      { status: { word: 'NO_CAR' } },
    );
  }
  const vin = normalVin(input);
  if (!vinPattern.test(vin)) {
    throw new VehicleError(
      'VIN_INVALID',
      'This is not a vehicle identification number: it must be 17 characters of A-Z and 0-9. It is in the registration papers and behind the windshield.',
    );
  }
  return vin;
}

/**
 * The last six characters, as much of a VIN as a log, a status text or an error may show
 * (docs/internals/contract.md 6).
 */
export const shortVin = (vin: string): string => `…${vin.slice(-6)}`;
