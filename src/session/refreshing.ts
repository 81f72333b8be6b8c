import { systemClock, type Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { nobodySignedIn, type GrantKeeper, type GrantState, type Member } from './token-manager';
import { keepers as sharedKeepers, fingerprint, pastedKey, signedInKey, type GrantKeepers } from './token-managers';
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
  keepers?: GrantKeepers;
}

/** An access token that is kept valid from a sign-in or a pasted refresh token (field notes 4). */
export function refreshingToken(options: RefreshingOptions): TokenSource {
  return new RefreshingToken(options);
}

const nothingKnown: GrantState = { grant: null, retryAt: null, signInRequiredSince: null, problem: null };

class RefreshingToken implements TokenSource {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #keepers: GrantKeepers;
  readonly #member: Member;
  readonly #seed: { token: string; fingerprint: string } | null;
  readonly #ownKey: string;
  readonly #seedKey: string;
  readonly #cancelStart: () => void;
  #keeper: GrantKeeper | null = null;
  #signInsSeen = 0;
  #finding: Promise<GrantKeeper> | null = null;
  #problem: VehicleError | null = null;
  #leaving: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: RefreshingOptions) {
    const client = trimmed(options.client);
    const seed = options.refreshToken?.trim() ?? '';
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#keepers = options.keepers ?? sharedKeepers;
    this.#member = { client, send: options.send, onSecret: options.onSecret ?? ignore };
    this.#seed = seed === '' ? null : { token: seed, fingerprint: fingerprint(seed) };
    this.#ownKey = signedInKey(client, options.owner);
    this.#seedKey = pastedKey(client, this.#seed?.fingerprint ?? '');
    // A grant is kept alive while nobody reads, too.
    this.#cancelStart = this.#clock.after(1_000 * this.#random(), () => void this.#find().catch(ignore));
  }

  async get(signal?: AbortSignal): Promise<string> {
    const known = this.#signInsSeen === this.#keepers.signIns ? this.#keeper?.fresh : null;
    return (
      known ??
      orCancelled(
        this.#find().then((keeper) => keeper.token()),
        signal,
      )
    );
  }

  async refused(token: string, signal?: AbortSignal): Promise<boolean> {
    return orCancelled(
      this.#find().then((keeper) => keeper.refused(token)),
      signal,
    );
  }

  describe(): TokenDescription {
    const { grant, retryAt, signInRequiredSince, problem } = this.#keeper?.state ?? nothingKnown;
    return {
      kind: this.#problem?.code === 'TOKEN_MISSING' ? 'none' : 'refreshing',
      expiresAt: isoTime(grant?.expiresAt ?? null),
      scopes: grant?.scopes ?? null,
      signInRequiredSince: isoTime(signInRequiredSince),
      signedInAt: isoTime(grant?.signedInAt ?? null),
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

  /** The keeper that counts now: one look for all who wait. */
  #find(): Promise<GrantKeeper> {
    this.#finding ??= this.#look().finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  async #look(): Promise<GrantKeeper> {
    if (this.#closed) throw cancelled();
    try {
      this.#signInsSeen = this.#keepers.signIns;
      const key = await this.#key();
      this.#problem = null;
      if (this.#keeper?.key === key) return this.#keeper;
      this.#leave();
      const seed = key === this.#seedKey ? this.#seed : null;
      this.#keeper = this.#keepers.join(
        { key, seed, store: this.#store, clock: this.#clock, random: this.#random },
        this.#member,
      );
      return this.#keeper;
    } catch (error) {
      this.#problem = error instanceof VehicleError ? error : null;
      throw error;
    }
  }

  #leave(): void {
    if (this.#keeper !== null)
      this.#leaving = Promise.all([this.#leaving, this.#keepers.leave(this.#keeper, this.#member)]);
    this.#keeper = null;
  }

  /** The later of the two wins: what was pasted, or the sign-in that knows of it and outdates it. */
  async #key(): Promise<string> {
    checkInputs(this.#member.client, this.#seed?.token ?? null);
    if (this.#seed !== null) {
      const signedIn = await this.#store.read(this.#ownKey).catch((fault: unknown) => {
        // Unreadable, it may be the later one: only a process that has looked before goes on with what it knows.
        if (this.#keeper === null) throw fault;
        return this.#keeper.key;
      });
      if (typeof signedIn === 'string') return signedIn;
      return signedIn?.outdated.includes(this.#seed.fingerprint) ? this.#ownKey : this.#seedKey;
    }
    if (this.#keeper === null && (await this.#store.read(this.#ownKey)) === null) throw nobodySignedIn();
    return this.#ownKey;
  }
}

/** Blanks around what people paste are theirs, not the secret's. */
export const trimmed = (client: OAuthClient): OAuthClient => ({
  audience: client.audience,
  tokenUrl: client.tokenUrl.trim(),
  clientId: client.clientId.trim(),
  clientSecret: client.clientSecret.trim(),
});

/** @throws VehicleError CONFIG */
function checkInputs(client: OAuthClient, refreshToken: string | null): void {
  if (client.clientId === '')
    throw new VehicleError(
      'CONFIG',
      'The client id is missing. Copy it from the developer portal into the vehicle configuration.',
    );
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

const cancelled = (): VehicleError =>
  new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');

const ignore = (): void => undefined;
