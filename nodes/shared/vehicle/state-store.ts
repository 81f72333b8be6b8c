import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import type { StateStore } from '../../../src/index';
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
  const { FileStateStore, MemoryStateStore, Seal } = runtime();
  const seals = new Map<string, InstanceType<typeof Seal>>();
  const sealOf = (secret: string): InstanceType<typeof Seal> => {
    const seal = seals.get(secret) ?? new Seal(secret);
    seals.set(secret, seal);
    return seal;
  };
  const store =
    directory === null
      ? new MemoryStateStore()
      : new FileStateStore({
          directory,
          seals: () => {
            const { secret, former } = storeSecrets(RED, directory);
            return [secret, ...former].map(sealOf);
          },
          warn: (sentence) => RED.log.warn(`[connected-vehicle] ${sentence}`),
        });
  byDirectory.set(directory ?? '', store);
  return store;
}
