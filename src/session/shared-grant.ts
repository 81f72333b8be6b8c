import { cancelledError, VehicleError } from '../errors';
import type { Presence } from '../state/presence';
import { retryOnConflict } from '../state/state-store';
import type { Signal } from '../util/cancellation';
import { linkSignals } from '../util/abort';
import type { Clock } from '../util/clock';
import type { Grant, GrantStore, StoredGrant } from './grant-store';
import { requestTokens, type OAuthClient, type Refusal, type Send, type Tokens } from './oauth';

export interface SharedGrantOptions {
  key: string;
  store: GrantStore;
  /** Must work after the configuration is closed, because a refresh may outlive it. */
  send: Send;
  presence: Presence;
  clock: Clock;
}

/** How often a process looks whether another one has refreshed. */
const lookAtGrantMs = 1_000;

/**
 * The grant of a sign-in in the store, which one process at a time refreshes: the one that the mark
 * `refreshing` names. The mark is stored before the refresh token is sent, on condition that the
 * grant has not changed, and the mark of a process that has ended is taken over.
 *
 * One loss cannot be prevented by a client: the service rotates the refresh token, and its answer
 * is lost on the way or with the process. However, a server may accept a rotated token for some
 * more seconds (PingFederate, which serves the real sign-in, calls it the rolling grace period).
 * Therefore the mark of a refresh without an answer stays, without a name, and any process
 * repeats the refresh.
 */
export class SharedGrant {
  readonly #options: SharedGrantOptions;
  #known: Grant | null = null;
  /** A rotated grant that the store did not accept: kept until it does. */
  #unsaved: Grant | null = null;
  #isForgotten = false;

  constructor(options: SharedGrantOptions) {
    this.#options = options;
  }

  /** The grant as this process saw it last; null before that, and if nobody is signed in. */
  get known(): Grant | null {
    return this.#known;
  }

  get isUnsaved(): boolean {
    return this.#unsaved !== null;
  }

  /** A configuration uses it, perhaps again after it was forgotten. */
  use(): void {
    this.#isForgotten = false;
  }

  /** The configuration was deleted: an answer that is still on its way is not saved. */
  forget(): void {
    this.#isForgotten = true;
    this.#unsaved = null;
    this.#known = null;
  }

  /**
   * Takes over the grant that a sign-in has just saved.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async reload(): Promise<void> {
    const stored = await this.#options.store.read(this.#options.key);
    // The generation does not matter here: if the file had gone, it starts again from 1.
    if (stored === null) return;
    this.#known = stored.grant;
    this.#unsaved = null;
  }

  /**
   * The stored grant. If the store has lost the known one, that is stored again: another process
   * may know an older one, whose refresh token has been used.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE, CANCELLED
   */
  async read(): Promise<StoredGrant | null> {
    if (this.#unsaved !== null) await this.#save(this.#unsaved);
    const stored = await this.#options.store.read(this.#options.key);
    if (this.#isForgotten) throw cancelledError();
    if (this.#known !== null && (stored === null || isOlderGrant(stored.grant, this.#known))) {
      await this.#save(this.#known);
      return this.read();
    }
    if (stored !== null) this.#known = stored.grant;
    return stored;
  }

  /**
   * Refreshes the grant and saves the new one.
   * @returns null if another process refreshes it or has changed it: read it again
   * @throws VehicleError
   */
  async refresh(stored: StoredGrant, client: OAuthClient, signal: Signal): Promise<Grant | Refusal | null> {
    const { grant, version } = stored;
    const { presence, clock, store, key } = this.#options;
    await presence.settled(signal);
    await presence.renew();
    const { id } = presence;
    const holder = grant.refreshing;
    if (holder !== null && holder !== id && !(await presence.hasEnded(holder))) {
      await clock.sleep(lookAtGrantMs, signal);
      return null;
    }
    // This write also proves that the store can be written to before a token is rotated.
    const marked = await store.write(key, { ...grant, refreshing: id }, version);
    if (marked === null) return null;
    this.#known = marked.grant;
    const answer = await this.#request(marked, client, signal);
    return 'refusal' in answer ? answer : this.#save(rotated(marked.grant, answer));
  }

  async #request({ grant, version }: StoredGrant, client: OAuthClient, signal: Signal): Promise<Tokens | Refusal> {
    const { presence, send, clock, store, key } = this.#options;
    const unsent = linkSignals(signal);
    let isSent = false;
    const mayLeave = (): void => {
      // This process was stopped for long, and another one may refresh now.
      if (!presence.isStill(grant.refreshing ?? ''))
        throw new VehicleError('TIMEOUT', 'The refresh of the sign-in took too long and was not sent.');
      isSent = true;
      // From here on the request is not canceled, because the service may have rotated the token.
      unsent.unlink();
    };
    // If that cannot be stored, the mark names this process, which repeats the refresh.
    const mark = (refreshing: string | null): Promise<unknown> =>
      store.write(key, { ...grant, refreshing }, version).catch(() => undefined);
    try {
      const form = { grant_type: 'refresh_token', refresh_token: grant.refreshToken };
      const answer = await requestTokens(client, form, { send, clock, signal: unsent.signal, mayLeave });
      if ('refusal' in answer) await mark(null);
      return answer;
    } catch (error) {
      await mark(isSent ? '' : null);
      throw error;
    } finally {
      unsent.unlink();
    }
  }

  async #save(next: Grant): Promise<Grant> {
    const { store, key } = this.#options;
    if (this.#isForgotten) return next;
    this.#unsaved = next;
    const { grant } = await retryOnConflict(async () => {
      const stored = await store.read(key);
      if (this.#isForgotten) return { grant: next };
      // A sign-in was later than this refresh.
      if (stored !== null && isLaterGrant(stored.grant, next)) return stored;
      return store.write(key, next, stored?.version ?? null);
    });
    if (this.#isForgotten) return next;
    this.#unsaved = null;
    this.#known = grant;
    return grant;
  }
}

/** Whether the store has lost a later grant of the same sign-in. */
const isOlderGrant = (stored: Grant, known: Grant): boolean =>
  stored.signedInAt === known.signedInAt && stored.generation < known.generation;

/** A grant is later also if the store had lost its values before a sign-in, which counts from 1. */
const isLaterGrant = (stored: Grant, next: Grant): boolean =>
  stored.generation >= next.generation || stored.signedInAt > next.signedInAt;

const rotated = (before: Grant, answer: Tokens): Grant => ({
  ...before,
  generation: before.generation + 1,
  // Some answers hold no refresh token; then the one that was sent stays valid
  // (docs/internals/vendor-api.md 4.2).
  refreshToken: answer.refreshToken ?? before.refreshToken,
  accessToken: answer.accessToken,
  expiresAt: answer.expiresAt,
  scopes: answer.scopes ?? before.scopes,
  refreshedAt: answer.receivedAt,
  refreshing: null,
});
