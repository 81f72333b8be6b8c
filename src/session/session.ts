import { createTransport, type Transport } from '../http/transport';
import { systemClock, type Clock } from '../util/clock';
import { GrantStore, type GrantStoreOptions } from './grant-store';
import { SignIns } from './sign-in';
import { TokenManagers } from './token-managers';

/** The session that the configurations of one user directory share: the tokens of the stored sign-ins, and the sign-ins in progress. */
export interface Session {
  managers: TokenManagers;
  signIns: SignIns;
}

/** Opens the stored sign-ins. Requests go to the token endpoint one by one. */
export function openSession(options: GrantStoreOptions): Session {
  const { clock } = options;
  const managers = new TokenManagers({
    store: new GrantStore(options),
    send: sendOnce(clock),
    ...(clock && { clock }),
  });
  return { managers, signIns: new SignIns(managers) };
}

/** Sends single requests, each over a transport of its own that is closed afterwards. */
function sendOnce(clock: Clock = systemClock): Transport['send'] {
  return async (request) => {
    const transport = createTransport({ clock });
    try {
      return await transport.send(request);
    } finally {
      await transport.close();
    }
  };
}
