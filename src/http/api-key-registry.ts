import { createHash } from 'node:crypto';
import { RateLimiter, type CountStore, type Quota } from './rate-limiter';
import type { StateStore } from '../state/state-store';
import type { Clock } from '../util/clock';
import type { Answer } from './requests';
import { SharedReads } from './shared-reads';

/**
 * The state that all accounts with one API key at one service share: the quota counts for the key (docs/field-notes.md 4.3, 5), and the
 * answer to one account serves another that reads with the same token.
 */
interface SharedKeyState {
  limiter: RateLimiter;
  sharedReads: SharedReads<Answer>;
  /** Ends this account's use; the last one stores the counts. */
  release(): Promise<void>;
}

interface ApiKeyOptions {
  baseUrl: string;
  apiKey: string;
  /** The limits of this account; of several accounts, the strictest limits hold. */
  limits: Quota;
}

interface Entry {
  limiter: RateLimiter;
  sharedReads: SharedReads<Answer>;
  limits: Set<Quota>;
}

/** The share of the minute and of the day that plain reads leave to commands. */
const reserveForCommands = 0.04;

export class ApiKeyRegistry {
  readonly #options: { store: StateStore; clock: Clock };
  readonly #entries = new Map<string, Entry>();
  /** Limiters that are storing their counts: the next one for the same key loads them afterwards. */
  readonly #closing = new Map<string, Promise<void>>();

  constructor(options: { store: StateStore; clock: Clock }) {
    this.#options = options;
  }

  acquire({ baseUrl, apiKey, limits }: ApiKeyOptions): SharedKeyState {
    // The key itself is stored nowhere.
    const key = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const { clock } = this.#options;
      const limiter = new RateLimiter({
        ...limits,
        reserveForCommands,
        clock,
        key: `quota/${key}`,
        store: this.#storeAfterClosing(key),
      });
      entry = { limiter, sharedReads: new SharedReads(clock), limits: new Set() };
      this.#entries.set(key, entry);
    }
    const own = { ...limits };
    entry.limits.add(own);
    entry.limiter.setLimits(strictest(entry.limits));
    const { limiter, sharedReads } = entry;
    return { limiter, sharedReads, release: () => this.#release(key, entry, own) };
  }

  #storeAfterClosing(key: string): CountStore {
    const { store } = this.#options;
    return {
      read: async (name) => {
        await this.#closing.get(key);
        return store.read(name);
      },
      write: (name, value, condition) => store.write(name, value, condition),
    };
  }

  async #release(key: string, entry: Entry, own: Quota): Promise<void> {
    if (!entry.limits.delete(own)) return;
    if (entry.limits.size > 0) return entry.limiter.setLimits(strictest(entry.limits));
    this.#entries.delete(key);
    const closed = entry.limiter.close();
    this.#closing.set(key, closed);
    await closed;
    if (this.#closing.get(key) === closed) this.#closing.delete(key);
  }
}

const strictest = (all: Iterable<Quota>): Quota => {
  const quotas = [...all];
  const least = (name: keyof Quota): number => Math.min(...quotas.map((quota) => quota[name]));
  return {
    requestsPerDay: least('requestsPerDay'),
    requestsPerMinute: least('requestsPerMinute'),
    commandsPerMinute: least('commandsPerMinute'),
  };
};
