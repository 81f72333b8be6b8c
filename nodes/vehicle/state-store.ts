import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import {
  DirectoryInUse,
  DirectoryOwner,
  FileStateStore,
  MemoryStateStore,
  Pack,
  Seal,
  type StateStore,
} from '../../src/index';
import { notifyEditors } from '../cars/runtime/notify-editors';
import type { NodeStatus } from '../node-red/node-status';
import { logWarning } from '../node-red/sentences';
import { clock } from '../node-red/time';
import { redactor } from './redaction';
import { storeSecrets } from './store-secret';

interface Kept {
  store: StateStore;
  /** Null where Node-RED keeps no files. */
  owner: DirectoryOwner | null;
  pack?: Pack;
}

const byDirectory = new Map<string, Kept>();

/** The folder of the pack in Node-RED's user directory; null where Node-RED keeps no files. */
export const packDirectory = (RED: NodeAPI): string | null =>
  RED.settings.userDir ? join(RED.settings.userDir, 'connected-vehicle') : null;

function keptOf(RED: NodeAPI): Kept {
  const directory = packDirectory(RED);
  let kept = byDirectory.get(directory ?? '');
  if (kept === undefined) {
    kept = directory === null ? { store: new MemoryStateStore(), owner: null } : open(RED, directory);
    byDirectory.set(directory ?? '', kept);
  }
  return kept;
}

function open(RED: NodeAPI, directory: string): Kept {
  const owner = new DirectoryOwner({ directory, clock: clock() });
  return {
    owner,
    store: new FileStateStore({ directory, owner, clock: clock(), warn: (warning) => logWarning(RED, warning) }),
  };
}

/** The store of this Node-RED, for everything that outlives a restart. Where Node-RED keeps no files, it ends with the process. */
export const stateStoreOf = (RED: NodeAPI): StateStore => keptOf(RED).store;

/** What all accounts of this Node-RED share. */
export function packOf(RED: NodeAPI): Pack {
  const kept = keptOf(RED);
  if (kept.pack?.clock !== clock())
    kept.pack = new Pack({
      clock: clock(),
      store: kept.store,
      redactor: redactor(),
      warn: (warning) => logWarning(RED, warning),
      onCommand: notifyEditors,
    });
  return kept.pack;
}

/** For tests: the next process may use the directory. */
export async function endStore(userDir: string): Promise<void> {
  const directory = join(userDir, 'connected-vehicle');
  await byDirectory.get(directory)?.owner?.end();
  byDirectory.delete(directory);
}

/** Whether another Node-RED uses the folder of the pack; false while that is not decided. */
export const isInUse = (RED: NodeAPI): boolean => ['other', 'lost'].includes(keptOf(RED).owner?.state ?? 'ours');

/** @throws VehicleError CONFIG while another Node-RED uses the folder of the pack */
export function throwIfInUse(RED: NodeAPI): void {
  const { owner } = keptOf(RED);
  if (owner !== null && isInUse(RED)) throw new DirectoryInUse(owner.state);
}

/** Fulfilled with true when this Node-RED may use the folder of the pack, with false when the node is closed before. */
export function whenOurs(RED: NodeAPI, node: Node): Promise<boolean> {
  const { owner } = keptOf(RED);
  if (owner === null || owner.state === 'ours') return Promise.resolve(true);
  return new Promise((resolve) => {
    const stop = owner.onChange(() => {
      if (owner.state !== 'ours') return;
      stop();
      resolve(true);
    });
    node.on('close', () => {
      stop();
      resolve(false);
    });
  });
}

/** Calls back at once and whenever another Node-RED begins or ceases to use the folder of the pack, until the node is closed. */
export function onUse(RED: NodeAPI, node: Node, callback: (isInUse: boolean) => void): void {
  const { owner } = keptOf(RED);
  let before = false;
  const look = (): void => {
    if (isInUse(RED) === before) return;
    before = !before;
    callback(before);
  };
  look();
  if (owner !== null) node.on('close', owner.onChange(look));
}

/** Shows while another Node-RED uses the folder of the pack. */
export const showUse = (RED: NodeAPI, node: Node, nodeStatus: NodeStatus): void =>
  onUse(RED, node, (isUsed) => (isUsed ? nodeStatus.show('failed', 'inUse') : nodeStatus.clear('inUse')));

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
