import { strict as assert } from 'node:assert';
import { connectionNotes } from '../../../src/http/environment';

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

  it('take the variable in lower case first, and an empty one for none', () => {
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
