/** The callbacks of those who want to hear of something. */
export class Listeners<Given extends readonly unknown[] = []> {
  readonly #all = new Set<(...given: Given) => void>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /**
   * A member, not a method, so that a class can hand it out: `onChange = this.#changed.add`.
   * @returns ends the calls
   */
  readonly add = (listener: (...given: Given) => void): (() => void) => {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  };

  notify(...given: Given): void {
    for (const listener of this.#all) listener(...given);
  }
}
