import { hostname } from 'node:os';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import {
  checkStore,
  DirectoryOwner,
  FilePresence,
  FileStateStore,
  getOrMake,
  openSession,
  Pack,
  RedisPresence,
  Seal,
  SealedStateStore,
  type Finding,
  type Sentence,
  type Session,
  type VehicleError,
} from '../../src/index';
import { editorsOf } from './editors';
import { logWarning } from './i18n';
import { clock } from './time';
import { perNodeRed } from '../per-node-red';
import { redactor } from './redaction';
import { chooseSharedStore } from './shared-store';
import { storeSecrets } from './store-secret';

/**
 * The stored state of this Node-RED, in its user directory or in a store that it shares with
 * others, and the parts that its accounts share.
 */
class Storage {
  /** Checks the settings of the store, and returns the findings that *Check* shows. */
  readonly check: () => Promise<Finding[]> = () => Promise.resolve([]);
  /** The next process may use the store. */
  readonly end: () => Promise<void> = () => Promise.resolve();
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
    const shared = chooseSharedStore(RED, clock());
    if (shared !== null) {
      const { store, scope, group, joinsCommands } = shared;
      store.onChange(() => {
        if (store.fault !== null) warn(store.fault.sentence);
        editorsOf(RED).notify();
      });
      const presence = new RedisPresence({ store, name: hostname(), group, joinsCommands, clock: clock() });
      this.session = openSession({ state: store, scope, presence, onSecret, clock: clock() });
      this.pack = new Pack({ ...options, presence, store });
      // Ends with the process.
      this.demoPack = new Pack(options);
      this.check = () => checkStore(store, presence);
      this.end = () => store.close();
    } else if (userDir) {
      const directory = join(userDir, 'connected-vehicle');
      const owner = new DirectoryOwner({ directory, clock: clock() });
      this.end = () => owner.end();
      const store = new FileStateStore({ directory, owner, clock: clock(), warn });
      const presence = new FilePresence(owner, store, clock());
      const seals = (): Seal[] => this.#sealsOf(RED, directory);
      this.session = openSession({
        state: new SealedStateStore({ store, seals, warn }),
        presence,
        onSecret,
        clock: clock(),
      });
      this.pack = this.demoPack = new Pack({ ...options, presence, store });
    } else this.pack = this.demoPack = new Pack(options);
  }

  /** @throws VehicleError CONFIG */
  #sealsOf(RED: NodeAPI, directory: string): Seal[] {
    return storeSecrets(RED, directory).map((one) => getOrMake(this.#seals, one, () => new Seal(one)));
  }
}

const storageOf = (RED: NodeAPI): Storage => perNodeRed(RED, Storage);

/**
 * The parts that all accounts of this Node-RED share.
 * @param service of the vehicle configuration
 */
export const packOf = (RED: NodeAPI, service?: unknown): Pack =>
  service === 'demo' ? storageOf(RED).demoPack : storageOf(RED).pack;

/** Checks the settings of the store, and returns the findings that *Check* shows. */
export const checkStorage = (RED: NodeAPI): Promise<Finding[]> => storageOf(RED).check();

export const sessionOf = (RED: NodeAPI): Session | null => storageOf(RED).session;

/**
 * CONFIG while another Node-RED uses the folder of the pack; null also while that is not decided.
 */
export function faultOfUse(RED: NodeAPI): VehicleError | null {
  const { role, fault } = packOf(RED).presence;
  return role === 'standby' || role === 'lost' ? fault : null;
}

/** @throws VehicleError CONFIG while another Node-RED uses the folder of the pack */
export function throwIfInUse(RED: NodeAPI): void {
  const fault = faultOfUse(RED);
  if (fault !== null) throw fault;
}
