import { ownDirectory } from './directory-owner';
import { MemoryStateStore, type StateStore, type Condition, type Stored, type StoredEntry } from './state-store';

/** A store for what only one process may change, and whether this process is the one. */
export interface OwnedStore {
  /** The given store if this process is the owner of the directory, else one in memory. Its operations wait for the decision. */
  store: StateStore;
  isOwner: Promise<boolean>;
}

/** @param files the store on the directory */
export function openOwnedStore(directory: string, files: StateStore): OwnedStore {
  const isOwner = ownDirectory(directory);
  return {
    store: new PendingStore(isOwner.then((isOurs) => (isOurs ? files : new MemoryStateStore()))),
    isOwner,
  };
}

/** A store that is not known yet: each operation waits for it. */
class PendingStore implements StateStore {
  readonly #store: Promise<StateStore>;

  constructor(store: Promise<StateStore>) {
    this.#store = store;
  }

  async read(key: string): Promise<Stored | null> {
    return (await this.#store).read(key);
  }

  async write(key: string, value: unknown, condition?: Condition): Promise<string | null> {
    return (await this.#store).write(key, value, condition);
  }

  async remove(key: string, condition?: Condition): Promise<boolean> {
    return (await this.#store).remove(key, condition);
  }

  async entries(prefix: string): Promise<StoredEntry[]> {
    return (await this.#store).entries(prefix);
  }
}
