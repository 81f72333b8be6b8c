import type { NodeAPI } from 'node-red';
import type { SignIns, TokenManagers } from '../../../src/index';
import { runtime } from '../load';
import { clock } from '../node-red/time';
import { redactor } from './redaction';
import { packDirectory, sealsOf, stateStoreOf } from './state-store';

/** The saved grants of this Node-RED, and the sign-ins in progress. */
export interface Session {
  managers: TokenManagers;
  signIns: SignIns;
}

const byDirectory = new Map<string, Session>();

/** One for all vehicles of a user directory; null where Node-RED keeps no files. */
export function sessionOf(RED: NodeAPI): Session | null {
  const directory = packDirectory(RED);
  if (directory === null) return null;
  let session = byDirectory.get(directory);
  if (session === undefined) {
    const { GrantStore, sendOnce, SignIns, TokenManagers } = runtime();
    const store = new GrantStore({
      state: stateStoreOf(RED),
      onSecret: (secret) => redactor().learnRotated(secret),
      former: { directory, seals: () => sealsOf(RED, directory) },
      clock: clock(),
    });
    const managers = new TokenManagers({ store, send: sendOnce(clock()), clock: clock() });
    session = { managers, signIns: new SignIns(managers) };
    byDirectory.set(directory, session);
  }
  return session;
}
