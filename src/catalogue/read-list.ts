/** The parts of the reads that a form needs: their list, the type of each value, and the interfaces. */
import {
  chargingMembers,
  connectedReadNames,
  connectedReads,
  isSingleInterfaceReadName,
  isResourceName,
  localReadNames,
  singleInterfaceReadNames,
  singleInterfaceReads,
  resourceNames,
  resources,
  statisticsMembers,
  themes,
  type AnyReadName,
  type ConnectedRead,
  type MemberKind,
  type ReadName,
  type Resource,
} from './reads';

/** The type of a single value; undefined for a read that answers more than one. */
export const valueTypeOf = (name: string): Resource | MemberKind | undefined =>
  new Map<string, Resource | MemberKind>(
    Object.entries({ ...resources, ...chargingMembers, ...statisticsMembers }),
  ).get(name);

/** Everything that can be read, by the headings of the list and in its order. */
export const readThemes = (): [heading: string, names: readonly AnyReadName[]][] => [
  ['connected', connectedReadNames],
  ...themes.map((theme): [string, ReadName[]] => [
    theme,
    [
      ...singleInterfaceReadNames.filter((name) => singleInterfaceReads[name].theme === theme),
      ...resourceNames.filter((name) => resources[name].theme === theme),
    ],
  ]),
  ['kept', localReadNames],
];

/** The versions of the connected interface that have a read; null for a single value, which does not depend on the version. */
export function versionsOfRead(name: ReadName): { v1: boolean; v2: boolean } | null {
  if (isResourceName(name)) return null;
  if (isSingleInterfaceReadName(name))
    return singleInterfaceReads[name].payloadKind === 'group' ? { v1: false, v2: true } : null;
  const { routes }: ConnectedRead = connectedReads[name];
  return { v1: 'connected-v1' in routes, v2: 'connected-v2' in routes };
}
