import * as z from 'zod/mini';
import { systemClock, type Clock } from '../util/clock';
import { isLoopback } from '../util/loopback';
import { VehicleError, type ErrorCode } from '../errors';
import type { Transport } from '../transport';
import { parseJson, readClaims, scopesSchema } from './claims';
import { isHeaderSafe } from './tokens';

/** Sends one request: the transport's, or any function like it. Throws VehicleError NETWORK, TIMEOUT, BAD_RESPONSE, CANCELLED. */
export type Send = Transport['send'];

/** The application at the identity system: from the portal's app (field notes 4.3). */
export interface OAuthClient {
  /** The origin of the service that its tokens are for. */
  audience: string;
  /** https, or http on a loopback address. */
  tokenUrl: string;
  clientId: string;
  /** Empty for a client without a secret. */
  clientSecret: string;
}

/** Times in milliseconds since 1970. */
export interface Tokens {
  /** Empty where the answer holds none that can be sent. */
  accessToken: string;
  /** Null: the one that was sent stays valid (field notes 4.2). */
  refreshToken: string | null;
  expiresAt: number | null;
  scopes: string[] | null;
  receivedAt: number;
}

/** A definite no: asking again changes nothing (field notes 4.2). */
export interface Refusal {
  /** The error word of RFC 6749 5.2. */
  refusal: string;
}

/** An answer that is given up may have rotated the token unseen: better to wait long for it. */
const answerWithin = 60_000;

const tokensSchema = z.lazy(() =>
  z.object({
    access_token: z.catch(z.string(), ''),
    refresh_token: z.catch(z.nullable(z.string()), null),
    /** Seconds; some servers send a string. */
    expires_in: z.catch(
      z.nullable(z.union([z.number(), z.pipe(z.string().check(z.regex(/^\d+$/)), z.transform(Number))])),
      null,
    ),
    scope: z.catch(z.nullable(scopesSchema), null),
  }),
);

/** RFC 6749 5.2: a word of plain ASCII. What is no such word is not repeated anywhere. */
const refusalSchema = z.object({ error: z.string().check(z.regex(/^[\w.-]{1,60}$/)) });

const refusalStatuses = new Set([400, 401, 403]);

/**
 * One request to the token endpoint (field notes 4.1), client id and secret by HTTP Basic.
 * @throws VehicleError NETWORK, TIMEOUT, SERVICE_ERROR, CANCELLED: later; CONFIG: an address that secrets must not go to
 */
export async function requestTokens(
  send: Send,
  client: OAuthClient,
  form: Record<string, string>,
  clock: Clock = systemClock,
): Promise<Tokens | Refusal> {
  const url = secureUrl(client.tokenUrl, 'token address');
  const body = new URLSearchParams(client.clientSecret === '' ? { ...form, client_id: client.clientId } : form);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (client.clientSecret !== '') headers['authorization'] = basic(client);
  const sentAt = clock.now();
  const response = await send({ method: 'POST', url, headers, body: body.toString(), timeoutMs: answerWithin }).catch(
    (error: unknown) => {
      throw notNow(error);
    },
  );
  const json = parseJson(response.body);
  if (response.status >= 200 && response.status < 300) {
    const parsed = tokensSchema.safeParse(json);
    if (parsed.success && (parsed.data.access_token !== '' || parsed.data.refresh_token))
      return tokensOf(parsed.data, sentAt, clock.now());
  }
  if (refusalStatuses.has(response.status)) {
    const refused = refusalSchema.safeParse(json);
    if (refused.success) return { refusal: refused.data.error };
  }
  throw new VehicleError(
    'SERVICE_ERROR',
    `The sign-in service is out of order (it answered with status ${response.status}).`,
    {
      httpStatus: response.status,
      ...retryAfter(response.headers['retry-after'], clock.now()),
    },
  );
}

const longestRetryAfter = 3_600;

/** In seconds; the form with a date is not worth its code here. */
function retryAfter(header: string | string[] | undefined, now: number): { retryAt?: Date } {
  if (typeof header !== 'string' || !/^\d+$/.test(header)) return {};
  return { retryAt: new Date(now + Math.min(Number(header), longestRetryAfter) * 1000) };
}

/** Seconds. A token of no life at all would be asked for at every request; one of many years is no time that a Date can hold. */
const shortestLife = 1;
const longestLife = 10 * 365 * 86_400;

function tokensOf(parsed: z.infer<typeof tokensSchema>, sentAt: number, receivedAt: number): Tokens {
  const accessToken = isHeaderSafe(parsed.access_token) ? parsed.access_token : '';
  const claims = readClaims(accessToken);
  return {
    accessToken,
    refreshToken: parsed.refresh_token || null,
    // Counted from the sending: the life began at the service before its answer came.
    expiresAt:
      parsed.expires_in === null
        ? claims.expiresAt
        : sentAt + Math.max(shortestLife, Math.min(parsed.expires_in, longestLife)) * 1000,
    scopes: parsed.scope ?? claims.scopes,
    receivedAt,
  };
}

/** RFC 6749 2.3.1: both parts are form-encoded first. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const pair = [clientId, clientSecret].map((part) => new URLSearchParams({ '': part }).toString().slice(1)).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

const sentences: Partial<Record<ErrorCode, string>> = {
  NETWORK: 'The sign-in service could not be reached. Check the network.',
  TIMEOUT: 'The sign-in service did not answer in time.',
  CANCELLED: 'The sign-in was cancelled because the flow was stopped or redeployed.',
};

/** A fault of the way, never of the sign-in: a name server that is down does not mean "sign in again" (field notes 4.2). */
function notNow(error: unknown): VehicleError {
  const code = error instanceof VehicleError ? error.code : 'NETWORK';
  const sentence = sentences[code] ?? 'The sign-in service is out of order.';
  const cause = error instanceof VehicleError ? error.cause : undefined;
  return new VehicleError(code in sentences ? code : 'SERVICE_ERROR', sentence, { cause });
}

/** @throws VehicleError CONFIG where a secret would travel in the open */
export function secureUrl(address: string, what: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    throw new VehicleError('CONFIG', `The ${what} must be an https address. Correct it in the vehicle configuration.`);
  }
  return url;
}

const refusals: Record<string, string> = {
  invalid_grant:
    'The service has ended the sign-in: its refresh token is expired, was used elsewhere, or is unknown. Sign in again in the vehicle configuration.',
  invalid_client:
    'The service does not accept the client id and client secret. Correct them in the vehicle configuration, then sign in again.',
  unauthorized_client:
    'The service does not let this application sign in this way. Check at the developer portal that the application is published, then sign in again.',
  invalid_scope:
    'The application lacks one of the scopes asked for. Check its scopes at the developer portal, then sign in again.',
};

/** What a refusal means to a driver. */
export const refusalSentence = ({ refusal }: Refusal): string =>
  refusals[refusal] ?? `The service refused the sign-in (${refusal}). Sign in again in the vehicle configuration.`;
