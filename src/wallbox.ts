import { VehicleError } from './errors';

/**
 * The form of the one published id, `WBVA1ABCD-WB24.01.2500001234`: a model, and a serial number
 * with points (docs/internals/vendor-api.md 17).
 */
export const wallboxPattern = /^[A-Z0-9]{3,20}-[A-Z0-9]{2,8}(?:\.\d{1,14}){1,4}$/;

/**
 * Validates the id of a wallbox that a person entered. Every id passes here before it
 * becomes part of a URL.
 * @returns the id in upper case, trimmed
 * @throws VehicleError CONFIG
 */
export function parseWallbox(input: string | undefined): string {
  const id = input?.trim().toUpperCase() ?? '';
  if (id === '')
    throw new VehicleError(
      'CONFIG',
      'No wallbox is entered, and the service has no list of them. Enter its ID in the vehicle configuration; it is on the label of the wallbox and in the app.',
    );
  if (!wallboxPattern.test(id))
    throw new VehicleError(
      'CONFIG',
      'This is not the ID of a wallbox: it looks like WBVA1ABCD-WB24.01.2500001234. It is on the label of the wallbox and in the app.',
    );
  return id;
}
