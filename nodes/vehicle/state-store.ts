import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import {
  DirectoryInUse,
  DirectoryOwner,
  FileStateStore,
  MemoryStateStore,
  openSession,
  Pack,
  Seal,
  SealedStateStore,
  type Sentence,
  type Session,
  type StateStore,
} from '../../src/index';
import { notifyEditors } from '../cars/runtime/notify-editors';
import type { NodeOfFlow } from '../node-red/flows';
import { logWarning } from '../node-red/i18n';
import { clock } from '../node-red/time';
import { partOf } from '../pack';
import { redactor } from './redaction';
import { storeSecrets } from './store-secret';

/** What this Node-RED keeps in its user directory, and what its accounts share. */
class Storage {
  /** Everything that outlives a restart. Where Node-RED keeps no files, it ends with the process. */
  readonly store: StateStore;
  /** Null where Node-RED keeps no files. */
  readonly owner: DirectoryOwner | null;
  /** One for all vehicles; null where Node-RED keeps no files. */
  readonly session: Session | null;
  readonly pack: Pack;
  /** By secret: each derives its key once. */
  readonly #seals = new Map<string, Seal>();

  constructor(RED: NodeAPI) {
    const { userDir } = RED.settings;
    const warn = (warning: Sentence): void => logWarning(RED, warning);
    const shared = { clock: clock(), warn };
    if (userDir) {
      const directory = join(userDir, 'connected-vehicle');
      this.owner = new DirectoryOwner({ directory, clock: clock() });
      this.store = new FileStateStore({ directory, owner: this.owner, ...shared });
      const seals = (): Seal[] => this.#sealsOf(RED, directory);
      this.session = openSession({
        state: new SealedStateStore({ store: this.store, seals, warn }),
        onSecret: (secret) => redactor().learnRotated(secret),
        clock: clock(),
      });
    } else {
      this.owner = null;
      this.store = new MemoryStateStore();
      this.session = null;
    }
    this.pack = new Pack({
      ...shared,
      store: this.store,
      redactor: redactor(),
      onCommand: () => notifyEditors(RED),
    });
  }

  /** The next process may use the directory. */
  async end(): Promise<void> {
    await this.owner?.end();
  }

  /** @throws VehicleError CONFIG */
  #sealsOf(RED: NodeAPI, directory: string): Seal[] {
    return storeSecrets(RED, directory).map((one) => {
      const seal = this.#seals.get(one) ?? new Seal(one);
      this.#seals.set(one, seal);
      return seal;
    });
  }
}

const storageOf = (RED: NodeAPI): Storage => partOf(RED, Storage);

/** What all accounts of this Node-RED share. */
export const packOf = (RED: NodeAPI): Pack => storageOf(RED).pack;

export const sessionOf = (RED: NodeAPI): Session | null => storageOf(RED).session;

/** Whether another Node-RED uses the folder of the pack; false while that is not decided. */
export const isInUse = (RED: NodeAPI): boolean => ['other', 'lost'].includes(storageOf(RED).owner?.state ?? 'ours');

/** @throws VehicleError CONFIG while another Node-RED uses the folder of the pack */
export function throwIfInUse(RED: NodeAPI): void {
  const { owner } = storageOf(RED);
  if (owner !== null && isInUse(RED)) throw new DirectoryInUse(owner.state);
}

/** Fulfilled with true when this Node-RED may use the folder of the pack, with false when the node is closed before. */
export function whenOurs({ RED, closing }: NodeOfFlow): Promise<boolean> {
  const { owner } = storageOf(RED);
  if (owner === null || owner.state === 'ours') return Promise.resolve(true);
  return new Promise((resolve) => {
    const stop = owner.onChange(() => {
      if (owner.state !== 'ours') return;
      stop();
      resolve(true);
    });
    closing.addEventListener('abort', () => {
      stop();
      resolve(false);
    });
  });
}

/** Calls back at once and whenever another Node-RED begins or ceases to use the folder of the pack, until the node is closed. */
export function onUse({ RED, closing }: NodeOfFlow, callback: (isInUse: boolean) => void): void {
  const { owner } = storageOf(RED);
  let before = false;
  const look = (): void => {
    if (isInUse(RED) === before) return;
    before = !before;
    callback(before);
  };
  look();
  if (owner !== null) closing.addEventListener('abort', owner.onChange(look));
}
