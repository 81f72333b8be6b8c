import type { Node, NodeAPI } from 'node-red';
import { WatchStore, type OpenWatch, type WatchReport } from '../../src/index';
import { deploysOf } from '../node-red/deploys';
import { isDeleted } from '../node-red/flows';
import { translate, type Values } from '../node-red/i18n';
import { clock } from '../node-red/time';
import { stateStoreOf, whenOurs } from '../vehicle/state-store';

/** If Node-RED crashes so often while delivering the same result, the result is dropped with a warning. */
const maxTries = 3;

/** The records that a watch of this process has taken over, from when it begins to store them until it ends. */
const takenOver = new Map<string, Promise<void>>();

/** Fulfilled with true when a watch of this process has stored the record; false if none has it. */
export async function isTakenOver(id: string): Promise<boolean> {
  const stored = takenOver.get(id);
  await stored;
  return stored !== undefined;
}

/** The watches of a node in the state store. A full or locked disk must not end a watch, nor hold back its result. */
export class WatchPersistence {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #collection: 'watches' | 'commands';
  readonly #store: WatchStore;
  readonly #deploys: ReturnType<typeof deploysOf>;

  /** @param collection `commands` for those that were sent and not answered yet */
  constructor(RED: NodeAPI, node: Node, collection: 'watches' | 'commands') {
    this.#RED = RED;
    this.#node = node;
    this.#collection = collection;
    this.#store = new WatchStore(stateStoreOf(RED), collection, node.id);
    this.#deploys = deploysOf(RED);
  }

  /** The watches that were open when the process ended; none where the node is closed before the store may be used. A person is warned of those that cannot be resumed. */
  async open(): Promise<OpenWatch[]> {
    const resumable: OpenWatch[] = [];
    if (!(await whenOurs(this.#RED, this.#node))) return resumable;
    await this.#try(async () => {
      for (const open of await this.#store.open(() => this.#warn('damaged'))) {
        const over = await this.hasEnded(open.record.id);
        const dropped = !over && (open.delivery?.tries ?? 0) >= maxTries;
        if (dropped) this.#warn('undelivered');
        if (over || dropped) await this.#try(() => this.#store.end(open.record.id));
        else resumable.push(open);
      }
    });
    return resumable;
  }

  /** False where the disk does not say: a result that is delivered twice is better than none. */
  async hasEnded(id: string): Promise<boolean> {
    let ended = false;
    await this.#try(async () => {
      ended = await this.#store.hasEnded(id);
    });
    return ended;
  }

  async keep(open: OpenWatch): Promise<void> {
    const stored = this.#try(() => this.#store.put(open));
    if (this.#collection === 'watches') takenOver.set(open.record.id, stored);
    await stored;
  }

  async forget(id: string): Promise<void> {
    await this.#try(() => this.#store.remove(id));
    if (this.#collection === 'watches') takenOver.delete(id);
  }

  /**
   * Sends a result after it was stored, and waits until it has left: then the watch has ended for good.
   * @returns false where the node was closed first: the next one sends the result
   */
  async deliver(open: OpenWatch, report: WatchReport, send: () => void, signal: AbortSignal): Promise<boolean> {
    const tries = (open.delivery?.tries ?? 0) + 1;
    const stored = (count: number): OpenWatch => ({
      ...open,
      history: report.history,
      delivery: { report, tries: count },
    });
    await this.keep(stored(tries));
    if (!(await this.#deploys.send(send, { clock: clock(), signal }))) {
      // A deploy is no crash, so the try does not count.
      await this.keep(stored(tries - 1));
      return false;
    }
    await this.#try(() => this.#store.end(open.record.id));
    takenOver.delete(open.record.id);
    return true;
  }

  /**
   * The node was closed; nothing is left of one that is deleted.
   * @param watching how many watches were open
   */
  async close(removed: boolean, watching: number): Promise<void> {
    if (!isDeleted(this.#RED, this.#node, removed)) return;
    if (watching > 0) this.#warn('deleted', { count: watching });
    await this.#try(() => this.#store.clear());
  }

  async #try(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch {
      this.#warn('notKept');
    }
  }

  #warn(key: string, values?: Values): void {
    this.#node.warn(translate(this.#RED, `warning.${this.#collection}.${key}`, values));
  }
}
