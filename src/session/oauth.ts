import * as z from 'zod/mini';
import type { Issuer } from '../catalogue/services';
import { asVehicleError, cancelledError, VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import { parseUrl } from '../http/addresses';
import type { Transport, TransportResponse } from '../http/transport';
import type { Signal } from '../util/cancellation';
import type { Clock } from '../util/clock';
import { parseJson } from '../util/json';
import { retryAfter } from '../wire/failures';
import { isHeaderSafe, isPrintable, readClaims, scopesSchema, unusable } from '../http/token-source';
import { dayMs, hourMs, secondMs } from '../util/durations';

/** Sends one request. @throws VehicleError NETWORK, TIMEOUT, BAD_RESPONSE, CANCELLED */
export type Send = Transport['send'];

/** The application, as the developer portal shows it (docs/internals/vendor-api.md 4.3). */
export interface OAuthClient {
  /** The origin of the service that its tokens are for. */
  audience: string;
  /** https, or http on a loopback address. */
  tokenUrl: string;
  /** Its document names another token address; the stored sign-in is that of `tokenUrl`. */
  issuer?: Issuer | null;
  clientId: string;
  /** Empty for a client without a secret. */
  clientSecret: string;
}

/** People paste spaces around a value. */
export const trimmed = (client: OAuthClient): OAuthClient => ({
  ...client,
  tokenUrl: client.tokenUrl.trim(),
  clientId: client.clientId.trim(),
  clientSecret: client.clientSecret.trim(),
});

/** @throws VehicleError CONFIG */
export function checkInputs(client: OAuthClient): void {
  if (client.clientId === '')
    throw new VehicleError(
      'CONFIG',
      'The client ID is missing. Copy it from your application at the developer portal into the vehicle configuration.',
    );
  if (!isHeaderSafe(client.clientId)) throw new VehicleError('CONFIG', unusable('client ID'));
  if (!isPrintable(client.clientSecret)) throw new VehicleError('CONFIG', unusable('client secret'));
}

/** Times in milliseconds since 1970. */
export interface Tokens {
  /** Empty if the answer holds none that can be sent. */
  accessToken: string;
  /** Null: the one that was sent stays valid (docs/internals/vendor-api.md 4.2). */
  refreshToken: string | null;
  expiresAt: number | null;
  scopes: string[] | null;
  receivedAt: number;
}

/** A definite refusal: asking again changes nothing (docs/internals/vendor-api.md 4.2). */
export interface Refusal {
  /** The error code of RFC 6749 5.2; empty if the service sent none. */
  refusal: string;
}

interface RequestContext {
  send: Send;
  clock: Clock;
  signal?: Signal | undefined;
  /** Called before the first byte: then the service may have rotated the refresh token. */
  mayLeave?: (() => void) | undefined;
}

/**
 * The limit counts from the first byte on. An answer that is given up may have rotated the token.
 */
const answerTimeoutMs = 50_000;

const tokensSchema = z.lazy(() =>
  z.object({
    access_token: z.catch(z.string(), ''),
    refresh_token: z.catch(z.nullable(z.string()), null),
    /** Seconds; some servers send a string. */
    expires_in: z.catch(
      z.nullable(z.union([z.number(), z.pipe(z.string().check(z.regex(/^\d{1,15}$/)), z.transform(Number))])),
      null,
    ),
    scope: z.catch(z.nullable(scopesSchema), null),
  }),
);

/** RFC 6749 5.2: a code of plain ASCII. Anything else is repeated nowhere. */
const refusalSchema = z.object({ error: z.string().check(z.regex(/^[\w.-]{1,60}$/)) });

/** Codes of failures that pass with time, with any HTTP status (RFC 6749 4.1.2.1, RFC 8628 3.5). */
const temporary = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);

/**
 * One request to the token endpoint (docs/internals/vendor-api.md 4.1), with client id and
 * secret by HTTP Basic.
 * @throws VehicleError NETWORK, TIMEOUT, SERVICE_ERROR, CANCELLED: try again later; CONFIG: the
 * address is not safe for secrets
 */
export async function requestTokens(
  client: OAuthClient,
  form: Record<string, string>,
  { send, clock, signal, mayLeave }: RequestContext,
): Promise<Tokens | Refusal> {
  const url = parseUrl(client.tokenUrl, 'token address', { mayHaveQuery: true });
  const body = new URLSearchParams(client.clientSecret === '' ? { ...form, client_id: client.clientId } : form);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (client.clientSecret !== '') headers['authorization'] = basic(client);
  const sentAt = clock.now();
  const response = await send({
    method: 'POST',
    url,
    headers,
    body: body.toString(),
    timeoutMs: answerTimeoutMs,
    signal,
    ...(mayLeave && { mayLeave }),
  }).catch((error: unknown) => {
    throw temporaryFailure(error);
  });
  const json = parseJson(response.body);
  if (response.status >= 200 && response.status < 300) {
    const parsed = tokensSchema.safeParse(json);
    if (parsed.success && (parsed.data.access_token !== '' || parsed.data.refresh_token))
      return tokensOf(parsed.data, sentAt, clock.now());
  }
  const refusal = refusalOf(response.status, json);
  if (refusal !== null) return { refusal };
  throw new VehicleError(
    'SERVICE_ERROR',
    sentence`The sign-in service is unavailable (it answered with status ${response.status}).`,
    { httpStatus: response.status, retryAt: retryTime(response, clock.now()) },
  );
}

/** 400 and 401 refuse even without a code; a 403 without one is of a gateway. Null: none. */
function refusalOf(status: number, json: unknown): string | null {
  if (![400, 401, 403].includes(status)) return null;
  const parsed = refusalSchema.safeParse(json);
  if (!parsed.success) return status === 403 ? null : '';
  return temporary.has(parsed.data.error) ? null : parsed.data.error;
}

/** A longer pause could outlive the grant. */
const maxRetryAfterMs = hourMs;

function retryTime({ headers }: TransportResponse, now: number): Date | null {
  const requested = retryAfter(headers['retry-after'], { now, date: headers['date'] });
  return requested && new Date(Math.min(requested.getTime(), now + maxRetryAfterMs));
}

/** Seconds. 0 would refresh before every request; a Date cannot hold very many years. */
const minLifeSeconds = 1;
const maxLifeSeconds = (10 * 365 * dayMs) / secondMs;

function tokensOf(parsed: z.infer<typeof tokensSchema>, sentAt: number, receivedAt: number): Tokens {
  const accessToken = isHeaderSafe(parsed.access_token) ? parsed.access_token : '';
  const claims = readClaims(accessToken);
  return {
    accessToken,
    refreshToken: parsed.refresh_token || null,
    // The life begins at the service before its answer arrives, so it is counted from
    // the moment of sending.
    expiresAt:
      parsed.expires_in === null
        ? claims.expiresAt
        : sentAt + Math.max(minLifeSeconds, Math.min(parsed.expires_in, maxLifeSeconds)) * secondMs,
    scopes: parsed.scope ?? claims.scopes,
    receivedAt,
  };
}

/** RFC 6749 2.3.1: both parts are form-encoded first. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const pair = [clientId, clientSecret].map((part) => new URLSearchParams({ '': part }).toString().slice(1)).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** No refusal: a fault of the network needs no new sign-in (docs/internals/vendor-api.md 4.2). */
function temporaryFailure(error: unknown): VehicleError {
  const failure = asVehicleError(error);
  const { code, cause } = failure;
  // The transport knows more of the cause: the proxy, the name server, or a certificate
  // that is not trusted.
  if (code === 'NETWORK' || code === 'TIMEOUT')
    return new VehicleError(code, sentence`The sign-in service: ${failure.sentence}`, { cause });
  if (code === 'CANCELLED') return cancelledError();
  if (code === 'CONFIG' || code === 'INTERNAL') return failure;
  return new VehicleError('SERVICE_ERROR', 'The sign-in service is unavailable.', { cause });
}

const refusals = new Map([
  [
    'invalid_grant',
    'The service has ended the sign-in: its refresh token has expired, was used elsewhere (a restored backup contains a used one), or is unknown. Sign in again in the vehicle configuration.',
  ],
  [
    'invalid_client',
    'The service does not accept the client ID and the client secret. Correct them in the vehicle configuration, then sign in again.',
  ],
  [
    'unauthorized_client',
    'The service does not let this application sign in this way. Check at the developer portal that the application is published, then sign in again.',
  ],
  [
    'invalid_scope',
    'The application was published without a scope that the sign-in asks for. Untick under “Allow” what it was published without, remove it from “More scopes”, and sign in again in the vehicle configuration. If it lacks a scope for reading the status, make a new application with all of them: a published one cannot be changed.',
  ],
  ['', 'The service refused the sign-in and gave no reason. Sign in again in the vehicle configuration.'],
]);

/** What to do after a refusal, of the token endpoint or of the sign-in page. */
export const refusalSentence = ({ refusal }: Refusal): string | Sentence =>
  refusals.get(refusal) ??
  sentence`The service refused the sign-in (${refusal}). Sign in again in the vehicle configuration.`;
