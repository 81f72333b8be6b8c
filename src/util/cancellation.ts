import { cancelledError } from '../errors';

/** What the library uses of an AbortSignal. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An AbortController and its signal in one. Each read and each node has one, and that of Node.js
 * costs more than all else of sharing a read, and 2 KB.
 */
export class Cancellation implements Signal {
  #isAborted = false;
  #reason: unknown;
  #listeners: Set<() => void> | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** An error takes its time, and after the end of a read nobody asks for it. */
  get reason(): unknown {
    return this.#isAborted ? (this.#reason ??= cancelledError()) : undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    (this.#listeners ??= new Set()).add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  /**
   * Does nothing the second time.
   * @param reason Default: the error of work whose owner is closed
   */
  abort(reason?: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }
}
