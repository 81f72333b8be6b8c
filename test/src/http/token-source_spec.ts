import { strict as assert } from 'node:assert';
import { pastedToken } from '../../../src/http/token-source';
import { ManualClock } from '../../support/manual-clock';

const jwt = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const start = Date.parse('2026-06-01T08:00:00Z');

describe('a pasted access token', () => {
  it('is used as it is, without surrounding spaces and without a copied scheme', async () => {
    assert.equal(await pastedToken('  opaque-token \n').get(), 'opaque-token');
    assert.equal(await pastedToken('Bearer opaque-token').get(), 'opaque-token');
    assert.equal(await pastedToken('bearer  opaque-token').get(), 'opaque-token');
    await assert.rejects(pastedToken('my Bearer opaque-token').get(), { code: 'CONFIG' });
    await pastedToken('opaque-token').close();
  });

  it('describes the claims of a JWT', () => {
    const source = pastedToken(jwt({ exp: start / 1000 + 720, scope: 'openid conve:lock' }), {
      clock: new ManualClock(start),
    });
    assert.deepEqual(source.describe(), {
      kind: 'pasted',
      expiresAt: '2026-06-01T08:12:00.000Z',
      scopes: ['openid', 'conve:lock'],
      signInRequiredSince: null,
      signedInAt: null,
      endsAt: null,
      lastRefreshAt: null,
      retryAt: null,
      problem: null,
    });
  });

  for (const odd of [
    'opaque',
    'a.b.c',
    'a..c',
    '..',
    jwt({}),
    jwt({ exp: 'soon', scope: 7 }),
    jwt({ exp: 1e300 }),
    jwt([]),
    `x.${Buffer.from('null').toString('base64url')}.y`,
  ]) {
    it(`is usable if it says nothing about itself: ${odd.slice(0, 40)}`, async () => {
      const source = pastedToken(odd);
      assert.equal(await source.get(), odd);
      assert.deepEqual([source.describe().expiresAt, source.describe().scopes], [null, null]);
    });
  }

  it('is TOKEN_MISSING while empty', async () => {
    for (const empty of ['', '  ', '\n']) {
      const source = pastedToken(empty);
      await assert.rejects(source.get(), { code: 'TOKEN_MISSING', status: { word: 'NOT_SIGNED_IN' } });
      assert.equal(source.describe().kind, 'none');
    }
  });

  for (const [what, token] of [
    ['a line break', 'abc\ndef'],
    ['a blank', 'abc def'],
    ['a foreign character', 'abc\u200bdef'],
  ] as const) {
    it(`is refused with a sentence that does not repeat it: ${what}`, async () => {
      await assert.rejects(pastedToken(token).get(), (error: Error & { code: string }) => {
        assert.equal(error.code, 'CONFIG');
        assert.doesNotMatch(error.message, /abc|def/);
        return true;
      });
    });
  }

  it('is SIGN_IN_REQUIRED from the second on at which it expires', async () => {
    const clock = new ManualClock(start);
    const source = pastedToken(jwt({ exp: start / 1000 + 60 }), { clock });
    await clock.advance(59_999);
    await source.get();
    await clock.advance(1);
    await assert.rejects(source.get(), { code: 'SIGN_IN_REQUIRED' });
    assert.equal(source.describe().signInRequiredSince, '2026-06-01T08:01:00.000Z');
    assert.equal(await source.onUnauthorized('any'), false);
  });

  it('is tried a second time after a 401, but not after each one', async () => {
    const clock = new ManualClock(start);
    const source = pastedToken('opaque', { clock });
    assert.equal(await source.onUnauthorized('opaque'), true);
    assert.equal(await source.onUnauthorized('opaque'), false);
    await clock.advance(10 * 60_000);
    assert.equal(await source.onUnauthorized('opaque'), true);
  });
});
