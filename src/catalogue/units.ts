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
  'degrees celsius': ['c', '°c', 'celsius'],
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

/** Whether it is a spelling of a unit that the tables know. */
export const isKnownUnit = (unit: string): boolean => words.has(unit.toLowerCase());

/** A unit in words as connected v2 writes it: `l` for liters. */
export const unitOnWire = (word: string): string => spellings[word]?.[0] ?? word;

/** A unit of the wire in words; verbatim if it has none, and null if the service names no unit. */
export function unitInWords(unit: string | null): string | null {
  const word = unit?.trim() ?? '';
  // Some services put the type of the value there.
  if (word === '' || word.toLowerCase() === 'string') return null;
  return words.get(word.toLowerCase()) ?? word;
}

/** Kilometers in a mile. */
export const perMile = 1.609344;

/** The factor from a unit to another, both in words; null if there is none. */
export function factorBetween(from: string, to: string): number | null {
  if (from === to) return 1;
  if (from === 'days' && to === 'months') return 12 / 365.25;
  if (from.replace(/^kilometers/, 'miles') === to) return 1 / perMile;
  return from.replace(/^miles/, 'kilometers') === to ? perMile : null;
}
