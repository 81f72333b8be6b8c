import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { unlistedScopes } from '../catalogue/scopes';
import { asVehicleError, VehicleError } from '../errors';
import { asSentence, sentence, type Sentence } from '../sentence';
import { parseUrl } from '../http/addresses';
import { iso, type Clock } from '../util/clock';
import { isRedirectUrl } from '../util/loopback';
import type { Discovery } from './discovery';
import { briefSignIn, hashOf, signInKey, type GrantStore, type SavedSignIn } from './grant-store';
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
import { hashed, storedSentence, unlessAway, type StoredEntry } from '../state/state-store';
import { minuteMs } from '../util/durations';

export interface SignInStart {
  /** https, or http on a loopback address. */
  authorizeUrl: string;
  client: OAuthClient;
  /** As at the portal: https, or http on `localhost` (docs/internals/vendor-api.md 4.3). */
  redirectUrl: string;
  scopes: readonly string[];
  /** The scopes among them that a person can leave out, by the access that asks for them. */
  optional?: readonly { access: string; scopes: readonly string[] }[];
  /** The id of the config node: only it gets this sign-in. */
  configNodeId: string;
  /** The access token that is pasted in its configuration now: this sign-in is newer. */
  accessToken?: string;
  /** The client of the config node as it is deployed; null, the default, if it is not deployed. */
  deployedClient?: OAuthClient | null;
}

interface SignInEnd {
  /** The whole address that the browser was sent to, or its query alone. */
  redirected: string;
  /** The config node that asks, if it is known: only the one that began the sign-in may end it. */
  configNodeId?: string;
  /** The client as it is deployed at the moment of the call; null, the default, if it is not. */
  deployedClient?: (configNodeId: string) => OAuthClient | null;
}

const texts = z.readonly(z.array(z.string()));

/** A person left out a box at the consent page, or the application lacks the scopes. */
const missingSchema = z.object({
  /** The access that asks for them; null for reading the status. */
  access: z.nullable(z.string()),
  scopes: texts,
});
type MissingScopes = z.infer<typeof missingSchema>;

/** The result of a sign-in, without its secrets. */
export interface SignedIn {
  key: string;
  configNodeId: string;
  /** Null if the service does not say. */
  scopes: string[] | null;
  missing: MissingScopes[];
  /** ISO-8601, of the first access token; null if the service does not name it. */
  expiresAt: string | null;
  /** The warning that the sign-in does not renew itself; null if it does. */
  warning: Sentence | null;
}

/** A person has ten minutes to type a password and a code from the phone. */
const stateLifetimeMs = 10 * minuteMs;
/** Until then, a late or repeated answer gets its own sentence. */
const keptMs = 2 * stateLifetimeMs;
/** Bounds the place that unfinished sign-ins take. */
const maxPending = 100;

const resultSchema = z.object({
  /** ISO-8601. */
  at: z.string(),
  error: z.nullable(z.object({ code: z.string(), message: storedSentence })),
  missing: z.array(missingSchema),
  warning: z.optional(z.nullable(storedSentence)),
});

/** A sign-in in progress. It is stored, so that any process with the store can end it. */
const pendingSchema = z.lazy(() =>
  z.object({
    configNodeId: z.string(),
    /** Milliseconds since 1970, by the clock of the store if several processes share it. */
    begunAt: z.number(),
    /** Null once an answer was accepted. */
    start: z.nullable(
      z.object({
        authorizeUrl: z.string(),
        /** Where the code is exchanged; absent: the address of the client. */
        tokenUrl: z.optional(z.string()),
        client: z.object({
          audience: z.string(),
          tokenUrl: z.string(),
          clientId: z.string(),
          clientSecret: z.string(),
        }),
        redirectUrl: z.string(),
        scopes: texts,
        optional: z.readonly(z.array(z.object({ access: z.string(), scopes: texts }))),
        verifier: z.string(),
        /** As in the grant. */
        pastedBefore: z.string(),
        /** The key of the grant that the deployed config node used; null if it was not deployed. */
        keyBefore: z.nullable(z.string()),
      }),
    ),
    isDeleted: z.boolean(),
    result: z.nullable(resultSchema),
  }),
);
type Pending = z.infer<typeof pendingSchema> & { key: string; version: string | null };
type Start = NonNullable<Pending['start']>;
export type SignInResult = z.infer<typeof resultSchema>;

interface SignInsOptions {
  send: Send;
  discovery: Discovery;
  clock: Clock;
  /** Milliseconds since 1970, by the clock of the store if several processes share it. */
  now: () => Promise<number>;
  store: GrantStore;
  grants: {
    /** @throws VehicleError CONFIG */
    save(key: string, signIn: SavedSignIn): Promise<void>;
  };
}

/**
 * Sign-in from the editor: authorization code with PKCE S256 (docs/internals/vendor-api.md 4.1).
 */
export class SignIns {
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /**
   * The address to open in a browser.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async begin(options: SignInStart): Promise<{ url: string; state: string }> {
    const { configNodeId, deployedClient = null, optional = [], accessToken = '' } = options;
    const { now, store } = this.#options;
    const state = random32();
    const client = trimmed(options.client);
    checkInputs(client);
    parseUrl(client.tokenUrl, 'token address', { mayHaveQuery: true });
    const found = client.issuer ? await this.#options.discovery.find(client.issuer, { isFresh: true }) : null;
    const start = {
      authorizeUrl: options.authorizeUrl.trim(),
      ...found,
      client,
      redirectUrl: options.redirectUrl.trim(),
      scopes: options.scopes,
      optional,
      verifier: random32(),
      pastedBefore: hashOf(accessToken),
      keyBefore: keyOf(deployedClient, configNodeId),
    };
    const url = authorizationUrl(start, state);
    const before = await this.#all();
    for (const { key } of before.slice(0, Math.max(0, before.length + 1 - maxPending))) await store.state.remove(key);
    const pending = { configNodeId, begunAt: await now(), start, isDeleted: false, result: null };
    await this.#write({ ...pending, key: entryOf(state), version: null });
    store.learn(state);
    return { url: url.href, state };
  }

  /**
   * Exchanges the code that the browser came back with, and saves the tokens for the config node
   * that began the sign-in, in this process or in another one with the store.
   * @throws VehicleError INPUT_INVALID (the answer is wrong, used, late, or for a deleted or
   * changed config node), SIGN_IN_REQUIRED (the service or the person refused), SCOPE_MISSING (the
   * application lacks a scope), CONFIG, NETWORK, TIMEOUT, SERVICE_ERROR, STORE_UNAVAILABLE
   */
  async finish(end: SignInEnd): Promise<SignedIn> {
    const answer = queryOf(end.redirected);
    const pending = await this.#find(answer);
    const isOpen =
      pending !== null && pending.start !== null && pending.configNodeId === (end.configNodeId ?? pending.configNodeId);
    try {
      const signedIn = await this.#end(answer, pending, end);
      const { missing, warning } = signedIn;
      if (isOpen) await this.#note(pending, { error: null, missing, warning });
      return signedIn;
    } catch (error) {
      // An answer that ends no sign-in of this config node leaves the result of its last one.
      const { code, sentence: message } = asVehicleError(error);
      if (isOpen) await this.#note(pending, { error: { code, message }, missing: [] });
      throw error;
    }
  }

  /**
   * Whether this answer has ended its sign-in before.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async isUsed(redirected: string): Promise<boolean> {
    return (await this.#find(queryOf(redirected)))?.start === null;
  }

  /**
   * The result of the last sign-in of a config node; null while it is in progress. It may hold
   * secrets.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async resultOf(configNodeId: string): Promise<SignInResult | null> {
    return (await this.#all()).findLast((pending) => pending.configNodeId === configNodeId)?.result ?? null;
  }

  /**
   * The config node was deleted: a sign-in that it began is refused.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async refuseAnswers(configNodeId: string): Promise<void> {
    const { state } = this.#options.store;
    for (const { key, version: _, ...pending } of await this.#all())
      if (pending.configNodeId === configNodeId) await state.write(key, { ...pending, start: null, isDeleted: true });
  }

  /** The `state` of an answer is accepted once, even if the sign-in then fails. */
  async #end(answer: URLSearchParams, pending: Pending | null, end: SignInEnd): Promise<SignedIn> {
    const { configNodeId, deployedClient } = end;
    const { now, store } = this.#options;
    const error = answer.get('error');
    if (!answer.has('state') && error !== null) throw refusedByPage(error);
    const code = answer.get('code') ?? '';
    // The right address can still be pasted, because the state is not used.
    if (code === '' && error === null)
      throw invalid(
        'The address contains no sign-in code. Copy the whole address of the page that the browser shows after the sign-in.',
      );
    if (pending === null)
      throw invalid(
        'This answer does not belong to a sign-in that was started here. Start the sign-in again, and finish it in the window that opens.',
      );
    const { start, begunAt, configNodeId: id } = pending;
    if (configNodeId !== undefined && configNodeId !== id)
      throw invalid(
        'This answer belongs to the sign-in of another vehicle configuration. Paste it there, or start the sign-in again here.',
      );
    throwIfOutdated(pending, start, deployedClient);
    if (start === null) throw invalid(usedAlready);
    if (!answer.getAll('iss').every((issuer) => isOfService(start, issuer)))
      throw invalid(
        'This answer comes from a different sign-in service. Start the sign-in again, and finish it in the window that opens.',
      );
    if ((await now()) > begunAt + stateLifetimeMs)
      throw invalid('The sign-in took longer than ten minutes. Start it again.');
    pending.start = null;
    pending.version = await this.#write(pending);
    // Another process was faster.
    if (pending.version === null) throw invalid(usedAlready);
    if (error !== null) throw refusedByPage(error);
    for (const secret of [code, answer.get('state') ?? '', start.client.clientSecret]) store.learn(secret);
    const tokens = await this.#exchange(start, code);
    throwIfOutdated((await this.#find(answer)) ?? pending, start, deployedClient);
    return this.#save(id, start, tokens);
  }

  async #find(answer: URLSearchParams): Promise<Pending | null> {
    const { now, store } = this.#options;
    const key = entryOf(answer.get('state') ?? '');
    const oldest = (await now()) - keptMs;
    const stored = await store.state.read(key).catch(unlessAway(null));
    return stored && pendingOf({ ...stored, key }, oldest);
  }

  /** The one that was changed last comes last. */
  async #all(): Promise<Pending[]> {
    const { state } = this.#options.store;
    const oldest = (await this.#options.now()) - keptMs;
    const found: Pending[] = [];
    for (const entry of await state.entries(`${collection}/`)) {
      const pending = pendingOf(entry, oldest);
      if (pending === null) await state.remove(entry.key, { expected: entry.version });
      else found.push(pending);
    }
    return found;
  }

  /** @returns null if another process has changed it meanwhile */
  #write({ key, version, ...pending }: Pending): Promise<string | null> {
    return this.#options.store.state.write(key, pending, { expected: version });
  }

  /** The dialog goes without it if the store is away. */
  async #note(pending: Pending, result: Omit<SignInResult, 'at'>): Promise<void> {
    const at = iso(this.#options.clock.now());
    await this.#write({ ...pending, result: { at, ...result } }).catch(() => undefined);
  }

  async #exchange(start: Start, code: string): Promise<Tokens> {
    const { send, clock } = this.#options;
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: start.redirectUrl,
      code_verifier: start.verifier,
    };
    const client = { ...start.client, tokenUrl: start.tokenUrl ?? start.client.tokenUrl };
    const answer = await requestTokens(client, form, { send, clock }).catch((error: unknown) => {
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
    if (answer.refreshToken === null && answer.accessToken === '') {
      const problem = asSentence('The sign-in service returned no usable access token.');
      throw new VehicleError('SERVICE_ERROR', sentence`${problem} Start the sign-in again.`);
    }
    return answer;
  }

  async #save(configNodeId: string, start: Start, tokens: Tokens): Promise<SignedIn> {
    const key = signInKey(start.client, configNodeId);
    await this.#options.grants.save(key, {
      refreshToken: tokens.refreshToken ?? '',
      accessToken: tokens.accessToken,
      expiresAt: tokens.expiresAt,
      scopes: tokens.scopes,
      refreshedAt: tokens.receivedAt,
      signedInAt: tokens.receivedAt,
      pastedBefore: start.pastedBefore,
    });
    const missing = missingScopes(start, tokens.scopes);
    return {
      key,
      configNodeId,
      scopes: tokens.scopes,
      missing,
      expiresAt: isoTime(tokens.expiresAt),
      warning: tokens.refreshToken === null ? briefSignIn(tokens.expiresAt, this.#options.clock.now()) : null,
    };
  }
}

/**
 * The address of the sign-in page (docs/internals/vendor-api.md 4.1), with PKCE (RFC 7636).
 * @throws VehicleError CONFIG
 */
function authorizationUrl({ authorizeUrl, client, redirectUrl, scopes, verifier }: Start, state: string): URL {
  const url = parseUrl(authorizeUrl, 'sign-in address', { mayHaveQuery: true });
  if (!isRedirectUrl(redirectUrl))
    throw new VehicleError(
      'CONFIG',
      'The service accepts only a redirect URL that begins with https:// or http://localhost (lowercase) and contains no user name and no fragment (#). Leave the field “Redirect URL” empty, and register the address shown below it.',
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
  // Without it, a service must ignore this scope (OpenID Connect Core 11).
  if (scopes.includes('offline_access')) url.searchParams.set('prompt', 'consent');
  return url;
}

/**
 * Whether the issuer that an answer names (RFC 9207) is the service that was asked. Not every
 * profile has an issuer, so its origin is compared with those of the sign-in address and the token
 * address, which the issuer itself may have sent.
 */
function isOfService({ authorizeUrl, tokenUrl, client }: Start, issuer: string): boolean {
  const origin = URL.canParse(issuer) ? new URL(issuer).origin : '';
  return [authorizeUrl, tokenUrl ?? '', client.tokenUrl].some(
    (address) => URL.canParse(address) && new URL(address).origin === origin,
  );
}

function missingScopes({ scopes, optional }: Start, granted: readonly string[] | null): MissingScopes[] {
  const isMissing = (scope: string): boolean => !unlistedScopes.includes(scope) && !granted?.includes(scope);
  const missing = granted === null ? [] : scopes.filter(isMissing);
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

const collection = 'signing-in';

/** The state is a secret while the sign-in is in progress, so only its hash is written in plain. */
const entryOf = (state: string): string => `${collection}/${hashed(state)}`;

/** Null for one that began too long ago or cannot be read. */
function pendingOf({ key, value, version }: StoredEntry, oldest: number): Pending | null {
  const { data } = pendingSchema.safeParse(value);
  return data === undefined || data.begunAt < oldest ? null : { ...data, key, version };
}

/** Null if the config node is not deployed. */
const keyOf = (client: OAuthClient | null, configNodeId: string): string | null =>
  client && signInKey(client, configNodeId);

/**
 * The values of an open form are not deployed yet, so only a deploy since the start can outdate a
 * sign-in.
 * @throws VehicleError INPUT_INVALID
 */
function throwIfOutdated(pending: Pending, start: Start | null, deployedClient: SignInEnd['deployedClient']): void {
  const { configNodeId, isDeleted } = pending;
  if (isDeleted)
    throw invalid(
      'The vehicle configuration that this sign-in was started from was deleted. Start the sign-in from another one.',
    );
  const key = keyOf(deployedClient?.(configNodeId) ?? null, configNodeId);
  if (key !== null && start !== null && key !== start.keyBefore && key !== signInKey(start.client, configNodeId))
    throw invalid(
      'The client ID or an address of the service was changed after this sign-in was started. Start the sign-in again.',
    );
}

const usedAlready = 'This answer was used already. If you are not signed in, start the sign-in again.';

const invalid = (problem: string): VehicleError => new VehicleError('INPUT_INVALID', problem);

/** A whole address or a query, also in quotation marks, with a fragment, and as HTML writes it. */
function queryOf(redirected: string): URLSearchParams {
  const text = redirected
    .trim()
    .replace(/^["'<]|["'>]$|#[^]*/g, '')
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
  ['server_error', 'The sign-in service had an error. Start the sign-in again later.'],
]);

/** An OAuth error code is shown; free text from an address never is. */
function refusedByPage(error: string): VehicleError {
  const code = /^[\w.-]{1,60}$/.test(error) ? error : 'unknown error';
  return refused(code, pageErrors.get(code) ?? refusalSentence({ refusal: code }));
}

/** @param error the OAuth error code, of the sign-in page or of the token endpoint */
const refused = (error: string, problem: string | Sentence): VehicleError =>
  new VehicleError(error === 'invalid_scope' ? 'SCOPE_MISSING' : 'SIGN_IN_REQUIRED', problem);
