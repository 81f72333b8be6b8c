import {
  connectedReadNames,
  connectedReads,
  isReadName,
  isResourceName,
  localReadNames,
  resources,
  themes,
  type AnyReadName,
  type ConnectedRead,
  type ReadName,
} from '../../../src/index';
import type { Versions } from './interfaces';

/** Whether it is a read of the service; the journal is none. */
export const isKnownRead = (name: string): name is ReadName => isReadName(name);

/** Everything that can be read, by the headings of the list and in its order. */
export const readThemes = (): [heading: string, names: readonly AnyReadName[]][] => [
  ['connected', connectedReadNames],
  ...themes.map((theme): [string, ReadName[]] => [
    theme,
    Object.keys(resources)
      .filter(isResourceName)
      .filter((name) => resources[name].theme === theme),
  ]),
  ['kept', localReadNames],
];

/** The versions of the connected interface that have a read; null for a single value, which does not depend on the version. */
export function versionsOf(name: ReadName): Versions | null {
  if (isResourceName(name)) return null;
  const { routes }: ConnectedRead = connectedReads[name];
  return { v1: 'connected-v1' in routes, v2: 'connected-v2' in routes };
}
