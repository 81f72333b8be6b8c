import { hostname } from 'node:os';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import {
  DirectoryOwner,
  FilePresence,
  FileStateStore,
  LocalPresence,
  MemoryStateStore,
  openSession,
  Pack,
  RedisPresence,
  Seal,
  SealedStateStore,
  type Presence,
  type Sentence,
  type Session,
  type StateStore,
  type VehicleError,
} from '../../src/index';
import { editorsOf } from './editors';
import { logWarning } from './i18n';
import { clock } from './time';
import { partOf } from '../per-node-red';
import { redactor } from './redaction';
import { chooseSharedStore, type SharedStoreChoice } from './shared-store';
import { storeSecrets } from './store-secret';

/**
 * The stored state of this Node-RED, in its user directory or in a store that it shares with
 * others, and the parts that its accounts share.
 */
class Storage {
  /** Null if Node-RED keeps no files, or if it has a shared store. */
  readonly owner: DirectoryOwner | null = null;
  readonly shared: SharedStoreChoice | null;
  /** One for all vehicles; null if Node-RED keeps no files and has no shared store. */
  readonly session: Session | null = null;
  readonly pack: Pack;
  /** For the demo cars, which share nothing with another Node-RED. */
  readonly demoPack: Pack;
  /** By secret: each derives its key once. */
  readonly #seals = new Map<string, Seal>();

  constructor(RED: NodeAPI) {
    const { userDir } = RED.settings;
    const warn = (warning: Sentence): void => logWarning(RED, warning);
    const options = { clock: clock(), warn, redactor, onCommand: editorsOf(RED).notify };
    const onSecret = (secret: string): void => redactor.learnRotated(secret);
    this.shared = chooseSharedStore(RED, clock());
    if (this.shared !== null) {
      const { store, scope, group, joinsCommands } = this.shared;
      store.onChange(() => {
        if (store.fault !== null) warn(store.fault.sentence);
        editorsOf(RED).notify();
      });
      const presence = new RedisPresence({ store, name: hostname(), group, joinsCommands, clock: clock() });
      this.session = openSession({ state: store, scope, presence, onSecret, clock: clock() });
      this.pack = new Pack({ ...options, presence, store });
      // Ends with the process.
      this.demoPack = new Pack(options);
      return;
    }
    let store: StateStore = new MemoryStateStore();
    let presence = new LocalPresence(clock());
    if (userDir) {
      const directory = join(userDir, 'connected-vehicle');
      this.owner = new DirectoryOwner({ directory, clock: clock() });
      presence = new FilePresence(this.owner, clock());
      store = new FileStateStore({ directory, owner: this.owner, clock: clock(), warn });
      const seals = (): Seal[] => this.#sealsOf(RED, directory);
      this.session = openSession({
        state: new SealedStateStore({ store, seals, warn }),
        presence,
        onSecret,
        clock: clock(),
      });
    }
    this.pack = new Pack({ ...options, presence, store });
    this.demoPack = this.pack;
  }

  /** The next process may use the directory. */
  async end(): Promise<void> {
    await this.owner?.end();
    await this.shared?.store.close();
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

/**
 * The parts that all accounts of this Node-RED share.
 * @param service of the vehicle configuration
 */
export const packOf = (RED: NodeAPI, service?: unknown): Pack =>
  service === 'demo' ? storageOf(RED).demoPack : storageOf(RED).pack;

/** Null if no shared store is set. */
export const sharedStoreOf = (RED: NodeAPI): SharedStoreChoice['store'] | null => storageOf(RED).shared?.store ?? null;

export const sessionOf = (RED: NodeAPI): Session | null => storageOf(RED).session;

/** Whether another Node-RED uses the folder of the pack; false while that is not decided. */
export const isInUse = (RED: NodeAPI): boolean => isElsewhere(packOf(RED).presence);

const isElsewhere = ({ role }: Presence): boolean => role === 'standby' || role === 'lost';

/** CONFIG while another Node-RED uses the folder of the pack, otherwise null. */
export function faultOfUse(RED: NodeAPI): VehicleError | null {
  const { presence } = packOf(RED);
  return isElsewhere(presence) ? presence.fault : null;
}

/** @throws VehicleError CONFIG while another Node-RED uses the folder of the pack */
export function throwIfInUse(RED: NodeAPI): void {
  const fault = faultOfUse(RED);
  if (fault !== null) throw fault;
}
