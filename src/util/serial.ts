/** Runs tasks one after the other, each also after one that failed. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  /** How many tasks have not ended. */
  #left = 0;

  get isIdle(): boolean {
    return this.#left === 0;
  }

  run<T>(task: () => T | Promise<T>): Promise<T> {
    this.#left += 1;
    const next = this.#last.then(task);
    this.#last = next.then(this.#onEnd, this.#onEnd);
    return next;
  }

  readonly #onEnd = (): void => void (this.#left -= 1);
}
