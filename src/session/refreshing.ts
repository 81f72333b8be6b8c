import { systemClock, type Clock } from '../clock';
import { VehicleError } from '../errors';
import { nobodySignedIn, type Account, type AccountState, type Member } from './account';
import { accounts as sharedAccounts, fingerprint, pastedKey, signedInKey, type Accounts } from './accounts';
import type { TokenStore } from './store';
import type { OAuthClient, Send } from './token-endpoint';
import { isHeaderSafe, isoTime, unusable, type TokenDescription, type TokenSource } from './tokens';

export interface RefreshingOptions {
  client: OAuthClient;
  /** The id of the config node: its sign-in is its own. */
  owner: string;
  /** A pasted refresh token; wins over a sign-in that was made before it was pasted. */
  refreshToken?: string;
  store: TokenStore;
  /** Must work until `close` has ended: close the transport after it. */
  send: Send;
  /** Hears of every token before it is used: the redactor's. */
  onSecret?: (secret: string) => void;
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
  accounts?: Accounts;
}

/** An access token that is kept valid from a sign-in or a pasted refresh token (field notes 4). */
export function refreshingToken(options: RefreshingOptions): TokenSource {
  return new RefreshingToken(options);
}

const nothingKnown: AccountState = { grant: null, retryAt: null, signInRequiredSince: null, problem: null };

class RefreshingToken implements TokenSource {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #accounts: Accounts;
  readonly #member: Member;
  readonly #seed: { token: string; fingerprint: string } | null;
  readonly #ownKey: string;
  readonly #seedKey: string;
  readonly #cancelStart: () => void;
  #account: Account | null = null;
  #signInsSeen = 0;
  #finding: Promise<Account> | null = null;
  #problem: VehicleError | null = null;
  #leaving: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: RefreshingOptions) {
    const client = trimmed(options.client);
    const seed = options.refreshToken?.trim() ?? '';
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#accounts = options.accounts ?? sharedAccounts;
    this.#member = { client, send: options.send, onSecret: options.onSecret ?? ignore };
    this.#seed = seed === '' ? null : { token: seed, fingerprint: fingerprint(seed) };
    this.#ownKey = signedInKey(client, options.owner);
    this.#seedKey = pastedKey(client, this.#seed?.fingerprint ?? '');
    // A grant is kept alive while nobody reads, too.
    this.#cancelStart = this.#clock.after(1_000 * this.#random(), () => void this.#find().catch(ignore));
  }

  async get(signal?: AbortSignal): Promise<string> {
    const known = this.#signInsSeen === this.#accounts.signIns ? this.#account?.fresh : null;
    return known ?? orCancelled(this.#find().then((account) => account.token()), signal);
  }

  async refused(token: string, signal?: AbortSignal): Promise<boolean> {
    return orCancelled(this.#find().then((account) => account.refused(token)), signal);
  }

  describe(): TokenDescription {
    const { grant, retryAt, signInRequiredSince, problem } = this.#account?.state ?? nothingKnown;
    return {
      kind: this.#problem?.code === 'TOKEN_MISSING' ? 'none' : 'refreshing',
      expiresAt: isoTime(grant?.expiresAt ?? null),
      scopes: grant?.scopes ?? null,
      signInRequiredSince: isoTime(signInRequiredSince),
      lastRefreshAt: isoTime(grant?.refreshedAt ?? null),
      retryAt: isoTime(retryAt),
      problem: this.#problem?.message ?? problem,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelStart();
    await this.#finding?.catch(ignore);
    this.#leave();
    await this.#leaving;
  }

  /** The account that counts now: one look for all who wait. */
  #find(): Promise<Account> {
    this.#finding ??= this.#look().finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  async #look(): Promise<Account> {
    if (this.#closed) throw cancelled();
    try {
      this.#signInsSeen = this.#accounts.signIns;
      const key = await this.#key();
      this.#problem = null;
      if (this.#account?.key === key) return this.#account;
      this.#leave();
      const seed = key === this.#seedKey ? this.#seed : null;
      this.#account = this.#accounts.join({ key, seed, store: this.#store, clock: this.#clock, random: this.#random }, this.#member);
      return this.#account;
    } catch (error) {
      this.#problem = error instanceof VehicleError ? error : null;
      throw error;
    }
  }

  #leave(): void {
    if (this.#account !== null) this.#leaving = Promise.all([this.#leaving, this.#accounts.leave(this.#account, this.#member)]);
    this.#account = null;
  }

  /** The later of the two wins: what was pasted, or the sign-in that knows of it and outdates it. */
  async #key(): Promise<string> {
    checkInputs(this.#member.client, this.#seed?.token ?? null);
    if (this.#seed !== null) {
      const signedIn = await this.#store.read(this.#ownKey).catch(() => null);
      return signedIn?.outdated.includes(this.#seed.fingerprint) ? this.#ownKey : this.#seedKey;
    }
    if (this.#account === null && (await this.#store.read(this.#ownKey)) === null) throw nobodySignedIn();
    return this.#ownKey;
  }
}

/** Blanks around what people paste are theirs, not the secret's. */
export const trimmed = (client: OAuthClient): OAuthClient => ({
  tokenUrl: client.tokenUrl.trim(),
  clientId: client.clientId.trim(),
  clientSecret: client.clientSecret.trim(),
});

/** @throws VehicleError CONFIG */
function checkInputs(client: OAuthClient, refreshToken: string | null): void {
  if (client.clientId === '') throw new VehicleError('CONFIG', 'The client id is missing. Copy it from the developer portal into the vehicle configuration.');
  if (!isPrintable(client.clientId)) throw new VehicleError('CONFIG', unusable('client id'));
  if (!isPrintable(client.clientSecret)) throw new VehicleError('CONFIG', unusable('client secret'));
  if (refreshToken !== null && !isHeaderSafe(refreshToken)) throw new VehicleError('CONFIG', unusable('refresh token'));
}

/** RFC 6749 appendix A: a blank inside is allowed, a line break is not. */
const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** The caller stops waiting; the refresh goes on, for its answer must be kept. */
function orCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelled());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

const cancelled = (): VehicleError => new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');

const ignore = (): void => undefined;
