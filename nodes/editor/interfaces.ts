import { defaultAccess, services, type InterfaceName, type needsOfRead, type Versions } from '../../src/index';
import { nodeField, part, textOf } from './forms';
import { sharedText } from './texts';

/** The needs of a read or a command, with its name in the form. */
type Needs = { title: string } & ReturnType<typeof needsOfRead>;

/**
 * The interfaces of the chosen vehicle's service; all of them as long as the service is not known.
 */
export function serviceInterfaces(vehicle = textOf(nodeField('vehicle'))): readonly InterfaceName[] {
  const profiles: Record<string, { availableInterfaces: readonly InterfaceName[] }> = services;
  const { service = '', interfaces } = RED.nodes.node(vehicle) ?? {};
  if (service === 'custom' && interfaces !== undefined) return interfaces;
  return (profiles[service] ?? services.custom).availableInterfaces;
}

/** Shows scopes, permissions that the configuration leaves out, and the interface. */
export function showNeeds(needs: readonly Needs[]): void {
  const car = RED.nodes.node(textOf(nodeField('vehicle')));
  const { service = 'demo', access: allowed = defaultAccess } = car ?? {};
  const isAllowed = ({ access }: Needs): boolean => service === 'demo' || access === null || allowed.includes(access);
  const forbidden = needs.filter((one) => !isAllowed(one)).map(({ title }) => title);
  part('access').text(forbidden.length > 0 ? sharedText('notAllowed', { titles: forbidden.join(', ') }) : '');
  const scopes = new Set(car?.service === 'demo' ? [] : needs.flatMap((one) => one.scopes));
  part('scopes').empty();
  if (scopes.size > 0)
    part('scopes').append(
      sharedText('scopes'),
      ...[...new Set(['openid', ...scopes])].flatMap((scope) => [' ', $('<code>').text(scope)]),
    );
  showInterface(needs.flatMap(({ title, versions }) => (versions ? [{ title, versions }] : [])));
}

/**
 * Shows what the choice of an interface means (`auto` is the newest that the service has,
 * docs/internals/contract.md 3), as a warning if the chosen version does not serve what is asked
 * for. A service with one version leaves nothing to choose.
 */
function showInterface(served: readonly { title: string; versions: Versions }[]): void {
  const choice = textOf(nodeField('interface'));
  const interfaces = serviceInterfaces();
  const isChoice = (['connected-v1', 'connected-v2'] as const).every((name) => interfaces.includes(name));
  nodeField('interface')
    .closest('.form-row')
    .add(part('interface'))
    .toggle(isChoice || choice !== 'auto');
  const has = ({ versions }: { versions: Versions }, version: 'v1' | 'v2'): boolean =>
    interfaces.includes(`connected-${version}`) && versions[version];
  const missing = choice === 'v1' || choice === 'v2' ? served.filter((one) => !has(one, choice)) : [];
  const titles = missing.map(({ title }) => title).join(', ');
  const warning = titles && sharedText('interfaceHint.missing', { version: choice.slice(1), titles });
  const only2 = !served.some((one) => has(one, 'v1'));
  const first1 = served.every(({ versions }) => versions.v1First);
  const automatic =
    choice === 'auto' && served.length > 0
      ? sharedText(`interfaceHint.${only2 ? 'only2' : first1 ? 'first1' : 'first2'}`)
      : '';
  part('interface')
    .toggleClass('warning', warning !== '')
    .text(warning || automatic);
}
