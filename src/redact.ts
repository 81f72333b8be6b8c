import { asVehicleError, VehicleError } from './errors';
import { mapSentence, wordSentence } from './sentence';
import { setNewest } from './util/bounded';
import { normalVin, shortVin, vinPattern } from './vin';

/**
 * Removes secrets and whole VINs from every text that leaves the pack: logs, errors, statuses,
 * diagnostics, answers to the editor (`docs/internals/contract.md` 6). Everything that writes such
 * a text gets a redactor.
 *
 * A known secret is removed as it is and percent-encoded. Text that looks like a secret (a bearer
 * token, an HTTP Basic header, a JWT, a member named `refresh_token`) is removed as well, because a
 * token may be too new to be known.
 */
export interface Redactor {
  /** API key, client secret, pasted tokens: known as long as the process lives. */
  learn(...secrets: readonly string[]): void;
  /** A token that another one will replace: the last thousand are known. */
  learnRotated(secret: string): void;
  /**
   * A VIN of letters only or of digits only, which does not look like one. Anything
   * else is not learned.
   */
  learnVin(vin: unknown): void;
  text(text: string): string;
  /** A copy of plain data, names of members included. */
  value<Value>(value: Value): Value;
  /**
   * An answer of the service, as parsed JSON, without the known secrets; what only looks like a
   * secret or a VIN stays. Undefined for one that nests so deep that JSON.stringify throws: an
   * answer to a command must not become a failure.
   * @param json what it was parsed from; without it, the body is written as JSON to be searched
   */
  answer<Body>(body: Body, json?: string): Body | undefined;
  /**
   * Anything that was thrown, as an error without secrets and with no text over 500 characters: the
   * same one if it has none of both.
   */
  error(thrown: unknown): VehicleError;
}

const secretMark = '[secret]';
/**
 * Anything shorter is not treated as a secret, because removing it would tear
 * words and numbers apart.
 */
const minSecretLength = 8;
const maxRotated = 1000;
const maxVins = 1000;
/** Cuts what a message can make long; every sentence of the pack is shorter. */
const maxErrorText = 500;
/** Most answers are shorter, and none of this length nests so deep that JSON.stringify throws. */
const maxPlainJson = 4_000;

export function createRedactor(): Redactor {
  const lasting = new Map<string, true>();
  const rotated = new Map<string, true>();
  const vins = new Map<string, true>();
  let known: readonly string[] = [];
  /** The same, as they occur in JSON. */
  let knownInJson: readonly string[] = [];
  let vinsPattern: RegExp | null = null;

  const learn = (forms: Map<string, true>, secret: string, max: number): void => {
    for (const form of formsOf(secret.trim())) setNewest(forms, form, true, max);
    // One secret may contain another.
    known = [...lasting.keys(), ...rotated.keys()].sort((one, other) => other.length - one.length);
    knownInJson = known.map((form) => JSON.stringify(form).slice(1, -1));
  };
  const text = (input: string): string => {
    let output = without(known, input);
    for (const { pattern, by } of patterns)
      output = typeof by === 'string' ? output.replace(pattern, by) : output.replace(pattern, by);
    return vinsPattern === null ? output : output.replace(vinsPattern, shortVin);
  };
  const value = (input: unknown): unknown => copyOf(input, text, []);

  return {
    learn(...secrets) {
      for (const secret of secrets) learn(lasting, secret, Number.POSITIVE_INFINITY);
    },
    learnRotated: (secret) => learn(rotated, secret, maxRotated),
    learnVin(given) {
      const vin = normalVin(given);
      if (vins.has(vin) || !vinPattern.test(vin) || !/^(?:\D+|\d+)$/.test(vin)) return;
      setNewest(vins, vin, true, maxVins);
      vinsPattern = new RegExp(`(?<![A-Za-z\\d])(?:${[...vins.keys()].join('|')})(?![A-Za-z\\d])`, 'gi');
    },
    text,
    value: <Value>(input: Value) => value(input) as Value, // A copy of the input.
    answer<Body>(body: Body, json?: string): Body | undefined {
      // A short text cannot nest too deep, and without a backslash it has each secret as it is.
      const isPlain = json !== undefined && json.length <= maxPlainJson && !json.includes('\\');
      const whole = isPlain ? json : jsonOf(body);
      if (whole === undefined) return undefined;
      // A body can have 100,000 texts, so each is searched only for the secrets
      // that occur in the body.
      if (!knownInJson.some((form) => whole.includes(form))) return body;
      const found = known.filter((_, index) => whole.includes(knownInJson[index] ?? ''));
      // A copy of the body.
      return copyOf(body, (input) => without(found, input), []) as Body;
    },
    error(thrown) {
      const error = asVehicleError(thrown);
      // Removes secrets before the cut, because a part of one would not be recognized.
      const said = mapSentence(error.sentence, (part) => cut(text(part), maxErrorText));
      const message = wordSentence(said);
      const operationId = error.operationId === null ? null : text(error.operationId);
      const cause = causeOf(error.cause, value);
      if (message === error.message && operationId === error.operationId && cause === error.cause) return error;
      const { retryable, retryAt, httpStatus, status } = error;
      return new VehicleError(error.code, said, { retryable, retryAt, httpStatus, operationId, status, cause });
    },
  };
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The beginning of a longer text, with `…` as its last character. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** @param secrets the longest first */
function without(secrets: readonly string[], input: string): string {
  let output = input;
  for (const secret of secrets) if (output.includes(secret)) output = output.replaceAll(secret, secretMark);
  return output;
}

/**
 * The secret unchanged, encoded for a URL, encoded for a form, and each of them
 * with lower-case escapes.
 */
function formsOf(secret: string): string[] {
  if (secret.length < minSecretLength) return [];
  // encodeURIComponent throws at a lone surrogate, which Buffer replaces.
  const encoded = encodeURIComponent(Buffer.from(secret).toString());
  const forms = [secret, encoded, new URLSearchParams({ '': secret }).toString().slice(1)];
  return [...new Set([...forms, ...forms.slice(1).map(inLowerCase)])];
}

const inLowerCase = (encoded: string): string => encoded.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());

const secretNames =
  '(?:access|refresh|id)_?token|client_?secret|code_?verifier|password|[\\w-]{0,40}api[-_]?key|(?:proxy-)?authorization|(?:set-)?cookie';

/** Names of members whose text is always secret. */
const secretName = new RegExp(`^(?:${secretNames})$`, 'i');

/**
 * Texts that look like a secret or like a VIN: 17 letters and digits, some of each unless the
 * member's name shows that they are one. Each pattern takes linear time: a match can begin at few
 * places of a text, and every quantifier that another one follows is bounded.
 */
const patterns: readonly { pattern: RegExp; by: string | ((...found: string[]) => string) }[] = [
  { pattern: /\b(Bearer|Basic)(\s{1,9}|%20|\+)[\w.~+/=%-]{8,}/gi, by: `$1$2${secretMark}` },
  { pattern: /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)*/g, by: secretMark },
  {
    pattern: new RegExp(
      `((?:\\b|_)(?:${secretNames})\\\\?["']?\\s{0,9}[:=]\\s{0,9}\\\\?["']?)(?!(?:Bearer|Basic)\\b)[^\\s"'\\\\&,;}]+`,
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

/**
 * The cause of an error, as plain data: name, code, and the message and the stack without secrets.
 */
function causeOf(cause: unknown, value: (input: unknown) => unknown): unknown {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) {
    const redacted = value(cause);
    return JSON.stringify(redacted) === JSON.stringify(cause) ? cause : redacted;
  }
  const code = 'code' in cause ? value(cause.code) : undefined;
  const { name, message, stack } = cause;
  return { name, ...(code !== undefined && { code }), message: value(message), stack: value(stack) };
}

const maxDepth = 12;

function copyOf(value: unknown, text: (input: string) => string, above: readonly object[]): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (above.length >= maxDepth) return '[deeper]';
  const inside = [...above, value];
  if (Array.isArray(value)) return value.map((item) => copyOf(item, text, inside));
  const members = Object.entries(value).map(([name, item]) => [
    text(name),
    typeof item === 'string' && item !== '' && secretName.test(name) ? secretMark : copyOf(item, text, inside),
  ]);
  return Object.fromEntries(members);
}
