/** More than anybody sends again, and little enough to hold. */
const most = 1000;

/** The ids of what was settled last: a record that comes again gets no second verdict (contract 5). */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= most) return;
      this.#ids.delete(oldest);
    }
  }
}
