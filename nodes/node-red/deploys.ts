import type { NodeAPI } from 'node-red';
import { perNodeRed } from '../per-node-red';
import { Listeners, withSignals, type Signal } from '../../src/index';
import { clock } from './time';

/**
 * A deploy that Node-RED gives up, for example because a node type is missing,
 * never reports its end.
 */
const maxWaitMs = 30_000;

/** A message to the next nodes (`send-once.ts` has more for a stored one). */
interface Sending {
  send(): void;
  /**
   * Whether it may still be sent. Called right before each try, with no `await`
   * between. Default: it may.
   */
  mayBeSent?(): boolean;
  /**
   * Asked before each try. Default: the next node has the message unless a deploy began meanwhile.
   */
  isDelivered?(): Promise<boolean>;
}

/**
 * Node-RED's deploys. While nodes are stopped and started, a message to one of them can get lost.
 */
export class Deploys {
  /** How many have begun. */
  #begun = 0;
  #flowsRun = new AbortController();
  readonly #deployEnded = new Listeners();
  /** Calls back at the end of each deploy, until the returned function is called. */
  readonly onEnd = this.#deployEnded.add;
  readonly #events: NodeAPI['events'];

  constructor({ events }: NodeAPI) {
    this.#events = events;
    events.on('flows:stopping', this.#onStopping).on('flows:started', this.#onStarted);
  }

  end(): void {
    this.#events.off('flows:stopping', this.#onStopping).off('flows:started', this.#onStarted);
  }

  readonly #onStopping = (): void => {
    this.#begun += 1;
    if (this.#flowsRun.signal.aborted) this.#flowsRun = new AbortController();
  };

  readonly #onStarted = (): void => {
    this.#flowsRun.abort();
    this.#deployEnded.notify();
  };

  /**
   * Sends when all flows run, because a message to a node that is being replaced gets lost.
   * @returns `sent` if the next node has it, even if it had it before the first try; `unsure` if it
   * may not be sent now; `closed` if the signal was aborted first. After `unsure` and `closed`, a
   * try during a deploy may have arrived anyway.
   */
  async send(message: Sending, signal: Signal): Promise<'sent' | 'unsure' | 'closed'> {
    let begun: number;
    do {
      if ((await message.isDelivered?.()) === true) return 'sent';
      await this.untilFlowsRun(signal);
      if (signal.aborted) return 'closed';
      begun = this.#begun;
      if (message.mayBeSent?.() === false) return 'unsure';
      message.send();
      // Node-RED passes a message to the next node with setImmediate; this one comes after it, when
      // that node has the message. If a deploy began in between, that node may have been replaced
      // before it had the message.
      await new Promise((resolve) => setImmediate(resolve));
    } while (begun !== this.#begun);
    return 'sent';
  }

  /** Whether all flows run. */
  get allFlowsRun(): boolean {
    return this.#flowsRun.signal.aborted;
  }

  /**
   * Resolves when all flows run, after 30 seconds without the end of a deploy, or when the signal
   * is aborted.
   */
  async untilFlowsRun(signal: Signal): Promise<void> {
    while (!this.allFlowsRun && !signal.aborted) {
      try {
        await withSignals([signal, this.#flowsRun.signal], (either) => clock().sleep(maxWaitMs, either));
        return;
      } catch {
        // Another deploy may have begun.
      }
    }
  }
}

/** First called while a node is constructed, so that its `flows:started` is still to come. */
export const deploysOf = (RED: NodeAPI): Deploys => perNodeRed(RED, Deploys);
