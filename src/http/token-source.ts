import * as z from 'zod/mini';
import { cancelledError, VehicleError } from '../errors';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { iso, systemClock, type Clock } from '../util/clock';
import type { Signal } from '../util/cancellation';
import { parseJson } from '../util/json';
import { minuteMs, secondMs } from '../util/durations';

/** Returns the bearer token of each request (docs/internals/service.md 5). */
export interface TokenSource {
  /**
   * The token to send now, refreshed first if it must be.
   * @throws VehicleError TOKEN_MISSING, CONFIG, SIGN_IN_REQUIRED, NETWORK, TIMEOUT, SERVICE_ERROR,
   * CANCELLED
   */
  get(signal?: Signal): Promise<string>;
  /** The token that `get` would return at once; null if it would wait or fail. */
  readonly fresh: string | null;
  /** Call this when the service answered with success to `token`. */
  onAccepted?(token: string): void;
  /**
   * Call this when the service answered 401 to `token`. Resolves to true when the request is worth
   * one more try.
   * @throws VehicleError as `get` does, if a new token was requested and the request failed;
   * SERVICE_ERROR if the service also refuses new tokens, and the next one comes after a pause
   */
  onUnauthorized(token: string, signal?: Signal): Promise<boolean>;
  /**
   * State of the token for the node status, the scope check and the diagnostics;
   * never the token itself.
   */
  describe(): TokenDescription;
  /**
   * Ends timers. A refresh that has been sent gets a few seconds to end, because its answer may
   * hold the only valid refresh token.
   */
  close(): Promise<void>;
}

export interface TokenDescription {
  /** `ending`: a sign-in without a refresh token, which ends at its time as a pasted token does. */
  kind: 'none' | 'pasted' | 'ending' | 'refreshing';
  /** ISO-8601; null if the token does not contain it. */
  expiresAt: string | null;
  /** The scopes of the token (docs/internals/service.md 5.2); null if it does not name them. */
  scopes: string[] | null;
  /** ISO-8601: the time since which only a new sign-in helps; null while none is needed. */
  signInRequiredSince: string | null;
  /** ISO-8601: when a person signed in; null for a pasted token. */
  signedInAt: string | null;
  /** ISO-8601: when the sign-in ends, however often it is renewed; null if that is not known. */
  endsAt: string | null;
  /** ISO-8601; null for a pasted access token and before the first refresh. */
  lastRefreshAt: string | null;
  /** ISO-8601: the next try after a refresh that failed for now; null while all is well. */
  retryAt: string | null;
  /**
   * The sentence of the last failure, or that the sign-in does not renew itself, for a person; null
   * while all is well.
   */
  problem: Sentence | null;
}

/**
 * The service answers 401 at random to a good token (docs/internals/vendor-api.md 6.2), so the
 * request is sent once more. With an expired token, a second try never succeeds, so there is at
 * most one in this time.
 */
const retryIntervalMs = 10 * minuteMs;

/**
 * Whether a request with a token that cannot be replaced is worth one more try;
 * asked after each 401.
 */
export function secondTries(clock: Clock): () => boolean {
  let last = -Infinity;
  return () => {
    const now = clock.monotonic();
    const isWorthIt = now - last >= retryIntervalMs;
    last = now;
    return isWorthIt;
  };
}

/**
 * An access token that a person pasted, used as it is until it expires. `get` reports a token that
 * cannot be right, so that a mistyped configuration still starts.
 */
export function pastedToken(pasted: string, { clock = systemClock }: { clock?: Clock } = {}): TokenSource {
  // People copy the whole value of the header.
  const token = pasted.trim().replace(/^Bearer\s+/i, '');
  const { expiresAt, scopes } = readClaims(token);
  const endsAt = isoTime(expiresAt);
  const isUsable = isHeaderSafe(token);
  const isWorthSecondTry = secondTries(clock);
  const problemNow = (): VehicleError | null => {
    if (token === '') return nobodySignedIn();
    if (!isUsable) return new VehicleError('CONFIG', unusable('access token'));
    if (expiresAt === null || expiresAt > clock.now()) return null;
    const ended = sentence`The pasted access token has expired (${clockTime(expiresAt, clock.now())}). Paste a new one, or sign in, in the vehicle configuration.`;
    return new VehicleError('SIGN_IN_REQUIRED', ended);
  };
  return {
    async get(signal) {
      const problem = signal?.aborted ? cancelledError() : problemNow();
      if (problem !== null) throw problem;
      return token;
    },
    get fresh() {
      return problemNow() === null ? token : null;
    },
    async onUnauthorized() {
      return isWorthSecondTry() && problemNow() === null;
    },
    describe() {
      const problem = problemNow();
      return {
        kind: token === '' ? 'none' : 'pasted',
        expiresAt: endsAt,
        scopes,
        signInRequiredSince: problem?.code === 'SIGN_IN_REQUIRED' ? endsAt : null,
        signedInAt: null,
        endsAt: null,
        lastRefreshAt: null,
        retryAt: null,
        problem: problem?.sentence ?? null,
      };
    },
    close: () => Promise.resolve(),
  };
}

export const nobodySignedIn = (): VehicleError =>
  new VehicleError('TOKEN_MISSING', 'Nobody is signed in. Sign in, or paste a token, in the vehicle configuration.', {
    status: { word: 'NOT_SIGNED_IN' },
  });

/**
 * RFC 6750 and the rules for a header value allow visible ASCII only: no spaces, no line breaks.
 */
export const isHeaderSafe = (token: string): boolean => /^[\x21-\x7e]+$/.test(token);

/** RFC 6749 appendix A allows spaces inside a client secret, but no line break. */
export const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

export const unusable = (what: string): Sentence =>
  sentence`The ${asSentence(what)} contains a space, a line break or a non-ASCII character. Copy it again, in one piece, into the vehicle configuration.`;

/** Milliseconds since 1970 as ISO-8601. */
export const isoTime = (at: number | null): string | null => (at === null ? null : iso(at));

/** `scope` is one string of words (RFC 9068) or, from some servers, a list. */
export const scopesSchema = z.union([
  z.pipe(
    z.string(),
    z.transform((text) => text.split(/\s+/).filter((word) => word !== '')),
  ),
  z.array(z.string()),
]);

/** The latest time that a Date can hold, in seconds: an `exp` beyond it is ignored. */
const maxExpSeconds = 8.64e12;

const claimsSchema = z.lazy(() =>
  z.object({
    exp: z.catch(z.nullable(z.number().check(z.nonnegative(), z.maximum(maxExpSeconds))), null),
    scope: z.catch(z.nullable(scopesSchema), null),
  }),
);

/**
 * Reads `exp`, in milliseconds since 1970, and `scope` of an access token that is a JWT
 * (docs/internals/vendor-api.md 4.2), without verifying the signature: for display and timing,
 * never for trust. Both are null if the token is no JWT.
 */
export function readClaims(token: string): { expiresAt: number | null; scopes: string[] | null } {
  const payload = token.split('.', 3)[1] ?? '';
  const parsed = claimsSchema.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
  const { exp, scope } = parsed.success ? parsed.data : { exp: null, scope: null };
  return { expiresAt: exp === null ? null : Math.floor(exp * secondMs), scopes: scope };
}
