import { isRecord } from '../util/json';

/** Degrees, WGS 84. */
export interface Position {
  latitude: number;
  longitude: number;
}

/** The position in a payload or a value; null if a part of it is not known. */
export const positionOf = (input: unknown): Position | null => {
  const { latitude, longitude } = isRecord(input) ? input : {};
  return Number.isFinite(latitude) && Number.isFinite(longitude) ? ({ latitude, longitude } as Position) : null; // Two numbers.
};

export interface Place extends Position {
  name: string;
  /** Meters. */
  radius: number;
}

/** Meters. */
export const defaultRadius = 200;

/** What a place must have; of an error (docs/internals/contract.md 5a, 5c). */
export const placeRule =
  'A place needs a name, a latitude from -90 to 90, a longitude from -180 to 180, and a radius from 1 to 1,000,000 meters.';

/** A number, or the text of a field with one, in which a comma separates the decimals, too; NaN for anything else. */
export function numberIn(input: unknown): number {
  if (typeof input === 'number') return input;
  return typeof input === 'string' && input.trim() !== '' ? Number(input.replace(',', '.')) : Number.NaN;
}

/**
 * A place as a form or a message gives it; null if a part is missing or wrong. The radius is
 * `defaultRadius` if there is none.
 */
export function parsePlace(input: unknown): Place | null {
  if (!isRecord(input) || typeof input['name'] !== 'string') return null;
  const name = input['name'].trim();
  const { radius } = input;
  const isDefault = radius === undefined || radius === null || radius === '';
  const place = {
    name,
    latitude: numberIn(input['latitude']),
    longitude: numberIn(input['longitude']),
    radius: isDefault ? defaultRadius : numberIn(radius),
  };
  const isValid =
    name !== '' &&
    Math.abs(place.latitude) <= 90 &&
    Math.abs(place.longitude) <= 180 &&
    place.radius >= 1 &&
    place.radius <= 1_000_000;
  return isValid ? place : null;
}

const earthRadius = 6_371_000;

/** The great-circle distance (haversine). */
function metersBetween(one: Position, other: Position): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half = (angle: number): number => Math.sin(radians(angle) / 2) ** 2;
  const a =
    half(other.latitude - one.latitude) +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * half(other.longitude - one.longitude);
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(a)));
}

export const isInside = (position: Position, place: Place): boolean => metersBetween(position, place) <= place.radius;
