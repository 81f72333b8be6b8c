import type { NodeAPI } from 'node-red';
import { partOf } from '../../pack';

/** The least time between two signals to the editors. */
const signalEveryMs = 2_000;

/** The editors of a Node-RED, and the nodes that want to know what they are told. */
class Editors {
  readonly listeners = new Set<() => void>();
  readonly #publish: () => void;
  #isWaiting = false;
  #isPending = false;

  constructor({ comms }: NodeAPI) {
    // Without data, because it reaches every editor that is connected; the routes check who may read what.
    this.#publish = () => {
      comms.publish('connected-vehicle/changed', {}, false);
      for (const listener of this.listeners) listener();
    };
  }

  /** Tells them that there is something new: at once, and then every two seconds at most. */
  notify(): void {
    this.#isPending = true;
    if (this.#isWaiting) return;
    this.#isPending = false;
    this.#isWaiting = true;
    this.#publish();
    setTimeout(() => {
      this.#isWaiting = false;
      if (this.#isPending) this.notify();
    }, signalEveryMs).unref();
  }
}

/** Tells the editors of this Node-RED, and the nodes that listen, that there is something new. */
export const notifyEditors = (RED: NodeAPI): void => partOf(RED, Editors).notify();

/** Calls back when the editors are told, so every two seconds at most, until the returned function is called. */
export function onNews(RED: NodeAPI, listener: () => void): () => void {
  const { listeners } = partOf(RED, Editors);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
