/**
 * A separate process, for what Node reads from its environment at the start (certificates,
 * proxies). It reads, sends a command and refreshes a token at the service with each of these base
 * URLs, and prints what each of them gave: `ok` or the sentence of the error.
 */
import { createTokenSource, MemoryStateStore, openSession } from '../../src/index';
import { accountOn, withSend } from './account';
import { saveSignIn } from './saved-sign-in';

const resultOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: Error) => error.message,
  );

async function use(baseUrl: string): Promise<object> {
  const account = withSend(accountOn({ url: baseUrl }));
  const session = openSession({ state: new MemoryStateStore() });
  const client = { audience: baseUrl, tokenUrl: `${baseUrl}/token`, clientId: 'client', clientSecret: 'secret' };
  const tokens = createTokenSource({ client, configNodeId: 'configNodeId', session });
  await saveSignIn(session, client, 'configNodeId', 'refresh');
  const read = await resultOf(account.client.read('vehicles'));
  const command = await resultOf(account.client.send('flash', { vin: 'YV1TEST0000000000', interface: 'v2' }));
  const token = await resultOf(tokens.get());
  await Promise.all([account.close(), tokens.close()]);
  return { read, command, token };
}

void Promise.all(process.argv.slice(2).map(use)).then((results) => console.log(JSON.stringify(results)));
