import { strict as assert } from 'node:assert';
import { MemoryStateStore, VehicleError } from '../../../src/index';
import { Discovery } from '../../../src/session/discovery';
import { GrantStore, hashOf, signInKey, type SavedSignIn } from '../../../src/session/grant-store';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import { SignIns, type SignInStart } from '../../../src/session/sign-in';
import { ManualClock } from '../../support/manual-clock';

const client: OAuthClient = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token?realm=cars',
  clientId: 'client',
  clientSecret: 'secret',
};

describe('The answer to a sign-in', () => {
  let secrets: string[];
  let saved: [key: string, signIn: SavedSignIn][];
  let forgotten: string[];
  let answer: () => object;
  let signIns: SignIns;
  beforeEach(() => {
    const clock = new ManualClock('2026-06-01T08:00:00Z');
    [secrets, saved, forgotten] = [[], [], []];
    answer = () => ({ access_token: 'access', refresh_token: 'refresh', scope: 'openid' });
    const send: Send = async () => {
      await Promise.resolve();
      return { status: 200, headers: {}, body: JSON.stringify(answer()) };
    };
    signIns = new SignIns({
      send,
      discovery: new Discovery({ send, clock }),
      clock,
      now: () => Promise.resolve(clock.now()),
      store: new GrantStore({ state: new MemoryStateStore(), onSecret: (secret) => secrets.push(secret) }),
      grants: {
        save: async (key, signIn) => void (await saved.push([key, signIn])),
        removeGrant: async (key) => void (await forgotten.push(key)),
      },
    });
  });
  const begin = (more: Partial<SignInStart> = {}) =>
    signIns.begin({
      authorizeUrl: ' https://id.example/authorize ',
      client: { ...client, clientId: ' client ' },
      redirectUrl: ' https://red.example/callback ',
      scopes: ['openid'],
      configNodeId: 'one',
      ...more,
    });
  const answered = (state: string): string => `https://red.example/callback?code=c&state=${state}`;

  const written: [how: string, write: (address: string) => string][] = [
    ['as it is', (address) => ` ${address} `],
    ['in quotation marks', (address) => `"${address}"`],
    ['in single ones', (address) => `'${address}'`],
    ['in angle brackets', (address) => `<${address}>`],
    ['as HTML writes it', (address) => address.replace('&', '&amp;')],
    ['with a fragment', (address) => `${address}#_=_`],
    ['as its query', (address) => address.slice(address.indexOf('?'))],
    ['as its query without the question mark', (address) => address.slice(address.indexOf('?') + 1)],
    ['without its scheme', (address) => address.replace('https://', '')],
    ['with a quotation mark inside', (address) => address.replace('callback', 'call"back')],
  ];
  for (const [how, write] of written)
    it(`is taken ${how}, once`, async () => {
      const { state, url } = await begin({ accessToken: ' pasted ' });
      assert.equal(new URL(url).searchParams.get('redirect_uri'), 'https://red.example/callback');
      assert.deepEqual(secrets, [state]);
      const redirected = write(answered(state));
      assert.equal(await signIns.isUsed(redirected), false);
      await signIns.finish({ redirected });
      assert.deepEqual(
        saved.map(([key, { pastedBefore }]) => [key, pastedBefore]),
        [[signInKey(client, 'one'), hashOf('pasted')]],
      );
      assert.deepEqual(secrets, [state, 'c', state, 'secret']);
      assert.equal(await signIns.isUsed(redirected), true);
      await assert.rejects(signIns.finish({ redirected }), /was used already/);
      assert.deepEqual((await signIns.resultOf('one'))?.error?.code ?? null, null);
    });

  it('may come to several sign-ins under way, the last 100 of them', async () => {
    const states: string[] = [];
    for (let count = 0; count < 101; count += 1) states.push((await begin()).state);
    await assert.rejects(signIns.finish({ redirected: answered(states[0] ?? '') }), /belongs to no sign-in/);
    await signIns.finish({ redirected: answered(states[1] ?? '') });
    await signIns.finish({ redirected: answered(states[100] ?? '') });
    assert.equal(await signIns.isUsed(answered('unknown')), false);
  });

  it('is for the config node that began it alone, and so is its result', async () => {
    const { state } = await begin();
    const redirected = answered(state);
    await assert.rejects(signIns.finish({ redirected, configNodeId: 'other' }), /of another vehicle configuration/);
    assert.equal(await signIns.resultOf('one'), null);
    await signIns.finish({ redirected, configNodeId: 'one' });
    assert.deepEqual(await signIns.resultOf('one'), {
      at: '2026-06-01T08:00:00.000Z',
      error: null,
      missing: [],
      warning: null,
    });
    assert.equal(await signIns.resultOf('other'), null);
  });

  it('is refused for a deleted config node, and for no other', async () => {
    const [deleted, kept] = [await begin(), await begin({ configNodeId: 'two' })];
    await signIns.refuseAnswers('one');
    await assert.rejects(signIns.finish({ redirected: answered(deleted.state) }), /was deleted/);
    await signIns.finish({ redirected: answered(kept.state) });
    await signIns.removeGrant({ client: { ...client, clientId: ' client ' }, configNodeId: 'one' });
    await signIns.removeGrant({ client, configNodeId: 'two' });
    assert.deepEqual(forgotten, [signInKey(client, 'one'), signInKey(client, 'two')]);
  });

  it('is outdated by a deploy of another client since its start, not by one before or of the same', async () => {
    const other = { ...client, clientId: 'other' };
    const finish = async (deployedBefore: OAuthClient | null, deployedNow: OAuthClient | null) => {
      const { state } = await begin({ deployedClient: deployedBefore });
      await signIns.finish({ redirected: answered(state), deployedClient: () => deployedNow });
    };
    await finish(null, null);
    await finish(null, client);
    await finish(other, other);
    await finish(other, client);
    for (const before of [null, client, other])
      await assert.rejects(
        finish(before, { ...client, clientId: 'third' }),
        /was changed after this sign-in was started/,
      );
  });

  it('that reports an error repeats its code, and no other text', async () => {
    const refusedWith = async (error: string, name = 'error'): Promise<string> => {
      const redirected = `?state=${(await begin()).state}&${name}=${encodeURIComponent(error)}`;
      return signIns.finish({ redirected }).then(
        () => assert.fail(),
        (failure: VehicleError) => `${failure.code}: ${failure.message}`,
      );
    };
    assert.match(await refusedWith('access_denied'), /^SIGN_IN_REQUIRED: The sign-in was declined/);
    assert.match(await refusedWith('invalid_request'), /^SIGN_IN_REQUIRED: .*client ID and the redirect URL/);
    assert.match(await refusedWith('invalid_scope'), /^SCOPE_MISSING: /);
    assert.match(await refusedWith('odd_code'), /^SIGN_IN_REQUIRED: .*\(odd_code\)/);
    for (const odd of ['<b>', 'call me', 'x '.repeat(40), `${'x'.repeat(61)}`])
      assert.match(await refusedWith(odd), /^SIGN_IN_REQUIRED: .*\(unknown error\)/);
    assert.match(await refusedWith('', 'code'), /^INPUT_INVALID: .*no sign-in code/);
  });

  it('that fails at the service leaves the cause, and says to start again', async () => {
    const cause = { code: 'ECONNREFUSED' };
    answer = () => {
      throw new VehicleError('NETWORK', 'No route.', { cause });
    };
    const { state } = await begin({ accessToken: ' a ' });
    await assert.rejects(signIns.finish({ redirected: answered(state) }), (error: VehicleError) => {
      assert.deepEqual([error.code, error.cause], ['NETWORK', cause]);
      assert.equal(error.message, 'The sign-in service: No route. Start the sign-in again.');
      return true;
    });
    assert.equal((await signIns.resultOf('one'))?.error?.code, 'NETWORK');
  });
});
