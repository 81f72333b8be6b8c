import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { StateStore } from '../state/state-store';

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
  #hashes: Promise<Set<string>> | null = null;

  constructor(store: StateStore, key: string) {
    this.#store = store;
    this.#key = key;
  }

  async has(id: string): Promise<boolean> {
    return (await this.#known()).has(hashOf(id));
  }

  /** Adds the id in memory in any case. @throws StateFault where it could not be stored */
  async add(id: string): Promise<void> {
    const hashes = await this.#known();
    if (hashes.has(hashOf(id))) return;
    hashes.add(hashOf(id));
    for (const oldest of hashes) {
      if (hashes.size <= maxIds) break;
      hashes.delete(oldest);
    }
    await this.#store.write(this.#key, [...hashes]);
  }

  /** @throws StateFault */
  async clear(): Promise<void> {
    this.#hashes = null;
    await this.#store.remove(this.#key);
  }

  /** Read when it is first needed: the former owner of the key has ended by then. */
  #known(): Promise<Set<string>> {
    this.#hashes ??= this.#store.read(this.#key).then(
      (stored) => new Set(storedIds.safeParse(stored?.value).data?.slice(-maxIds)),
      () => new Set<string>(),
    );
    return this.#hashes;
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);
