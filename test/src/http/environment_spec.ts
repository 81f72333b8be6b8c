import { strict as assert } from 'node:assert';
import { connectionNotes, parseProxies } from '../../../src/http/environment';

describe('the connection notes of an address', () => {
  const HTTPS_PROXY = 'https://user:secret@proxy.example:3128';
  const proxyOf = (address: string, env: Record<string, string>): string | null =>
    connectionNotes(new URL(address), env).proxy;

  it('name the proxy of its scheme by host and port alone', () => {
    const env = { HTTPS_PROXY, HTTP_PROXY: 'other.example' };
    assert.equal(proxyOf('https://api.example', env), 'proxy.example:3128');
    assert.equal(proxyOf('http://api.example', env), 'other.example');
    assert.equal(proxyOf('https://api.example', { http_proxy: 'other.example:81' }), 'other.example:81');
    assert.equal(proxyOf('http://api.example', { HTTPS_PROXY }), null);
    assert.equal(proxyOf('https://api.example', {}), null);
  });

  it('take the variable in lowercase first, and ignore an empty one', () => {
    assert.equal(proxyOf('https://api.example', { HTTPS_PROXY, https_proxy: 'lower.example' }), 'lower.example');
    assert.equal(proxyOf('https://api.example', { HTTPS_PROXY, https_proxy: '' }), 'proxy.example:3128');
    assert.equal(proxyOf('https://api.example', { HTTPS_PROXY: ' ' }), null);
  });

  const isExcepted = (NO_PROXY: string, address: string): boolean =>
    proxyOf(address, { HTTPS_PROXY, NO_PROXY }) === null;
  const excepted: [string, string][] = [
    ['api.example', 'https://api.example/path'],
    ['API.example', 'https://api.example'],
    ['api.example', 'https://v2.api.example'],
    ['.api.example', 'https://api.example'],
    ['*.api.example', 'https://v2.api.example'],
    ['other.example, api.example', 'https://api.example'],
    ['other.example api.example', 'https://api.example'],
    ['api.example:443', 'https://api.example'],
    ['api.example:8443', 'https://api.example:8443'],
    ['192.168.1.20', 'https://192.168.1.20'],
    ['*', 'https://api.example'],
    ['', 'https://localhost:1880'],
    ['', 'https://127.0.0.1:1880'],
    ['', 'https://[::1]:1880'],
  ];
  const proxied: [string, string][] = [
    ['', 'https://api.example'],
    [' , ', 'https://api.example'],
    ['example', 'https://api.examples'],
    ['api.example', 'https://myapi.example'],
    ['api.example:8443', 'https://api.example'],
    ['v2.api.example', 'https://api.example'],
    ['.', 'https://api.example'],
  ];
  for (const [list, address] of excepted)
    it(`name no proxy for ${address} with NO_PROXY “${list}”`, () => assert.ok(isExcepted(list, address)));
  for (const [list, address] of proxied)
    it(`name the proxy for ${address} with NO_PROXY “${list}”`, () => assert.ok(!isExcepted(list, address)));

  it('say that certificates are not verified, for https alone', () => {
    const verifies = (address: string, env: Record<string, string>): boolean =>
      connectionNotes(new URL(address), env).verifiesCertificates;
    assert.equal(verifies('https://api.example', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }), false);
    assert.equal(verifies('https://api.example', { NODE_TLS_REJECT_UNAUTHORIZED: '1' }), true);
    assert.equal(verifies('https://api.example', {}), true);
    assert.equal(verifies('http://localhost:1880', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }), true);
  });
});

describe('The proxy', () => {
  const proxyOf = (value: string, address = 'https://api.example') =>
    parseProxies({ HTTPS_PROXY: value })(new URL(address));

  it('has an origin to connect to, and the login of its address, if there is one, with its escapes', () => {
    assert.deepEqual(proxyOf('http://proxy.example:3128'), {
      variable: 'HTTPS_PROXY',
      origin: 'http://proxy.example:3128',
      host: 'proxy.example:3128',
      authorization: null,
    });
    assert.deepEqual(proxyOf(' https://us%40er:p%25@proxy.example/ '), {
      variable: 'HTTPS_PROXY',
      origin: 'https://proxy.example',
      host: 'proxy.example',
      authorization: `Basic ${Buffer.from('us@er:p%').toString('base64')}`,
    });
    const http = parseProxies({ HTTP_PROXY: 'proxy.example:3128' })(new URL('http://api.example'));
    assert.deepEqual([http?.variable, http?.origin], ['HTTP_PROXY', 'http://proxy.example:3128']);
  });

  for (const value of [
    'http://user@proxy.example',
    'http://:secret@proxy.example',
    'http://proxy.example/path',
    'http://proxy.example/?query',
    'http://proxy.example/#part',
    'socks5://proxy.example',
    'xhttp://user:secret@proxy.example/',
    'https+x://user:secret@proxy.example/',
    'http://user:%@proxy.example',
    'http://',
  ])
    it(`is refused with the name of the variable: ${value}`, () =>
      assert.throws(
        () => proxyOf(value),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'CONFIG');
          assert.match(error.message, /^The environment variable HTTPS_PROXY does not contain the address/);
          return true;
        },
      ));

  it('is not used for the ports of the exceptions; without a port, they are 80 and 443', () => {
    const isDirect = (NO_PROXY: string, address: string): boolean =>
      parseProxies({ HTTP_PROXY: 'p.example', NO_PROXY })(new URL(address)) === null;
    assert.equal(isDirect('api.example:80', 'http://api.example'), true);
    assert.equal(isDirect('api.example:443', 'http://api.example'), false);
    assert.equal(isDirect('api.example:443', 'https://api.example'), true);
    assert.equal(isDirect('x.api.example', 'http://api.example'), false);
    assert.equal(isDirect('a.example,  b.example', 'http://c.example'), false);
  });
});
