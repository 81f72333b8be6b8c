import { VehicleError } from './errors';
import { shortVin } from './vin';

/**
 * Takes secrets and whole VINs out of whatever leaves the pack: logs, errors, badges, diagnostics, answers to the editor
 * (contract 6). Everything that writes is built with it, so that nobody has to remember.
 */
export interface Redactor {
  /** Key, client id, client secret: known from here on, for good. */
  learn(...secrets: readonly string[]): void;
  /** A token that another one will replace: the last of them are known. */
  learnRotated(secret: string): void;
  text(text: string): string;
  /** Every string in plain data, the names of its members too. */
  value<Value>(value: Value): Value;
  /** The same error where it holds nothing, else a new one. */
  error(error: VehicleError): VehicleError;
}

/** Shorter than this it is no secret, and taking it out would tear words apart. */
const shortestSecret = 4;
/** Two tokens every five minutes, for more than a day. */
const mostRotated = 1000;
const mostSecrets = 1000;

/** A word that could be a VIN (contract 2): 17 letters and digits, some of each. */
const vins = /(?<![A-Za-z0-9])(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{17}(?![A-Za-z0-9])/g;

export function createRedactor(): Redactor {
  const lasting = new Set<string>();
  const rotated = new Set<string>();

  const text = (input: string): string => {
    let output = input;
    // The longest first: one secret may hold another.
    for (const secret of [...lasting, ...rotated].sort((one, other) => other.length - one.length)) {
      if (output.includes(secret)) output = output.replaceAll(secret, '[secret]');
    }
    return output.replace(vins, shortVin);
  };

  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input !== 'object' || input === null) return input;
    return Object.fromEntries(Object.entries(input).map(([name, inner]) => [text(name), value(inner)]));
  };

  return {
    learn(...secrets) {
      for (const secret of secrets) remember(lasting, secret, mostSecrets);
    },
    learnRotated: (secret) => remember(rotated, secret, mostRotated),
    text,
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

/** Blanks around a pasted secret are not sent; in an address or a form it is written with escapes. */
function remember(known: Set<string>, secret: string, most: number): void {
  const plain = secret.trim();
  const forms = [plain, encodeURIComponent(plain), new URLSearchParams({ '': plain }).toString().slice(1), JSON.stringify(plain).slice(1, -1)];
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
