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
 * Takes VIN, position, ids, names, addresses and free text out of an answer. Words, units, times and numbers of up to seven digits stay: what is
 * not known to say nothing of the owner is removed.
 */
export function anonymousAnswer(method: string, path: string, status: number, body: string): AnonymousAnswer {
  const vins = vinsOf(`${path} ${body}`);
  return {
    method,
    path: pathWithoutIds(path),
    status,
    body: anonymous('message', parseJson(body) ?? body.slice(0, 200), { vins, levels: maxLevels }),
  };
}

const maxLevels = 12;
const maxVins = 5;

interface Context {
  /** Those of the answer, in upper case. */
  vins: readonly string[];
  /** How much deeper the answer may nest. */
  levels: number;
}

const vinsOf = (text: string): string[] =>
  [...new Set(text.match(/(?<![A-Za-z\d])(?=[A-Za-z]*\d)[A-Za-z\d]{17}(?![A-Za-z\d])/g))]
    .slice(0, maxVins)
    .map((vin) => vin.toUpperCase());

/** @param name of the member that holds the value, or the list of which it is an item */
function anonymous(name: string, value: unknown, context: Context): unknown {
  if (typeof value === 'string') return textOf(name, value.trim(), context.vins);
  if (typeof value === 'number') return numberOf(name, value, context.vins);
  if (typeof value !== 'object' || value === null) return value;
  if (context.levels === 0) return textMark;
  const inside = { ...context, levels: context.levels - 1 };
  if (Array.isArray(value))
    return value.map((item, index) => anonymous(isPosition(name) ? `${name}${index}` : name, item, inside));
  const isPrivate = isPosition(name) || isPersonal(name);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /^[a-z]{1,60}\d?$/i.test(key) && !vinPattern.test(key) && !holdsVin(key, context.vins) ? key : textMark,
      anonymous(isPrivate ? name : key, member, inside),
    ]),
  );
}

const positionWords = new Set(
  'alt altitude bbox center centre coordinate coordinates coords geo geohash geometries geometry gps lat latitude latlng lng location locations lon long longitude point points position positions wgs x y z'.split(
    ' ',
  ),
);
const personalWords = new Set(
  'account address alias birth birthday city comment contact contract country county customer dealer driver email gender home host hostname imei imsi ip label license licence mac mail mobile name names network nick nickname note owner password person phone pin place plate postal postcode reference region registration road secret serial ssid street telephone token town user username wifi workshop zip'.split(
    ' ',
  ),
);

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
/** A warning says which lamp has failed, such as that of the number plate. */
const has = (name: string, words: ReadonlySet<string>): boolean =>
  !name.endsWith('Warning') && wordsOf(name).some((word) => words.has(word));
const isPosition = (name: string): boolean => has(name, positionWords) || /latit|longit|coord/i.test(name);
const isPersonal = (name: string): boolean => has(name, personalWords) || /(?:name|key)$/i.test(name);
const isId = (name: string): boolean =>
  /ids?\d*$/i.test(name) && !/(?:[Vv]alid|[Hh]ybrid|[Gg]rid|[Ff]luid|(?<=[a-z\d])Lid|^[Ll]id)s?\d*$/.test(name);

/** Whether a text has six characters of a VIN in a row, whatever stands between them, or is a part of it with letters and digits. */
function holdsVin(text: string, vins: readonly string[]): boolean {
  const bare = text.toUpperCase().replaceAll(/[^A-Z\d]/g, '');
  const isPart = bare.length > 2 && /\d/.test(bare) && /[A-Z]/.test(bare);
  return vins.some(
    (vin) =>
      (isPart && vin.includes(bare)) ||
      Array.from({ length: vin.length - 5 }, (_, at) => vin.slice(at, at + 6)).some((part) => bare.includes(part)),
  );
}

/** A place in the sea off Gothenburg for a position, longitude first; 0 for a number that can be an id. */
function numberOf(name: string, value: number, vins: readonly string[]): number {
  if (isPosition(name)) return name.endsWith('0') ? 11.5 : name.endsWith('1') ? 57.5 : 0;
  if (isPersonal(name)) return 0;
  const time = /^timestamp$|until$/i.test(name) ? toTimestamp(value) : null;
  if (time !== null && time > '2015' && time < '2040') return value;
  if (isId(name) || Math.abs(value) >= 1e7 || holdsVin(String(value), vins)) return 0;
  // A coordinate has more decimals than any other value.
  return Number(value.toFixed(2)) === value ? value : Math.round(value);
}

function textOf(name: string, text: string, vins: readonly string[]): string {
  if (text === '' || /^(?:true|false|null)$/.test(text)) return text;
  if (vinPattern.test(text)) return vinMark;
  if (isId(name) || isPersonal(name)) return textMark;
  const number = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;
  if (number !== null) return numberOf(name, number, vins) === number ? text : String(numberOf(name, number, vins));
  if (isPosition(name)) return text === 'Point' ? text : textMark;
  if (toTimestamp(text) !== null) return text;
  if (name === 'unit' && /^[a-z%°/]{1,10}(?:\/100 ?km)?$/i.test(text)) return text;
  const isOfVin = holdsVin(text, vins);
  if (!isOfVin && (enumerated.test(text) || model.test(text))) return text;
  if (name === 'href')
    return URL.canParse(text, 'http://base') ? pathWithoutIds(new URL(text, 'http://base').pathname) : textMark;
  if (!/^(?:message|description|detail|title|type)$/i.test(name)) return textMark;
  const words = text.split(/\s+/).slice(0, 40);
  return words
    .map((word, index) => {
      const [before = '.', after = ''] = [words[index - 1], words[index + 1]];
      if (!plainWord.test(word) || vinPattern.test(word)) return '…';
      // A telephone number, or a VIN, in groups.
      if (/\d/.test(word)) return isOfVin || /\d/.test(before + after) ? '…' : word;
      return /[.!?]$/.test(before) || !/^[A-Z]['’]?[A-Za-z]*[a-z]/.test(word) || knownWord.test(word) ? word : '…';
    })
    .join(' ');
}

/** A word of the service, such as `TYPE2`, `AC/DC` or `MINUTES_ABOVE_30`. No part has both letters and digits, except one digit after four letters or more. */
const enumerated = /^[A-Z]{1,20}(?:(?<=[A-Z]{4})\d)?(?:[_/](?:[A-Z]{1,20}|\d{1,3})){0,8}$/;
const model = /^(?:C|S|V|EC|EM|ES|EX|XC)\d0(?: [A-Z]{4,20}){0,3}$/;
/** No host has this form, because its dots are inside. */
const plainWord = /^(?:[a-z'’-]{1,30}|\d{1,3}|\d\d:\d\d:\d\d)[.,;:!?]?$/i;
/** With a capital inside a sentence; any other word is a name there. */
const knownWord =
  /^(?:Access|Allowed|Api|Available|Bad|Car|Client|Connected|Denied|Energy|Error|Exceeded|Failed|Forbidden|Found|Gateway|Gone|Internal|Invalid|Key|Limit|Location|Make|Many|Not|Quota|Relationship|Request|Requests|Resource|Server|Service|Supported|Temporarily|Timeout|Token|Too|Unauthorized|Unavailable|Vehicle)[.,;:!?]?$/;

/** @param vinText what replaces a VIN */
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
