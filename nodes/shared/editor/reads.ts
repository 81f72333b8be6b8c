export { titleOf } from '../../../src/index';

/** Reads that are alike, of `src/catalogue/reads` and `groups`: what a form shows of them. */
export interface ReadRow {
  names: string[];
  /** Besides `openid`. */
  scopes: string[];
  /** Of a connected read. */
  routes: Routes | 0;
  /** The group of connected v2 that has the value of a resource where the extended interface is gone. */
  group?: string | undefined;
  /** Of a resource: its unit, its words, or what true and false mean. */
  unit?: string | undefined;
  values?: string | undefined;
  yes?: string | undefined;
  no?: string | undefined;
}

const rowsOf = (packed: readonly PackedRead[]): ReadRow[] =>
  packed.map(([names, scopes, routes, group, unit, values, yes, no]) => ({
    names: names.split(' '),
    scopes: scopes.split(' '),
    routes,
    group,
    unit,
    values,
    yes,
    no,
  }));

const themes = Object.entries(READS).map(([theme, packed]): [theme: string, rows: ReadRow[]] => [
  theme,
  rowsOf(packed),
]);

/** What can be read, by the headings of the dropdown and in its order; reads that differ in nothing but their name share a row. */
export const readThemes = (): typeof themes => themes;

/** The row of a read; none of a name that is not known, and of the journal, which is no read of the service. */
export const rowOf = (name: string): ReadRow | undefined =>
  themes.flatMap(([, rows]) => rows).find(({ names }) => names.includes(name));

/** What a read needs at a service; where the extended interface is gone, the scopes of the group that has the value, or null if none has. */
export function scopesAt(alive: readonly string[], { scopes, routes, group }: ReadRow): readonly string[] | null {
  const needed = routes || alive.includes('extended-v1') ? scopes : GROUPS[group ?? ''];
  return needed ? ['openid', ...needed] : null;
}
