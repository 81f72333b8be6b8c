import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import type { Seal, StateStore } from '../../../src/index';
import { runtime } from '../load';
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
  const { FileStateStore, MemoryStateStore } = runtime();
  const store =
    directory === null
      ? new MemoryStateStore()
      : new FileStateStore({
          directory,
          seals: () => sealsOf(RED, directory),
          warn: (sentence) => RED.log.warn(`[connected-vehicle] ${sentence}`),
        });
  byDirectory.set(directory ?? '', store);
  return store;
}

const seals = new Map<string, Seal>();

/** Each seal derives its key once in the life of the process. @throws VehicleError CONFIG */
export function sealsOf(RED: NodeAPI, directory: string): Seal[] {
  const { secret, former } = storeSecrets(RED, directory);
  return [secret, ...former].map((one) => {
    const seal = seals.get(one) ?? new (runtime().Seal)(one);
    seals.set(one, seal);
    return seal;
  });
}
