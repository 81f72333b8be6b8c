import { VehicleError } from '../errors';
import { keepers as sharedKeepers, fingerprint, signedInKey } from './token-managers';
import { refreshingToken, trimmed, type RefreshingOptions } from './refreshing';
import { pastedToken, type TokenDescription, type TokenSource } from './tokens';

export interface ChosenTokenOptions extends Omit<RefreshingOptions, 'store'> {
  /** A pasted access token. */
  accessToken: string;
  /** Null where nothing can be kept: only a pasted access token works then. */
  store: RefreshingOptions['store'] | null;
}

/**
 * The token of a configuration (contract 2): refreshing with client id and refresh token, or from a sign-in; else the
 * pasted access token.
 */
export function chosenToken({ accessToken, store, ...options }: ChosenTokenOptions): TokenSource {
  const pasted = pastedToken(accessToken, options.clock === undefined ? {} : { clock: options.clock });
  const { tokenUrl, clientId } = trimmed(options.client);
  if (store === null || tokenUrl === '' || clientId === '') return pasted;
  const refreshing = { ...options, store };
  if ((options.refreshToken ?? '').trim() !== '' || accessToken.trim() === '') return refreshingToken(refreshing);
  return new PastedOrSignedIn(pasted, fingerprint(accessToken.trim()), refreshing);
}

/** With a client and a pasted access token: the later of the two, the token or a sign-in; where the token has ended, the sign-in. */
class PastedOrSignedIn implements TokenSource {
  readonly #pasted: TokenSource;
  readonly #fingerprint: string;
  readonly #options: RefreshingOptions;
  readonly #keepers;
  #refreshing: TokenSource | null = null;
  #signInsSeen = -1;
  #looking: Promise<void> | null = null;
  #closed = false;

  constructor(pasted: TokenSource, pastedFingerprint: string, options: RefreshingOptions) {
    this.#pasted = pasted;
    this.#fingerprint = pastedFingerprint;
    this.#options = options;
    this.#keepers = options.keepers ?? sharedKeepers;
  }

  async get(signal?: AbortSignal): Promise<string> {
    return (await this.#source()).get(signal);
  }

  async refused(token: string, signal?: AbortSignal): Promise<boolean> {
    return (await this.#source()).refused(token, signal);
  }

  describe(): TokenDescription {
    return (this.#refreshing ?? this.#pasted).describe();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking?.catch(() => undefined);
    await this.#refreshing?.close();
  }

  async #source(): Promise<TokenSource> {
    if (this.#refreshing === null && (this.#hasEnded || this.#signInsSeen !== this.#keepers.signIns)) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    return this.#refreshing ?? this.#pasted;
  }

  get #hasEnded(): boolean {
    return this.#pasted.describe().signInRequiredSince !== null;
  }

  /** A sign-in that cannot be read is one all the same: its fault is told by the refreshing token. */
  async #look(): Promise<void> {
    const { store, client, owner } = this.#options;
    const { signIns } = this.#keepers;
    const grant = await store.read(signedInKey(trimmed(client), owner)).catch((error: unknown): 'unreadable' => {
      if (error instanceof VehicleError) return 'unreadable';
      throw error;
    });
    this.#signInsSeen = signIns;
    const counts =
      grant !== null && (grant === 'unreadable' || this.#hasEnded || grant.outdated.includes(this.#fingerprint));
    if (counts && !this.#closed) this.#refreshing = refreshingToken(this.#options);
  }
}
