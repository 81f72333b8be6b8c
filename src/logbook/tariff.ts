import { faultOfPlace, numberIn, parsePlace, placeAt, placeInTariff, type Place, type Position } from '../car/places';
import { VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { isRecord } from '../util/json';
import { parseHours, type QuietHours } from '../util/quiet';
import { dayMs, minuteMs } from '../util/durations';

interface Prices {
  perKWh: number;
  /** The first range that contains a time has its price. */
  hours: readonly { holdsAt: QuietHours['holdsAt']; perKWh: number }[];
}

export interface Tariff extends Prices {
  /** ISO 4217; null: not named. */
  currency: string | null;
  places: readonly (Place & Prices)[];
}

const fault = (problem: string | Sentence): VehicleError =>
  new VehicleError('CONFIG', sentence`The tariff of the vehicle configuration cannot be used. ${asSentence(problem)}`);

/**
 * A price, or `{ perKWh, currency, timeZone, hours: [{ hours: "22:00-06:00", perKWh }], places: [{
 * name, latitude, longitude, radius, perKWh, hours }] }`. A comma also separates decimals. A place
 * without coordinates is one of the vehicle configuration.
 * @param currency if the tariff itself has none
 * @param named the places of the vehicle configuration
 * @throws VehicleError CONFIG
 */
export function parseTariff(input: unknown, currency: unknown = '', named: readonly Place[] = []): Tariff {
  const { places = [], ...all } = isRecord(input) ? input : { perKWh: input };
  if (!Array.isArray(places)) throw fault('The places must be a list.');
  const zone = all['timeZone'];
  return {
    ...parsePrices(all, zone),
    currency: parseCurrency(all['currency'] ?? currency),
    places: (places as unknown[]).map((given) => {
      const asked = placeInTariff(given);
      const place = parsePlace(asked, named);
      if (place === null || !isRecord(given)) throw fault(faultOfPlace(asked));
      return { ...place, ...parsePrices(given, zone) };
    }),
  };
}

function parsePrices({ perKWh, hours = [] }: Record<string, unknown>, timeZone: unknown): Prices {
  if (!Array.isArray(hours)) throw fault('The hours must be a list.');
  return {
    perKWh: parsePrice(perKWh),
    hours: (hours as unknown[]).map((given) => {
      const { hours: range, perKWh: price } = isRecord(given) ? given : {};
      const { holdsAt } = parseHours({ hours: 'not', quietHours: range ?? null, timeZone: timeZone ?? '' }, fault);
      if (String(range).trim() === '') throw fault('The hours must look like 22:00-07:00, with two different times.');
      return { holdsAt, perKWh: parsePrice(price) };
    }),
  };
}

/** The price of an exchange can be below 0. */
function parsePrice(input: unknown): number {
  const price = numberIn(input);
  if (Math.abs(price) <= 1_000_000) return price;
  throw fault('A price must be a number, such as 0.32.');
}

function parseCurrency(input: unknown): string | null {
  if (input === null || input === '') return null;
  const code = typeof input === 'string' ? input.trim().toUpperCase() : '';
  if (Intl.supportedValuesOf('currency').includes(code)) return code;
  throw fault(sentence`“${String(input)}” is not a currency code. Enter three letters, such as EUR or SEK.`);
}

/**
 * The price of a kilowatt-hour that was charged evenly from one time to another.
 * @param isEven false if it is only known that it was charged in between
 * @returns why the price is not known
 */
export function priceOf(
  tariff: Tariff | null,
  position: Position | null,
  [from, to]: readonly [from: number, to: number],
  isEven: boolean,
): number | 'NO_TARIFF' | 'PLACE_NOT_KNOWN' | 'TIME_NOT_KNOWN' {
  if (tariff === null) return 'NO_TARIFF';
  if (position === null && tariff.places.length > 0) return 'PLACE_NOT_KNOWN';
  const { perKWh, hours } = placeAt(tariff.places, position) ?? tariff;
  if (hours.length === 0) return perKWh;
  if (to - from > dayMs) return 'TIME_NOT_KNOWN';
  const priceAt = (at: number): number => hours.find(({ holdsAt }) => holdsAt(at))?.perKWh ?? perKWh;
  const prices = [priceAt(from)];
  for (let at = from + minuteMs; at < to; at += minuteMs) prices.push(priceAt(at));
  if (!isEven && new Set([...prices, priceAt(to)]).size > 1) return 'TIME_NOT_KNOWN';
  return prices.reduce((sum, price) => sum + price, 0) / prices.length;
}
