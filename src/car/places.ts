import { VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { isEmpty, isRecord } from '../util/json';

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

/** The sentence of an error: it states the rule (docs/internals/contract.md 5a, 5c). */
const placeRule =
  'A place needs a name, a latitude from -90 to 90, a longitude from -180 to 180, and a radius from 1 to 1,000,000 meters.';

/** Why `parsePlace` finds no place. */
export const faultOfPlace = (input: unknown): Sentence =>
  typeof input === 'string' && input.trim() !== ''
    ? sentence`The vehicle configuration has no place “${input.trim()}”. Add it there, or choose another place.`
    : asSentence(placeRule);

/**
 * A number, or the text of a field with one, in which a comma can separate the decimals;
 * NaN for anything else.
 */
export function numberIn(input: unknown): number {
  if (typeof input === 'number') return input;
  return typeof input === 'string' && input.trim() !== '' ? Number(input.replace(',', '.')) : Number.NaN;
}

/**
 * A place from its input: a part that is missing or wrong becomes an empty name or no number. The
 * radius is `defaultRadius` if there is none.
 */
function readPlace(input: unknown): Place {
  const { name, latitude, longitude, radius } = isRecord(input) ? input : {};
  return {
    name: typeof name === 'string' ? name.trim() : '',
    latitude: numberIn(latitude),
    longitude: numberIn(longitude),
    radius: isEmpty(radius) ? defaultRadius : numberIn(radius),
  };
}

/** The first part of a place that is missing or wrong. */
function wrongPart({ name, latitude, longitude, radius }: Place): keyof Place | null {
  if (name === '') return 'name';
  if (!(Math.abs(latitude) <= 90)) return 'latitude';
  if (!(Math.abs(longitude) <= 180)) return 'longitude';
  return radius >= 1 && radius <= 1_000_000 ? null : 'radius';
}

/**
 * A place as a form or a message has it: its parts, or the name of a place of the
 * vehicle configuration.
 * @returns a copy, because a flow can change it; null if a part is missing or wrong, or if there is
 * none of this name
 */
export function parsePlace(input: unknown, named: readonly Place[] = []): Place | null {
  if (typeof input === 'string') {
    const known = named.find(({ name }) => name === input.trim());
    return known === undefined ? null : { ...known };
  }
  const place = readPlace(input);
  return wrongPart(place) === null ? place : null;
}

/**
 * The place that a tariff means: without coordinates, the place of the vehicle configuration that
 * has its name.
 */
export function placeInTariff(given: unknown): unknown {
  const { name, latitude, longitude } = isRecord(given) ? given : {};
  return latitude === undefined && longitude === undefined ? name : given;
}

/** The first fault of a list of places; null if each is complete and has its own name. */
export function faultIn(places: readonly unknown[]): { at: number; part: keyof Place | 'twice' } | null {
  const names = new Set<string>();
  for (const [at, place] of places.map(readPlace).entries()) {
    const part = wrongPart(place) ?? (names.has(place.name) ? 'twice' : null);
    if (part !== null) return { at, part };
    names.add(place.name);
  }
  return null;
}

/**
 * The places of a vehicle configuration.
 * @throws VehicleError CONFIG
 */
export function parsePlaces(input: unknown): Place[] {
  if (isEmpty(input)) return [];
  if (!Array.isArray(input)) throw new VehicleError('CONFIG', 'The places must be a list.');
  const places = (input as unknown[]).map(readPlace);
  const fault = faultIn(places);
  if (fault === null) return places;
  throw new VehicleError('CONFIG', sentencesOfFaults[fault.part](places[fault.at]?.name ?? '', fault.at + 1));
}

const sentencesOfFaults: Record<keyof Place | 'twice', (name: string, number: number) => Sentence> = {
  name: (_, number) => sentence`Place ${number} of the vehicle configuration has no name. Enter one.`,
  twice: (name) => sentence`The vehicle configuration has two places “${name}”. Give each its own name.`,
  latitude: (name) =>
    sentence`The latitude of the place “${name}” must be a number from -90 to 90, such as 57.70887. Correct it in the vehicle configuration.`,
  longitude: (name) =>
    sentence`The longitude of the place “${name}” must be a number from -180 to 180, such as 11.97456. Correct it in the vehicle configuration.`,
  radius: (name) =>
    sentence`The radius of the place “${name}” must be a number from 1 to 1,000,000 meters. Correct it in the vehicle configuration.`,
};

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

/** The first place that contains a position. */
export const placeAt = <Found extends Place>(places: readonly Found[], position: Position | null): Found | null =>
  (position && places.find((place) => isInside(position, place))) ?? null;
