import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../util/clock';
import { StateFile } from '../state/state-file';
import type { Answer } from './core';
import { createBudget, type Budget, type Quota } from '../limits/rate-limiter';
import { createSharedReads, type SharedReads } from './shared-reads';

/**
 * What all accounts of one API key at one service share: the quota counts for the key, whoever uses it (field notes 4.3, 5),
 * and one account's answer serves another's reader where both read with the same token.
 */
export interface Line {
  budget: Budget;
  shared: SharedReads<Answer>;
  /** Ends this account's part; the last one stores the counts. */
  leave(): Promise<void>;
}

export interface LineOptions {
  baseUrl: string;
  apiKey: string;
  /** Of several accounts, the strictest numbers hold. */
  limits: Quota;
  /** Where the counts outlive a restart; null: nowhere. The first account decides. */
  directory: string | null;
  clock: Clock;
}

interface OpenLine {
  budget: Budget;
  shared: SharedReads<Answer>;
  limits: Set<Quota>;
}

export class Lines {
  readonly #open = new Map<string, OpenLine>();
  /** Counts that are being stored: whoever opens the line again loads them afterwards. */
  readonly #closing = new Map<string, Promise<void>>();

  join({ baseUrl, apiKey, limits, directory, clock }: LineOptions): Line {
    // The key itself stands in no file and in no name of one.
    const key = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
    let line = this.#open.get(key);
    if (line === undefined) {
      const file = new StateFile(directory === null ? null : join(directory, 'quota', `${key}.json`));
      const budget = createBudget({
        ...limits,
        clock,
        load: async () => {
          await this.#closing.get(key);
          return file.load();
        },
        ...(directory !== null && { save: (data: unknown) => file.save(data) }),
      });
      line = { budget, shared: createSharedReads({ clock }), limits: new Set() };
      this.#open.set(key, line);
    }
    const own = { ...limits };
    line.limits.add(own);
    line.budget.limit(strictest(line.limits));
    return { budget: line.budget, shared: line.shared, leave: () => this.#leave(key, line, own) };
  }

  async #leave(key: string, line: OpenLine, own: Quota): Promise<void> {
    if (!line.limits.delete(own)) return;
    if (line.limits.size > 0) return line.budget.limit(strictest(line.limits));
    this.#open.delete(key);
    const closed = line.budget.close();
    this.#closing.set(key, closed);
    await closed;
    if (this.#closing.get(key) === closed) this.#closing.delete(key);
  }
}

const strictest = (all: Iterable<Quota>): Quota => {
  const every = [...all];
  const least = (name: keyof Quota): number => Math.min(...every.map((limits) => limits[name]));
  return {
    requestsPerDay: least('requestsPerDay'),
    requestsPerMinute: least('requestsPerMinute'),
    commandsPerMinute: least('commandsPerMinute'),
  };
};
