import { commands, isCommandName, requestDetails, type Command } from './commands';
import { groupedResources, groups, type GroupName } from './groups';
import {
  connectedReadNames,
  connectedReads,
  isResourceName,
  resourceNames,
  resources,
  type InterfaceName,
  type ReadName,
} from './reads';

/** Besides `openid`: of a read, where only these interfaces answer. None where no interface has it. */
export function scopesOfRead(name: ReadName, alive: readonly InterfaceName[]): readonly string[] {
  if (!isResourceName(name)) return isAlive(connectedReads[name].routes, alive) ? connectedReads[name].scopes : [];
  if (alive.includes('extended-v1')) return [resources[name].scope];
  const { group }: { group: GroupName | null } = groupedResources[name];
  return group !== null && alive.includes('connected-v2') ? groups[group].scopes : [];
}

/** Besides `openid`: of a command, and of following it where it is answered with a link (field notes 2.2). */
export function scopesOfCommand(name: string, alive: readonly InterfaceName[]): readonly string[] {
  // What only the vehicle's own list names is looked up there first.
  if (!isCommandName(name)) return connectedReads.commands.scopes;
  const { routes, scopes }: Command = commands[name];
  return isAlive(routes, alive) ? scopes : [];
}

/** Every scope that the living interfaces of a service have a use for: what a sign-in asks for (specification 5.2). */
export function scopesOfService(alive: readonly InterfaceName[]): string[] {
  return [
    ...new Set([
      'openid',
      ...connectedReadNames.flatMap((name) => scopesOfRead(name, alive)),
      ...Object.keys(commands).flatMap((name) => scopesOfCommand(name, alive)),
      ...(alive.includes('connected-v1') ? requestDetails.scopes : []),
      ...resourceNames.flatMap((name) => scopesOfRead(name, alive)),
    ]),
  ];
}

const isAlive = (routes: object, alive: readonly InterfaceName[]): boolean =>
  alive.some((name) => Object.hasOwn(routes, name));
