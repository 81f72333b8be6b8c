import { createTransport } from '../http/transport';
import { systemClock, type Clock } from '../util/clock';
import { LocalPresence, type Presence } from '../state/presence';
import { Discovery } from './discovery';
import { GrantStore, type GrantStoreOptions, type SavedSignIn } from './grant-store';
import type { Send } from './oauth';
import { SignIns } from './sign-in';
import { RefreshTurn, TokenManager, type TokenManagerOptions } from './token-manager';

export interface SessionOptions {
  store: GrantStore;
  /** Must work as long as the process does. */
  send: Send;
  /** Of this process in the store. Default: no other process uses it. */
  presence?: Presence;
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
}

/**
 * What the configurations of one user directory share: the stored grants, the sign-ins under way, and one token manager for each grant
 * in use, so that configurations with the same grant share its token and its one refresh at a time.
 */
export class Session {
  readonly store: GrantStore;
  readonly signIns: SignIns;
  readonly clock: Clock;
  readonly random: () => number;
  /** The number of sign-ins that were saved. */
  saved = 0;
  readonly #send: Send;
  readonly #discovery: Discovery;
  readonly #presence: Presence;
  readonly #managers = new Map<string, TokenManager>();

  constructor({
    store,
    send,
    clock = systemClock,
    presence = new LocalPresence(clock),
    random = Math.random,
  }: SessionOptions) {
    this.store = store;
    this.clock = clock;
    this.random = random;
    this.#send = send;
    this.#discovery = new Discovery({ send, clock });
    this.#presence = presence;
    const now = (): Promise<number> => presence.renew().then(() => presence.now());
    this.signIns = new SignIns({ send, discovery: this.#discovery, clock, now, store, grants: this });
  }

  /** The manager of a grant. Each user releases it once. */
  acquire(options: Pick<TokenManagerOptions, 'key' | 'client' | 'pastedRefreshToken'>): TokenManager {
    // A configuration with a mistyped client secret gets a manager of its own, so that it does not stop the others.
    const id = JSON.stringify([options.key, options.client.clientSecret]);
    let manager = this.#managers.get(id);
    if (manager === undefined) {
      const { store, clock, random } = this;
      const turn = this.#of(options.key)[0]?.turn ?? new RefreshTurn();
      manager = new TokenManager({
        ...options,
        store,
        send: this.#send,
        discovery: this.#discovery,
        presence: this.#presence,
        clock,
        random,
        turn,
      });
      this.#managers.set(id, manager);
    }
    manager.acquire();
    return manager;
  }

  async release(manager: TokenManager): Promise<void> {
    await manager.release();
    for (const [id, known] of this.#managers) if (known.isIdle) this.#managers.delete(id);
  }

  /** Saves the grant of a sign-in over any stored one. @throws VehicleError CONFIG */
  async save(key: string, signIn: SavedSignIn): Promise<void> {
    const before = await this.store.read(key).catch(() => null);
    await this.store.write(key, { ...signIn, generation: (before?.grant.generation ?? 0) + 1, isRefreshing: false });
    this.saved += 1;
    await Promise.all(this.#of(key).map((manager) => manager.reload()));
  }

  /** Removes a grant for good. @throws VehicleError CONFIG */
  async removeGrant(key: string): Promise<void> {
    for (const manager of this.#of(key)) manager.forget();
    await this.store.remove(key);
  }

  #of(key: string): TokenManager[] {
    return [...this.#managers.values()].filter((manager) => manager.key === key);
  }
}

/** Opens the stored sign-ins. Requests go to the token endpoint one by one. */
export function openSession({
  clock = systemClock,
  presence = new LocalPresence(clock),
  ...options
}: GrantStoreOptions & Pick<SessionOptions, 'clock' | 'presence'>): Session {
  return new Session({ store: new GrantStore(options), send: sendOnce(clock), presence, clock });
}

/** Each request has a connection of its own, which ends with it. A proxy that cannot be read rejects the request, not the session. */
const sendOnce =
  (clock: Clock): Send =>
  async (request) => {
    const transport = createTransport({ clock });
    return transport.send(request).finally(() => void transport.close());
  };
