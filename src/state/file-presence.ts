import { systemClock, type Clock } from '../util/clock';
import type { FileStateStore } from './file-state-store';
import { DirectoryInUse, type DirectoryOwner, type Role } from './owner';
import { LocalPresence } from './presence';

/** A process that uses a directory alone, while it owns it. */
export class FilePresence extends LocalPresence {
  readonly #owner: DirectoryOwner;

  /** @param store in the directory */
  constructor(owner: DirectoryOwner, store: FileStateStore, clock: Clock = systemClock) {
    super(clock, () => store.earlierFoundAt());
    this.#owner = owner;
  }

  override get role(): Role {
    return this.#owner.role;
  }

  override isStill(id: string): boolean {
    return this.role === 'active' && super.isStill(id);
  }

  override get fault(): DirectoryInUse | null {
    return this.role === 'standby' || this.role === 'lost' ? new DirectoryInUse(this.role) : null;
  }

  override onChange(listener: () => void): () => void {
    return this.#owner.onChange(listener);
  }
}
