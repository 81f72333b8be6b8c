import { cancelledError } from '../errors';

/** What the library uses of an AbortSignal. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  /** @throws the reason, if it is aborted */
  throwIfAborted(): void;
}

/**
 * An AbortController and its signal in one. Each read and each node has one, and that of Node.js
 * costs more than all else of sharing a read, and 2 KB.
 */
export class Cancellation implements Signal {
  #isAborted = false;
  #reason: unknown;
  /**
   * One listener is stored without a list, because most signals have only one. Not a set
   * (docs/internals/decisions.md, “No map or set …”).
   */
  #listeners: (() => void) | (() => void)[] | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** An error takes its time, and after the end of a read nobody asks for it. */
  get reason(): unknown {
    return this.#isAborted ? (this.#reason ??= cancelledError()) : undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    const known = this.#listeners;
    if (known === undefined) this.#listeners = listener;
    else if (!Array.isArray(known)) this.#listeners = known === listener ? known : [known, listener];
    else if (!known.includes(listener)) known.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners === listener) this.#listeners = undefined;
    if (!Array.isArray(this.#listeners)) return;
    const index = this.#listeners.indexOf(listener);
    if (index >= 0) this.#listeners.splice(index, 1);
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.reason as Error; // As an AbortSignal does.
  }

  /**
   * Does nothing the second time.
   * @param reason Default: the error of work whose owner is closed
   */
  abort(reason?: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    // As an AbortSignal: one that was removed meanwhile is not called, nor one that was added.
    if (Array.isArray(listeners)) for (const one of Array.from(listeners)) if (listeners.includes(one)) one();
    if (typeof listeners === 'function') listeners();
    this.#listeners = undefined;
  }
}
