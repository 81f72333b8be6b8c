import { part } from './forms';
import { shared } from './words';

/** A read or a command as the reader calls it, and where it is served; `unlisted`: the specification does not have it there. */
export interface Served {
  title: string;
  routes: Partial<Record<'connected-v1' | 'connected-v2', { path: string; unlisted?: true }>>;
}

/**
 * Says what an interface choice means (contract 3: `auto` is version 2 where it is offered), as a warning where the
 * chosen version does not serve what is asked for.
 */
export function showInterface(served: readonly Served[], choice: string): void {
  const missing = choice === 'auto' ? [] : served.filter(({ routes }) => !Object.hasOwn(routes, `connected-${choice}`));
  const titles = missing.map(({ title }) => title).join(', ');
  const warning = titles && shared('interfaceHint.missing', { version: choice.slice(1), titles });
  const automatic = choice === 'auto' && served.length > 0 ? shared(`interfaceHint.${automaticOf(served)}`) : '';
  part('interface').toggleClass('warning', warning !== '').text(warning || automatic);
}

function automaticOf(served: readonly Served[]): 'only2' | 'first1' | 'first2' {
  const every = (test: (routes: Served['routes']) => boolean): boolean => served.every(({ routes }) => test(routes));
  if (every((routes) => routes['connected-v1'] === undefined)) return 'only2';
  return every((routes) => routes['connected-v2']?.unlisted === true) ? 'first1' : 'first2';
}
