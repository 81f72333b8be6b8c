import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import type { SimulatorOptions } from '../../support/simulator';
import { Bench, type Reply } from './support';

const redirectUri = 'http://localhost:1880/callback';
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const basic = `Basic ${Buffer.from('demo-client:demo-secret').toString('base64')}`;
const week = 7 * 86_400_000;
const asked = {
  response_type: 'code',
  client_id: 'demo-client',
  redirect_uri: redirectUri,
  scope: 'openid conve:windows_status',
  state: 'a state',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};

describe('the identity service of the simulator', () => {
  const bench = new Bench();
  const restart = async (options: SimulatorOptions): Promise<void> => {
    await bench.simulator.close();
    await bench.start(options);
  };
  beforeEach(() => bench.start());
  afterEach(() => bench.simulator.close());

  const page = (changes: object = {}) =>
    bench.raw(`/as/authorization.oauth2?${new URLSearchParams({ ...asked, ...changes })}`);
  const press = (changes: object = {}) =>
    bench.raw('/as/authorization.oauth2', {
      method: 'POST',
      body: new URLSearchParams({ ...asked, decision: 'allow', ...changes }),
    });
  const token = (form: Record<string, string>, authorization = basic) =>
    bench.raw('/as/token.oauth2', { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  const backWith = (reply: Reply) => new URL(reply.headers.get('location') ?? 'none:').searchParams;
  const codeOf = (reply: Reply) => backWith(reply).get('code') ?? '';
  const exchange = (code: string, changes: object = {}) =>
    token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier, ...changes });
  const refresh = (refreshToken: unknown) =>
    token({ grant_type: 'refresh_token', refresh_token: String(refreshToken) });
  const signIn = async () => (await exchange(codeOf(await press()))).body;
  const reads = async (accessToken: unknown) =>
    (
      await bench.get('/connected-vehicle/v2/vehicles/{vin}/windows', {
        authorization: `Bearer ${String(accessToken)}`,
      })
    ).status;
  const dead = { error_description: 'unknown, invalid, or expired refresh token', error: 'invalid_grant' };

  it('shows a page with a button, and what is asked for', async () => {
    const reply = await page({ state: '"><script>alert(1)</script>' });
    assert.equal(reply.status, 200);
    assert.match(reply.text, /<button name="decision" value="allow">Sign in<\/button>/);
    assert.match(reply.text, /conve:windows_status/);
    assert.doesNotMatch(reply.text, /<script/);
  });

  it('carries everything that was asked from the page to the button', async () => {
    const fields = [...(await page()).text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))],
    );
    assert.deepEqual(Object.fromEntries(fields), asked);
  });

  it('signs in: code and state back, then tokens that the service takes', async () => {
    const reply = await press();
    assert.equal(reply.status, 303);
    assert.ok(reply.headers.get('location')?.startsWith(`${redirectUri}?`));
    assert.equal(backWith(reply).get('state'), 'a state');
    const given = await exchange(codeOf(reply));
    assert.equal(given.status, 200);
    assert.equal(given.headers.get('cache-control'), 'no-store');
    assert.deepEqual(Object.keys(given.body), [
      'access_token',
      'refresh_token',
      'id_token',
      'token_type',
      'expires_in',
    ]);
    assert.deepEqual([given.body['token_type'], given.body['expires_in']], ['Bearer', 299]);
    assert.equal(await reads(given.body['access_token']), 200);
    const doors = await bench.get('/connected-vehicle/v2/vehicles/{vin}/doors', {
      authorization: `Bearer ${String(given.body['access_token'])}`,
    });
    assert.equal(doors.status, 403, 'no more than was asked for');
    await bench.clock.advance(299_000);
    assert.equal(await reads(given.body['access_token']), 401);
  });

  it('sends a driver who cancels back with an error', async () => {
    const back = backWith(await press({ decision: 'deny' }));
    assert.deepEqual([back.get('error'), back.get('state'), back.get('code')], ['access_denied', 'a state', null]);
  });

  it('redirects nobody for an unknown client or a foreign address', async () => {
    for (const changes of [
      { client_id: 'other' },
      { redirect_uri: 'http://elsewhere.example/' },
      { redirect_uri: 'javascript:alert(1)' },
      { redirect_uri: '' },
    ]) {
      for (const reply of [await page(changes), await press(changes)]) {
        assert.equal(reply.status, 400);
        assert.equal(reply.headers.get('location'), null);
      }
    }
    await restart({ redirectUris: [redirectUri] });
    assert.equal((await page()).status, 200);
    assert.equal((await page({ redirect_uri: `${redirectUri}/` })).status, 400);
  });

  it('requires PKCE with S256, the code flow and scopes that exist', async () => {
    for (const [changes, error] of [
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'openid conve:everything' }, 'invalid_scope'],
      [{ scope: '' }, 'invalid_scope'],
    ] as const) {
      assert.equal(backWith(await page(changes)).get('error'), error);
      assert.equal(backWith(await press(changes)).get('code'), null);
    }
  });

  it('accepts a code once, within its lifetime, with its verifier and its address', async () => {
    const code = codeOf(await press());
    assert.equal((await exchange(code)).status, 200);
    assert.equal((await exchange(code)).body['error'], 'invalid_grant');
    for (const changes of [
      { code_verifier: randomBytes(32).toString('base64url') },
      { code_verifier: 'short' },
      { redirect_uri: `${redirectUri}2` },
      { code: 'guess' },
    ]) {
      assert.equal((await exchange(codeOf(await press()), changes)).body['error'], 'invalid_grant');
    }
    const late = codeOf(await press());
    await bench.clock.advance(60_000);
    assert.equal((await exchange(late)).body['error'], 'invalid_grant');
  });

  it('requires the client to authenticate by HTTP Basic', async () => {
    const form = { grant_type: 'refresh_token', refresh_token: bench.simulator.issueRefreshToken() };
    for (const wrong of ['', `Basic ${Buffer.from('demo-client:guess').toString('base64')}`, 'Bearer demo-secret']) {
      const reply = await token(form, wrong);
      assert.equal(reply.status, 401);
      assert.equal(reply.body['error'], 'invalid_client');
    }
    assert.equal((await token(form)).status, 200);
    await restart({ clientId: 'my client', clientSecret: 'a:b%c' });
    const encoded = `Basic ${Buffer.from('my+client:a%3Ab%25c').toString('base64')}`;
    assert.equal(
      (await token({ grant_type: 'refresh_token', refresh_token: bench.simulator.issueRefreshToken() }, encoded))
        .status,
      200,
    );
  });

  it('rotates the refresh token; the old one stops working', async () => {
    const first = (await signIn())['refresh_token'];
    const second = await refresh(first);
    assert.equal(second.status, 200);
    assert.notEqual(second.body['refresh_token'], first);
    const reuse = await refresh(first);
    assert.equal(reuse.status, 400);
    assert.deepEqual(reuse.body, dead);
    assert.equal((await refresh(second.body['refresh_token'])).status, 200, 'the new one goes on');
  });

  it('can accept the old refresh token for a grace period, for an answer that was lost', async () => {
    await restart({ refreshGraceSeconds: 60 });
    const first = bench.simulator.issueRefreshToken();
    await refresh(first);
    await bench.clock.advance(59_000);
    const again = await refresh(first);
    assert.equal(again.status, 200);
    await bench.clock.advance(1000);
    assert.equal((await refresh(first)).status, 400);
    assert.equal((await refresh(again.body['refresh_token'])).status, 200);
  });

  it('forgets a refresh token that nobody used for seven days', async () => {
    const token = bench.simulator.issueRefreshToken();
    await bench.clock.advance(week - 1);
    const next = await refresh(token);
    assert.equal(next.status, 200);
    await bench.clock.advance(week);
    assert.deepEqual((await refresh(next.body['refresh_token'])).body, dead);
  });

  it('ends the grant after six months, however often it is refreshed', async () => {
    let token: unknown = bench.simulator.issueRefreshToken();
    const end = Date.parse('2026-12-01T08:00:00Z');
    while (bench.clock.now() + week / 2 < end) {
      await bench.clock.advance(week / 2);
      token = (await refresh(token)).body['refresh_token'];
      assert.ok(token);
    }
    await bench.clock.advance(end - bench.clock.now() - 1);
    token = (await refresh(token)).body['refresh_token'];
    await bench.clock.advance(1);
    assert.deepEqual((await refresh(token)).body, dead);
  });

  it('ends all grants on demand', async () => {
    const token = bench.simulator.issueRefreshToken();
    bench.simulator.revokeGrants();
    assert.deepEqual((await refresh(token)).body, dead);
  });

  it('refuses other grant types', async () => {
    assert.equal((await token({ grant_type: 'password' })).body['error'], 'unauthorized_client');
    assert.equal((await token({ grant_type: 'magic' })).body['error'], 'unsupported_grant_type');
    assert.equal((await bench.raw('/as/token.oauth2')).status, 405);
  });

  it('can answer a refresh without a refresh token; the old one goes on', async () => {
    await restart({ refreshGraceSeconds: 60 });
    const token = bench.simulator.issueRefreshToken();
    bench.simulator.faults.add({ members: { refresh_token: 'missing' }, times: 1 });
    const reply = await refresh(token);
    assert.equal(reply.status, 200);
    assert.equal('refresh_token' in reply.body, false);
    assert.equal((await refresh(token)).status, 200);
  });

  it('fails on demand, as the rest of the service does', async () => {
    const token = bench.simulator.issueRefreshToken();
    const { faults } = bench.simulator;
    faults.add({ match: { path: '/as/token.oauth2' }, error: 'internal-error', times: 1 });
    assert.equal((await refresh(token)).status, 500);
    faults.add({ match: { path: '/as/token.oauth2' }, cut: 'before-headers', times: 1 });
    await assert.rejects(refresh(token));
    faults.add({ match: { path: '/as/token.oauth2' }, cut: 'after-effect', times: 1 });
    await assert.rejects(refresh(token));
    assert.deepEqual((await refresh(token)).body, dead, 'it was rotated, and nobody got the new one');
  });

  it('gives access tokens in the form of a JWT', async () => {
    const [, claims = ''] = String((await signIn())['access_token']).split('.');
    const { scope, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { scope: string; exp: number };
    assert.deepEqual([scope, exp], [asked.scope, bench.clock.now() / 1000 + 299]);
  });
});
