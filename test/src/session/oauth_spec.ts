import { strict as assert } from 'node:assert';
import { MemoryStateStore, VehicleError } from '../../../src/index';
import { GrantStore, type Grant } from '../../../src/session/grant-store';
import { refusalSentence, requestTokens, type OAuthClient, type Send } from '../../../src/session/oauth';
import { ManualClock } from '../../support/manual-clock';
import { failureOf } from '../../support/failure';
import { grantWith } from '../../support/saved-sign-in';

const start = Date.parse('2026-06-01T08:00:00Z');
const client: OAuthClient = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token?realm=cars',
  clientId: 'the-client',
  clientSecret: 'secret: 1/2',
};
const form = { grant_type: 'refresh_token', refresh_token: 'r 1' };

/** What is sent, and what comes of an answer that takes two seconds. */
async function ask(answer: { status?: number; body?: unknown; headers?: object } | Error, of = client) {
  const clock = new ManualClock(start);
  const sent: Parameters<Send>[0][] = [];
  const send: Send = async (request) => {
    sent.push(request);
    request.mayLeave?.();
    await clock.advance(2_000);
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, headers = {} } = answer;
    return { status, headers: { ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  let left = 0;
  const tokens = await requestTokens(of, form, { send, clock, mayLeave: () => (left += 1) });
  return { tokens, left, request: sent[0] ?? assert.fail() };
}
const refusalOf = (answer: Parameters<typeof ask>[0]): Promise<VehicleError> => failureOf(ask(answer));

describe('A request for tokens', () => {
  it('has the client in its header, form-encoded, and says when it leaves', async () => {
    const { request, left } = await ask({ body: { access_token: 'a' } });
    assert.deepEqual([request.method, request.url.href, request.timeoutMs], ['POST', client.tokenUrl, 50_000]);
    assert.deepEqual(request.headers, {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('the-client:secret%3A+1%2F2').toString('base64')}`,
    });
    assert.equal(request.body, 'grant_type=refresh_token&refresh_token=r+1');
    assert.equal(left, 1);
  });

  it('has a client without a secret in its form', async () => {
    const { request } = await ask({ body: { access_token: 'a' } }, { ...client, clientSecret: '' });
    assert.equal(request.headers['authorization'], undefined);
    assert.equal(request.body, 'grant_type=refresh_token&refresh_token=r+1&client_id=the-client');
  });

  const jwt = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
  const ofJwt = jwt({ exp: start / 1000 + 60, scope: 'openid' });
  const none = { accessToken: '', refreshToken: null, expiresAt: null, scopes: null, receivedAt: start + 2_000 };
  const answers: [what: string, body: object, tokens: object][] = [
    [
      'tokens with a life from the moment of sending',
      { access_token: 'a', refresh_token: 'r', expires_in: 300, scope: 'openid conve:lock' },
      { accessToken: 'a', refreshToken: 'r', expiresAt: start + 300_000, scopes: ['openid', 'conve:lock'] },
    ],
    ['a life as text', { access_token: 'a', expires_in: '300' }, { accessToken: 'a', expiresAt: start + 300_000 }],
    ['no life of 0', { access_token: 'a', expires_in: 0 }, { accessToken: 'a', expiresAt: start + 1_000 }],
    [
      'a life of ten years at most',
      { access_token: 'a', expires_in: 1e12 },
      { accessToken: 'a', expiresAt: start + 315_360_000_000 },
    ],
    ['no life that is none', { access_token: 'a', expires_in: 'soon' }, { accessToken: 'a' }],
    [
      'what the token says of itself',
      { access_token: ofJwt, refresh_token: '' },
      { accessToken: ofJwt, expiresAt: start + 60_000, scopes: ['openid'] },
    ],
    ['no access token that cannot be sent', { access_token: 'a b', refresh_token: 'r' }, { refreshToken: 'r' }],
    ['a refresh token alone', { access_token: 7, refresh_token: 'r' }, { refreshToken: 'r' }],
  ];
  for (const [what, body, tokens] of answers)
    it(`gives ${what}`, async () =>
      assert.deepEqual((await ask({ body, status: 299 })).tokens, { ...none, ...tokens }));

  const refusals: [status: number, body: unknown, refusal: string][] = [
    [400, { error: 'invalid_grant' }, 'invalid_grant'],
    [401, { error: 'invalid_client' }, 'invalid_client'],
    [403, { error: 'unauthorized_client' }, 'unauthorized_client'],
    [400, { error: 'not a code <b>' }, ''],
    [401, 'no JSON', ''],
  ];
  for (const [status, body, refusal] of refusals)
    it(`is refused by ${status} ${JSON.stringify(body)}`, async () =>
      assert.deepEqual((await ask({ status, body })).tokens, { refusal }));

  const late: [status: number, body: unknown][] = [
    [403, '<html>'],
    [400, { error: 'temporarily_unavailable' }],
    [400, { error: 'server_error' }],
    [400, { error: 'slow_down' }],
    [200, { access_token: '', refresh_token: '' }],
    [200, '[]'],
    [300, { access_token: 'a' }],
    [199, { access_token: 'a' }],
    [404, { error: 'invalid_grant' }],
    [503, { access_token: 'a' }],
  ];
  for (const [status, body] of late)
    it(`can be tried again after ${status} ${JSON.stringify(body)}`, async () => {
      const { code, message, httpStatus, retryAt } = await refusalOf({ status, body });
      assert.equal(code, 'SERVICE_ERROR');
      assert.equal(message, `The sign-in service is unavailable (it answered with status ${status}).`);
      assert.deepEqual([httpStatus, retryAt], [status, null]);
    });

  it('is tried again when the service says, within an hour', async () => {
    const retryAt = async (headers: object) =>
      (await refusalOf({ status: 503, headers })).retryAt?.getTime() ?? assert.fail();
    assert.equal(await retryAt({ 'retry-after': '60' }), start + 62_000);
    assert.equal(await retryAt({ 'retry-after': '7200' }), start + 3_602_000);
    const date = 'Mon, 01 Jun 2026 09:00:00 GMT';
    assert.equal(await retryAt({ date, 'retry-after': 'Mon, 01 Jun 2026 09:00:30 GMT' }), start + 32_000);
  });

  it('keeps the reason of the transport, and blames nobody else for a fault of the pack', async () => {
    const cause = { code: 'ECONNREFUSED' };
    for (const code of ['NETWORK', 'TIMEOUT'] as const) {
      const failed = await refusalOf(new VehicleError(code, 'No route.', { cause }));
      assert.deepEqual([failed.code, failed.message], [code, 'The sign-in service: No route.']);
      assert.deepEqual(failed.cause, cause);
    }
    assert.equal((await refusalOf(new VehicleError('CANCELLED', 'Stopped.'))).code, 'CANCELLED');
    for (const code of ['CONFIG', 'INTERNAL'] as const)
      assert.equal((await refusalOf(new VehicleError(code, 'Wrong.'))).message, 'Wrong.');
    const odd = await refusalOf(new VehicleError('BAD_RESPONSE', 'Too long.', { cause }));
    assert.deepEqual(
      [odd.code, odd.message, odd.cause],
      ['SERVICE_ERROR', 'The sign-in service is unavailable.', cause],
    );
  });

  it('that is refused says what to do', () => {
    const sentence = (refusal: string): string => new VehicleError('CONFIG', refusalSentence({ refusal })).message;
    assert.match(sentence('invalid_grant'), /has ended the sign-in/);
    assert.match(sentence('invalid_client'), /client ID and the client secret/);
    assert.match(sentence('unauthorized_client'), /application is published/);
    assert.match(sentence('invalid_scope'), /published without a scope/);
    assert.match(sentence(''), /gave no reason/);
    assert.match(sentence('other_code'), /refused the sign-in \(other_code\)/);
  });
});

describe('A saved sign-in', () => {
  const grant = (accessToken: string): Grant => grantWith('r', 0, { accessToken });

  it('is of one scope of a shared store, and can be removed', async () => {
    const state = new MemoryStateStore();
    const [one, other, plain] = [{ scope: 'a' }, { scope: 'b' }, {}].map((more) => new GrantStore({ state, ...more }));
    const found = async (key: string) =>
      Promise.all([one, other, plain].map(async (store) => (await store?.read(key))?.grant.accessToken));
    await one?.write('signed-in x', grant('1'));
    await plain?.write('signed-in x', grant('3'));
    assert.deepEqual(await found('signed-in x'), ['1', undefined, '3']);
    await one?.remove('signed-in x');
    assert.deepEqual(await found('signed-in x'), [undefined, undefined, '3']);
    for (const { key } of await state.entries('sign-in/')) assert.match(key, /^sign-in\/[0-9a-f]{32}$/);
  });
});
