import { createHash, randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { keepers as sharedKeepers, fingerprint, pastedKey, signedInKey, type GrantKeepers } from './token-managers';
import { trimmed } from './refreshing';
import type { TokenStore } from './store';
import { refusalSentence, requestTokens, secureUrl, type OAuthClient, type Send, type Tokens } from './token-endpoint';
import { isoTime } from './tokens';

/**
 * Sign-in from the editor: authorisation code with PKCE S256 (field notes 4.1).
 *
 * Why no library does it: oauth4webapi and openid-client 6 exist as ES modules only. `import()` would load the former
 * from CommonJS on every Node, but in use it takes 32 ms and 11 MB (with the global `Response` that it needs) against
 * 3 ms and 2 MB for node:crypto; it refuses an answer whose id_token has an issuer that was not configured,
 * and the profile `custom` (contract 2) has addresses, no issuer; and it refuses answers without `token_type`. What is left to
 * do after it, the store, the rotation and the states, is the larger part.
 */
export interface SignInOptions {
  store: TokenStore;
  clock?: Clock;
  /** So many random bytes. */
  randomBytes?: (count: number) => Buffer;
  keepers?: GrantKeepers;
}

export interface SignInStart {
  /** https, or http on a loopback address. */
  authorizeUrl: string;
  client: OAuthClient;
  /** Exactly as the portal's application has it: https, or http on a loopback address (field notes 4.3). */
  redirectUrl: string;
  scopes: readonly string[];
  /** The id of the config node: only it gets this sign-in. */
  owner: string;
  /** The refresh token that is pasted in its configuration now: this sign-in outdates it. */
  refreshToken?: string;
  /** The same of a pasted access token. */
  accessToken?: string;
  /** Used once, for the exchange of the code. */
  send: Send;
  /** Hears of every secret before it is used. */
  onSecret?: (secret: string) => void;
}

export interface SignInEnd {
  /** The whole address that the browser was sent to, or its query alone. */
  redirected: string;
  /** Where it is known who asks: must be who began. */
  owner?: string;
}

/** Safe to show. */
export interface SignedIn {
  owner: string;
  /** Null where the service does not say. */
  scopes: string[] | null;
  /** ISO-8601, of the first access token; null where the service does not say. */
  expiresAt: string | null;
}

/** Ten minutes to type a password and a code from the phone. */
const lifeOfState = 10 * 60_000;
/** More at once are nobody's honest sign-ins. */
const mostPending = 100;

interface Pending {
  start: SignInStart;
  verifier: string;
  until: number;
  /** Why the state is not good any more; it is kept for a while to say so. */
  over: 'used' | 'deleted' | null;
}

export class SignIns {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #randomBytes: (count: number) => Buffer;
  readonly #keepers: GrantKeepers;
  readonly #pending = new Map<string, Pending>();

  constructor(options: SignInOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#randomBytes = options.randomBytes ?? randomBytes;
    this.#keepers = options.keepers ?? sharedKeepers;
  }

  /**
   * The address to open in a browser.
   * @throws VehicleError CONFIG
   */
  begin(asked: SignInStart): { url: string; state: string } {
    const start = { ...asked, client: trimmed(asked.client) };
    const url = secureUrl(start.authorizeUrl.trim(), 'sign-in address');
    secureUrl(start.client.tokenUrl, 'token address');
    secureUrl(start.redirectUrl.trim(), 'redirect address');
    if (start.client.clientId === '')
      throw new VehicleError(
        'CONFIG',
        'The client id is missing. Copy it from the developer portal into the vehicle configuration.',
      );
    const state = this.#random32();
    const verifier = this.#random32();
    this.#remember(state, { start, verifier, until: this.#clock.now() + lifeOfState, over: null });
    const query = {
      response_type: 'code',
      client_id: start.client.clientId,
      redirect_uri: start.redirectUrl.trim(),
      scope: start.scopes.join(' '),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url: url.href, state };
  }

  /**
   * Exchanges the code that the browser came back with, and saves the tokens under the config node that began.
   * @throws VehicleError INPUT_INVALID (not this sign-in: wrong, used, late, deleted), SIGN_IN_REQUIRED (the service or
   * the person said no), CONFIG, NETWORK, TIMEOUT, SERVICE_ERROR
   */
  async finish(end: SignInEnd): Promise<SignedIn> {
    const answer = queryOf(end.redirected);
    const state = answer.get('state');
    const error = answer.get('error');
    if (state === null && error !== null) throw refusedByPage(error);
    const pending = this.#take(state ?? '', end.owner);
    const { start, verifier } = pending;
    if (error !== null) throw refusedByPage(error);
    const code = answer.get('code') ?? '';
    if (code === '')
      throw invalid('The address holds no sign-in code. Copy the whole address that the browser was sent to.');
    start.onSecret?.(code);
    const tokens = await this.#exchange(start, code, verifier);
    if (pending.over === 'deleted') throw deletedMeanwhile();
    return this.#save(start, tokens);
  }

  /** Whose sign-in an answer would end; null where it would end none. */
  ownerOf(redirected: string): string | null {
    const pending = this.#pending.get(queryOf(redirected).get('state') ?? '');
    return pending === undefined || pending.over !== null ? null : pending.start.owner;
  }

  /** The config node was deleted: what it began leads nowhere. */
  forget(owner: string): void {
    for (const pending of this.#pending.values()) {
      if (pending.start.owner === owner) pending.over = 'deleted';
    }
  }

  /**
   * What was saved for it goes, too.
   * @param refreshToken the one that was pasted in it; empty where another config node holds the same, which lives on
   * @throws VehicleError CONFIG, TIMEOUT
   */
  async forgetSaved({
    client,
    owner,
    refreshToken,
  }: Pick<SignInStart, 'client' | 'owner'> & { refreshToken: string }): Promise<void> {
    await this.#store.forget(signedInKey(trimmed(client), owner));
    if (refreshToken.trim() !== '')
      await this.#store.forget(pastedKey(trimmed(client), fingerprint(refreshToken.trim())));
  }

  async #exchange(start: SignInStart, code: string, verifier: string): Promise<Tokens & { refreshToken: string }> {
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: start.redirectUrl.trim(),
      code_verifier: verifier,
    };
    const answer = await requestTokens(start.send, start.client, form, this.#clock).catch((error: unknown) => {
      throw error instanceof VehicleError
        ? new VehicleError(error.code, `${error.message} Start the sign-in again.`, { cause: error.cause })
        : error;
    });
    if ('refusal' in answer) {
      const sentence =
        answer.refusal === 'invalid_grant'
          ? 'The service did not accept the sign-in code, which lives for a minute only. Start the sign-in again.'
          : refusalSentence(answer);
      throw new VehicleError('SIGN_IN_REQUIRED', sentence);
    }
    if (answer.refreshToken === null) {
      throw new VehicleError(
        'SIGN_IN_REQUIRED',
        'The service gave no refresh token, so the sign-in would end within minutes. Let the application have one at the developer portal, then sign in again.',
      );
    }
    return { ...answer, refreshToken: answer.refreshToken };
  }

  async #save(start: SignInStart, tokens: Tokens & { refreshToken: string }): Promise<SignedIn> {
    start.onSecret?.(tokens.refreshToken);
    if (tokens.accessToken !== '') start.onSecret?.(tokens.accessToken);
    const pasted = [start.refreshToken, start.accessToken]
      .map((token) => token?.trim() ?? '')
      .filter((token) => token !== '');
    const key = signedInKey(start.client, start.owner);
    await this.#store.exclusive(key, (locked) =>
      locked.save({
        refreshToken: tokens.refreshToken,
        accessToken: tokens.accessToken,
        expiresAt: tokens.expiresAt,
        scopes: tokens.scopes,
        refreshedAt: tokens.receivedAt,
        signedInAt: tokens.receivedAt,
        outdated: pasted.map(fingerprint),
      }),
    );
    await this.#keepers.signedIn(this.#store.directory, key);
    return { owner: start.owner, scopes: tokens.scopes, expiresAt: isoTime(tokens.expiresAt) };
  }

  /** A state is good once, whatever comes of it. */
  #take(state: string, owner: string | undefined): Pending {
    const pending = this.#pending.get(state);
    if (pending === undefined)
      throw invalid(
        'This answer belongs to no sign-in that was started here. Start the sign-in again, and finish it in the window that opens.',
      );
    if (owner !== undefined && owner !== pending.start.owner)
      throw invalid(
        'This answer belongs to the sign-in of another vehicle configuration. Paste it there, or start the sign-in again here.',
      );
    if (pending.over === 'used')
      throw invalid('This answer was used already. If you are not signed in, start the sign-in again.');
    if (pending.over === 'deleted') throw deletedMeanwhile();
    pending.over = 'used';
    if (this.#clock.now() > pending.until) throw invalid('The sign-in took longer than ten minutes. Start it again.');
    return pending;
  }

  #remember(state: string, pending: Pending): void {
    const now = this.#clock.now();
    for (const [old, { until }] of this.#pending) {
      if (now > until + lifeOfState || this.#pending.size >= mostPending) this.#pending.delete(old);
    }
    this.#pending.set(state, pending);
  }

  /** 43 characters, which is also what RFC 7636 wants of a verifier. */
  #random32(): string {
    return this.#randomBytes(32).toString('base64url');
  }
}

const deletedMeanwhile = (): VehicleError =>
  invalid(
    'The vehicle configuration that this sign-in was started from was deleted. Start the sign-in from another one.',
  );

const invalid = (sentence: string): VehicleError => new VehicleError('INPUT_INVALID', sentence);

/** A whole address, a query with or without its question mark. */
function queryOf(redirected: string): URLSearchParams {
  const text = redirected.trim();
  if (URL.canParse(text)) return new URL(text).searchParams;
  return new URLSearchParams(text.slice(text.indexOf('?') + 1));
}

const pageErrors: Record<string, string> = {
  access_denied: 'The sign-in was declined at the service. Start it again and agree to the access.',
  invalid_scope:
    'The application lacks one of the scopes asked for. Check its scopes at the developer portal, then sign in again.',
  unauthorized_client:
    'The service does not let this application sign in this way. Check at the developer portal that the application is published.',
  invalid_request:
    'The service does not accept this sign-in. Check that the client id and the redirect address are those of the application at the developer portal.',
  temporarily_unavailable: 'The sign-in service is not available at the moment. Start the sign-in again later.',
  server_error: 'The sign-in service had a fault. Start the sign-in again later.',
};

/** The word is shown where it is one; free text from an address never is. */
function refusedByPage(error: string): VehicleError {
  const word = /^[\w.-]{1,60}$/.test(error) ? error : 'unknown error';
  return new VehicleError(
    'SIGN_IN_REQUIRED',
    pageErrors[word] ?? `The service ended the sign-in (${word}). Start it again.`,
  );
}
