import { strict as assert } from 'node:assert';
import { createTokenSource, MemoryStateStore, openSession } from '../../../src/index';
import { ManualClock } from '../../support/manual-clock';
import { saveSignIn } from '../../support/saved-sign-in';
import { Identity } from './identity';

describe('The session of a user directory', () => {
  it('sends each request over a connection of its own, which ends with it', async () => {
    const clock = new ManualClock();
    const identity = await Identity.start({ clock });
    const session = openSession({ state: new MemoryStateStore(), clock });
    const { connections } = identity.simulator;
    await saveSignIn(session, identity.client, 'node', identity.newRefreshToken());
    const source = createTokenSource({ client: identity.client, configNodeId: 'node', session });
    assert.notEqual(await source.get(), '');
    assert.deepEqual([identity.requests.length, connections.total], [1, 1]);
    // Else it would stay open for some seconds, in case another request follows.
    assert.equal(identity.requests[0]?.headers.connection, 'close');
    while (connections.current > 0) await new Promise((resolve) => setImmediate(resolve));
    await source.close();
    await identity.close();
    const offline = openSession({ state: new MemoryStateStore(), clock });
    await saveSignIn(offline, identity.client, 'node', 'r');
    const lost = createTokenSource({ client: identity.client, configNodeId: 'node', session: offline });
    await assert.rejects(lost.get(), { code: 'NETWORK' });
    await lost.close();
  });
});
