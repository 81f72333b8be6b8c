import { parseJson } from '../util/json';
import { vinPattern } from '../vin';
import { toTimestamp } from './schemas';

/** An answer without the VIN, the position and other traces of the owner, in the form of `test/fixtures/answers`. */
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

/**
 * Takes VIN, position, ids, addresses and free text out of an answer. Words, units, times and numbers of up to seven digits stay: what is
 * not known to say nothing of the owner is removed.
 */
export const anonymousAnswer = (method: string, path: string, status: number, body: string): AnonymousAnswer => ({
  method,
  path: pathWithoutIds(path),
  status,
  body: anonymous('message', parseJson(body) ?? body.slice(0, 200), maxLevels),
});

const maxLevels = 12;

/** @param name of the member that holds the value, or the list of which it is an item */
function anonymous(name: string, value: unknown, levels: number): unknown {
  if (typeof value === 'string') return textOf(name, value.trim());
  if (typeof value === 'number') return numberOf(name, value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return textMark;
  if (Array.isArray(value))
    return value.map((item, index) => anonymous(isPosition(name) ? `${name}${index}` : name, item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /^[a-z]{1,60}\d?$/i.test(key) && !vinPattern.test(key) ? key : textMark,
      anonymous(isPosition(name) ? name : key, member, levels - 1),
    ]),
  );
}

const isPosition = (name: string): boolean =>
  /^(?:geometry|coordinates|position|location|lat(?:itude)?|lon(?:gitude)?|lng|alt(?:itude)?)\d{0,12}$/i.test(name);
const isId = (name: string): boolean => /id$/i.test(name);

/** A place in the sea off Gothenburg for a position, longitude first; 0 for a number that can be an id. */
function numberOf(name: string, value: number): number {
  if (isPosition(name)) return name.endsWith('0') ? 11.5 : name.endsWith('1') ? 57.5 : 0;
  const time = /^timestamp$|until$/i.test(name) ? toTimestamp(value) : null;
  if (time !== null && time > '2015' && time < '2040') return value;
  if (isId(name) || Math.abs(value) >= 1e7) return 0;
  // A coordinate has more decimals than any other value.
  return Number(value.toFixed(3)) === value ? value : Math.round(value);
}

function textOf(name: string, text: string): string {
  if (text === '' || /^(?:true|false|null)$/.test(text)) return text;
  if (vinPattern.test(text)) return vinMark;
  if (isId(name)) return textMark;
  const number = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;
  if (number !== null) return numberOf(name, number) === number ? text : String(numberOf(name, number));
  if (isPosition(name)) return text === 'Point' ? text : textMark;
  if (toTimestamp(text) !== null) return text;
  if (name === 'unit' && /^[a-z%°/]{1,10}(?:\/100 ?km)?$/i.test(text)) return text;
  // Of an enumeration, or a model.
  if (/^[A-Z]{1,20}\d{0,3}(?:[_/ ][A-Z\d]{1,20}){0,8}$/.test(text) && !/\d{4}/.test(text)) return text;
  if (name === 'href')
    return URL.canParse(text, 'http://base') ? pathWithoutIds(new URL(text, 'http://base').pathname) : textMark;
  if (!/^(?:message|description|detail|title|type)$/i.test(name)) return textMark;
  const words = text.split(/\s+/).slice(0, 40);
  return words
    .map((word) =>
      /^(?:[a-z'’,.;-]{1,30}|\d{1,3}|\d\d:\d\d:\d\d\.?)$/i.test(word) && !vinPattern.test(word) ? word : '…',
    )
    .join(' ');
}

const pathWithoutIds = (path: string): string =>
  path
    .split('/')
    .map((part) =>
      vinPattern.test(part.toUpperCase())
        ? vinMark
        : /^[a-z]{0,40}(?:-[a-z]{1,40}){0,3}\d?$/i.test(part)
          ? part
          : textMark,
    )
    .join('/');
