import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import type { SignIns, TokenStore } from '../../../src/index';
import { runtime } from '../load';
import { storeSecrets } from './store-secret';
import { clock } from '../node-red/time';

/** The saved sign-ins of this Node-RED, and the ones that are under way. */
export interface SignInKeeping {
  store: TokenStore;
  signIns: SignIns;
}

const byPlace = new Map<string, SignInKeeping>();

/**
 * One for all vehicles of a user directory.
 * @returns null where Node-RED keeps no files
 * @throws VehicleError CONFIG
 */
export function signInKeeping(RED: NodeAPI): SignInKeeping | null {
  const { userDir } = RED.settings;
  if (!userDir) return null;
  const directory = join(userDir, 'connected-vehicle');
  const { secret, former } = storeSecrets(RED, directory);
  const place = JSON.stringify([directory, secret]);
  let keeping = byPlace.get(place);
  if (keeping === undefined) {
    const { SignIns, TokenStore } = runtime();
    const store = new TokenStore({ directory, secret, former, clock: clock() });
    keeping = { store, signIns: new SignIns({ store, clock: clock() }) };
    byPlace.set(place, keeping);
  }
  return keeping;
}
