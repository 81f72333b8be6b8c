import { CarFacts } from './car/facts';
import { VehicleCommandQueue } from './commands/vehicle-command-queue';
import { ApiKeyRegistry } from './http/api-key-registry';
import type { Redactor } from './redact';
import { MemoryStateStore, type StateStore } from './state/state-store';
import { systemClock, type Clock } from './util/clock';

export interface PackOptions {
  clock?: Clock;
  /** Keeps what outlives a restart: the counts of the quota and the facts about the cars. Default: they end with the process. */
  store?: StateStore;
  /** Removes the secrets that it knows from the service's answers. Default: none. */
  redactor?: Redactor;
}

/** What the accounts of a process share: clock, store, redactor, quotas with the answers to reads, facts about the cars, and the turns of their commands. */
export class Pack {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly redactor: Redactor | null;
  readonly keys: ApiKeyRegistry;
  readonly facts: CarFacts;
  readonly #queues = new Map<string, VehicleCommandQueue>();

  constructor({ clock = systemClock, store = new MemoryStateStore(), redactor }: PackOptions = {}) {
    this.clock = clock;
    this.store = store;
    this.redactor = redactor ?? null;
    this.keys = new ApiKeyRegistry({ store, clock });
    this.facts = new CarFacts(store);
  }

  /** The queue of a service: a car takes one command at a time, and a command outlives the account that sent it. */
  queueFor(baseUrl: string): VehicleCommandQueue {
    const queue = this.#queues.get(baseUrl) ?? new VehicleCommandQueue(this.clock);
    this.#queues.set(baseUrl, queue);
    return queue;
  }
}
