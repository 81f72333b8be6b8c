import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { VehicleError } from '../../../src/index';
import { createTransport, readConnections, type Transport, type TransportRequest } from '../../../src/http/transport';
import { userAgent } from '../../../src/util/user-agent';
import { packageJson } from '../../package/checkout';
import { startConnectProxy, type ConnectProxy } from '../../support/connect-proxy';
import { ManualClock } from '../../support/manual-clock';
import { testCertificate } from '../../support/test-certificate';

/** Only the proxy can resolve this name: no name server answers for `.test` (RFC 6761). */
const host = 'service.test';

describe('transport behind a proxy', () => {
  let service: Server;
  let secureService: Server;
  let proxy: ConnectProxy;
  let transport: Transport;
  let clock: ManualClock;
  const requests: IncomingMessage[] = [];

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  beforeEach(async () => {
    requests.length = 0;
    service = createServer((request, response) => {
      requests.push(request);
      response.end('{"ok":true}');
    });
    secureService = createTlsServer(testCertificate, (_request, response) => void response.end('secure')) as Server;
    for (const server of [service, secureService])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = await startConnectProxy({ [`${host}:80`]: portOf(service), [`${host}:443`]: portOf(secureService) });
    clock = new ManualClock();
  });

  afterEach(async () => {
    await transport?.close();
    await proxy.close();
    for (const server of [service, secureService]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const use = (env: Record<string, string>): void => {
    transport = createTransport({ clock, env });
  };
  const ask = (changes: Partial<TransportRequest> = {}): ReturnType<Transport['send']> =>
    transport.send({ method: 'GET', url: new URL(`http://${host}/a?b`), headers: {}, timeoutMs: 30_000, ...changes });
  const failure = async (promise: Promise<unknown>): Promise<VehicleError> => {
    const [result] = await Promise.allSettled([promise]);
    assert.equal(result?.status, 'rejected');
    return (result as PromiseRejectedResult).reason as VehicleError;
  };

  for (const name of ['HTTP_PROXY', 'http_proxy']) {
    it(`reads through ${name} a service whose name only the proxy resolves, over six connections`, async () => {
      use({ [name]: proxy.url });
      const answers = await Promise.all(Array.from({ length: 30 }, () => ask()));
      assert.ok(answers.every(({ status, body }) => status === 200 && body === '{"ok":true}'));
      assert.equal(requests[0]?.url, '/a?b');
      assert.equal(requests[0]?.headers.host, host);
      assert.deepEqual(proxy.targets, Array(readConnections).fill(`${host}:80`));
    });
  }

  it('takes an address without a scheme, and sends its user name and password to the proxy alone', async () => {
    use({ HTTP_PROXY: proxy.url.replace('http://', 'us%40er:pass@') });
    await ask();
    assert.equal(proxy.authorization, `Basic ${Buffer.from('us@er:pass').toString('base64')}`);
    assert.equal(requests[0]?.headers['proxy-authorization'], undefined);
  });

  it('sends each command once, over a connection of its own', async () => {
    use({ HTTP_PROXY: proxy.url });
    let began = 0;
    await ask({ method: 'POST', onDispatch: () => (began += 1) });
    await ask({ method: 'POST', onDispatch: () => (began += 1) });
    assert.equal(requests.length, 2);
    assert.equal(began, 2);
    assert.equal(proxy.targets.length, 2);
    while (proxy.open > 0) await clock.advance(0);
  });

  it('says that nothing was sent where the proxy refuses the connection', async () => {
    use({ HTTP_PROXY: proxy.url });
    for (const status of [403, 407, 502]) {
      proxy.status = status;
      let began = 0;
      const error = await failure(ask({ method: 'POST', onDispatch: () => (began += 1) }));
      assert.equal(error.code, 'NETWORK');
      assert.match(error.message, new RegExp(`proxy did not connect.*${status}.*HTTPS_PROXY`));
      assert.equal(began, 0);
    }
    assert.equal(requests.length, 0);
    proxy.status = null;
    assert.equal((await ask()).status, 200);
  });

  it('gives up on a proxy that does not answer, and leaves no connection to it', async () => {
    use({ HTTP_PROXY: proxy.url });
    proxy.status = 0;
    let began = 0;
    const asked = (['GET', 'POST'] as const).map((method) => failure(ask({ method, onDispatch: () => (began += 1) })));
    while (proxy.targets.length < 2) await clock.advance(0);
    await clock.advance(60_000);
    for (const error of await Promise.all(asked)) assert.equal(error.code, 'TIMEOUT');
    assert.equal(began, 0);
    await transport.close();
    while (proxy.open > 0) await clock.advance(0);
    assert.equal(clock.sleeping, 0);
  });

  it('goes past the proxy to loopback addresses and to the hosts of NO_PROXY', async () => {
    use({ HTTP_PROXY: proxy.url, no_proxy: `other.test, .${host}` });
    const local = new URL(`http://127.0.0.1:${portOf(service)}/`);
    assert.equal((await ask({ url: local })).status, 200);
    assert.match((await failure(ask())).message, /could not be reached \((ENOTFOUND|EAI_AGAIN)\)/);
    assert.deepEqual(proxy.targets, []);
  });

  it('refuses a proxy variable that holds no address', () => {
    assert.throws(() => createTransport({ env: { https_proxy: 'http://:::' } }), {
      code: 'CONFIG',
      message: /HTTPS_PROXY/,
    });
  });

  it('names itself with name and version of the pack', async () => {
    use({ HTTP_PROXY: proxy.url });
    await ask();
    assert.equal(requests[0]?.headers['user-agent'], userAgent);
    assert.ok(userAgent.endsWith(`/${packageJson.version}`));
  });
});
