import { CarFacts } from './car/facts';
import { Repeats } from './car/repeats';
import { CommandLog } from './commands/log';
import { Logbook } from './logbook/logbook';
import { Turns } from './commands/turns';
import { RateLimiter } from './http/rate-limiter';
import type { Answer } from './http/requests';
import { SharedReads } from './http/shared-reads';
import { createRedactor, type Redactor } from './redact';
import type { Sentence } from './sentence';
import { LocalPresence, type Presence } from './state/presence';
import { hashed, MemoryStateStore, type StateStore } from './state/state-store';
import { systemClock, type Clock } from './util/clock';
import { getOrMake } from './util/get-or-make';

export interface PackOptions {
  clock?: Clock;
  /**
   * Keeps what outlives a restart: the counts of the quota, the facts about the cars, the logbook
   * and the commands. Default: they end with the process.
   */
  store?: StateStore;
  /** The presence of this process in `store`. Default: no other process uses the store. */
  presence?: Presence;
  /**
   * Removes the secrets that it knows from the service's answers. Default: one that knows none yet.
   */
  redactor?: Redactor;
  /** Is called with a sentence for the user that is not part of a message. */
  warn?: (warning: Sentence) => void;
  /** Called when a command is logged or changes. */
  onCommand?: () => void;
}

/**
 * What the accounts of a process share: clock, store, redactor, quotas with the answers to reads,
 * facts about the cars, the logbook, the deferred answers, the commands and their turns.
 */
export class Pack {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly presence: Presence;
  readonly redactor: Redactor;
  readonly repeats = new Repeats();
  readonly facts: CarFacts;
  readonly log: CommandLog;
  readonly logbook: Logbook;
  readonly #keys = new Map<string, { limiter: RateLimiter; shared: SharedReads<Answer> }>();
  readonly #turns = new Map<string, Turns>();

  constructor(options: PackOptions = {}) {
    const {
      clock = systemClock,
      presence = new LocalPresence(clock),
      store = new MemoryStateStore(),
      redactor = createRedactor(),
      warn,
      onCommand,
    } = options;
    this.clock = clock;
    this.store = store;
    this.presence = presence;
    this.redactor = redactor;
    this.facts = new CarFacts(store, clock, this.repeats);
    this.logbook = new Logbook({ store, clock, presence, repeats: this.repeats });
    this.log = new CommandLog({ store, presence, ...(warn && { warn }), ...(onCommand && { onChange: onCommand }) });
  }

  /**
   * What all accounts with one API key at one service share: the quota counts for the key
   * (docs/internals/vendor-api.md 4.3, 5), and the answer to one account is reused for another that
   * reads with the same token.
   */
  stateOfKey(baseUrl: string, apiKey: string) {
    // The key itself is stored nowhere.
    const key = hashed(`${baseUrl}\n${apiKey}`);
    const { clock, presence, store } = this;
    return getOrMake(this.#keys, key, () => ({
      limiter: new RateLimiter({ clock, store, presence, key: `quota/${key}` }),
      shared: new SharedReads<Answer>(clock),
    }));
  }

  /**
   * The turns at a service: a car accepts one command at a time, and a command outlives the
   * account that sent it.
   */
  turnsFor(baseUrl: string): Turns {
    const { clock, presence } = this;
    return getOrMake(this.#turns, baseUrl, () => new Turns({ clock, baseUrl, presence }));
  }
}
