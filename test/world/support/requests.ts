import { createTokenSource, MemoryStateStore, openSession, type Account, type CommandRecord } from '../../../src/index';
import type { TokenSource } from '../../../src/http/token-source';
import { saveSignIn } from '../../support/saved-sign-in';
import type { Simulator } from '../../support/simulator';

export const readOdometer = async (account: Account, vin: string): Promise<unknown> => {
  const { payload } = await account.read('odometer', { vin, maxAgeMs: 0 });
  // A cast: the payload of this read.
  return (payload as { value: unknown }).value;
};

export const lock = (account: Account, vin: string): Promise<CommandRecord> => account.dispatcher.send('lock', { vin });

/** The tokens of a sign-in, which are refreshed at another host than that of the service. */
export async function tokensOf(service: Simulator, audience: string, identity: string): Promise<TokenSource> {
  const session = openSession({ state: new MemoryStateStore() });
  const tokenUrl = `${identity}/as/token.oauth2`;
  const client = { audience, tokenUrl, clientId: 'demo-client', clientSecret: 'demo-secret' };
  await saveSignIn(session, client, 'owner', service.issueRefreshToken());
  return createTokenSource({ client, configNodeId: 'owner', session });
}
