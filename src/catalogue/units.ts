/**
 * The units in words, as docs/internals/service.md 2.8 writes them, and the spellings on the wire,
 * first that of connected v2 (docs/internals/vendor-api.md 6.2, 12.3 and 14.2).
 */
const spellings: Readonly<Record<string, readonly string[]>> = {
  kilometers: ['km', 'kilometres'],
  miles: ['mi', 'mile'],
  liters: ['l', 'litres'],
  'kilometers per hour': ['km/h', 'kilometers_per_hour', 'kmph'],
  'miles per hour': ['mph', 'mi/h'],
  'liters per 100 kilometers': ['l/100km', 'l/100 km', 'liters_per_100_kilometers'],
  'kilowatt-hours per 100 kilometers': ['kWh/100km', 'kWh/100 km', 'kilowatt_hours_per_100_kilometers'],
  'kilowatt-hours': ['kWh'],
  'US gallons': [],
  'miles per US gallon': [],
  'miles per imperial gallon': [],
  'miles per kilowatt-hour': ['mi/kWh'],
  'degrees celsius': ['c', '°c', 'celsius'],
  'degrees fahrenheit': ['°f', 'fahrenheit'],
  percent: ['%', 'percentage'],
  watts: ['w', 'watt'],
  ampere: ['a', 'amp', 'amperes'],
  hours: ['h'],
  minutes: ['min'],
  months: ['months', 'month'],
  days: ['day'],
};

const words = new Map(
  Object.entries(spellings).flatMap(([word, others]) =>
    [word, ...others].map((spelling) => [spelling.toLowerCase(), word] as const),
  ),
);

export const isKnownUnit = (unit: string): boolean => words.has(unit.toLowerCase());

/** A unit in words as connected v2 writes it: `l` for liters. */
export const unitOnWire = (word: string): string => spellings[word]?.[0] ?? word;

/**
 * The unit of an answer in words; verbatim if it has none, and null if the service names no unit.
 */
export function unitInWords(unit: unknown): string | null {
  const word = typeof unit === 'string' ? unit.trim() : '';
  // Some services put the type of the value there.
  if (word === '' || word.toLowerCase() === 'string') return null;
  return words.get(word.toLowerCase()) ?? word;
}

/** Kilometers in a mile, and liters in a gallon: by definition (NIST Handbook 44, Appendix C). */
export const perMile = 1.609344;
const perUsGallon = 3.785411784;
const perImperialGallon = 4.54609;

/** The unit of each quantity that the others are converted through. */
const metric = {
  distance: 'kilometers',
  speed: 'kilometers per hour',
  volume: 'liters',
  temperature: 'degrees celsius',
  fuelPerDistance: 'liters per 100 kilometers',
  energyPerDistance: 'kilowatt-hours per 100 kilometers',
};
type Quantity = keyof typeof metric;

/** The metric value is `value * factor` from `zero` on, or `factor / value` if reciprocal. */
interface Scale {
  of: Quantity;
  factor: number;
  zero?: number;
  isReciprocal?: true;
  decimals: number;
}

const scales: Readonly<Record<string, Scale>> = {
  kilometers: { of: 'distance', factor: 1, decimals: 1 },
  miles: { of: 'distance', factor: perMile, decimals: 1 },
  'kilometers per hour': { of: 'speed', factor: 1, decimals: 0 },
  'miles per hour': { of: 'speed', factor: perMile, decimals: 0 },
  liters: { of: 'volume', factor: 1, decimals: 1 },
  'US gallons': { of: 'volume', factor: perUsGallon, decimals: 1 },
  'degrees celsius': { of: 'temperature', factor: 1, decimals: 0 },
  'degrees fahrenheit': { of: 'temperature', factor: 5 / 9, zero: 32, decimals: 0 },
  'liters per 100 kilometers': { of: 'fuelPerDistance', factor: 1, decimals: 1 },
  'miles per US gallon': {
    of: 'fuelPerDistance',
    factor: (100 * perUsGallon) / perMile,
    isReciprocal: true,
    decimals: 1,
  },
  'miles per imperial gallon': {
    of: 'fuelPerDistance',
    factor: (100 * perImperialGallon) / perMile,
    isReciprocal: true,
    decimals: 1,
  },
  'kilowatt-hours per 100 kilometers': { of: 'energyPerDistance', factor: 1, decimals: 1 },
  'miles per kilowatt-hour': { of: 'energyPerDistance', factor: 100 / perMile, isReciprocal: true, decimals: 2 },
};

// A unit may have the name of a member of every object.
const scaleOf = (unit: string): Scale | undefined => (Object.hasOwn(scales, unit) ? scales[unit] : undefined);

/** As the car reports them, or those of a country. */
export const unitSystems = ['car', 'metric', 'uk', 'us'] as const;
export type UnitSystem = (typeof unitSystems)[number];

/** Fuel is also sold in liters there, and electric cars show miles per kilowatt-hour. */
const uk: typeof metric = {
  ...metric,
  distance: 'miles',
  speed: 'miles per hour',
  fuelPerDistance: 'miles per imperial gallon',
  energyPerDistance: 'miles per kilowatt-hour',
};

const systems: Readonly<Record<Exclude<UnitSystem, 'car'>, typeof metric>> = {
  metric,
  uk,
  us: { ...uk, volume: 'US gallons', temperature: 'degrees fahrenheit', fuelPerDistance: 'miles per US gallon' },
};

/**
 * The unit that a system has in place of another one, both in words. A unit that is unknown or that
 * every country has stays the same.
 */
export function unitOf(system: UnitSystem, unit: string): string {
  const scale = scaleOf(unit);
  return system === 'car' || scale === undefined ? unit : systems[system][scale.of];
}

/** The units, in words, that a value of a unit can be converted into, itself included. */
export function unitsBeside(unit: string): string[] {
  const scale = scaleOf(unit);
  return scale === undefined ? [unit] : Object.keys(scales).filter((other) => scales[other]?.of === scale.of);
}

/** The factor from a unit to another, both in words; null if there is none. */
export function factorBetween(from: string, to: string): number | null {
  if (from === to) return 1;
  if (from === 'days' && to === 'months') return 12 / 365.25;
  const [one, other] = [scaleOf(from), scaleOf(to)];
  const isFactor = [one, other].every((scale) => scale && scale.zero === undefined && !scale.isReciprocal);
  return one !== undefined && one.of === other?.of && isFactor ? one.factor / other.factor : null;
}

/**
 * A number in another unit, both in words, not rounded; null if there is none: a use of 0 gives no
 * distance per liter.
 */
export function inUnit(value: number, from: string, to: string): number | null {
  const factor = factorBetween(from, to);
  const converted = factor === null ? throughFirst(value, scaleOf(from), scaleOf(to)) : value * factor;
  return converted !== null && Number.isFinite(converted) ? converted : null;
}

/** Whether a number cannot be converted because nothing was used. */
export const isNoConsumption = (value: number, from: string, to: string): boolean =>
  value <= 0 && inUnit(1, from, to) !== null && inUnit(value, from, to) === null;

function throughFirst(value: number, from: Scale | undefined, to: Scale | undefined): number | null {
  if (from === undefined || from.of !== to?.of) return null;
  if ((from.isReciprocal || to.isReciprocal) && value <= 0) return null;
  const inFirst = from.isReciprocal ? from.factor / value : (value - (from.zero ?? 0)) * from.factor;
  return to.isReciprocal ? to.factor / inFirst : inFirst / to.factor + (to.zero ?? 0);
}

/** A converted number without digits that the car did not measure: from 100 on, it is whole. */
export function roundedIn(unit: string, value: number): number {
  const decimals = Math.abs(value) >= 100 ? 0 : (scaleOf(unit)?.decimals ?? 1);
  // + 0: no minus zero.
  return Number(value.toFixed(decimals)) + 0;
}

/**
 * A number in the unit of a system, rounded if it was converted; null if that unit has no number
 * for it.
 */
export function inSystem(system: UnitSystem, value: number, unit: string): { value: number | null; unit: string } {
  const to = unitOf(system, unit);
  if (to === unit) return { value, unit };
  const converted = inUnit(value, unit, to);
  return { value: converted === null ? null : roundedIn(to, converted), unit: to };
}
