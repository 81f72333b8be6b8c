import { MemoryStateStore } from '../../src/index';
import type { SharedStore, StateFault } from '../../src/state/state-store';
import type { Clock } from '../../src/util/clock';

/**
 * A store in memory that several packs of one process share, as processes share a server. A
 * test sets its fault.
 */
export class SharedMemory extends MemoryStateStore implements SharedStore {
  settlesInMs = 0;
  /** How far the clock of the store was set forward. */
  aheadMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #listeners = new Set<() => void>();
  #fault: StateFault | null = null;

  constructor(clock: Pick<Clock, 'now'>) {
    super();
    this.#clock = clock;
    for (const name of ['read', 'write', 'remove', 'entries'] as const) {
      const work = this[name].bind(this) as (...given: unknown[]) => Promise<unknown>;
      // The signature of each method stays what it was.
      Object.assign(this, {
        [name]: (...given: unknown[]) => (this.#fault === null ? work(...given) : Promise.reject(this.#fault)),
      });
    }
  }

  get fault(): StateFault | null {
    return this.#fault;
  }

  set fault(fault: StateFault | null) {
    this.#fault = fault;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  now(): Promise<number> {
    return this.#fault === null ? Promise.resolve(this.#clock.now() + this.aheadMs) : Promise.reject(this.#fault);
  }
}
