import type { NodeAPI } from 'node-red';

/** Node-RED's deploys. While nodes are stopped and started, a message to one of them can get lost. */
class Deploys {
  /** How many have begun. */
  begun = 0;
  #finished: Promise<void>;
  #finish: () => void = () => undefined;

  constructor(events: NodeAPI['events']) {
    this.#finished = this.#next();
    events.on('flows:stopping', () => {
      this.begun += 1;
      this.#finish();
      this.#finished = this.#next();
    });
    events.on('flows:started', () => this.#finish());
  }

  /** Resolves when all flows run, or when the signal is aborted. */
  async running(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let stop = (): void => undefined;
    const aborted = new Promise<void>((resolve) => {
      stop = resolve;
      signal.addEventListener('abort', stop, { once: true });
    });
    for (let begun = -1; begun !== this.begun && !signal.aborted;) {
      begun = this.begun;
      await Promise.race([this.#finished, aborted]);
    }
    signal.removeEventListener('abort', stop);
  }

  #next(): Promise<void> {
    return new Promise((resolve) => (this.#finish = resolve));
  }
}

const byEvents = new WeakMap<NodeAPI['events'], Deploys>();

/** First called while a node is constructed, so that its `flows:started` is still to come. */
export function deploysOf({ events }: NodeAPI): Deploys {
  const known = byEvents.get(events) ?? new Deploys(events);
  byEvents.set(events, known);
  return known;
}
