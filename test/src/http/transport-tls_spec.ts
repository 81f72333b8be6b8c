import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startConnectProxy, type ConnectProxy } from '../../support/connect-proxy';
import { removeFolder } from '../../support/remove-folder';
import { otherCertificate, testCertificate } from '../../support/test-certificate';
import { listen } from '../../support/listening';

const vin = 'YV1TEST0000000000';

/**
 * What a read, a command and a refreshed token of one account gave: `ok` or the
 * sentence of the error.
 */
interface Results {
  read: string;
  command: string;
  token: string;
}
const allOk: Results = { read: 'ok', command: 'ok', token: 'ok' };

describe('TLS connections of an account', () => {
  let folder: string;
  let service: Server;
  let proxy: ConnectProxy;
  /** The secrets that reached the service: the authorization header of each request. */
  let received: (string | undefined)[];
  let connections: number;

  /**
   * Starts the service with the certificate that clients get who name no host, or
   * one that is not known.
   */
  const start = async (byDefault: { key: string; cert: string }): Promise<void> => {
    service = createServer(byDefault, (request, response) => {
      received.push(request.headers.authorization);
      const { method, url } = request;
      const body =
        method === 'GET'
          ? { data: [{ vin }] }
          : url === '/token'
            ? { access_token: 'fresh', expires_in: 300, refresh_token: 'next' }
            : { data: { vin, invokeStatus: 'COMPLETED', message: '' } };
      request.resume().on('end', () => response.end(JSON.stringify(body)));
    });
    service.on('connection', () => (connections += 1));
    const port = await listen(service);
    proxy = await startConnectProxy({ 'service.test:443': port });
  };

  beforeEach(() => {
    received = [];
    connections = 0;
    folder = mkdtempSync(join(tmpdir(), 'certificates-'));
    writeFileSync(join(folder, 'both.pem'), `${testCertificate.cert}\n${otherCertificate.cert}\n`);
  });

  afterEach(async () => {
    await proxy.close();
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    await removeFolder(folder);
  });

  /** The environment of a process that trusts both certificates. */
  const trusting = (): Record<string, string> => ({ NODE_EXTRA_CA_CERTS: join(folder, 'both.pem') });

  /** Uses services in one process with this environment. */
  const use = async (env: Record<string, string>, ...baseUrls: string[]): Promise<Results[]> => {
    const script = join(__dirname, '../../support/https-account.js');
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...baseUrls], {
      env: { PATH: process.env['PATH'], ...env },
      timeout: 60_000,
    });
    return JSON.parse(stdout) as Results[];
  };

  /** Directly and through the proxy. */
  const useBothWays = (env: Record<string, string>): Promise<Results[]> =>
    use(
      { ...env, HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost' },
      `https://localhost:${(service.address() as AddressInfo).port}`,
      'https://service.test',
    );

  it('name the host, so that a server with several certificates answers with the right one', async () => {
    await start(otherCertificate);
    service.addContext('localhost', testCertificate);
    service.addContext('service.test', testCertificate);
    assert.deepEqual(await useBothWays(trusting()), [allOk, allOk]);
    assert.equal(received.length, 6);
  });

  it('send nothing to a server whose certificate is not trusted', async () => {
    await start(testCertificate);
    for (const results of await useBothWays({}))
      for (const sentence of Object.values(results))
        assert.match(sentence, /certificate .* is not trusted on this machine .*NODE_EXTRA_CA_CERTS/);
    assert.deepEqual(received, []);
    assert.equal(connections, 6, 'one for each read, command and token');
  });

  it('send nothing to a server with the certificate of another host', async () => {
    await start(otherCertificate);
    for (const results of await useBothWays(trusting()))
      for (const sentence of Object.values(results)) assert.match(sentence, /belongs to another host/);
    assert.deepEqual(received, []);
    assert.equal(connections, 6, 'one for each read, command and token');
  });

  it('send no password to an https proxy whose certificate is not trusted', async () => {
    await start(otherCertificate);
    const { port } = service.address() as AddressInfo;
    const secure = await startConnectProxy({ 'other.test:443': port }, testCertificate);
    const at = (host: string): string => secure.url.replace('127.0.0.1', `user:secret@${host}`);
    try {
      const refused = await use({ HTTPS_PROXY: at('localhost') }, 'https://other.test');
      for (const sentence of refused.flatMap((results) => Object.values(results)))
        assert.match(sentence, /The certificate of the proxy localhost:\d+ is not accepted .*NODE_EXTRA_CA_CERTS/);
      assert.deepEqual(secure.targets, []);
      for (const host of ['localhost', '127.0.0.1'])
        assert.deepEqual(await use({ ...trusting(), HTTPS_PROXY: at(host) }, 'https://other.test'), [allOk]);
      assert.equal(secure.targets.length, 6);
    } finally {
      await secure.close();
    }
  });
});
