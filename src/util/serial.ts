/** Runs tasks one after the other, each also after one that failed. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  /** How many tasks have not ended. */
  #open = 0;

  get isIdle(): boolean {
    return this.#open === 0;
  }

  run<T>(task: () => T | Promise<T>): Promise<T> {
    this.#open += 1;
    const next = this.#last.then(task);
    this.#last = next.then(this.#onEnd, this.#onEnd);
    return next;
  }

  readonly #onEnd = (): void => void (this.#open -= 1);
}

/** Runs tasks one after the other; one that has not begun serves all who ask meanwhile. */
export class SharedRuns<T> {
  readonly #runs = new Serial();
  #next: Promise<T> | null = null;

  /** @param task the same for all who ask */
  run(task: () => Promise<T>): Promise<T> {
    this.#next ??= this.#runs.run(() => {
      this.#next = null;
      return task();
    });
    return this.#next;
  }
}
