import { strict as assert } from 'node:assert';
import { createTokenSource, MemoryStateStore, openSession } from '../../../src/index';
import { GrantStore, signInKey } from '../../../src/session/grant-store';
import type { Send } from '../../../src/session/oauth';
import { Session } from '../../../src/session/session';
import { ManualClock } from '../../support/manual-clock';
import { Identity } from './identity';

const client = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token',
  clientId: 'client',
  clientSecret: 'secret',
};
const key = signInKey(client, 'node');
const options = { key, client, pastedRefreshToken: null };

describe('The session of a user directory', () => {
  it('sends each request over a connection of its own, which ends with it', async () => {
    const clock = new ManualClock();
    const identity = await Identity.start({ clock });
    const session = openSession({ state: new MemoryStateStore(), clock });
    const { connections } = identity.simulator;
    const refreshToken = identity.newRefreshToken();
    const source = createTokenSource({ client: identity.client, configNodeId: 'node', session, refreshToken });
    assert.notEqual(await source.get(), '');
    assert.deepEqual([identity.requests.length, connections.total], [1, 1]);
    // Else it would stay open for some seconds, in case another request follows.
    assert.equal(identity.requests[0]?.headers.connection, 'close');
    while (connections.current > 0) await new Promise((resolve) => setImmediate(resolve));
    await source.close();
    await identity.close();
    const offline = openSession({ state: new MemoryStateStore(), clock });
    const lost = createTokenSource({ client: identity.client, configNodeId: 'node', session: offline, refreshToken });
    await assert.rejects(lost.get(), { code: 'NETWORK' });
    await lost.close();
  });

  it('has one manager of a grant while somebody uses it, and one more for another client secret', async () => {
    const clock = new ManualClock();
    let requests = 0;
    let arrive: () => void = () => assert.fail('no request');
    const send: Send = async ({ mayLeave }) => {
      requests += 1;
      mayLeave?.();
      await new Promise<void>((resolve) => (arrive = resolve));
      return { status: 200, headers: {}, body: JSON.stringify({ access_token: 'a2', refresh_token: 'r2' }) };
    };
    const store = new GrantStore({ state: new MemoryStateStore() });
    const session = new Session({ store, send, clock });
    const first = session.acquire(options);
    assert.equal(session.acquire(options), first);
    const mistyped = session.acquire({ ...options, client: { ...client, clientSecret: 'other' } });
    assert.notEqual(mistyped, first);
    assert.equal(mistyped.turn, first.turn, 'they refresh one after the other');
    assert.notEqual(session.acquire({ ...options, key: 'sign-in/other' }).turn, first.turn);
    await session.release(mistyped);
    await session.release(first);
    assert.equal(session.acquire(options), first);
    // It is kept while its answer is on its way.
    const signIn = {
      refreshToken: 'r',
      accessToken: '',
      expiresAt: null,
      scopes: null,
      refreshedAt: clock.now(),
      outdated: [],
    };
    await session.save(key, signIn);
    assert.equal(session.saved, 1);
    const asked = first.get();
    while (requests === 0) await clock.advance(0);
    await session.release(first);
    const released = session.release(first);
    await clock.advance(3_000);
    await released;
    assert.equal(session.acquire(options), first);
    arrive();
    assert.equal(await asked, 'a2');
    assert.equal((await store.read(key))?.grant.refreshToken, 'r2');
    await session.release(first);
    assert.notEqual(session.acquire(options), first);
    await session.save(key, signIn);
    assert.equal((await store.read(key))?.grant.generation, 3);
    await session.removeGrant(key);
    assert.equal(await store.read(key), null);
  });
});
