import { addressFault } from '../util/loopback';
import { interfaceNames, interfaces, type InterfaceChoice, type InterfaceName } from '../catalogue/reads';
import { services, type ServiceName, type ServiceProfile } from '../catalogue/services';
import { VehicleError } from '../errors';
import { asSentence, sentence } from '../sentence';

/** The parts of a profile that the configuration may set (docs/internals/contract.md 2). */
const settable = [
  'baseUrl',
  'apiKeyHeader',
  'mediaTypeVendor',
  'authorizeUrl',
  'tokenUrl',
  'redirectUrl',
] as const satisfies readonly (keyof ServiceProfile)[];

/** The settings of a configuration; an empty one keeps the value of the profile. */
type ServiceSettings = Partial<Record<(typeof settable)[number], string>> & {
  /** The interfaces that the service has (docs/internals/contract.md 2). */
  interfaces?: readonly InterfaceName[];
};

/**
 * The profile with the configuration's settings in it.
 * @throws VehicleError CONFIG if an address is missing or not safe to send a token to
 */
export function resolveService(service: ServiceName, settings: ServiceSettings = {}): ServiceProfile {
  const profile: ServiceProfile = { ...services[service] };
  for (const name of settable) {
    const trimmed = settings[name]?.trim() ?? '';
    if (trimmed !== '') profile[name] = trimmed;
  }
  if (settings.interfaces !== undefined && settings.interfaces.length > 0) {
    const { interfaces: chosen } = settings;
    profile.availableInterfaces = interfaceNames.filter((name) => chosen.includes(name));
  }
  profile.baseUrl = parseUrl(profile.baseUrl, 'base URL').href.replace(/(?<!\/)\/+$/, '');
  for (const [name, what] of [
    ['authorizeUrl', 'sign-in address'],
    ['tokenUrl', 'token address'],
  ] as const)
    if (profile[name] !== '') profile[name] = parseUrl(profile[name], what, { mayHaveQuery: true }).href;
  if (!/^[A-Za-z0-9-]+$/.test(profile.apiKeyHeader) || reservedHeaders.has(profile.apiKeyHeader.toLowerCase()))
    throw new VehicleError(
      'CONFIG',
      'The name of the API key header may contain letters, digits and hyphens only, and must not be a header that HTTP itself needs.',
    );
  if (!/^[A-Za-z0-9-]+$/.test(profile.mediaTypeVendor))
    throw new VehicleError('CONFIG', 'The media type vendor may contain letters, digits and hyphens only.');
  return profile;
}

/**
 * A key under one of these names would replace the token, the media type or the
 * framing of the request.
 */
const reservedHeaders = new Set(
  'accept accept-encoding authorization connection content-encoding content-length content-type cookie expect host keep-alive proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/**
 * https, or http on a loopback address: tokens go nowhere else in the clear
 * (docs/internals/contract.md 2). The addresses of a sign-in may have a query (RFC 6749 3), the
 * base URL may not.
 * @throws VehicleError CONFIG
 */
export function parseUrl(input: string, what: string, { mayHaveQuery = false } = {}): URL {
  if (addressFault(input, { mayHaveQuery }) === null) return new URL(input);
  throw new VehicleError(
    'CONFIG',
    mayHaveQuery
      ? sentence`The ${asSentence(what)} must be an https address (or http on this machine), without a user or a fragment.`
      : sentence`The ${asSentence(what)} must be an https address (or http on this machine), without a user, a query or a fragment.`,
  );
}

/** The URL of a path of an interface, its placeholders filled in and escaped. */
export function urlOf(
  service: ServiceProfile,
  iface: InterfaceName,
  path: string,
  places: Record<string, string>,
): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(places[name] ?? ''));
  return new URL(service.baseUrl + interfaces[iface].path + filled);
}

/** What a request needs of a URL. */
export type Address = Readonly<Pick<URL, 'href' | 'origin' | 'host' | 'pathname' | 'search'>>;

/**
 * What a read asks for, with its texts, because a URL makes them again at each access.
 */
export interface ReadAddress extends Address {
  readonly accept: string;
  /**
   * Equal for reads that may have the same answer. It contains the URL, because `forget` searches
   * it.
   */
  readonly key: string;
}

/** @param tokenOwner answers are shared only between accounts with the same one */
export const readAddress = (
  { href, origin, host, pathname, search }: URL,
  accept: string,
  tokenOwner: string,
): ReadAddress => ({ href, origin, host, pathname, search, accept, key: `${href} ${accept} ${tokenOwner}` });

/** A media type with the profile's vendor part (docs/internals/service.md 4.2). */
export const mediaType = (service: ServiceProfile, template: string): string =>
  template.replace('{vendor}', service.mediaTypeVendor);

/**
 * A link of the service, if a token may follow it: same origin only. Relative ones of the command
 * list lack the interface's first part (docs/internals/vendor-api.md 1.7).
 * @throws VehicleError UNTRUSTED_LINK
 */
export function followLink(service: ServiceProfile, href: string): URL {
  const base = `${service.baseUrl}/`;
  const needsPrefix = /^\/v\d+\//.test(href);
  const target = needsPrefix ? `${service.baseUrl}/connected-vehicle${href}` : href;
  const url = URL.canParse(target, base) ? new URL(target, base) : null;
  // A blob: address has the origin of the address inside it.
  const { protocol, origin } = new URL(base);
  if (url !== null && url.protocol === protocol && url.origin === origin && url.username + url.password === '')
    return url;
  throw new VehicleError(
    'UNTRUSTED_LINK',
    'The link of this command points to a different host than the service, so the token is not sent there.',
  );
}

/**
 * Why no interface of a service can be used for a read or a command.
 * @param has the interfaces that it is part of
 */
export function noInterface(name: string, has: ReadonlySet<InterfaceName>, choice: InterfaceChoice): VehicleError {
  const other = choice === 'v1' ? 'v2' : 'v1';
  const isPart = choice !== 'auto' && has.has(`connected-${choice}`);
  return new VehicleError(
    'NOT_SUPPORTED',
    choice === 'auto'
      ? sentence`This service does not offer ${name}: none of its interfaces has it.`
      : isPart
        ? sentence`This service does not have ${choice} of the connected interface. Choose ${other} or auto.`
        : sentence`${name} is not part of ${choice}. Choose ${other} or auto.`,
  );
}
