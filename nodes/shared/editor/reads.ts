import {
  chargingMembers,
  connectedReadNames,
  connectedReads,
  isNewerReadName,
  isReadName,
  isResourceName,
  newerReadNames,
  newerReads,
  localReadNames,
  resourceNames,
  resources,
  statisticsMembers,
  themes,
  type AnyReadName,
  type ConnectedRead,
  type MemberKind,
  type ReadName,
  type Resource,
} from '../../../src/index';
import type { Versions } from './interfaces';

/** The type of a single value; undefined for a read that answers more than one. */
export const valueTypeOf = (name: string): Resource | MemberKind | undefined =>
  new Map<string, Resource | MemberKind>(
    Object.entries({ ...resources, ...chargingMembers, ...statisticsMembers }),
  ).get(name);

/** Whether it is a read of the service; the journal is none. */
export const isKnownRead = (name: string): name is ReadName => isReadName(name);

/** Everything that can be read, by the headings of the list and in its order. */
export const readThemes = (): [heading: string, names: readonly AnyReadName[]][] => [
  ['connected', connectedReadNames],
  ...themes.map((theme): [string, ReadName[]] => [
    theme,
    [
      ...newerReadNames.filter((name) => newerReads[name].theme === theme),
      ...resourceNames.filter((name) => resources[name].theme === theme),
    ],
  ]),
  ['kept', localReadNames],
];

/** The versions of the connected interface that have a read; null for a single value, which does not depend on the version. */
export function versionsOf(name: ReadName): Versions | null {
  if (isResourceName(name)) return null;
  if (isNewerReadName(name)) return newerReads[name].gives === 'group' ? { v1: false, v2: true } : null;
  const { routes }: ConnectedRead = connectedReads[name];
  return { v1: 'connected-v1' in routes, v2: 'connected-v2' in routes };
}
