import { signInKey, type Grant, type SavedSignIn } from '../../src/session/grant-store';
import type { OAuthClient } from '../../src/session/oauth';
import type { Session } from '../../src/session/session';

/** What a sign-in saves that gave this refresh token, and no access token that can be used. */
export const signInWith = (refreshToken: string, at: number, changes: Partial<SavedSignIn> = {}): SavedSignIn => ({
  refreshToken,
  accessToken: '',
  expiresAt: null,
  scopes: null,
  refreshedAt: at,
  signedInAt: at,
  pastedBefore: '',
  ...changes,
});

/** The same as it is stored. */
export const grantWith = (refreshToken: string, at: number, changes: Partial<Grant> = {}): Grant => ({
  ...signInWith(refreshToken, at),
  generation: 1,
  refreshing: null,
  ...changes,
});

/** Saves a sign-in without its page. */
export const saveSignIn = (
  session: Session,
  client: OAuthClient,
  configNodeId: string,
  refreshToken: string,
): Promise<void> => session.save(signInKey(client, configNodeId), signInWith(refreshToken, session.clock.now()));
