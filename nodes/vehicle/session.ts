import type { NodeAPI } from 'node-red';
import { openSession, SealedStateStore, type Session, type StateStore } from '../../src/index';
import { logWarning } from '../node-red/sentences';
import { clock } from '../node-red/time';
import { redactor } from './redaction';
import { packDirectory, sealsOf, stateStoreOf } from './state-store';

const byStore = new WeakMap<StateStore, Session>();

/** One for all vehicles of a user directory; null where Node-RED keeps no files. */
export function sessionOf(RED: NodeAPI): Session | null {
  const directory = packDirectory(RED);
  if (directory === null) return null;
  const store = stateStoreOf(RED);
  let session = byStore.get(store);
  if (session === undefined) {
    session = openSession({
      state: new SealedStateStore({
        store,
        seals: () => sealsOf(RED, directory),
        warn: (warning) => logWarning(RED, warning),
      }),
      onSecret: (secret) => redactor().learnRotated(secret),
      clock: clock(),
    });
    byStore.set(store, session);
  }
  return session;
}
