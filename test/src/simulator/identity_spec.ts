import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import { Bench, type Reply } from './support';

const redirectUri = 'http://localhost:1880/callback';
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const basic = `Basic ${Buffer.from('demo-client:demo-secret').toString('base64')}`;
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
  beforeEach(() => bench.start());
  afterEach(() => bench.simulator.close());
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
  const reads = async (accessToken: unknown) =>
    (
      await bench.get('/connected-vehicle/v2/vehicles/{vin}/windows', {
        authorization: `Bearer ${String(accessToken)}`,
      })
    ).status;

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
});
