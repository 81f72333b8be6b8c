import { isKnownUnit } from '../catalogue/units';
import { parseJson } from '../util/json';
import { vinPattern } from '../vin';
import { toNumber, toTimestamp } from './schemas';

/** An answer without traces of the owner, in the form of `test/fixtures/answers`. */
export interface AnonymousAnswer {
  method: string;
  /** `{vin}` replaces the VIN, here and in the body. */
  path: string;
  status: number;
  /** The parsed JSON, or a text that is none. */
  body: unknown;
}

const vinMark = '{vin}';
const textMark = '[text]';
const maxLevels = 12;

/**
 * An answer that keeps only the values whose form shows nothing about the owner: words in
 * capitals, booleans, times, numbers and known units. The name of a member decides only about ids,
 * times, units and links.
 */
export function anonymousAnswer(method: string, path: string, status: number, body: string): AnonymousAnswer {
  const value = anonymous('', parseJson(body) ?? body, { levels: maxLevels, isMeasured: false });
  return { method, path: pathWithoutIds(path), status, body: value };
}

interface Place {
  /** How much deeper the answer may nest. */
  levels: number;
  /**
   * Whether a known unit stands beside the value: then it is no position, and its decimals stay.
   */
  isMeasured: boolean;
}

/** @param name of the member that holds the value, or the list of which it is an item */
function anonymous(name: string, value: unknown, { levels, isMeasured }: Place): unknown {
  if (typeof value === 'string') return textOf(name, value.trim(), isMeasured);
  if (typeof value === 'number') return numberOf(name, value, isMeasured);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return textMark;
  if (Array.isArray(value))
    return isPosition(value)
      ? value.map((_, index) => placeInTheSea[index] ?? 0)
      : value.map((item) => anonymous(name, item, { levels: levels - 1, isMeasured: false }));
  // Two numbers can be a position.
  const isOneNumber = Object.values(value).filter((member) => toNumber(member) !== null).length === 1;
  const isKnown = 'unit' in value && isKnownUnit(String(value.unit).trim());
  const inside = { levels: levels - 1, isMeasured: isOneNumber && isKnown };
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /^[a-z]{1,60}\d?$/i.test(key) && !vinPattern.test(key) ? key : textMark,
      anonymous(key, member, inside),
    ]),
  );
}

/** Nothing else in an answer is a list of numbers. */
const isPosition = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((item) => typeof item === 'number');

/** Off Gothenburg, longitude first, as GeoJSON has it. */
const placeInTheSea = [11.5, 57.5];

/** A token names the card with which a person starts a charge. */
const isId = (name: string): boolean => /^(?:uu)?ids?$|I[Dd]s?$|[Tt]okens?$/.test(name);

/** 0 for a number that can be an id; without its decimals, if it can be a coordinate. */
function numberOf(name: string, value: number, isMeasured: boolean): number {
  const time = /^timestamp$|until$/i.test(name) ? toTimestamp(value) : null;
  if (time !== null && time > '2015' && time < '2040') return value;
  if (isId(name) || Math.abs(value) >= 1e6) return 0;
  return isMeasured ? value : Math.round(value);
}

/** `AC`, `NO_WARNING`. With a number behind them, parts are longer than on a number plate. */
const word = /^(?:[A-Z]{1,20}(?:_[A-Z]{1,20}){0,8}|[A-Z]{5,20}(?:_[A-Z]{5,20}){0,3}_\d{1,2})$/;
/** Other words that are the same for each owner: of JSON, and of GeoJSON. */
const fixed = /^(?:true|false|null|Feature|Point|)$/;

function textOf(name: string, text: string, isMeasured: boolean): string {
  if (fixed.test(text)) return text;
  if (vinPattern.test(text)) return vinMark;
  if (isId(name)) return textMark;
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) {
    const number = numberOf(name, Number(text), isMeasured);
    return number === Number(text) ? text : String(number);
  }
  if (name === 'href' && text.includes('/') && URL.canParse(text, 'http://base'))
    return pathWithoutIds(new URL(text, 'http://base').pathname);
  const isKept = toTimestamp(text) !== null || word.test(text) || (name === 'unit' && isKnownUnit(text));
  return isKept ? text : textMark;
}

/** @param vinText returns the text that replaces a VIN */
export const pathWithoutIds = (path: string, vinText = (_vin: string): string => vinMark): string =>
  path
    .split('/')
    .map((part) =>
      vinPattern.test(part.toUpperCase())
        ? vinText(part)
        : /^[a-z]{0,40}(?:-[a-z]{1,40}){0,3}\d?$/i.test(part)
          ? part
          : textMark,
    )
    .join('/');
