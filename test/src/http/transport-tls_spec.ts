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

const vin = 'YV1TEST0000000000';

/** What a read, a command and a refreshed token of one account gave: `ok` or the sentence of the error. */
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

  /** Starts the service with the certificate that clients get who name no host, or one that is not known. */
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
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    proxy = await startConnectProxy({ 'service.test:443': port });
  };

  beforeEach(() => {
    received = [];
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
  const directly = (): string => `https://localhost:${(service.address() as AddressInfo).port}`;

  const use = async (baseUrl: string, env: Record<string, string>): Promise<Results> => {
    const script = join(__dirname, '../../support/https-account.js');
    const { stdout } = await promisify(execFile)(process.execPath, [script, baseUrl], {
      env: { PATH: process.env['PATH'], ...env },
      timeout: 15_000,
    });
    return JSON.parse(stdout) as Results;
  };

  it('name the host, so that a server with several certificates answers with the right one', async () => {
    await start(otherCertificate);
    service.addContext('localhost', testCertificate);
    service.addContext('service.test', testCertificate);
    assert.deepEqual(await use(directly(), trusting()), allOk);
    assert.deepEqual(await use('https://service.test', { ...trusting(), HTTPS_PROXY: proxy.url }), allOk);
    assert.equal(received.length, 6);
  });

  it('send nothing to a server whose certificate is not trusted', async () => {
    await start(testCertificate);
    const direct = await use(directly(), {});
    const proxied = await use('https://service.test', { HTTPS_PROXY: proxy.url });
    for (const results of [direct, proxied])
      for (const sentence of Object.values(results))
        assert.match(sentence, /certificate .* is not trusted on this machine .*NODE_EXTRA_CA_CERTS/);
    assert.deepEqual(received, []);
  });

  it('send nothing to a server with the certificate of another host', async () => {
    await start(otherCertificate);
    const direct = await use(directly(), trusting());
    const proxied = await use('https://service.test', { ...trusting(), HTTPS_PROXY: proxy.url });
    for (const results of [direct, proxied])
      for (const sentence of Object.values(results)) assert.match(sentence, /belongs to another host/);
    assert.deepEqual(received, []);
  });
});
