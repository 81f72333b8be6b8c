import { VehicleError } from './errors';
import { shortVin, vinPattern } from './vin';

/**
 * Takes secrets and whole VINs out of whatever leaves the pack: logs, errors, badges, diagnostics, answers to the editor
 * (contract 6). Everything that writes is built with it, so that nobody has to remember.
 *
 * What it has learned goes in every form in which it travels: as it is, percent-encoded, escaped in JSON, in
 * hexadecimal, and inside Base64 such as HTTP Basic. What only looks like a secret (a bearer token, a JWT, a member named
 * `refresh_token`) goes too: a token may be too new to be known.
 */
export interface Redactor {
  /** Key, client id, client secret: known from here on, for good. */
  learn(...secrets: readonly string[]): void;
  /** A token that another one will replace: the last of them are known. */
  learnRotated(secret: string): void;
  /** A VIN of letters only or of digits only, which does not look like one. Whatever is no such VIN is not learned. */
  learnVin(vin: unknown): void;
  text(text: string): string;
  /** Takes out what it has learned and nothing else: what only looks like a secret, or like a VIN, stays. */
  learned(text: string): string;
  /**
   * A copy as plain data for JSON: every string in it, the names of its members too. Errors, maps, sets, dates and
   * addresses become data; no getter is called.
   */
  value<Value>(value: Value): Value;
  /** The same error where it holds nothing, else a new one. */
  error(error: VehicleError): VehicleError;
}

const secretMark = '[secret]';
/** Shorter than this it is no secret, and taking it out would tear words apart. */
const shortestSecret = 4;
/** Two tokens every five minutes, for more than a day. */
const mostRotated = 1000;
const mostLasting = 1000;
const mostVins = 1000;

export function createRedactor(): Redactor {
  const lasting = new Set<string>();
  const rotated = new Set<string>();
  const vins = new Set<string>();
  // The few that stay are one pattern; for the many that go, compiling one would take longer than looking for each.
  let pattern = anyOf([]);
  let vinsPattern = anyOf([]);
  let words: readonly string[] = [];

  const learned = (input: string): string => {
    let output = input;
    for (const word of words) if (output.includes(word)) output = output.replaceAll(word, secretMark);
    return output.replace(pattern, secretMark);
  };
  const text = (input: string): string => {
    let output = learned(input);
    for (const { pattern, by } of looks)
      output = typeof by === 'string' ? output.replace(pattern, by) : output.replace(pattern, by);
    return output.replace(vinsPattern, shortVin);
  };
  const value = (input: unknown): unknown => copyOf(input, text, []);

  return {
    learn(...secrets) {
      for (const secret of secrets) remember(lasting, formsOf(secret), mostLasting);
      pattern = anyOf(longestFirst(lasting));
    },
    learnRotated(secret) {
      remember(rotated, writtenForms(secret.trim()), mostRotated);
      words = longestFirst(rotated);
    },
    learnVin(given) {
      const vin = typeof given === 'string' ? given.trim().toUpperCase() : '';
      if (vins.has(vin) || !vinPattern.test(vin) || !/^(?:\D+|\d+)$/.test(vin)) return;
      remember(vins, [vin], mostVins);
      vinsPattern = new RegExp(`(?<![A-Za-z\\d])(?:${[...vins].join('|')})(?![A-Za-z\\d])`, 'gi');
    },
    text,
    learned,
    value: <Value>(input: Value) => value(input) as Value,
    error(error) {
      const message = text(error.message);
      const operationId = error.operationId === null ? null : text(error.operationId);
      const cause = causeOf(error.cause, value);
      if (message === error.message && operationId === error.operationId && cause === error.cause) return error;
      return new VehicleError(error.code, message, {
        retryable: error.retryable,
        ...(error.retryAt !== null && { retryAt: error.retryAt }),
        ...(error.httpStatus !== null && { httpStatus: error.httpStatus }),
        ...(operationId !== null && { operationId }),
        ...(cause !== undefined && { cause }),
      });
    },
  };
}

function remember(known: Set<string>, forms: readonly string[], most: number): void {
  for (const form of forms) {
    if (form.length < shortestSecret) continue;
    known.delete(form);
    known.add(form);
  }
  for (const oldest of known) {
    if (known.size <= most) break;
    known.delete(oldest);
  }
}

/** One secret may hold another. */
const longestFirst = (words: Iterable<string>): string[] => [...words].sort((one, other) => other.length - one.length);

const anyOf = (words: readonly string[]): RegExp => new RegExp(words.map(escaped).join('|') || '(?!)', 'g');

const escaped = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Blanks around a pasted secret are not sent. */
function formsOf(pasted: string): string[] {
  const secret = pasted.trim();
  return [
    ...writtenForms(secret),
    Buffer.from(secret).toString('hex'),
    ...[secret, formEncoded(secret)].flatMap(insideBase64),
  ];
}

/** In an address, in a form and in JSON it is written with escapes. */
function writtenForms(secret: string): string[] {
  const encoded = [encodeURIComponent(secret), formEncoded(secret)];
  const inLowerCase = encoded.map((form) => form.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()));
  return [...new Set([secret, ...encoded, ...inLowerCase, JSON.stringify(secret).slice(1, -1)])];
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** A shorter piece of Base64 would hit by chance. */
const shortestPiece = 6;

/** What stands in Base64 wherever the secret stands in the text: its first and last characters may belong to its neighbours too. */
function insideBase64(secret: string): string[] {
  const pieces = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
    return bytes.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const urlSafe = pieces.map((piece) => piece.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...pieces, ...urlSafe])].filter((piece) => piece.length >= shortestPiece);
}

const secretNames =
  '(?:access|refresh|id)_?token|client_?secret|code_?verifier|password|[\\w-]{0,40}api[-_]?key|(?:proxy-)?authorization|(?:set-)?cookie';

/** The name of a member whose text is secret whatever it is. */
const secretName = new RegExp(`^(?:${secretNames})$`, 'i');

/** What looks like a secret, or like a VIN: 17 letters and digits (contract 2), some of each unless its place says what it is. */
const looks: readonly { pattern: RegExp; by: string | ((...found: string[]) => string) }[] = [
  { pattern: /\b(Bearer|Basic)(\s+|%20|\+)[\w.~+/=%-]{8,}/gi, by: `$1$2${secretMark}` },
  { pattern: /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)*/g, by: secretMark },
  {
    pattern: new RegExp(
      `((?:\\b|_)(?:${secretNames})\\\\?["']?\\s*[:=]\\s*\\\\?["']?)(?!(?:Bearer|Basic)\\b)[^\\s"'\\\\&,;}]+`,
      'gi',
    ),
    by: `$1${secretMark}`,
  },
  { pattern: /([?&](?:code|state)=)[^&\s"']+/g, by: `$1${secretMark}` },
  {
    pattern: /(vehicles(?:\/|%2F))([A-Za-z\d]{17})(?![A-Za-z\d])/gi,
    by: (_, path = '', vin = '') => path + shortVin(vin),
  },
  {
    pattern: /(?<![A-Za-z\d])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{17}(?![A-Za-z\d])/g,
    by: (vin = '') => shortVin(vin),
  },
];

/** An error is rebuilt from its name and code alone: its text and its trace may hold anything. */
function causeOf(cause: unknown, value: (input: unknown) => unknown): unknown {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) {
    const redacted = value(cause);
    return JSON.stringify(redacted) === JSON.stringify(cause) ? cause : redacted;
  }
  const code = 'code' in cause ? value(cause.code) : undefined;
  return { name: cause.name, ...(code !== undefined && { code }) };
}

const deepest = 12;

function copyOf(value: unknown, text: (input: string) => string, above: readonly object[]): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (above.length >= deepest) return '[deeper]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return text(value.href);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  const inside = [...above, value];
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => copyOf(item, text, inside));
  const members = membersOf(value).map(([name, item]) => [
    text(name),
    typeof item === 'string' && item !== '' && secretName.test(name) ? secretMark : copyOf(item, text, inside),
  ]);
  return Object.fromEntries(members);
}

/** Own members that hold a value; what a getter would do is not ours to find out. */
function membersOf(value: object): (readonly [string, unknown])[] {
  if (value instanceof Map) return [...value].map(([name, item]) => [String(name), item]);
  // An error hides its members from `Object.keys`; its name stands in its class, its stack may be a getter of the engine.
  const first: (readonly [string, unknown])[] =
    value instanceof Error
      ? [
          ['name', value.name],
          ['stack', value.stack],
        ]
      : [];
  const rest = (value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value)).flatMap((name) => {
    const property = Object.getOwnPropertyDescriptor(value, name);
    return property !== undefined && 'value' in property ? [[name, property.value] as const] : [];
  });
  return [...first, ...rest.filter(([name]) => !first.some(([known]) => known === name))];
}
