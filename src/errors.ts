/**
 * The one error of the library, and the closed list of its codes (docs/internals/contract.md 6).
 *
 * A Catch node gets the sentence as `msg.error.message`, so every sentence is written for a driver:
 * what is wrong, and what to do next. A sentence never holds a token, a key or a whole VIN.
 */

import { asSentence, sentence, wordSentence, type Sentence } from './sentence';

/**
 * Every code of docs/internals/contract.md 6; `retryable` states whether the same call can
 * succeed later without any change.
 */
export const errorCodes = {
  CONFIG: { retryable: false },
  VIN_INVALID: { retryable: false },
  INPUT_INVALID: { retryable: false },
  TOKEN_MISSING: { retryable: false },
  SIGN_IN_REQUIRED: { retryable: false },
  API_KEY_REFUSED: { retryable: false },
  SCOPE_MISSING: { retryable: false },
  VEHICLE_NOT_LINKED: { retryable: false },
  NOT_SUPPORTED: { retryable: false },
  QUOTA_SPENT: { retryable: true },
  RATE_LIMITED: { retryable: true },
  READ_ONLY: { retryable: false },
  VEHICLE_UNAVAILABLE: { retryable: true },
  VEHICLE_ERROR: { retryable: false },
  TIMEOUT: { retryable: true },
  NETWORK: { retryable: true },
  SERVICE_ERROR: { retryable: true },
  BAD_RESPONSE: { retryable: true },
  UNTRUSTED_LINK: { retryable: false },
  COMMAND_REFUSED: { retryable: false },
  CANCELLED: { retryable: false },
  STORE_UNAVAILABLE: { retryable: true },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type ErrorCode = keyof typeof errorCodes;

/** The cause of a failure in a word, such as that another command is in progress. */
interface StatusCause {
  word:
    | 'API_KEY_MISSING'
    | 'NOT_SIGNED_IN'
    | 'NO_CAR'
    | 'NO_VEHICLE'
    | 'ADD_PLACE'
    | 'CHOOSE_EVENT'
    | 'ADD_CONDITION'
    | 'BUSY';
  /** The command that is in progress. */
  command?: string;
}

interface VehicleErrorDetails {
  /** Overrides the default of the code. */
  retryable?: boolean | undefined;
  /** When another try makes sense, if the service or the rate limiter states it. */
  retryAt?: Date | null;
  httpStatus?: number | null;
  operationId?: string | null;
  /** What a node status shows if it can be more exact than the code. */
  status?: StatusCause | null;
  /** Kept for developers. It may hold secrets until `Redactor.error` has removed them. */
  cause?: unknown;
}

/**
 * The value of `msg.vehicle.error` (docs/internals/contract.md 6): plain data, safe
 * to log and to send on.
 */
export interface ErrorReport {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  /** ISO-8601, or null if nothing is known. */
  retryAt: string | null;
  httpStatus: number | null;
  operationId: string | null;
}

export class VehicleError extends Error {
  override readonly name = 'VehicleError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAt: Date | null;
  readonly httpStatus: number | null;
  readonly operationId: string | null;
  readonly status: StatusCause | null;
  /** The message with its template and values, so that it can be translated. */
  readonly sentence: Sentence;

  constructor(code: ErrorCode, message: string | Sentence, details: VehicleErrorDetails = {}) {
    const said = asSentence(message);
    super(wordSentence(said), details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.sentence = said;
    this.retryable = details.retryable ?? errorCodes[code].retryable;
    this.retryAt = details.retryAt ?? null;
    this.httpStatus = details.httpStatus ?? null;
    this.operationId = details.operationId ?? null;
    this.status = details.status ?? null;
  }

  /**
   * Node-RED passes this text to a Catch node. The class in front of it would mean
   * nothing to a driver.
   */
  override toString(): string {
    return this.message;
  }

  /** The error as the plain record of docs/internals/contract.md 6. */
  report(): ErrorReport {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      retryAt: this.retryAt?.toISOString() ?? null,
      httpStatus: this.httpStatus,
      operationId: this.operationId,
    };
  }
}

/** The code of the file system or the network, such as ENOSPC; empty if an error has none. */
export const systemCodeOf = (error: unknown): string =>
  typeof error === 'object' &&
  error !== null &&
  !(error instanceof VehicleError) &&
  'code' in error &&
  typeof error.code === 'string'
    ? error.code
    : '';

/**
 * Codes of Node for a certificate that this machine does not trust, of X509_verify_cert of OpenSSL.
 */
const untrustedCodes =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|PATH_LENGTH_EXCEEDED$|INVALID_(?:CA|PURPOSE)$|UNSPECIFIED$)/;

/**
 * What Node reports with a code about a failed TLS connection; null if the code is not about TLS.
 */
export function tlsFaultOf(code: string): 'expired' | 'early' | 'host' | 'untrusted' | 'tls' | null {
  if (code === 'CERT_HAS_EXPIRED') return 'expired';
  if (code === 'CERT_NOT_YET_VALID') return 'early';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'host';
  if (untrustedCodes.test(code)) return 'untrusted';
  return /^ERR_(?:OS)?SSL_|^EPROTO$/.test(code) ? 'tls' : null;
}

/**
 * Converts any thrown value to the one error of the library. A fault of the pack itself becomes
 * INTERNAL and stays as the cause.
 */
export function asVehicleError(error: unknown): VehicleError {
  if (error instanceof VehicleError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  if (name === 'AbortError') return cancelledError();
  return new VehicleError(
    'INTERNAL',
    sentence`A fault in this pack stopped the request (${name}). Please report it at https://github.com/connected-vehicle/node-red/issues with what you did and with “Copy diagnostics” of the vehicle configuration.`,
    { cause: error },
  );
}

/** The error of work that is in progress when its owner is closed. */
export const cancelledError = (): VehicleError =>
  new VehicleError('CANCELLED', 'The request was canceled because the flow was stopped or redeployed.');
