import { createHash, randomBytes } from 'node:crypto';
import { VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import { parseAddress } from '../http/addresses';
import { fingerprint, pastedKey, signInKey, type SavedSignIn } from './grant-store';
import {
  checkInputs,
  refusalSentence,
  requestTokens,
  trimmed,
  type OAuthClient,
  type Send,
  type Tokens,
} from './oauth';
import { isoTime } from '../http/token-source';
import type { Clock } from '../util/clock';
import { isRedirectUrl } from '../util/loopback';

export interface SignInStart {
  /** https, or http on a loopback address. */
  authorizeUrl: string;
  client: OAuthClient;
  /** Exactly as the portal's application has it: https, or http on `localhost` (docs/internals/vendor-api.md 4.3). */
  redirectUrl: string;
  scopes: readonly string[];
  /** The scopes among them that a person can leave out, by the access that asks for them. */
  optional?: readonly { access: string; scopes: readonly string[] }[];
  /** The id of the config node: only it gets this sign-in. */
  configNodeId: string;
  /** The refresh token that is pasted in its configuration now: this sign-in outdates it. */
  refreshToken?: string;
  /** The access token that is pasted there now: this sign-in outdates it, too. */
  accessToken?: string;
  /** The client of the config node as it is deployed at the moment of the call; null where it is not deployed. */
  deployedClient?: () => OAuthClient | null;
  /** Called with the sign-in code before it is used. */
  onSecret?: (secret: string) => void;
}

/** Scopes that were asked for and not granted: a person left out a box at the consent page, or the application lacks them. */
interface MissingScopes {
  /** The access that asks for them; null for reading the status. */
  access: string | null;
  scopes: string[];
}

/** The result of a sign-in, without its secrets. */
export interface SignedIn {
  /** Of the saved grant. */
  key: string;
  configNodeId: string;
  /** Null where the service does not say. */
  scopes: string[] | null;
  missing: MissingScopes[];
  /** ISO-8601, of the first access token; null where the service does not say. */
  expiresAt: string | null;
}

/** A person has ten minutes to type a password and a code from the phone. */
const stateLifetimeMs = 10 * 60_000;
/** Bounds the memory that unfinished sign-ins take. */
const maxPending = 100;

interface Pending {
  start: SignInStart;
  /** The key of the grant that the deployed config node used at the start; null where it was not deployed. */
  keyBefore: string | null;
  verifier: string;
  until: number;
  /** Why the state is not accepted any more; it is kept for a while so that the error can say so. */
  over: 'used' | 'deleted' | null;
}

interface SignInsOptions {
  send: Send;
  clock: Clock;
  grants: {
    /** @throws VehicleError CONFIG */
    save(key: string, signIn: SavedSignIn): Promise<void>;
    /** @throws VehicleError CONFIG */
    forget(key: string): Promise<void>;
  };
}

/** Sign-in from the editor: authorization code with PKCE S256 (docs/internals/vendor-api.md 4.1). */
export class SignIns {
  readonly #options: SignInsOptions;
  readonly #pending = new Map<string, Pending>();

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /**
   * The address to open in a browser.
   * @throws VehicleError CONFIG
   */
  begin(options: SignInStart): { url: string; state: string } {
    const start = {
      ...options,
      authorizeUrl: options.authorizeUrl.trim(),
      client: trimmed(options.client),
      redirectUrl: options.redirectUrl.trim(),
    };
    checkInputs(start.client);
    parseAddress(start.client.tokenUrl, 'token address', { mayHaveQuery: true });
    const [state, verifier] = [random32(), random32()];
    const url = authorizationUrl(start, state, verifier);
    const until = this.#options.clock.monotonic() + stateLifetimeMs;
    this.#remember(state, { start, keyBefore: deployedKey(start), verifier, until, over: null });
    return { url: url.href, state };
  }

  /**
   * Exchanges the code that the browser came back with, and saves the tokens for the config node that began the sign-in.
   * @param redirected the whole address that the browser was sent to, or its query alone
   * @param configNodeId the config node that asks, where it is known: only the one that began the sign-in may end it
   * @throws VehicleError INPUT_INVALID (the answer is wrong, used, late, or for a deleted or changed config node), SIGN_IN_REQUIRED (the service
   * or the person refused), SCOPE_MISSING (the application lacks a scope), CONFIG, NETWORK, TIMEOUT, SERVICE_ERROR
   */
  async finish({ redirected, configNodeId }: { redirected: string; configNodeId?: string }): Promise<SignedIn> {
    const answer = queryOf(redirected);
    const state = answer.get('state');
    const error = answer.get('error');
    if (state === null && error !== null) throw refusedByPage(error);
    const code = answer.get('code') ?? '';
    // The right address can still be pasted, because the state is not used.
    if (code === '' && error === null)
      throw invalid(
        'The address contains no sign-in code. Copy the whole address of the page that the browser ends at after the sign-in.',
      );
    const pending = this.#redeem(answer, configNodeId);
    const { start, verifier } = pending;
    if (error !== null) throw refusedByPage(error);
    start.onSecret?.(code);
    const tokens = await this.#exchange(start, code, verifier);
    throwIfOutdated(pending);
    return this.#save(start, tokens);
  }

  /** The config node whose sign-in this answer would end; null where it would end none. */
  configNodeIdOf(redirected: string): string | null {
    const pending = this.#pending.get(queryOf(redirected).get('state') ?? '');
    return pending === undefined || pending.over !== null ? null : pending.start.configNodeId;
  }

  /** Whether this answer has ended its sign-in before. */
  isUsed(redirected: string): boolean {
    return this.#pending.get(queryOf(redirected).get('state') ?? '')?.over === 'used';
  }

  /** The config node was deleted: a sign-in that it began is refused. */
  forget(configNodeId: string): void {
    for (const pending of this.#pending.values()) {
      if (pending.start.configNodeId === configNodeId) pending.over = 'deleted';
    }
  }

  /**
   * Removes the saved grants of a deleted config node.
   * @param refreshToken the one that was pasted in it; empty where another config node holds the same one
   * @throws VehicleError CONFIG
   */
  async forgetSaved(deleted: Pick<SignInStart, 'client' | 'configNodeId'> & { refreshToken: string }): Promise<void> {
    const client = trimmed(deleted.client);
    const refreshToken = deleted.refreshToken.trim();
    await this.#options.grants.forget(signInKey(client, deleted.configNodeId));
    if (refreshToken !== '') await this.#options.grants.forget(pastedKey(client, refreshToken));
  }

  async #exchange(start: SignInStart, code: string, verifier: string): Promise<Tokens & { refreshToken: string }> {
    const { send, clock } = this.#options;
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: start.redirectUrl,
      code_verifier: verifier,
    };
    const answer = await requestTokens(start.client, form, { send, clock }).catch((error: unknown) => {
      throw error instanceof VehicleError
        ? new VehicleError(error.code, sentence`${error.sentence} Start the sign-in again.`, { cause: error.cause })
        : error;
    });
    if ('refusal' in answer) {
      throw refused(
        answer.refusal,
        answer.refusal === 'invalid_grant'
          ? 'The service did not accept the sign-in code, which is valid for a minute only. Start the sign-in again.'
          : refusalSentence(answer),
      );
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
    const pasted = [start.refreshToken, start.accessToken]
      .map((token) => token?.trim() ?? '')
      .filter((token) => token !== '');
    const key = signInKey(start.client, start.configNodeId);
    await this.#options.grants.save(key, {
      refreshToken: tokens.refreshToken,
      accessToken: tokens.accessToken,
      expiresAt: tokens.expiresAt,
      scopes: tokens.scopes,
      refreshedAt: tokens.receivedAt,
      signedInAt: tokens.receivedAt,
      outdated: pasted.map(fingerprint),
    });
    const missing = missingScopes(start, tokens.scopes);
    return {
      key,
      configNodeId: start.configNodeId,
      scopes: tokens.scopes,
      missing,
      expiresAt: isoTime(tokens.expiresAt),
    };
  }

  /** A state is accepted once, whatever the result. */
  #redeem(answer: URLSearchParams, configNodeId: string | undefined): Pending {
    const pending = this.#pending.get(answer.get('state') ?? '');
    if (pending === undefined)
      throw invalid(
        'This answer belongs to no sign-in that was started here. Start the sign-in again, and finish it in the window that opens.',
      );
    if (configNodeId !== undefined && configNodeId !== pending.start.configNodeId)
      throw invalid(
        'This answer belongs to the sign-in of another vehicle configuration. Paste it there, or start the sign-in again here.',
      );
    if (!answer.getAll('iss').every((issuer) => isOf(pending.start, issuer)))
      throw invalid(
        'This answer comes from another sign-in service than the one that was asked. Start the sign-in again, and finish it in the window that opens.',
      );
    if (pending.over === 'used')
      throw invalid('This answer was used already. If you are not signed in, start the sign-in again.');
    throwIfOutdated(pending);
    pending.over = 'used';
    if (this.#options.clock.monotonic() > pending.until)
      throw invalid('The sign-in took longer than ten minutes. Start it again.');
    return pending;
  }

  #remember(state: string, pending: Pending): void {
    const now = this.#options.clock.monotonic();
    for (const [old, { until }] of this.#pending) {
      if (now > until + stateLifetimeMs || this.#pending.size >= maxPending) this.#pending.delete(old);
    }
    this.#pending.set(state, pending);
  }
}

/** The address of the sign-in page (docs/internals/vendor-api.md 4.1), with PKCE (RFC 7636). @throws VehicleError CONFIG */
function authorizationUrl(
  { authorizeUrl, client, redirectUrl, scopes }: SignInStart,
  state: string,
  verifier: string,
): URL {
  const url = parseAddress(authorizeUrl, 'sign-in address', { mayHaveQuery: true });
  if (!isRedirectUrl(redirectUrl))
    throw new VehicleError(
      'CONFIG',
      'The service accepts only a redirect URL that begins with https:// or http://localhost in small letters and has no user name and no fragment (#). Leave the field “Redirect URL” empty, and register the address that is then below it.',
    );
  const query = {
    response_type: 'code',
    client_id: client.clientId,
    // The portal compares it as text, so it is sent as it was entered.
    redirect_uri: redirectUrl,
    scope: scopes.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/**
 * Whether the issuer that an answer names (RFC 9207) is the service that was asked. No profile has an issuer, so its origin is compared
 * with those of the sign-in address and the token address.
 */
function isOf({ authorizeUrl, client }: SignInStart, issuer: string): boolean {
  const origin = URL.canParse(issuer) ? new URL(issuer).origin : '';
  return [authorizeUrl, client.tokenUrl].some((address) => new URL(address).origin === origin);
}

function missingScopes({ scopes, optional = [] }: SignInStart, granted: readonly string[] | null): MissingScopes[] {
  // Some services do not list `openid`, although they grant it.
  const missing = scopes.filter((scope) => granted !== null && scope !== 'openid' && !granted.includes(scope));
  const isOptional = (scope: string): boolean => optional.some((choice) => choice.scopes.includes(scope));
  return [
    { access: null, scopes: missing.filter((scope) => !isOptional(scope)) },
    ...optional.map((choice) => ({
      access: choice.access,
      scopes: missing.filter((scope) => choice.scopes.includes(scope)),
    })),
  ].filter((row) => row.scopes.length > 0);
}

/** 43 characters, the shortest code verifier that RFC 7636 allows. */
const random32 = (): string => randomBytes(32).toString('base64url');

/** Null where the config node is not deployed. */
function deployedKey({ deployedClient, configNodeId }: SignInStart): string | null {
  const client = deployedClient?.() ?? null;
  return client && signInKey(trimmed(client), configNodeId);
}

/** The values of an open form are not deployed yet, so only a deploy since the start can outdate a sign-in. @throws VehicleError INPUT_INVALID */
function throwIfOutdated({ start, keyBefore, over }: Pending): void {
  if (over === 'deleted')
    throw invalid(
      'The vehicle configuration that this sign-in was started from was deleted. Start the sign-in from another one.',
    );
  const key = deployedKey(start);
  if (key !== null && key !== keyBefore && key !== signInKey(start.client, start.configNodeId))
    throw invalid(
      'The client ID or an address of the service was changed after this sign-in was started. Start the sign-in again.',
    );
}

const invalid = (problem: string): VehicleError => new VehicleError('INPUT_INVALID', problem);

/** Accepts a whole address, or a query with or without its question mark; also in quotation marks, with a fragment, and as HTML writes it. */
function queryOf(redirected: string): URLSearchParams {
  const text = redirected
    .trim()
    .replace(/^["'<]|["'>]$|#.*$/g, '')
    .replaceAll('&amp;', '&');
  if (URL.canParse(text)) return new URL(text).searchParams;
  return new URLSearchParams(text.slice(text.indexOf('?') + 1));
}

const pageErrors = new Map([
  ['access_denied', 'The sign-in was declined at the service. Start it again and agree to the access.'],
  [
    'invalid_request',
    'The service does not accept this sign-in. Check that the client ID and the redirect URL are those of the application at the developer portal.',
  ],
  ['temporarily_unavailable', 'The sign-in service is not available at the moment. Start the sign-in again later.'],
  ['server_error', 'The sign-in service had a fault. Start the sign-in again later.'],
]);

/** An OAuth error code is shown; free text from an address never is. */
function refusedByPage(error: string): VehicleError {
  const code = /^[\w.-]{1,60}$/.test(error) ? error : 'unknown error';
  return refused(code, pageErrors.get(code) ?? refusalSentence({ refusal: code }));
}

/** @param error the OAuth error code, of the sign-in page or of the token endpoint */
const refused = (error: string, problem: string | Sentence): VehicleError =>
  new VehicleError(error === 'invalid_scope' ? 'SCOPE_MISSING' : 'SIGN_IN_REQUIRED', problem);
