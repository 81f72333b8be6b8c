import { createTransport } from '../http/transport';
import { getOrMake } from '../util/get-or-make';
import { systemClock, type Clock } from '../util/clock';
import { LocalPresence, type Presence } from '../state/presence';
import { Discovery } from './discovery';
import { GrantStore, type GrantStoreOptions, type SavedSignIn } from './grant-store';
import type { OAuthClient, Send } from './oauth';
import { SignIns } from './sign-in';
import { TokenManager } from './token-manager';

export interface SessionOptions {
  store: GrantStore;
  /** Must work as long as the process does. */
  send: Send;
  /** The presence of this process in the store. Default: no other process uses the store. */
  presence?: Presence;
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
}

/**
 * The part of the sign-ins that all vehicle configurations of a Node-RED share: the stored grants,
 * the sign-ins in progress, and one token manager for each grant in use. A grant belongs to one
 * config node (`signInKey`). That node and a dialog that tries it share the token manager, so they
 * share the token and its one refresh at a time.
 */
export class Session {
  readonly store: GrantStore;
  readonly signIns: SignIns;
  readonly clock: Clock;
  readonly random: () => number;
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
  acquire(key: string, client: OAuthClient): TokenManager {
    const { store, clock, random } = this;
    const [send, discovery, presence] = [this.#send, this.#discovery, this.#presence];
    const options = { key, store, send, discovery, presence, clock, random };
    const manager = getOrMake(this.#managers, key, () => new TokenManager(options, client));
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

export function openSession(options: GrantStoreOptions & Pick<SessionOptions, 'clock' | 'presence'>): Session {
  const send = sendOverOwnConnection(options.clock ?? systemClock);
  return new Session({ ...options, store: new GrantStore(options), send });
}

/**
 * Makes one connection for each request: a wrong proxy address fails the request, not the start.
 */
const sendOverOwnConnection =
  (clock: Clock): Send =>
  async (request) => {
    const transport = createTransport({ clock });
    return transport.send(request).finally(() => void transport.close());
  };
