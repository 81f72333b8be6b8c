import { strict as assert } from 'node:assert';
import { RedisPresence, VehicleError } from '../../../src/index';
import { GrantStore, signInKey } from '../../../src/session/grant-store';
import { createTokenSource } from '../../../src/session/create-token-source';
import { Session } from '../../../src/session/session';
import type { OAuthClient } from '../../../src/session/oauth';
import { asSentence } from '../../../src/sentence';
import { StateFault } from '../../../src/state/state-store';
import type { TokenSource } from '../../../src/http/token-source';
import { ManualClock } from '../../support/manual-clock';
import { grantWith } from '../../support/saved-sign-in';
import { SharedMemory } from '../../support/shared-memory';

const client: OAuthClient = {
  audience: 'https://service.test',
  tokenUrl: 'https://service.test/token',
  clientId: 'client',
  clientSecret: 'secret',
};
const key = signInKey(client, 'node');

/** A service that takes each refresh token once, and its predecessor for a minute more. */
class TokenService {
  current = 1;
  requests: string[] = [];
  refused = 0;
  /** Until when an answer is on its way. */
  holds: Promise<void> | null = null;

  async answer(body: string): Promise<string> {
    const token = Number(new URLSearchParams(body).get('refresh_token'));
    this.requests.push(String(token));
    const isGood = token === this.current;
    if (isGood) this.current += 1;
    else this.refused += 1;
    const answer = isGood
      ? {
          access_token: `access-${this.current}`,
          refresh_token: String(this.current),
          expires_in: 300,
          token_type: 'Bearer',
        }
      : { error: 'invalid_grant' };
    await this.holds;
    return JSON.stringify(answer);
  }
}

describe('a sign-in that several processes share', () => {
  let clock: ManualClock;
  let store: SharedMemory;
  let service: TokenService;
  let ends: (() => Promise<void>)[];

  beforeEach(async () => {
    clock = new ManualClock();
    store = new SharedMemory(clock);
    service = new TokenService();
    ends = [];
    await new GrantStore({ state: store }).write(key, grantWith('1', clock.now()));
  });
  afterEach(async () => {
    for (const end of ends) await end();
  });

  const start = (): TokenSource => {
    const presence = new RedisPresence({ store, clock });
    const session = new Session({
      store: new GrantStore({ state: store }),
      presence,
      clock,
      random: () => 0,
      async send({ body = '', mayLeave }) {
        mayLeave?.();
        const text = await service.answer(body);
        return { status: text.includes('error') ? 400 : 200, headers: {}, body: text };
      },
    });
    const tokens = createTokenSource({ client, configNodeId: 'node', session });
    const endUse = presence.use();
    ends.push(async () => {
      await tokens.close();
      await endUse();
    });
    return tokens;
  };
  const settled = <T>(work: Promise<T>): Promise<T> => clock.until(work, 100);

  it('is refreshed once, and the others take what that gave', async () => {
    const all = Array.from({ length: 5 }, start);
    const tokens = await settled(Promise.all(all.map((source) => source.get())));
    assert.deepEqual(new Set(tokens), new Set(['access-2']));
    assert.deepEqual(service.requests, ['1']);
    await clock.advanceInSteps(3_600_000, 5_000);
    assert.deepEqual(new Set(await settled(Promise.all(all.map((source) => source.get())))).size, 1);
    assert.equal(service.refused, 0);
    assert.deepEqual(service.requests, [...new Set(service.requests)]);
  });

  it('is not refreshed while another process waits for the answer', async () => {
    let answer = (): void => undefined;
    service.holds = new Promise((resolve) => (answer = resolve));
    const [one, other] = [start(), start()];
    const first = one.get();
    await clock.advanceInSteps(5_000, 500);
    const second = other.get();
    await clock.advanceInSteps(20_000, 500);
    assert.deepEqual(service.requests, ['1']);
    answer();
    assert.deepEqual(await settled(Promise.all([first, second])), ['access-2', 'access-2']);
  });

  it('is refreshed again within seconds after a process ended that waited for the answer', async () => {
    const [one, other] = [start(), start()];
    await settled(Promise.all([one.get(), other.get()]));
    let answer = (): void => undefined;
    service.holds = new Promise((resolve) => (answer = resolve));
    await clock.advanceInSteps(250_000, 5_000);
    const unanswered = one.get();
    await clock.advanceInSteps(1_000, 500);
    assert.deepEqual(service.requests, ['1', '2']);
    const { refreshing } = (await new GrantStore({ state: store }).read(key))?.grant ?? assert.fail();
    await store.remove(`process/${refreshing}`);
    await clock.advanceInSteps(5_000, 500);
    assert.deepEqual(service.requests, ['1', '2', '2']);
    answer();
    await settled(unanswered);
  });

  it('is refreshed again by another process when one got no answer, though that one lives', async () => {
    const [one, other] = [start(), start()];
    service.holds = Promise.reject(new VehicleError('NETWORK', 'Cut.'));
    await assert.rejects(settled(one.get()), { code: 'NETWORK' });
    await one.close();
    service.holds = null;
    await settled(other.get().catch(() => undefined));
    assert.deepEqual(service.requests, ['1', '1']);
  });

  it('is refreshed by nobody for the time in which a restarted store may have forgotten who refreshes', async () => {
    store.settlesInMs = 15_000;
    const token = start().get();
    clock.after(15_000, () => (store.settlesInMs = 0));
    await clock.advanceInSteps(14_000, 500);
    assert.deepEqual(service.requests, []);
    assert.equal(await settled(token), 'access-2');
  });

  it('is not lost if the store has lost its last writes', async () => {
    const tokens = start();
    const state = new GrantStore({ state: store });
    const { grant: before } = (await state.read(key)) ?? assert.fail();
    assert.equal(await settled(tokens.get()), 'access-2');
    await state.write(key, { ...before, refreshing: 'of a former run' });
    await clock.advanceInSteps(600_000, 5_000);
    assert.equal(await settled(tokens.get()), 'access-3');
    assert.deepEqual(service.requests, ['1', '2']);
    // A later sign-in takes precedence.
    await state.write(key, { ...before, refreshToken: '3', signedInAt: clock.now() });
    await clock.advanceInSteps(600_000, 5_000);
    assert.equal(await settled(tokens.get()), 'access-4');
    assert.equal((await state.read(key))?.grant.generation, 2);
  });

  it('is stored again before another process refreshes if a restarted store has lost its last writes', async () => {
    const state = new GrantStore({ state: store });
    const { grant: before } = (await state.read(key)) ?? assert.fail();
    assert.equal(await settled(start().get()), 'access-2');
    store.fault = new StateFault('unavailable', asSentence('The store is away.'));
    await clock.advanceInSteps(2_000, 500);
    store.settlesInMs = 15_000;
    clock.after(15_000, () => (store.settlesInMs = 0));
    store.fault = null;
    await state.write(key, before);
    // The connection is there again.
    store.fault = null;
    assert.equal(await settled(start().get()), 'access-2');
    assert.deepEqual(service.requests, ['1']);
  });

  it('is stored again before another process refreshes, if a restarted store has lost all its values', async () => {
    const [one, other] = [start(), start()];
    await settled(Promise.all([one.get(), other.get()]));
    await clock.advanceInSteps(250_000, 5_000);
    await settled(one.get());
    await clock.advanceInSteps(1_000, 500);
    assert.deepEqual(service.requests, ['1', '2']);
    await new GrantStore({ state: store }).remove(key);
    store.fault = new StateFault('unavailable', asSentence('The store is away.'));
    await clock.advanceInSteps(2_000, 500);
    store.settlesInMs = 15_000;
    clock.after(15_000, () => (store.settlesInMs = 0));
    store.fault = null;
    assert.equal(await settled(other.get()), 'access-2', 'it has some seconds left');
    await clock.advanceInSteps(20_000, 500);
    assert.equal(await settled(other.get()), 'access-3');
    assert.deepEqual(service.requests, ['1', '2']);
  });

  it('is that of the later sign-in if the store lost its values and the answer to a refresh of the former one comes last', async () => {
    const tokens = start();
    assert.equal(await settled(tokens.get()), 'access-2');
    let answer = (): void => undefined;
    service.holds = new Promise((resolve) => (answer = resolve));
    await clock.advanceInSteps(250_000, 5_000);
    await tokens.get();
    await clock.advanceInSteps(1_000, 500);
    assert.deepEqual(service.requests, ['1', '2']);
    const state = new GrantStore({ state: store });
    const { grant: before } = (await state.read(key)) ?? assert.fail();
    await state.remove(key);
    const later = { ...before, generation: 1, refreshToken: 'later', signedInAt: clock.now(), refreshing: null };
    await state.write(key, { ...later, accessToken: 'access-later', expiresAt: clock.now() + 3_600_000 });
    answer();
    await clock.advanceInSteps(10_000, 500);
    assert.equal((await state.read(key))?.grant.refreshToken, 'later');
    assert.equal(await settled(tokens.get()), 'access-later');
  });

  it('uses the token at hand while the store is unavailable, is not refreshed, and works normally seconds after', async () => {
    const tokens = start();
    assert.equal(await settled(tokens.get()), 'access-2');
    store.fault = new StateFault('unavailable', asSentence('The store is away.'));
    await clock.advanceInSteps(200_000, 5_000);
    assert.equal(await settled(tokens.get()), 'access-2');
    await clock.advanceInSteps(3_600_000, 5_000);
    await assert.rejects(settled(tokens.get()), { code: 'STORE_UNAVAILABLE' });
    assert.deepEqual(service.requests, ['1']);
    store.fault = null;
    await clock.advanceInSteps(5_000, 500);
    assert.equal(await settled(tokens.get()), 'access-3');
  });
});
