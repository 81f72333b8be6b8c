/**
 * Which requests of a vehicle go together: those that one reader sends, and those that others send with any of them. Readers of
 * one such set poll at the same moments, so that each request serves them all; different sets do not fire together.
 */
export class Meetings {
  /** Each request with another of its set; the first one by name with itself. */
  readonly #links = new Map<string, string>();

  join(requests: readonly string[]): void {
    for (const request of requests) if (!this.#links.has(request)) this.#links.set(request, request);
    const [first = '', ...others] = requests;
    for (const other of others) this.#link(this.nameOf(first), this.nameOf(other));
  }

  has(request: string): boolean {
    return this.#links.has(request);
  }

  /** The name of the set that a request is in: the same whoever joined first. */
  nameOf(request: string): string {
    let name = request;
    for (;;) {
      const next = this.#links.get(name) ?? name;
      if (next === name) return name;
      name = next;
    }
  }

  #link(one: string, other: string): void {
    const [first = one, second = other] = [one, other].sort();
    this.#links.set(second, first);
  }
}
