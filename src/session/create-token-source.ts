import { cancelledError, VehicleError } from '../errors';
import { raceAbort } from '../util/abort';
import { systemClock, type Clock } from '../util/clock';
import { fingerprint, pastedKey, signInKey, type Grant } from './grant-store';
import { checkInputs, trimmed, type OAuthClient } from './oauth';
import type { GrantState, TokenManager } from './token-manager';
import type { Session } from './session';
import { isoTime, nobodySignedIn, pastedToken, type TokenDescription, type TokenSource } from '../http/token-source';

export interface TokenSourceOptions {
  /** A pasted access token. */
  accessToken?: string;
  /** A pasted refresh token. */
  refreshToken?: string;
  client: OAuthClient;
  /** The id of the config node: its sign-in is its own. */
  configNodeId: string;
  /** Null without a store: then only a pasted access token works. */
  session: Session | null;
  clock?: Clock;
}

/**
 * The token of a configuration (docs/internals/contract.md 2). With a client id it is refreshed, from a pasted refresh token or from a
 * sign-in, whichever is later; a pasted access token counts until it ends or until a later sign-in. Without a client id there is only
 * the pasted access token.
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const accessToken = options.accessToken?.trim() ?? '';
  const refreshToken = options.refreshToken?.trim() ?? '';
  const clock = options.session?.clock ?? options.clock ?? systemClock;
  const pasted = pastedToken(accessToken, { clock });
  const client = trimmed(options.client);
  if (options.session === null || client.tokenUrl === '' || (client.clientId === '' && refreshToken === ''))
    return pasted;
  return new ManagedToken(options.session, client, options.configNodeId, {
    refreshToken,
    accessToken: refreshToken === '' ? accessToken : '',
    pasted: refreshToken === '' && accessToken !== '' ? pasted : null,
  });
}

/** The pasted tokens; a refresh token takes precedence over an access token. */
interface Pasted {
  refreshToken: string;
  accessToken: string;
  pasted: TokenSource | null;
}

const nothingKnown: GrantState = { grant: null, retryAt: null, signInRequiredSince: null, problem: null };

class ManagedToken implements TokenSource {
  readonly #session: Session;
  readonly #client: OAuthClient;
  readonly #given: Pasted;
  readonly #signInKey: string;
  readonly #pastedKey: string;
  readonly #cancelStart: () => void;
  /** Null before the first choice, and while the pasted access token is in use. */
  #manager: TokenManager | null = null;
  /** `saved` of the session before the last choice. */
  #saved = 0;
  #problem: VehicleError | null = null;
  #releasing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(session: Session, client: OAuthClient, configNodeId: string, given: Pasted) {
    this.#session = session;
    this.#client = client;
    this.#given = given;
    this.#signInKey = signInKey(client, configNodeId);
    this.#pastedKey = pastedKey(client, given.refreshToken);
    // A grant is refreshed even while no request needs its token.
    this.#cancelStart = session.clock.after(1_000 * session.random(), () => void this.get().catch(() => undefined));
  }

  async get(signal?: AbortSignal): Promise<string> {
    // Reading the stored grant takes longer than the rest of this call, so the choice lasts as long as the token, or until a sign-in.
    const token = this.#saved === this.#session.saved ? this.#manager?.freshToken : null;
    if (typeof token === 'string') return token;
    return raceAbort(
      this.#choose().then((tokens) => tokens.get()),
      signal,
    );
  }

  onAccepted(token: string): void {
    this.#manager?.onAccepted(token);
  }

  async onUnauthorized(token: string, signal?: AbortSignal): Promise<boolean> {
    return raceAbort(
      this.#choose().then((tokens) => tokens.onUnauthorized(token)),
      signal,
    );
  }

  describe(): TokenDescription {
    if (this.#manager === null && this.#given.pasted !== null && this.#problem === null)
      return this.#given.pasted.describe();
    const { grant, retryAt, signInRequiredSince, problem } = this.#manager?.state ?? nothingKnown;
    const isEnding = grant?.refreshToken === '';
    return {
      kind: this.#problem?.code === 'TOKEN_MISSING' ? 'none' : isEnding ? 'ending' : 'refreshing',
      expiresAt: isoTime(grant?.expiresAt ?? null),
      scopes: grant?.scopes ?? null,
      signInRequiredSince: isoTime(signInRequiredSince),
      signedInAt: isoTime(grant?.signedInAt ?? null),
      endsAt: isoTime(grant === null ? null : endOfGrant(grant)),
      lastRefreshAt: isoTime(grant === null || grant.generation === 0 ? null : grant.refreshedAt),
      retryAt: isoTime(retryAt),
      problem: this.#problem?.sentence ?? problem,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelStart();
    this.#release();
    await this.#releasing;
  }

  /** The manager of the grant to use now, or the pasted access token: a sign-in can change it. */
  async #choose(): Promise<TokenManager | TokenSource> {
    try {
      const { saved } = this.#session;
      const choice = await this.#keyOrPasted();
      if (this.#isClosed) throw cancelledError();
      this.#problem = null;
      this.#saved = saved;
      return typeof choice === 'string' ? this.#managerOf(choice) : choice;
    } catch (error) {
      // The grant in use goes on while the store cannot be read.
      const isOfStore = error instanceof VehicleError && ['CONFIG', 'STORE_UNAVAILABLE'].includes(error.code);
      if (this.#manager !== null && isOfStore) return this.#manager;
      this.#problem = error instanceof VehicleError ? error : null;
      throw error;
    }
  }

  #managerOf(key: string): TokenManager {
    if (this.#manager?.key === key) return this.#manager;
    this.#release();
    const { refreshToken } = this.#given;
    this.#manager = this.#session.acquire({
      key,
      client: this.#client,
      pastedRefreshToken:
        key === this.#pastedKey ? { token: refreshToken, fingerprint: fingerprint(refreshToken) } : null,
    });
    return this.#manager;
  }

  /** The key of the grant to use now, or the pasted access token. @throws VehicleError TOKEN_MISSING, CONFIG */
  async #keyOrPasted(): Promise<string | TokenSource> {
    const { refreshToken, accessToken, pasted } = this.#given;
    checkInputs(this.#client, refreshToken);
    const signedIn = await this.#session.store.read(this.#signInKey);
    /** True where a person signed in after this token was pasted. */
    const isOutdated = (token: string): boolean => signedIn?.grant.outdated.includes(fingerprint(token)) ?? false;
    if (refreshToken !== '') return isOutdated(refreshToken) ? this.#signInKey : this.#pastedKey;
    if (signedIn === null) {
      if (pasted === null) throw nobodySignedIn();
      return pasted;
    }
    const isPastedInUse =
      pasted !== null &&
      this.#manager === null &&
      pasted.describe().signInRequiredSince === null &&
      !isOutdated(accessToken);
    return isPastedInUse ? pasted : this.#signInKey;
  }

  #release(): void {
    if (this.#manager !== null) this.#releasing = Promise.all([this.#releasing, this.#session.release(this.#manager)]);
    this.#manager = null;
  }
}

/** The service ends every grant six months after the sign-in (docs/internals/vendor-api.md 4.2), and one without a refresh token with its access token. */
function endOfGrant({ refreshToken, expiresAt, signedInAt }: Grant): number | null {
  if (refreshToken === '') return expiresAt;
  if (signedInAt === undefined) return null;
  const date = new Date(signedInAt);
  return date.setUTCMonth(date.getUTCMonth() + 6);
}
