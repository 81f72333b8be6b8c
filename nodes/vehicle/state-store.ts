import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import {
  FileStateStore,
  MemoryStateStore,
  openOwnedStore,
  Seal,
  type OwnedStore,
  type StateStore,
} from '../../src/index';
import { storeSecrets } from './store-secret';

const byDirectory = new Map<string, StateStore>();

/** The folder of the pack in Node-RED's user directory; null where Node-RED keeps no files. */
export const packDirectory = (RED: NodeAPI): string | null =>
  RED.settings.userDir ? join(RED.settings.userDir, 'connected-vehicle') : null;

/** The store of this Node-RED, for everything that outlives a restart. Where Node-RED keeps no files, it ends with the process. */
export function stateStoreOf(RED: NodeAPI): StateStore {
  const directory = packDirectory(RED);
  const known = byDirectory.get(directory ?? '');
  if (known !== undefined) return known;
  const store =
    directory === null
      ? new MemoryStateStore()
      : new FileStateStore({
          directory,
          warn: (sentence) => RED.log.warn(`[connected-vehicle] ${sentence}`),
        });
  byDirectory.set(directory ?? '', store);
  return store;
}

const ownedStores = new Map<string, OwnedStore>();

/**
 * The store for what only one process may change: commands, watches, journals, guards and events. While another Node-RED on the same user directory
 * is the owner of those, they are kept in memory. Each deploy tries again.
 */
export function ownedStoreOf(RED: NodeAPI): OwnedStore {
  const directory = packDirectory(RED);
  if (directory === null) return { store: stateStoreOf(RED), isOwner: Promise.resolve(true) };
  let owned = ownedStores.get(directory);
  if (owned === undefined) {
    owned = openOwnedStore(directory, stateStoreOf(RED));
    ownedStores.set(directory, owned);
    void owned.isOwner.then((isOwner) => isOwner || ownedStores.delete(directory));
  }
  return owned;
}

const seals = new Map<string, Seal>();

/** Each seal derives its key once in the life of the process. @throws VehicleError CONFIG */
export function sealsOf(RED: NodeAPI, directory: string): Seal[] {
  const { secret, former } = storeSecrets(RED, directory);
  return [secret, ...former].map((one) => {
    const seal = seals.get(one) ?? new Seal(one);
    seals.set(one, seal);
    return seal;
  });
}
