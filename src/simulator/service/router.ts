/** Finds the endpoint of a path. Segments in braces match anything: `/vehicles/{vin}/windows`. */
export class Router<Endpoint> {
  readonly #root = new Branch<Endpoint>();

  add(method: string, pattern: string, endpoint: Endpoint): void {
    const names: string[] = [];
    let branch = this.#root;
    for (const segment of pattern.split('/')) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name !== undefined) names.push(name);
      branch = branch.grow(name === undefined ? segment : anything);
    }
    branch.endpoints.set(method, { endpoint, names });
  }

  /** Null: no such path. `endpoint` null: the path does not take the method. */
  find(
    method: string,
    path: string,
  ): { endpoint: Endpoint | null; parameters: Record<string, string>; methods: string[] } | null {
    const values: string[] = [];
    let branch: Branch<Endpoint> | undefined = this.#root;
    for (const segment of path.split('/')) {
      const literal: Branch<Endpoint> | undefined = branch.branches.get(segment);
      if (literal === undefined && segment !== '') values.push(segment);
      branch = literal ?? (segment === '' ? undefined : branch.branches.get(anything));
      if (branch === undefined) return null;
    }
    if (branch.endpoints.size === 0) return null;
    const found = branch.endpoints.get(method);
    return {
      endpoint: found?.endpoint ?? null,
      parameters: Object.fromEntries((found?.names ?? []).map((name, index) => [name, values[index] ?? ''])),
      methods: [...branch.endpoints.keys()],
    };
  }
}

const anything = '{}';

class Branch<Endpoint> {
  readonly branches = new Map<string, Branch<Endpoint>>();
  readonly endpoints = new Map<string, { endpoint: Endpoint; names: readonly string[] }>();

  grow(segment: string): Branch<Endpoint> {
    let branch = this.branches.get(segment);
    if (branch === undefined) this.branches.set(segment, (branch = new Branch()));
    return branch;
  }
}
