import { CarFacts } from './car/facts';
import { CommandLog } from './commands/log';
import { VehicleCommandQueue } from './commands/vehicle-command-queue';
import { ApiKeyRegistry } from './http/api-key-registry';
import { createRedactor, type Redactor } from './redact';
import type { Sentence } from './sentence';
import { MemoryStateStore, type StateStore } from './state/state-store';
import { systemClock, type Clock } from './util/clock';

export interface PackOptions {
  clock?: Clock;
  /** Keeps what outlives a restart: the counts of the quota, the facts about the cars, and the commands. Default: they end with the process. */
  store?: StateStore;
  /** Removes the secrets that it knows from the service's answers. Default: one that knows none yet. */
  redactor?: Redactor;
  /** Gets a sentence for people that belongs to no message. */
  warn?: (warning: Sentence) => void;
  /** Called when a command is logged or changes. */
  onCommand?: () => void;
}

/** What the accounts of a process share: clock, store, redactor, quotas with the answers to reads, facts about the cars, their commands and the turns of these. */
export class Pack {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly redactor: Redactor;
  readonly keys: ApiKeyRegistry;
  readonly facts: CarFacts;
  readonly log: CommandLog;
  readonly #queues = new Map<string, VehicleCommandQueue>();

  constructor(options: PackOptions = {}) {
    const {
      clock = systemClock,
      store = new MemoryStateStore(),
      redactor = createRedactor(),
      warn,
      onCommand,
    } = options;
    this.clock = clock;
    this.store = store;
    this.redactor = redactor;
    this.keys = new ApiKeyRegistry({ store, clock });
    this.facts = new CarFacts(store);
    this.log = new CommandLog({ store, ...(warn && { warn }), ...(onCommand && { onChange: onCommand }) });
  }

  /** The queue of a service: a car takes one command at a time, and a command outlives the account that sent it. */
  queueFor(baseUrl: string): VehicleCommandQueue {
    const queue = this.#queues.get(baseUrl) ?? new VehicleCommandQueue(this.clock);
    this.#queues.set(baseUrl, queue);
    return queue;
  }
}
