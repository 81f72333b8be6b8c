import * as z from 'zod/mini';
import { outcomeShape, parseRecord, type CommandRecord } from './record';
import { removeAll, type StateStore } from '../state/state-store';
import { DeliveredIds } from './delivered-ids';
import { keptProperties } from './kept-properties';
import type { StatusChange, WatchReport } from './follow';

/** A watch without a result yet, with all that is needed to resume it. */
export interface OpenWatch {
  record: CommandRecord;
  /** Milliseconds since 1970. */
  startedAt: number;
  history: StatusChange[];
  /** The message that started it. */
  msg: Record<string, unknown>;
  /** The result while its delivery is under way, and the number of times that its delivery has begun. */
  delivery?: { report: WatchReport; tries: number };
}

const deliveryShape = z.object({
  tries: z.number(),
  report: z.object({
    requestStatus: z.nullable(z.string()),
    outcome: outcomeShape,
    message: z.string(),
    reason: z.string(),
    verified: z.nullable(z.boolean()),
    elapsedMs: z.number(),
  }),
});

const shape = z.lazy(() =>
  z.object({
    record: z.unknown(),
    startedAt: z.number(),
    history: z.array(z.object({ requestStatus: z.nullable(z.string()), at: z.string() })),
    msg: z.record(z.string(), z.unknown()),
    delivery: z.optional(deliveryShape),
  }),
);

/**
 * The open watches of a node in the state store, one key each, and the ids of those that ended last. A watch is stored from before
 * its first poll until its result is delivered. The result is stored before it is delivered: a process that is killed on the way
 * delivers the same result again, rather than none.
 */
export class WatchStore {
  readonly #store: StateStore;
  readonly #prefix: string;
  readonly #delivered: DeliveredIds;
  readonly #writes = new Set<Promise<unknown>>();
  #isCleared = false;

  /**
   * @param collection `watches`, or `commands` for what was sent and not answered yet
   * @param name the owner's name; a former owner of the same name must have ended
   */
  constructor(store: StateStore, collection: 'watches' | 'commands', name: string) {
    this.#store = store;
    // A name with a slash must not be among the names that begin with another one.
    const owner = name.replace(/[%/]/g, (character) => (character === '%' ? '%25' : '%2F'));
    this.#prefix = `${collection}/${owner}/`;
    this.#delivered = new DeliveredIds(store, `delivered/${collection === 'watches' ? '' : `${collection}/`}${owner}`);
  }

  /** Stores a watch; of its message, only small plain properties are stored (src/commands/kept-properties.ts). @throws StateFault */
  async put(watch: OpenWatch): Promise<void> {
    if (this.#isCleared) return;
    const write = this.#store.write(this.#keyOf(watch.record.id), { ...watch, msg: keptProperties(watch.msg) });
    this.#writes.add(write);
    await write.finally(() => this.#writes.delete(write));
  }

  /** Removes a watch whose result was delivered, and remembers its id. @throws StateFault */
  async end(id: string): Promise<void> {
    if (this.#isCleared) return;
    try {
      await this.#delivered.add(id);
    } finally {
      // The watch is removed even on a full disk, because a delivered result must not be delivered again.
      await this.remove(id);
    }
  }

  /** Whether the result of this command was delivered; the last thousand ids are known. */
  hasEnded(id: string): Promise<boolean> {
    return this.#delivered.has(id);
  }

  /** @throws StateFault */
  async remove(id: string): Promise<void> {
    await this.#store.remove(this.#keyOf(id));
  }

  /**
   * The watches that were open when the process ended.
   * @param onUnreadable called for each stored watch that is not understood; it is moved to the collection `unreadable`
   * @throws StateFault
   */
  async open(onUnreadable: () => void = () => undefined): Promise<OpenWatch[]> {
    const watches: OpenWatch[] = [];
    for (const { key, value } of await this.#store.entries(this.#prefix)) {
      const watch = parseWatch(value);
      if (watch !== null) watches.push(watch);
      else {
        onUnreadable();
        await this.#store.write(`unreadable/${key}`, value);
        await this.#store.remove(key);
      }
    }
    return watches;
  }

  /** Removes everything of a deleted node; later calls of `put` store nothing. @throws StateFault */
  async clear(): Promise<void> {
    this.#isCleared = true;
    await Promise.allSettled(this.#writes);
    await removeAll(this.#store, this.#prefix);
    await this.#delivered.clear();
  }

  #keyOf = (id: string): string => `${this.#prefix}${id}`;
}

function parseWatch(stored: unknown): OpenWatch | null {
  const parsed = shape.safeParse(stored);
  if (!parsed.success) return null;
  const { record: storedRecord, delivery, ...rest } = parsed.data;
  try {
    const record = parseRecord(storedRecord);
    return {
      ...rest,
      record,
      ...(delivery && { delivery: { ...delivery, report: { ...record, ...delivery.report, history: rest.history } } }),
    };
  } catch {
    return null;
  }
}
