import { nodeField, part, textOf } from './forms';
import { shared } from './words';

/** A read or a command as the reader calls it, and where it is served; `unlisted`: the specification does not have it there. */
export interface Served {
  title: string;
  routes: Routes;
}

/** The interfaces of the chosen vehicle's service; all of them as long as that is not known. */
export const aliveInterfaces = (): readonly string[] =>
  ALIVE[RED.nodes.node(textOf(nodeField('vehicle')))?.service ?? ''] ?? ALIVE['custom'] ?? [];

/**
 * Says what an interface choice means (contract 3: `auto` is version 2 where it is offered), as a warning where the
 * chosen version does not serve what is asked for.
 */
export function showInterface(served: readonly Served[], choice: string): void {
  const alive = aliveInterfaces();
  const has = ({ routes }: Served, version: string): boolean =>
    alive.includes(`connected-${version}`) && Object.hasOwn(routes, version);
  const missing = choice === 'auto' ? [] : served.filter((one) => !has(one, choice));
  const titles = missing.map(({ title }) => title).join(', ');
  const warning = titles && shared('interfaceHint.missing', { version: choice.slice(1), titles });
  const only2 = !served.some((one) => has(one, 'v1'));
  const first1 = served.every(({ routes }) => routes.v2?.unlisted);
  const automatic =
    choice === 'auto' && served.length > 0
      ? shared(`interfaceHint.${only2 ? 'only2' : first1 ? 'first1' : 'first2'}`)
      : '';
  part('interface')
    .toggleClass('warning', warning !== '')
    .text(warning || automatic);
}
