import type { NodeAPI } from 'node-red';
import { perNodeRed } from '../per-node-red';
import { Listeners } from '../../src/index';

/** The least time between two signals to the editors. */
const signalEveryMs = 2_000;

/** The editors of a Node-RED, and the nodes that follow the messages to the editors. */
class Editors {
  readonly #comms: NodeAPI['comms'];
  readonly #notified = new Listeners();
  /** Calls back when the editors get a signal, until the returned function is called. */
  readonly onNews = this.#notified.add;
  #isWaiting = false;
  #isPending = false;

  constructor({ comms }: NodeAPI) {
    this.#comms = comms;
  }

  /** Signals them that something is new: at once, and then every two seconds at most. */
  readonly notify = (): void => {
    this.#isPending = this.#isWaiting;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // Without data, because it reaches every editor that is connected; the routes
    // check who may read what.
    this.#comms.publish('connected-vehicle/changed', {}, false);
    this.#notified.notify();
    setTimeout(() => {
      this.#isWaiting = false;
      if (this.#isPending) this.notify();
    }, signalEveryMs).unref();
  };
}

export const editorsOf = (RED: NodeAPI): Editors => perNodeRed(RED, Editors);
