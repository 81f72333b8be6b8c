import { cancelledError } from '../errors';
import { raceAbort } from '../util/abort';
import type { Signal } from '../util/cancellation';
import { systemClock, type Clock } from '../util/clock';
import { hashOf, signInKey } from './grant-store';
import { trimmed, type OAuthClient } from './oauth';
import type { TokenManager } from './token-manager';
import type { Session } from './session';
import { pastedToken, type TokenDescription, type TokenSource } from '../http/token-source';
import { secondMs } from '../util/durations';

export interface TokenSourceOptions {
  accessToken?: string;
  client: OAuthClient;
  /** The id of the config node: its sign-in is its own. */
  configNodeId: string;
  /** Null without a store: then only a pasted access token works. */
  session: Session | null;
  clock?: Clock;
}

/**
 * The token of a configuration (docs/internals/contract.md 2). With a client id it is that of a
 * sign-in, which is refreshed; a pasted access token counts until it ends or until a later sign-in.
 * Without a client id there is only the pasted access token.
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { accessToken = '', configNodeId, session } = options;
  const pasted = pastedToken(accessToken, { clock: session?.clock ?? options.clock ?? systemClock });
  const client = trimmed(options.client);
  if (session === null || client.tokenUrl === '' || client.clientId === '') return pasted;
  const hash = hashOf(accessToken);
  return new ManagedToken(
    session,
    signInKey(client, configNodeId),
    client,
    hash === '' ? null : { hash, token: pasted },
  );
}

/** The token of a sign-in, or a pasted access token that is newer. */
class ManagedToken implements TokenSource {
  readonly #session: Session;
  readonly #client: OAuthClient;
  readonly #manager: TokenManager;
  readonly #cancelStart: () => void;
  /** Null if there is none, or once a sign-in has taken its place. */
  #pasted: { hash: string; token: TokenSource } | null;
  #closing: Promise<void> | null = null;

  constructor(session: Session, key: string, client: OAuthClient, pasted: { hash: string; token: TokenSource } | null) {
    this.#session = session;
    this.#client = client;
    this.#manager = session.acquire(key, client);
    this.#pasted = pasted;
    // A grant is refreshed even while no request needs its token.
    this.#cancelStart = session.clock.after(secondMs * session.random(), () => void this.get().catch(() => undefined));
  }

  get fresh(): string | null {
    return this.#closing === null && this.#pasted === null ? this.#manager.freshToken : null;
  }

  async get(signal?: Signal): Promise<string> {
    const { fresh } = this;
    if (fresh !== null && signal?.aborted !== true) return fresh;
    return raceAbort(
      this.#source().then((source) => source.get()),
      signal,
    );
  }

  onAccepted(token: string): void {
    this.#manager.onAccepted(token);
  }

  async onUnauthorized(token: string, signal?: Signal): Promise<boolean> {
    return raceAbort(
      this.#source().then((source) => source.onUnauthorized(token)),
      signal,
    );
  }

  describe(): TokenDescription {
    return (this.#pasted?.token ?? this.#manager).describe();
  }

  close(): Promise<void> {
    this.#cancelStart();
    this.#closing ??= this.#session.release(this.#manager, this.#client);
    return this.#closing;
  }

  /**
   * A sign-in takes the place of a pasted access token that was there before it, or that has ended.
   */
  async #source(): Promise<TokenManager | TokenSource> {
    if (this.#closing !== null) throw cancelledError();
    if (this.#pasted === null) return this.#manager;
    const { hash, token } = this.#pasted;
    const signIn = await this.#manager.read();
    if (signIn === null || (signIn.pastedBefore !== hash && token.describe().signInRequiredSince === null))
      return token;
    this.#pasted = null;
    return this.#manager;
  }
}
