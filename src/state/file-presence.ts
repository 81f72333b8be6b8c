import { systemClock, type Clock } from '../util/clock';
import { DirectoryInUse, type DirectoryOwner } from './owner';
import { LocalPresence, type Role } from './presence';

/** A process that uses a directory alone, while it owns it. */
export class FilePresence extends LocalPresence {
  readonly #owner: DirectoryOwner;

  constructor(owner: DirectoryOwner, clock: Clock = systemClock) {
    super(clock);
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
