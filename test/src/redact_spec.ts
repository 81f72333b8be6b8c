import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { createRedactor, VehicleError } from '../../src/index';
import { growsLessThan } from '../support/growth';

const secret = 'k3y/with+odd=chars "and" ümlaut & more';
const token = 'canary-access-token-0123456789';
const vin = 'YV1CT9551B1570982';
const short = '…570982';

describe('The redactor', () => {
  it('takes out what it has learned, also if it is written with escapes', () => {
    const redactor = createRedactor();
    redactor.learn(' key with a blank ');
    for (const text of ['x key with a blank x', 'x key%20with%20a%20blank x', 'x key+with+a+blank x'])
      assert.equal(redactor.text(text), 'x [secret] x');
  });

  it('takes out the longer of two secrets if one contains the other', () => {
    const redactor = createRedactor();
    redactor.learn('my-token', 'my-token-of-today');
    assert.equal(redactor.text('my-token-of-today and my-token'), '[secret] and [secret]');
  });

  it('leaves words alone that are too short to be a secret', () => {
    const redactor = createRedactor();
    redactor.learn('', 'the', '1234');
    assert.equal(redactor.text('the car 12345'), 'the car 12345');
  });

  it('learns a secret that is not well-formed text', () => {
    const redactor = createRedactor();
    redactor.learn('lone-surrogate-\ud800');
    assert.equal(redactor.text('lone-surrogate-\ud800 %'), '[secret] %');
  });

  it('removes known secrets from an answer after parsing, however they are escaped, and leaves the rest', () => {
    const redactor = createRedactor();
    redactor.learn('known/se+cret=');
    const answer = (text: string): unknown => redactor.answer(JSON.parse(text), text);
    for (const escaped of ['known/se+cret=', 'known\\/se+cret=', 'known/se\\u002Bcret=', '\\u006bnown/se+cret\\u003d'])
      assert.deepEqual(answer(`{"a":["x ${escaped} y",1,"${vin}"]}`), { a: ['x [secret] y', 1, vin] });
    assert.deepEqual(answer(`{"token":"Bearer abcdefgh","vin":"${vin}"}`), { token: 'Bearer abcdefgh', vin });
  });

  it('removes every known secret of a large answer, and works no more for an escape in it', () => {
    const redactor = createRedactor();
    const secrets = Array.from({ length: 1000 }, () => randomBytes(30).toString('base64url'));
    for (const each of secrets) redactor.learnRotated(each);
    const list = Array.from({ length: 9_000 }, (_, index) => ({ name: `member ${index}`, value: 'OPEN', at: '…' }));
    const hidden = [secrets[0], `a\\"\t${secrets[999]}`, { [secrets[500] ?? '']: [[[[[[[[[secrets[501]]]]]]]]]] }];
    const searches = (body: object): [count: number, answer: unknown] => {
      const { includes } = String.prototype;
      let count = 0;
      const counting = function (this: string, ...given: [string, number?]): boolean {
        count += 1;
        return includes.apply(this, given);
      };
      Object.assign(String.prototype, { includes: counting });
      try {
        const answer = redactor.answer(body);
        return [count, answer];
      } finally {
        Object.assign(String.prototype, { includes });
      }
    };
    const [plain] = searches({ list });
    const [escaped, unchanged] = searches({ list, odd: 'a\\b' });
    assert.deepEqual([plain, escaped], [1000, 1000]);
    assert.deepEqual(unchanged, { list, odd: 'a\\b' });
    const [withSecrets, answer] = searches({ list, hidden });
    assert.ok(withSecrets < 1000 + 20 * 4 * list.length, `${withSecrets} searches`);
    const mark = '[secret]';
    assert.deepEqual(answer, { list, hidden: [mark, `a\\"\t${mark}`, { [mark]: [[[[[[[[[mark]]]]]]]]] }] });
  });

  it('knows lasting secrets for good and the last thousand rotated ones', () => {
    const redactor = createRedactor();
    for (let index = 0; index < 1100; index += 1) redactor.learn(`lasting-secret-${index}-x`);
    for (let index = 0; index < 1100; index += 1) redactor.learnRotated(`token-${index}-x`);
    assert.equal(redactor.text('lasting-secret-0-x token-1099-x token-0-x'), '[secret] [secret] token-0-x');
  });

  it('shortens a VIN of letters only or of digits only once it has learned it, and learns nothing else as one', () => {
    const redactor = createRedactor();
    for (const given of [' abcdefghijklmnopq', '12345678901234567', vin, 'doors', '', 17, undefined])
      redactor.learnVin(given);
    assert.equal(
      redactor.text('ABCDEFGHIJKLMNOPQ abcdefghijklmnopq 12345678901234567 doors'),
      '…LMNOPQ …lmnopq …234567 doors',
    );
    for (const other of ['ABCDEFGHIJKLMNOPQR', '123456789012345678', 'BCDEFGHIJKLMNOPQR'])
      assert.equal(redactor.text(other), other);
    assert.equal(redactor.answer('12345678901234567'), '12345678901234567');
  });

  it('goes through plain data, names of members included', () => {
    const redactor = createRedactor();
    redactor.learn('secret-word');
    assert.deepEqual(redactor.value({ 'secret-word': [{ a: 'secret-word', n: 1, none: null }] }), {
      '[secret]': [{ a: '[secret]', n: 1, none: null }],
    });
  });

  it('rebuilds an error with all that it says, and its cause without secrets', () => {
    const redactor = createRedactor();
    redactor.learn('secret-word');
    const retryAt = new Date(5);
    const cause = Object.assign(new Error('secret-word'), { code: 'ECONNRESET', stack: 'at secret-word:1' });
    const error = redactor.error(
      new VehicleError('NETWORK', 'No secret-word', { retryAt, httpStatus: 401, operationId: 'secret-word', cause }),
    );
    assert.deepEqual(error.report(), {
      code: 'NETWORK',
      message: 'No [secret]',
      retryable: true,
      retryAt: retryAt.toISOString(),
      httpStatus: 401,
      operationId: '[secret]',
    });
    assert.deepEqual(error.cause, {
      name: 'Error',
      code: 'ECONNRESET',
      message: '[secret]',
      stack: 'at [secret]:1',
    });
    const harmless = new VehicleError('NETWORK', 'Nothing', { cause: { code: 'EPIPE' } });
    assert.equal(redactor.error(harmless), harmless);
  });

  const redactor = createRedactor();
  redactor.learn(secret, token);
  const { text: redact, value: data } = redactor;

  const forms: Record<string, string> = {
    'as it is': secret,
    'twice in a line': `${secret} and ${secret}`,
    'percent-encoded': encodeURIComponent(secret),
    'percent-encoded in lower case': encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    'form-encoded': new URLSearchParams({ a: secret }).toString(),
    'in an address': new URL(`https://example.com/?a=${encodeURIComponent(secret)}`).href,
    'as user of HTTP Basic': `Basic ${Buffer.from(`${secret}:x`).toString('base64')}`,
    'as password of HTTP Basic': `Basic ${Buffer.from(`a:${secret}`).toString('base64')}`,
  };

  it('takes out a secret in each form in which it may be written', () => {
    for (const [what, text] of Object.entries(forms)) {
      const redacted = redact(`before ${text} after`);
      assert.match(redacted, /^before .*\[secret\].* after$/, what);
      for (const form of [secret, encodeURIComponent(secret), 'odd']) assert.ok(!redacted.includes(form), redacted);
      for (const word of redacted.split(/[\s:=]/))
        assert.ok(!Buffer.from(word, 'base64').toString().includes('odd'), redacted);
    }
  });

  it('shortens a VIN to its last six characters, and takes out what looks like a secret', () => {
    for (const [text, clean] of [
      [`GET /vehicles/${vin}/doors`, `GET /vehicles/${short}/doors`],
      [`${vin.toLowerCase()} is locked`, `${short} is locked`],
      ['/connected-vehicle/v2/vehicles/abcdefghijklmnopq/doors', '/connected-vehicle/v2/vehicles/…lmnopq/doors'],
      ['the other car YV4952NA4F120DEMO', 'the other car …20DEMO'],
      ['https://x/?u=%2Fvehicles%2FABCDEFGHIJKLMNOPQ', 'https://x/?u=%2Fvehicles%2F…LMNOPQ'],
      ['authorization: Bearer new-token-123', `authorization: Bearer [secret]`],
      ['Authorization: Basic aWQ6c2VjcmV0', `Authorization: Basic [secret]`],
      ['vcc-api-key: 0123abcd', `vcc-api-key: [secret]`],
      ["{ 'vendor-api-key': '0123abcd' }", `{ 'vendor-api-key': '[secret]' }`],
      ['{"access_token":"new","expires_in":299}', `{"access_token":"[secret]","expires_in":299}`],
      ['"{\\"refresh_token\\":\\"new\\"}"', `"{\\"refresh_token\\":\\"[secret]\\"}"`],
      ['grant_type=refresh_token&refresh_token=new&scope=a', `grant_type=refresh_token&refresh_token=[secret]&scope=a`],
      ['https://red/callback?code=abc&state=def&x=1', `https://red/callback?code=[secret]&state=[secret]&x=1`],
      [`got eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln, thanks`, `got [secret], thanks`],
      ['clientSecret=abc accessToken: def', `clientSecret=[secret] accessToken: [secret]`],
    ] as const)
      assert.equal(redact(text), clean);
  });

  it('goes through data of every kind and depth, and changes nothing of the original', () => {
    const original = {
      [token]: [1, null, undefined, true, `x ${token}`],
      headers: { authorization: 'anything', accept: 'application/json' },
      apiKey: 'short',
      refreshToken: '',
      url: `https://example.com/${token}?vin=${vin}`,
    };
    const before = inspect(original);
    const redacted: unknown = data(original);
    assert.deepEqual(redacted, {
      '[secret]': [1, null, undefined, true, `x [secret]`],
      headers: { authorization: '[secret]', accept: 'application/json' },
      apiKey: '[secret]',
      refreshToken: '',
      url: `https://example.com/[secret]?vin=${short}`,
    });
    assert.equal(inspect(original), before);
  });

  it('does not go round in circles, nor deeper than anybody reads', () => {
    const circle: { self?: unknown; deep?: unknown } = {};
    circle.self = circle;
    let deep: unknown = token;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    circle.deep = deep;
    assert.doesNotMatch(JSON.stringify(data(circle)), /canary/);
  });

  it('takes time in proportion to a text that is made to slow it down', () => {
    const redactor = createRedactor();
    redactor.learn('a-secret-of-some-length');
    redactor.learnVin('ABCDEFGHIJKLMNOPQ');
    const read = (text: string) => (): string => redactor.text(`${text}\u0000`);
    for (const piece of [
      '-a',
      '_',
      'eyJ',
      'eyJ-',
      'a.',
      'Bearer ',
      'api-',
      'api_key',
      'api_key ',
      'password:',
      '"\\',
      'A1',
      ' ',
      '\t',
      '&code=',
    ])
      assert.ok(growsLessThan(30, read(piece.repeat(2_000)), read(piece.repeat(20_000))), piece);
  });
});
