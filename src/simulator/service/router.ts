/** Segments in braces match anything: `/vehicles/{vin}/windows`. The first that fits counts. */
export class Router<Endpoint> {
  readonly #routes: { method: string; pattern: RegExp; endpoint: Endpoint }[] = [];

  add(method: string, path: string, endpoint: Endpoint): void {
    const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    this.#routes.push({ method, pattern, endpoint });
  }

  /** Null: no such path. `endpoint` null: the path does not have the method. */
  find(
    method: string,
    path: string,
  ): { endpoint: Endpoint | null; parameters: Record<string, string>; methods: string[] } | null {
    const methods = new Set<string>();
    for (const { method: taken, pattern, endpoint } of this.#routes) {
      const match = pattern.exec(path);
      if (match !== null && taken === method) return { endpoint, parameters: { ...match.groups }, methods: [] };
      if (match !== null) methods.add(taken);
    }
    return methods.size === 0 ? null : { endpoint: null, parameters: {}, methods: [...methods] };
  }
}
