import { createTransport } from '../http/transport';
import { systemClock, type Clock } from '../util/clock';
import type { Membership } from '../state/membership';
import { Discovery } from './discovery';
import { GrantStore, type GrantStoreOptions, type SavedSignIn } from './grant-store';
import type { OAuthClient, Send } from './oauth';
import { SignIns } from './sign-in';
import type { SharedGrantOptions } from './shared-grant';
import { TokenManager } from './token-manager';

export interface SessionOptions {
  store: GrantStore;
  /** Must work as long as the process does. */
  send: Send;
  /** Of this process, where others use the store, too. */
  membership?: Membership | null;
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
  readonly #send: Send;
  readonly #discovery: Discovery;
  readonly #presence: SharedGrantOptions['presence'];
  readonly #managers = new Map<string, TokenManager>();

  constructor({ store, send, membership = null, clock = systemClock, random = Math.random }: SessionOptions) {
    this.store = store;
    this.clock = clock;
    this.random = random;
    this.#send = send;
    this.#discovery = new Discovery({ send, clock });
    this.#presence = membership === null ? alone : presenceOf(membership, clock);
    const now = (): Promise<number> => membership?.store.now() ?? Promise.resolve(clock.now());
    this.signIns = new SignIns({ send, discovery: this.#discovery, clock, now, store, grants: this });
  }

  /** The manager of a grant. Each user releases it once. */
  acquire(key: string, client: OAuthClient): TokenManager {
    const { store, clock, random } = this;
    const [send, discovery, presence] = [this.#send, this.#discovery, this.#presence];
    const options = { key, store, send, discovery, presence, clock, random };
    const manager = this.#managers.get(key) ?? new TokenManager(options, client);
    this.#managers.set(key, manager);
    manager.acquire(client);
    return manager;
  }

  async release(manager: TokenManager, client: OAuthClient): Promise<void> {
    await manager.release(client);
    for (const [key, known] of this.#managers) if (known.isIdle) this.#managers.delete(key);
  }

  /** Saves the grant of a sign-in over any stored one. @throws VehicleError CONFIG */
  async save(key: string, signIn: SavedSignIn): Promise<void> {
    const before = await this.store.read(key).catch(() => null);
    await this.store.write(key, { ...signIn, generation: (before?.grant.generation ?? 0) + 1, refreshing: null });
    await this.#managers.get(key)?.reload();
  }

  /** Removes a grant for good. @throws VehicleError CONFIG */
  async removeGrant(key: string): Promise<void> {
    this.#managers.get(key)?.forget();
    await this.store.remove(key);
  }
}

/** Opens the stored sign-ins. Requests go to the token endpoint one by one. */
export function openSession({
  clock = systemClock,
  membership = null,
  ...options
}: GrantStoreOptions & Pick<SessionOptions, 'clock' | 'membership'>): Session {
  return new Session({ store: new GrantStore(options), send: sendOnce(clock), membership, clock });
}

/** Each request has a connection of its own, which ends with it. A proxy that cannot be read rejects the request, not the session. */
const sendOnce =
  (clock: Clock): Send =>
  async (request) => {
    const transport = createTransport({ clock });
    return transport.send(request).finally(() => void transport.close());
  };

const alone: SharedGrantOptions['presence'] = {
  id: 'alone',
  isStill: () => true,
  hasEnded: (id) => Promise.resolve(id !== 'alone'),
  renew: () => Promise.resolve(),
  settled: () => Promise.resolve(),
  onGone: () => undefined,
};

const presenceOf = (membership: Membership, clock: Clock): SharedGrantOptions['presence'] => ({
  get id() {
    return membership.id;
  },
  isStill: (id) => membership.isStill(id),
  hasEnded: (id) => membership.hasEnded(id),
  renew: () => membership.renew(),
  async settled(signal) {
    for (let ms; (ms = membership.store.settlesInMs) > 0;) await clock.sleep(Math.min(ms, 3_000), signal);
  },
  onGone: (call, signal) => membership.onGone(call, signal),
});
