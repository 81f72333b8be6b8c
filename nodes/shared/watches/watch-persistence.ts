import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import type { OpenWatch, WatchReport, WatchStore } from '../../../src/index';
import { fileNameOf, isDeleted } from '../node-red/flows';
import { runtime } from '../load';
import { word, type Values } from '../node-red/i18n';

/** A verdict that ended the process so often, perhaps by what the flow does with it, is not told again. */
const mostTries = 3;

/** The watches of a node on disk. One that is full or locked must not end a watch, nor hold back its verdict. */
export class KeptWatches {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #folder: 'watches' | 'commands';
  readonly #store: WatchStore;

  /** @param folder `commands`: what was sent, and not answered yet */
  constructor(RED: NodeAPI, node: Node, folder: 'watches' | 'commands') {
    this.#RED = RED;
    this.#node = node;
    this.#folder = folder;
    const { userDir } = RED.settings;
    this.#store = new (runtime().WatchStore)(
      userDir ? join(userDir, 'connected-vehicle', folder, fileNameOf(node.id)) : null,
    );
  }

  /** What was open when the process ended; a person is told of what cannot be taken up. */
  open(): OpenWatch[] {
    return this.#store
      .open((file) => this.#warn('damaged', { file }))
      .filter(({ record: { id }, telling }) => {
        const over = this.#store.hasEnded(id);
        const untold = !over && (telling?.tries ?? 0) >= mostTries;
        if (untold) this.#warn('untold');
        if (over || untold) this.#try(() => this.#store.end(id));
        return !over && !untold;
      });
  }

  hasEnded(id: string): boolean {
    return this.#store.hasEnded(id);
  }

  keep(open: OpenWatch): void {
    this.#try(() => this.#store.put(open));
  }

  forget(id: string): void {
    this.#try(() => this.#store.remove(id));
  }

  /** Sends a verdict that is safe on disk, and waits until it has left: then the watch has ended for good. */
  async tell(open: OpenWatch, report: WatchReport, send: () => void): Promise<void> {
    this.keep({ ...open, history: report.history, telling: { report, tries: (open.telling?.tries ?? 0) + 1 } });
    send();
    // Node-RED gives a message to the next node with setImmediate; this one comes after it.
    await new Promise((resolve) => setImmediate(resolve));
    this.#try(() => this.#store.end(open.record.id));
  }

  /**
   * The node was closed; nothing is left of one that is deleted.
   * @param watching how many watches were under way
   */
  close(removed: boolean, watching: number): void {
    if (!isDeleted(this.#RED, this.#node, removed)) return;
    if (watching > 0) this.#warn('deleted', { count: watching });
    this.#try(() => this.#store.clear());
  }

  #try(change: () => void): void {
    try {
      change();
    } catch {
      this.#warn('notKept');
    }
  }

  #warn(key: string, values?: Values): void {
    this.#node.warn(word(this.#RED, `warning.${this.#folder}.${key}`, values));
  }
}
