import { createHash, randomUUID } from 'node:crypto';
import { commands, requestDetails } from '../../src/catalogue/commands';
import { interfaceNames, reads } from '../../src/catalogue/reads';
import { accessNames, signInScopes } from '../../src/catalogue/scopes';
import type { Answer, ServiceRequest } from '../../src/simulator/service/answer';
import { systemClock, type Clock } from '../../src/util/clock';
import { escapeHtml, htmlPage } from './html-page';

/**
 * The identity service of the simulator: authorisation code with PKCE, and refresh tokens that
 * rotate (docs/internals/vendor-api.md 4.1, 4.2). docs/internals/service.md leaves all of it open.
 */

/** The path of the page at the real identity service (docs/internals/vendor-api.md 4.1). */
const authorizePath = '/as/authorization.oauth2';
const tokenPath = '/as/token.oauth2';

const codeLife = 60_000;
/** An unused refresh token expires after 7 days (docs/internals/vendor-api.md 4.2). */
const refreshLife = 7 * 86_400_000;
/** The whole grant ends after 6 months (docs/internals/vendor-api.md 4.2). */
const grantMonths = 6;

/**
 * Every scope that the simulated service knows (docs/internals/service.md 5.2,
 * docs/internals/vendor-api.md 4.4).
 */
export const everyScope: readonly string[] = [
  ...new Set([
    'openid',
    ...Object.values(reads).flatMap(({ routes }) => routes.flatMap(({ scopes }) => scopes)),
    ...Object.values(commands).flatMap((command): readonly string[] => command.scopes),
    ...requestDetails.scopes,
    ...signInScopes(interfaceNames, { access: accessNames }).scopes,
  ]),
];

/** Options of the identity service. Everything has a default. */
export interface IdentityOptions {
  clock?: Clock;
  dialect?: 'plain' | 'real';
  /** A token with every scope that never expires. Default `demo-token`. */
  accessToken?: string;
  /**
   * The client id and the client secret at the identity service. Defaults
   * `demo-client` and `demo-secret`.
   */
  clientId?: string;
  clientSecret?: string;
  /**
   * The redirect URLs that the application was published with, compared as text. Default: any that
   * begins with `https://` or `http://localhost` (docs/internals/vendor-api.md 4.3), in the dialect
   * `plain` also those on another loopback host.
   */
  redirectUris?: readonly string[] | null;
  /**
   * The scopes that the application was published with. A sign-in that asks for another one ends
   * with `invalid_scope`. Default: every one.
   */
  scopes?: readonly string[];
  /** A sign-in without this scope gets no refresh token. Default: each one gets one. */
  refreshTokenScope?: string | null;
  /** Default 299 (docs/internals/vendor-api.md 4.2). */
  accessTokenLifeSeconds?: number;
  /**
   * Seconds that a rotated refresh token still works. Default 0 (docs/internals/vendor-api.md 4.2).
   */
  refreshGraceSeconds?: number;
}

interface Issued {
  scopes: ReadonlySet<string>;
  expiresAt: number;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token in the form of a JWT. Nobody signs it: what counts is that this service issued it. */
const jwt = (claims: object): string =>
  `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.${Buffer.from('simulated').toString('base64url')}`;

/** The consent of a driver. */
interface Grant {
  scopes: readonly string[];
  endsAt: number;
  refreshToken: string;
  refreshedAt: number;
}

interface Code {
  scopes: readonly string[];
  redirectUri: string;
  challenge: string;
  expiresAt: number;
}

export class Identity {
  readonly #settings: Required<IdentityOptions>;
  readonly #clock: Clock;
  readonly #issuer: () => string;
  /** The access tokens that were issued. */
  readonly #issued = new Map<string, Issued>();
  #roomFor = 100;
  readonly #codes = new Map<string, Code>();
  /** By each refresh token that works: the current one, and for its grace the one before. */
  readonly #grants = new Map<string, { grant: Grant; until: number }>();

  /** @param issuer the URL of the service */
  constructor(options: IdentityOptions, issuer: () => string) {
    this.#settings = {
      clock: systemClock,
      dialect: 'plain',
      accessToken: 'demo-token',
      clientId: 'demo-client',
      clientSecret: 'demo-secret',
      redirectUris: null,
      scopes: everyScope,
      refreshTokenScope: null,
      accessTokenLifeSeconds: 299,
      refreshGraceSeconds: 0,
      ...options,
    };
    this.#clock = this.#settings.clock;
    this.#issuer = issuer;
    this.#issued.set(this.#settings.accessToken, { scopes: new Set(everyScope), expiresAt: Infinity });
  }

  /** An access token with just these scopes (also name `openid`), in the form of a JWT. */
  issue(scopes: readonly string[] = everyScope, lifeSeconds = this.#settings.accessTokenLifeSeconds): string {
    const now = this.#clock.now();
    this.#dropExpired(now);
    const iat = Math.floor(now / 1000);
    const claims = { iss: this.#issuer(), sub: 'demo-driver', scope: scopes.join(' '), iat, exp: iat + lifeSeconds };
    const token = jwt({ ...claims, jti: randomUUID() });
    this.#issued.set(token, { scopes: new Set(scopes), expiresAt: now + lifeSeconds * 1000 });
    return token;
  }

  /** The scopes of a token, or null if it is unknown or expired. */
  scopesOf(token: string): ReadonlySet<string> | null {
    const issued = this.#issued.get(token);
    return issued !== undefined && issued.expiresAt > this.#clock.now() ? issued.scopes : null;
  }

  /** Now and then, so that a year of short-lived tokens takes no more room than a day of them. */
  #dropExpired(now: number): void {
    if (this.#issued.size < this.#roomFor) return;
    for (const [token, { expiresAt }] of this.#issued) if (expiresAt <= now) this.#issued.delete(token);
    this.#roomFor = Math.max(100, 2 * this.#issued.size);
  }

  /** Null: not an address of the identity service. */
  answer(request: ServiceRequest): Answer | null {
    const { method, path } = request;
    if (path !== authorizePath && path !== tokenPath) return null;
    if (path === authorizePath && method === 'GET') return this.#authorize(request.query, signInPage);
    if (method !== 'POST') return { status: 405, headers: { allow: path === tokenPath ? 'POST' : 'GET, POST' } };
    const form = new URLSearchParams(request.body);
    return path === tokenPath
      ? this.#token(request, form)
      : this.#authorize(form, (parameters) => this.#decide(parameters, form.get('decision')));
  }

  /** A refresh token as if a driver had signed in. */
  grant(scopes: readonly string[] = everyScope): string {
    const now = this.#clock.now();
    const grant = { scopes, endsAt: monthsAfter(now, grantMonths), refreshToken: this.#newToken(), refreshedAt: now };
    this.#grants.set(grant.refreshToken, { grant, until: Infinity });
    return grant.refreshToken;
  }

  /** No refresh token still works. */
  revokeAll(): void {
    this.#grants.clear();
  }

  /**
   * Validates the request for a sign-in. A wrong client or redirect URL is
   * answered without a redirect.
   */
  #authorize(parameters: URLSearchParams, proceed: (parameters: URLSearchParams) => Answer): Answer {
    const redirectUri = parameters.get('redirect_uri') ?? '';
    if (parameters.get('client_id') !== this.#settings.clientId) return htmlPage(400, 'This application is not known');
    if (!this.#mayRedirect(redirectUri)) return htmlPage(400, 'This redirect URL is not registered');
    const problem = problemOf(parameters, this.#settings.scopes);
    return problem === null
      ? proceed(parameters)
      : redirect(redirectUri, { ...problem, state: parameters.get('state') ?? '' });
  }

  #mayRedirect(address: string): boolean {
    const { redirectUris, dialect } = this.#settings;
    if (redirectUris !== null) return redirectUris.includes(address);
    if (!URL.canParse(address)) return false;
    if (dialect === 'real') return /^(https:\/\/[^/#]|http:\/\/localhost(:\d+)?([/?]|$))[^#]*$/.test(address);
    const { protocol, hostname } = new URL(address);
    return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
  }

  #decide(parameters: URLSearchParams, decision: string | null): Answer {
    const redirectUri = parameters.get('redirect_uri') ?? '';
    const state = parameters.get('state') ?? '';
    if (decision !== 'allow')
      return redirect(redirectUri, { error: 'access_denied', error_description: 'The driver said no', state });
    const code = this.#newToken();
    this.#codes.set(code, {
      scopes: scopesIn(parameters),
      redirectUri,
      challenge: parameters.get('code_challenge') ?? '',
      expiresAt: this.#clock.now() + codeLife,
    });
    return redirect(redirectUri, { code, state });
  }

  #token({ headers }: ServiceRequest, form: URLSearchParams): Answer {
    const { clientId, clientSecret } = this.#settings;
    if (headers.authorization !== basic(clientId, clientSecret)) {
      return {
        ...failure('invalid_client', 'Invalid client or client credentials', 401),
        headers: { 'www-authenticate': 'Basic' },
      };
    }
    if (form.get('grant_type') === 'authorization_code') return this.#exchange(form);
    if (form.get('grant_type') === 'refresh_token') return this.#refresh(form.get('refresh_token') ?? '');
    // The password grant is refused (docs/internals/vendor-api.md 4.2).
    return form.get('grant_type') === 'password'
      ? failure('unauthorized_client', 'The client may not use this grant')
      : failure('unsupported_grant_type', 'There is no such grant');
  }

  #exchange(form: URLSearchParams): Answer {
    const code = this.#codes.get(form.get('code') ?? '');
    // A code is accepted once, also if the exchange fails.
    this.#codes.delete(form.get('code') ?? '');
    if (code === undefined || code.expiresAt <= this.#clock.now())
      return failure('invalid_grant', 'Authorization code is invalid or expired.');
    if (form.get('redirect_uri') !== code.redirectUri) return failure('invalid_grant', 'redirect_uri does not match.');
    if (challengeOf(form.get('code_verifier') ?? '') !== code.challenge)
      return failure('invalid_grant', 'PKCE verification failed.');
    const { refreshTokenScope } = this.#settings;
    const isBrief = refreshTokenScope !== null && !code.scopes.includes(refreshTokenScope);
    return this.#granted(code.scopes, isBrief ? undefined : this.grant(code.scopes));
  }

  #refresh(token: string): Answer {
    const now = this.#clock.now();
    const { grant, until } = this.#grants.get(token) ?? {};
    if (
      grant === undefined ||
      until === undefined ||
      now >= until ||
      now >= grant.endsAt ||
      now >= grant.refreshedAt + refreshLife
    ) {
      this.#grants.delete(token);
      return failure('invalid_grant', 'unknown, invalid, or expired refresh token');
    }
    grant.refreshedAt = now;
    return this.#granted(grant.scopes, this.#rotate(grant, now));
  }

  /**
   * Each refresh gives a new refresh token; the old one stops working
   * (docs/internals/vendor-api.md 4.2).
   */
  #rotate(grant: Grant, now: number): string {
    for (const [token, { until }] of this.#grants) if (until <= now) this.#grants.delete(token);
    const until = now + this.#settings.refreshGraceSeconds * 1000;
    if (until > now) this.#grants.set(grant.refreshToken, { grant, until });
    else this.#grants.delete(grant.refreshToken);
    grant.refreshToken = this.#newToken();
    this.#grants.set(grant.refreshToken, { grant, until: Infinity });
    return grant.refreshToken;
  }

  #granted(scopes: readonly string[], refreshToken: string | undefined): Answer {
    const life = this.#settings.accessTokenLifeSeconds;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: {
        access_token: this.issue(scopes, life),
        refresh_token: refreshToken,
        id_token: jwt({
          sub: 'demo-driver',
          aud: this.#settings.clientId,
          exp: Math.floor(this.#clock.now() / 1000) + life,
        }),
        token_type: 'Bearer',
        expires_in: life,
      },
    };
  }

  #newToken(): string {
    return `${randomUUID()}${randomUUID()}`.replaceAll('-', '');
  }
}

const scopesIn = (parameters: URLSearchParams): string[] =>
  (parameters.get('scope') ?? '').split(' ').filter((scope) => scope !== '');

/** The OAuth error of a request for sign-in, or null. */
function problemOf(
  parameters: URLSearchParams,
  allowed: readonly string[],
): { error: string; error_description: string } | null {
  const scopes = scopesIn(parameters);
  if (parameters.get('response_type') !== 'code')
    return { error: 'unsupported_response_type', error_description: 'response_type must be code' };
  if (
    parameters.get('code_challenge_method') !== 'S256' ||
    !/^[\w-]{43}$/.test(parameters.get('code_challenge') ?? '')
  ) {
    return { error: 'invalid_request', error_description: 'PKCE with S256 is required' };
  }
  if (scopes.length === 0 || scopes.some((scope) => !allowed.includes(scope)))
    return { error: 'invalid_scope', error_description: 'The requested scope is invalid' };
  return null;
}

/** RFC 7636 4.2, 4.6; a verifier of the wrong length never matches. */
const challengeOf = (verifier: string): string | null =>
  /^[\w.~-]{43,128}$/.test(verifier) ? createHash('sha256').update(verifier).digest('base64url') : null;

/** RFC 6749 2.3.1: both parts are form-encoded first. */
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** The members in the order of docs/internals/vendor-api.md 4.2. */
const failure = (error: string, description: string, status = 400): Answer => ({
  status,
  headers: { 'cache-control': 'no-store' },
  body: { error_description: description, error },
});

function redirect(address: string, parameters: Record<string, string>): Answer {
  const location = new URL(address);
  for (const [name, value] of Object.entries(parameters)) if (value !== '') location.searchParams.set(name, value);
  return { status: 303, headers: { location: location.href, 'cache-control': 'no-store' } };
}

function monthsAfter(ms: number, months: number): number {
  const date = new Date(ms);
  return date.setUTCMonth(date.getUTCMonth() + months);
}

/** The parameters that the page passes from the request to the button. */
const authorizeParameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

/** The sign-in page: what is asked for, and two buttons. */
function signInPage(parameters: URLSearchParams): Answer {
  const hidden = authorizeParameters.map(
    (name) => `<input type="hidden" name="${name}" value="${escapeHtml(parameters.get(name) ?? '')}">`,
  );
  const scopes = (parameters.get('scope') ?? '').split(' ').map((scope) => `<li>${escapeHtml(scope)}</li>`);
  const content = `<p>The application asks for:</p><ul>${scopes.join('')}</ul>
<form method="post" action="${authorizePath}">${hidden.join('')}
<button name="decision" value="allow">Sign in</button>
<button name="decision" value="deny">Cancel</button></form>`;
  const page = htmlPage(200, 'Demo sign-in', content);
  return { ...page, headers: { ...page.headers, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } };
}
