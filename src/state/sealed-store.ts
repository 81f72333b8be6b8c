import { randomBytes } from 'node:crypto';
import { sentence, type Sentence } from '../sentence';
import { Serial } from '../util/serial';
import { sealedSchema, type Seal } from './seal';
import {
  collectionOf,
  StateFault,
  type WriteCondition,
  type StateStore,
  type Stored,
  type StoredEntry,
} from './state-store';

interface SealedStateStoreOptions {
  /** Keeps the encrypted values, in any store. */
  store: StateStore;
  /** The first one encrypts, each of them decrypts. Called at each read and write. */
  seals: () => readonly Seal[];
  /** Gets a sentence when a value that cannot be decrypted was put aside. */
  warn?: (warning: Sentence) => void;
}

/**
 * Encrypts every value of a store. A value that was encrypted with another secret
 * is never overwritten.
 */
export class SealedStateStore implements StateStore {
  readonly #options: SealedStateStoreOptions;

  /** Encrypting takes time: changes keep their order. */
  readonly #changes = new Serial();

  constructor(options: SealedStateStoreOptions) {
    this.#options = options;
  }

  /** @throws StateFault `foreign` if none of the seals encrypted the value */
  async read(key: string): Promise<Stored | null> {
    const stored = await this.#options.store.read(key);
    return stored === null ? null : { ...stored, value: await this.#opened(key, stored.value) };
  }

  write(key: string, value: unknown, condition: WriteCondition = {}): Promise<string | null> {
    const text = JSON.stringify(value ?? null);
    return this.#changes.run(async () => {
      const { store, seals } = this.#options;
      await this.#keepUnreadable(key, condition);
      // A seal may create its key in the directory of the store, which is open since the read.
      const [seal] = seals();
      if (seal === undefined) throw new TypeError('An unencrypted store cannot contain secrets.');
      return store.write(key, await seal.seal(text, key), condition);
    });
  }

  /** What was put aside is removed with the key. */
  remove(key: string, condition: WriteCondition = {}): Promise<boolean> {
    return this.#changes.run(async () => {
      const { store } = this.#options;
      const isRemoved = await store.remove(key, condition);
      if (!isRemoved) return false;
      for (const old of await store.entries(`${aside}/${key}/`)) await store.remove(old.key);
      return true;
    });
  }

  async entries(prefix: string): Promise<StoredEntry[]> {
    const opened: StoredEntry[] = [];
    for (const entry of await this.#options.store.entries(prefix)) {
      const value = await this.#opened(entry.key, entry.value).catch(ignoreFault);
      if (value !== undefined) opened.push({ ...entry, value });
    }
    return opened;
  }

  async #opened(key: string, value: unknown): Promise<unknown> {
    const sealed = sealedSchema.safeParse(value);
    if (!sealed.success) throw new StateFault('damaged', collectionOf(key));
    let fault: 'damaged' | 'foreign' = 'foreign';
    for (const seal of this.#options.seals()) {
      const opened = await seal.open(sealed.data, key);
      if ('text' in opened) return JSON.parse(opened.text) as unknown;
      if (opened.fault === 'damaged') fault = 'damaged';
    }
    throw new StateFault(fault, collectionOf(key));
  }

  async #keepUnreadable(key: string, { expected }: WriteCondition): Promise<void> {
    const { store, warn } = this.#options;
    // The store itself keeps what it cannot read.
    const stored = await store.read(key).catch(ignoreFault);
    if (stored === null || stored === undefined || (expected !== undefined && expected !== stored.version)) return;
    try {
      await this.#opened(key, stored.value);
    } catch (error) {
      if (!(error instanceof StateFault)) throw error;
      await store.write(`${aside}/${key}/${randomBytes(3).toString('hex')}`, stored.value);
      warn?.(sentence`${error.sentence} The old value is kept in the folder “${aside}” beside the new one.`);
    }
  }
}

const aside = 'unreadable';

const ignoreFault = (error: unknown): undefined => {
  if (error instanceof StateFault) return undefined;
  throw error;
};
