import { cancelledError, VehicleError } from '../errors';
import { systemClock, type Clock } from '../util/clock';
import { fingerprint, importedKey, signInKey } from './grant-store';
import { checkInputs, trimmed, type OAuthClient } from './oauth';
import { nobodySignedIn, TokenManager, type GrantState } from './token-manager';
import type { TokenManagers } from './token-managers';
import { isoTime, pastedToken, type TokenDescription, type TokenSource } from '../http/token-source';

export interface TokenSourceOptions {
  /** A pasted access token. */
  accessToken?: string;
  /** A pasted refresh token. */
  refreshToken?: string;
  client: OAuthClient;
  /** The id of the config node: its sign-in is its own. */
  owner: string;
  /** Null if there is no store: then only a pasted access token works. */
  managers: TokenManagers | null;
  clock?: Clock;
}

/**
 * The token of a configuration (docs/message-contract.md 2). With a client id it is refreshed, from a pasted refresh token or from a
 * sign-in, whichever is later; a pasted access token counts until it ends or until a later sign-in. Without a client id there is only
 * the pasted access token.
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const accessToken = options.accessToken?.trim() ?? '';
  const refreshToken = options.refreshToken?.trim() ?? '';
  const clock = options.managers?.clock ?? options.clock ?? systemClock;
  const pasted = pastedToken(accessToken, { clock });
  const client = trimmed(options.client);
  if (options.managers === null || client.tokenUrl === '' || (client.clientId === '' && refreshToken === ''))
    return pasted;
  return new ManagedToken(options.managers, client, options.owner, {
    refreshToken,
    accessToken: refreshToken === '' ? accessToken : '',
    pasted: refreshToken === '' && accessToken !== '' ? pasted : null,
  });
}

interface Pasted {
  refreshToken: string;
  accessToken: string;
  pasted: TokenSource | null;
}

const nothingKnown: GrantState = { grant: null, retryAt: null, signInRequiredSince: null, problem: null };

class ManagedToken implements TokenSource {
  readonly #managers: TokenManagers;
  readonly #client: OAuthClient;
  readonly #given: Pasted;
  readonly #signInKey: string;
  readonly #importedKey: string;
  readonly #cancelStart: () => void;
  /** Null while the pasted access token is in use. */
  #manager: TokenManager | null = null;
  #signInsSeen = -1;
  #choosing: Promise<TokenManager | TokenSource> | null = null;
  #problem: VehicleError | null = null;
  #releasing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(managers: TokenManagers, client: OAuthClient, owner: string, given: Pasted) {
    this.#managers = managers;
    this.#client = client;
    this.#given = given;
    this.#signInKey = signInKey(client, owner);
    this.#importedKey = importedKey(client, given.refreshToken);
    // A grant is refreshed even while no request needs its token.
    this.#cancelStart = managers.clock.after(1_000 * managers.random(), () => void this.get().catch(ignore));
  }

  async get(signal?: AbortSignal): Promise<string> {
    const known = this.#signInsSeen === this.#managers.signIns ? this.#manager?.freshToken : null;
    return known ?? orCancelled(this.#get(), signal);
  }

  async #get(): Promise<string> {
    const chosen = await this.#choose();
    return chosen instanceof TokenManager ? chosen.token() : chosen.get();
  }

  onAccepted(token: string): void {
    this.#manager?.onAccepted(token);
  }

  async onUnauthorized(token: string, signal?: AbortSignal): Promise<boolean> {
    return orCancelled(
      this.#choose().then((chosen) => chosen.onUnauthorized(token)),
      signal,
    );
  }

  describe(): TokenDescription {
    if (this.#manager === null && this.#given.pasted !== null && this.#problem === null)
      return this.#given.pasted.describe();
    const { grant, retryAt, signInRequiredSince, problem } = this.#manager?.state ?? nothingKnown;
    return {
      kind: this.#problem?.code === 'TOKEN_MISSING' ? 'none' : 'refreshing',
      expiresAt: isoTime(grant?.expiresAt ?? null),
      scopes: grant?.scopes ?? null,
      signInRequiredSince: isoTime(signInRequiredSince),
      signedInAt: isoTime(grant?.signedInAt ?? null),
      lastRefreshAt: isoTime(grant === null || grant.generation === 0 ? null : grant.refreshedAt),
      retryAt: isoTime(retryAt),
      problem: this.#problem?.message ?? problem,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelStart();
    await this.#choosing?.catch(ignore);
    this.#release();
    await this.#releasing;
  }

  /** All callers share the choice under way. */
  #choose(): Promise<TokenManager | TokenSource> {
    this.#choosing ??= this.#chooseNow().finally(() => {
      this.#choosing = null;
    });
    return this.#choosing;
  }

  async #chooseNow(): Promise<TokenManager | TokenSource> {
    if (this.#isClosed) throw cancelledError();
    try {
      const signIns = this.#managers.signIns;
      const key = await this.#keyInUse();
      this.#problem = null;
      this.#signInsSeen = signIns;
      if (key === null) return this.#given.pasted ?? pastedToken('');
      if (this.#manager?.key === key) return this.#manager;
      this.#release();
      const { refreshToken } = this.#given;
      this.#manager = this.#managers.acquire({
        key,
        client: this.#client,
        importedRefreshToken:
          key === this.#importedKey ? { token: refreshToken, fingerprint: fingerprint(refreshToken) } : null,
      });
      return this.#manager;
    } catch (error) {
      this.#problem = error instanceof VehicleError ? error : null;
      throw error;
    }
  }

  /** The key of the grant to use now; null for the pasted access token. */
  async #keyInUse(): Promise<string | null> {
    const { refreshToken, accessToken, pasted } = this.#given;
    checkInputs(this.#client, refreshToken);
    if (refreshToken !== '') return (await this.#isOutdated(refreshToken)) ? this.#signInKey : this.#importedKey;
    if (this.#manager !== null) return this.#manager.key;
    if (pasted === null) {
      if ((await this.#managers.store.read(this.#signInKey)) === null) throw nobodySignedIn();
      return this.#signInKey;
    }
    const hasEnded = pasted.describe().signInRequiredSince !== null;
    if (!hasEnded && this.#signInsSeen === this.#managers.signIns) return null;
    const signedIn = await this.#managers.store.read(this.#signInKey);
    const isSignInLater = signedIn !== null && (hasEnded || signedIn.grant.outdated.includes(fingerprint(accessToken)));
    return isSignInLater ? this.#signInKey : null;
  }

  /** True where a person signed in after this token was pasted. */
  async #isOutdated(token: string): Promise<boolean> {
    try {
      const signedIn = await this.#managers.store.read(this.#signInKey);
      return signedIn?.grant.outdated.includes(fingerprint(token)) ?? false;
    } catch (error) {
      // A sign-in that cannot be read may be the later one: only a process that has read it before goes on with what it knows.
      if (this.#manager === null) throw error;
      return this.#manager.key === this.#signInKey;
    }
  }

  #release(): void {
    if (this.#manager !== null) this.#releasing = Promise.all([this.#releasing, this.#managers.release(this.#manager)]);
    this.#manager = null;
  }
}

/** The caller stops waiting; the refresh goes on, because its answer must be saved. */
function orCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelledError());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

const ignore = (): void => undefined;
