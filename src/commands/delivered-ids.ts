import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { readUndamaged, type StateStore } from '../state/state-store';

/** More ids than a flow sends again, and few enough to hold in memory. */
const maxIds = 1000;

const storedIds = z.lazy(() => z.array(z.string().check(z.regex(/^[0-9a-f]{32}$/))));

/**
 * The ids of the commands whose result was delivered last, as hashes: a record that comes again gets no second result
 * (docs/message-contract.md 5), not even after a restart.
 */
export class DeliveredIds {
  readonly #store: StateStore;
  readonly #key: string;
  /** Added by this process, stored or not. */
  readonly #added = new Set<string>();
  /** As it was read; a change is added to it. */
  #stored: Promise<Set<string>> | null = null;

  constructor(store: StateStore, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** @throws StateFault where the stored ids cannot be read now */
  async has(id: string): Promise<boolean> {
    return this.#added.has(hashOf(id)) || (await this.#read()).has(hashOf(id));
  }

  /** Adds the id in memory in any case. @throws StateFault where it could not be stored */
  async add(id: string): Promise<void> {
    this.#added.add(hashOf(id));
    const hashes = await this.#read();
    const before = hashes.size;
    for (const hash of this.#added) hashes.add(hash);
    if (hashes.size === before) return;
    for (const oldest of hashes) {
      if (hashes.size <= maxIds) break;
      hashes.delete(oldest);
      this.#added.delete(oldest);
    }
    await this.#store.write(this.#key, [...hashes]);
  }

  /** @throws StateFault */
  async clear(): Promise<void> {
    this.#stored = null;
    this.#added.clear();
    await this.#store.remove(this.#key);
  }

  /** Read when it is first needed: the former owner of the key has ended by then. A failed read is tried again at the next use. */
  #read(): Promise<Set<string>> {
    this.#stored ??= readUndamaged(this.#store, this.#key).then(
      (stored) => new Set(storedIds.safeParse(stored).data?.slice(-maxIds)),
      (error: unknown) => {
        this.#stored = null;
        throw error;
      },
    );
    return this.#stored;
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);
