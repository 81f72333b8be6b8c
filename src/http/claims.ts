import * as z from 'zod/mini';
import { parseJson } from '../util/json';

/** The claims of an access token that is a JWT (docs/field-notes.md 4.2). */
interface Claims {
  /** Milliseconds since 1970. */
  expiresAt: number | null;
  scopes: string[] | null;
}

const noClaims: Claims = { expiresAt: null, scopes: null };

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

/** Reads `exp` and `scope` without verifying the signature: for display and timing, never for trust. Both are null where the token is no JWT. */
export function readClaims(token: string): Claims {
  const payload = token.split('.', 3)[1];
  if (payload === undefined) return noClaims;
  const parsed = claimsSchema.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
  if (!parsed.success) return noClaims;
  const { exp, scope } = parsed.data;
  return { expiresAt: exp === null ? null : Math.floor(exp * 1000), scopes: scope };
}
