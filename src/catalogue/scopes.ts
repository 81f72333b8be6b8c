import { commandRow, commands, requestDetails, versionsOfCommand, type CommandName } from './commands';
import {
  apiOfRead,
  readNames,
  routeOf,
  versionsOfRead,
  type ApiName,
  type InterfaceName,
  type ReadName,
} from './reads';

/** What a sign-in asks for besides reading the status (docs/internals/contract.md 2). */
export const commandAccess = ['lock', 'unlock', 'honk-flash', 'climate', 'engine'] as const;
export const readAccess = ['charging', 'location', 'wallbox'] as const;
export const accessNames = [...commandAccess, ...readAccess] as const;
export type AccessName = (typeof accessNames)[number];
export const defaultAccess: readonly AccessName[] = ['lock', 'unlock', 'honk-flash'];

const accessOfApi = {
  connected: null,
  energy: 'charging',
  location: 'location',
  'energy-device': 'wallbox',
} as const satisfies Record<ApiName, AccessName | null>;

/** The access that a read needs; null: it reads the status, which every sign-in asks for. */
const accessOfRead = (name: ReadName): AccessName | null => accessOfApi[apiOfRead(name)];

/** The access that a command needs; null for a command that only the vehicle's own list names. */
const accessOfCommand = (name: string): AccessName | null => commandRow(name)?.access ?? null;

/** The scopes besides `openid` at these interfaces; none if no interface has the read. */
export function scopesOfRead(name: ReadName, available: readonly InterfaceName[]): readonly string[] {
  const { scopes = [], needsFuelType = false } = routeOf(name, available) ?? {};
  // The fuel type is part of the details.
  return needsFuelType ? [...scopes, ...scopesOfRead('details', available)] : scopes;
}

/** The scopes besides `openid`, also to follow a link (docs/internals/vendor-api.md 2.2). */
export function scopesOfCommand(name: string, available: readonly InterfaceName[]): readonly string[] {
  // A command that only the vehicle's own list names is looked up in that list first.
  const command = commandRow(name);
  if (command === undefined) return scopesOfRead('commands', available);
  return available.some((interfaceName) => Object.hasOwn(command.routes, interfaceName)) ? command.scopes : [];
}

/** The needs of a read: an access, scopes, and one of the versions of the connected interface. */
export const needsOfRead = (name: ReadName, available: readonly InterfaceName[]) => ({
  access: accessOfRead(name),
  scopes: scopesOfRead(name, available),
  versions: versionsOfRead(name),
});

export const needsOfCommand = (name: CommandName, available: readonly InterfaceName[]) => ({
  access: accessOfCommand(name),
  scopes: scopesOfCommand(name, available),
  versions: versionsOfCommand(name, available),
});

/**
 * The scopes of a text with spaces between them, as they are written, because capitals matter, and
 * each once. Null if a character is not part of a scope (RFC 6749 3.3), or is a comma or a
 * semicolon, which a person may use as a separator.
 */
export function parseScopes(text: string): string[] | null {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  return scopes.every((scope) => /^[!#-+\--:<-[\]-~]+$/.test(scope)) ? [...new Set(scopes)] : null;
}

/** Scopes that services grant without listing them, and that no portal has a box for. */
export const unlistedScopes: readonly string[] = ['openid', 'offline_access'];

interface ScopeOptions {
  access?: readonly AccessName[];
  readOnly?: boolean;
  /** Further scopes, as `parseScopes` accepts them. A text that it does not accept adds none. */
  moreScopes?: string;
}

/**
 * The scopes that a sign-in asks for (docs/internals/service.md 5.2), every read of the status and
 * what `access` and `moreScopes` add, and those among them that a person can leave out, by the
 * access that adds them. Accesses that add none are not listed.
 */
export function signInScopes(
  available: readonly InterfaceName[],
  { access = defaultAccess, readOnly = false, moreScopes = '' }: ScopeOptions = {},
): { scopes: string[]; optional: { access: AccessName | 'more'; scopes: string[] }[] } {
  const scopesWith = (asked: readonly AccessName[]): string[] => {
    const isAsked = (needed: AccessName | null): boolean => needed === null || asked.includes(needed);
    const reads = readNames.filter((name) => isAsked(accessOfRead(name)));
    const sent = readOnly ? [] : Object.keys(commands).filter((name) => isAsked(accessOfCommand(name)));
    return [
      ...new Set([
        'openid',
        ...reads.flatMap((name) => scopesOfRead(name, available)),
        ...sent.flatMap((name) => scopesOfCommand(name, available)),
        ...(available.includes('connected-v1') ? requestDetails.scopes : []),
      ]),
    ];
  };
  const always = scopesWith([]);
  const added = access.map((name) => ({
    access: name,
    scopes: scopesWith([name]).filter((scope) => !always.includes(scope)),
  }));
  const computed = scopesWith(access);
  const more = (parseScopes(moreScopes) ?? []).filter((scope) => !computed.includes(scope));
  return {
    scopes: [...computed, ...more],
    optional: [...added, { access: 'more' as const, scopes: more }].filter(({ scopes }) => scopes.length > 0),
  };
}
