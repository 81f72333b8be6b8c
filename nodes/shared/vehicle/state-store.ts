import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import type { Seal, StateStore, Stored, WriteOptions } from '../../../src/index';
import { runtime } from '../load';
import { word } from '../node-red/i18n';
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

/** The store of the nodes on a directory, and whether it is the one on disk; null while that is decided. */
interface Ownership {
  store: Promise<StateStore>;
  isOwner: boolean | null;
}

const ownerships = new Map<string, Ownership>();

/**
 * The store for what only one process may change: commands, watches, journals. While another Node-RED on the same user directory
 * is the owner of those, they are kept in memory, and the node warns. Each deploy tries again.
 */
export function ownStateStoreOf(RED: NodeAPI, node: Node): StateStore {
  const directory = packDirectory(RED);
  if (directory === null) return stateStoreOf(RED);
  let ownership = ownerships.get(directory);
  if (ownership === undefined || ownership.isOwner === false) {
    ownership = decideOwner(RED, directory);
    ownerships.set(directory, ownership);
  }
  const decided = ownership;
  void decided.store.then(() => {
    if (decided.isOwner === false && node.type === 'connected-vehicle') node.warn(word(RED, 'warning.secondProcess'));
  });
  return new PendingStore(decided.store);
}

function decideOwner(RED: NodeAPI, directory: string): Ownership {
  const { MemoryStateStore, ownDirectory } = runtime();
  const ownership: Ownership = {
    isOwner: null,
    store: ownDirectory(directory).then((isOwner) => {
      ownership.isOwner = isOwner;
      return isOwner ? stateStoreOf(RED) : new MemoryStateStore();
    }),
  };
  return ownership;
}

/** A store that is not known yet: each operation waits for it. */
class PendingStore implements StateStore {
  readonly #store: Promise<StateStore>;

  constructor(store: Promise<StateStore>) {
    this.#store = store;
  }

  async read(key: string): Promise<Stored | null> {
    return (await this.#store).read(key);
  }

  async write(key: string, value: unknown, options?: WriteOptions): Promise<string | null> {
    return (await this.#store).write(key, value, options);
  }

  async remove(key: string): Promise<void> {
    await (await this.#store).remove(key);
  }

  async list(prefix: string): Promise<string[]> {
    return (await this.#store).list(prefix);
  }
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
