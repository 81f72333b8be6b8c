import { strict as assert } from 'node:assert';
import type { VehicleError } from '../../../src/index';
import { followLink, resolveService } from '../../../src/http/addresses';

const refused = (error: VehicleError): boolean => error.code === 'CONFIG';

describe('a service profile', () => {
  for (const baseUrl of [
    '',
    'car.example',
    'http://car.example',
    'ftp://car.example',
    'https://user:pw@car.example',
    'https://car.example/?a=b',
    'https://car.example/#x',
    'https://car.example/x#',
    'https://car.example/?',
    'http://127.0.0.1.evil.example',
    'javascript:alert(1)',
  ]) {
    it(`refuses ${JSON.stringify(baseUrl)} as a base URL`, () =>
      assert.throws(() => resolveService('custom', { baseUrl }), refused));
  }

  for (const baseUrl of [
    'https://car.example',
    'https://car.example/proxy/',
    'http://127.0.0.1:8080',
    'http://localhost:1',
    'http://[::1]:8080',
  ]) {
    it(`takes ${baseUrl} as a base URL`, () =>
      assert.equal(resolveService('custom', { baseUrl }).baseUrl, baseUrl.replace(/\/$/, '')));
  }

  it('keeps the query of the addresses of a sign-in, and refuses a fragment or a user there', () => {
    const of = (address: string): string[] => {
      const service = { baseUrl: 'https://car.example', authorizeUrl: address, tokenUrl: address };
      const { authorizeUrl, tokenUrl } = resolveService('custom', service);
      return [authorizeUrl, tokenUrl];
    };
    const address = 'https://id.example/as?realm=cars';
    assert.deepEqual(of(address), [address, address]);
    for (const wrong of [`${address}#x`, 'https://me@id.example/as', 'http://id.example/as?realm=cars'])
      assert.throws(() => of(wrong), refused);
  });

  for (const apiKeyHeader of ['authorization', 'Accept', 'content-length', 'host', 'a b', 'x\r\ny', 'ключ']) {
    it(`refuses ${JSON.stringify(apiKeyHeader)} as the name of the key header`, () =>
      assert.throws(() => resolveService('custom', { baseUrl: 'https://car.example', apiKeyHeader }), refused));
  }

  it('refuses a media type vendor that is none', () =>
    assert.throws(() => resolveService('custom', { baseUrl: 'https://car.example', mediaTypeVendor: 'a/b' }), refused));

  for (const href of [
    'https://evil.example/x',
    'blob:https://car.example/x',
    'filesystem:https://car.example/x',
    'http://car.example/x',
    '//evil.example/x',
    'https://user@car.example/x',
    'javascript:alert(1)',
  ]) {
    it(`follows no link to ${href}`, () =>
      assert.throws(() => followLink(resolveService('custom', { baseUrl: 'https://car.example' }), href), {
        code: 'UNTRUSTED_LINK',
      }));
  }
});
