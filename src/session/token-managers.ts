import { systemClock, type Clock } from '../util/clock';
import type { GrantStore } from './grant-store';
import type { Send } from './oauth';
import { thisProcess, TokenManager, type ProcessIdentity, type TokenManagerOptions } from './token-manager';

export interface TokenManagersOptions {
  store: GrantStore;
  /** Must work as long as the process does. */
  send: Send;
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
  self?: ProcessIdentity;
}

/** The grants in use: configurations that hold the same one share its token, and its one refresh at a time. */
export class TokenManagers {
  readonly store: GrantStore;
  readonly send: Send;
  readonly clock: Clock;
  readonly random: () => number;
  readonly #self: ProcessIdentity;
  readonly #managers = new Map<string, TokenManager>();
  #signIns = 0;

  constructor(options: TokenManagersOptions) {
    this.store = options.store;
    this.send = options.send;
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.#self = options.self ?? thisProcess;
  }

  /** Grows with every sign-in, after which another grant may be the one to use. */
  get signIns(): number {
    return this.#signIns;
  }

  /** Each user releases it once. */
  acquire(options: Pick<TokenManagerOptions, 'key' | 'client' | 'importedRefreshToken'>): TokenManager {
    // A configuration with a mistyped client secret gets a manager of its own, so that it does not stop the others.
    const id = JSON.stringify([options.key, options.client.clientSecret]);
    let manager = this.#managers.get(id);
    if (manager === undefined) {
      const { store, send, clock, random } = this;
      manager = new TokenManager({ ...options, store, send, clock, random, self: this.#self });
      this.#managers.set(id, manager);
    }
    manager.acquire();
    return manager;
  }

  async release(manager: TokenManager): Promise<void> {
    await manager.release();
    for (const [id, known] of this.#managers) if (known === manager && known.isIdle) this.#managers.delete(id);
  }

  /** A sign-in was saved under `key`. */
  async onSignIn(key: string): Promise<void> {
    this.#signIns += 1;
    await Promise.all(this.#of(key).map((manager) => manager.reload()));
  }

  /** Removes a grant for good. @throws VehicleError CONFIG */
  async forget(key: string): Promise<void> {
    for (const manager of this.#of(key)) manager.forget();
    await this.store.remove(key);
  }

  #of(key: string): TokenManager[] {
    return [...this.#managers.values()].filter((manager) => manager.key === key);
  }
}
