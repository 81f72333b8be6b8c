import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { VehicleError } from '../../../src/index';
import { createTransport, readConnections, type Transport, type TransportRequest } from '../../../src/http/transport';
import { connectTimeoutMs } from '../../../src/http/network-faults';
import { startConnectProxy, type ConnectProxy } from '../../support/connect-proxy';
import { ManualClock } from '../../support/manual-clock';
import { failureOf } from '../../support/failure';
import { listen } from '../../support/listening';

/** The clock of undici, which counts the time of a tunnel; its types leave it out. */
const undiciClock = createRequire(__filename)('undici/lib/util/timers') as { tick(ms: number): void };

/** Only the proxy can resolve this name: no name server answers for `.test` (RFC 6761). */
const host = 'service.test';

describe('transport behind a proxy', () => {
  let service: Server;
  let muteService: TcpServer;
  const mute = new Set<Socket>();
  let proxy: ConnectProxy;
  let transport: Transport;
  let clock: ManualClock;
  const requests: IncomingMessage[] = [];

  const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;

  beforeEach(async () => {
    requests.length = 0;
    service = createServer((request, response) => {
      requests.push(request);
      response.end('{"ok":true}');
    });
    muteService = createTcpServer((socket) => {
      mute.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => mute.delete(socket))
        .resume();
    });
    for (const server of [service, muteService]) await listen(server);
    proxy = await startConnectProxy({ [`${host}:80`]: portOf(service), 'mute.test:443': portOf(muteService) });
    clock = new ManualClock();
  });

  afterEach(async () => {
    await transport?.close();
    await proxy.close();
    service.closeAllConnections();
    for (const server of [service, muteService]) await new Promise((resolve) => server.close(resolve));
  });

  const use = (env: Record<string, string>): void => {
    transport = createTransport({ clock, env });
  };
  const ask = (changes: Partial<TransportRequest> = {}): ReturnType<Transport['send']> =>
    transport.send({ method: 'GET', url: new URL(`http://${host}/a?b`), headers: {}, timeoutMs: 30_000, ...changes });

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
    await ask({ method: 'POST', mayLeave: () => (began += 1) });
    await ask({ method: 'POST', mayLeave: () => (began += 1) });
    assert.equal(requests.length, 2);
    assert.equal(began, 2);
    assert.equal(proxy.targets.length, 2);
    while (proxy.open > 0) await clock.advance(0);
  });

  it('says what to do if the proxy opens no tunnel, and that nothing was sent', async () => {
    use({ HTTP_PROXY: proxy.url.replace('http://', 'http://user:secret@') });
    const sentences = { 407: /user name and the password.*HTTP_PROXY/, 403: /refuses.*NO_PROXY/, 502: /base URL/ };
    for (const [status, sentence] of Object.entries(sentences)) {
      proxy.status = Number(status);
      let began = 0;
      const error = await failureOf(ask({ method: 'POST', mayLeave: () => (began += 1) }));
      assert.equal(error.code, 'NETWORK');
      assert.match(error.message, sentence);
      assert.ok(error.message.includes(`The proxy ${new URL(proxy.url).host} `), error.message);
      assert.ok(error.message.includes(status) && !error.message.includes('secret'), error.message);
      assert.equal(began, 0);
    }
    assert.equal(requests.length, 0);
    proxy.status = null;
    assert.equal((await ask()).status, 200);
  });

  for (const method of ['GET', 'POST'] as const) {
    it(`names the proxy if its port is closed, its name is unknown, or it hangs up (${method})`, async () => {
      use({ HTTP_PROXY: 'http://user:secret@127.0.0.1:1' });
      assert.match(
        (await failureOf(ask({ method }))).message,
        /^The proxy 127\.0\.0\.1:1 could not be reached \(ECONNREFUSED\)/,
      );
      await transport.close();
      use({ HTTP_PROXY: 'http://user:secret@proxy.test:3128' });
      assert.match(
        (await failureOf(ask({ method }))).message,
        /^The proxy proxy\.test:3128 could not be reached \((ENOTFOUND|EAI_AGAIN)\).*HTTP_PROXY/,
      );
      await transport.close();
      use({ HTTP_PROXY: proxy.url });
      proxy.status = -1;
      const error = await failureOf(ask({ method }));
      assert.match(error.message, /^The proxy 127\.0\.0\.1:\d+ could not be reached/);
      assert.equal(proxy.targets.length, 1);
    });
  }

  it('gives up on a proxy that does not answer, and leaves no connection to it', async () => {
    use({ HTTP_PROXY: proxy.url });
    proxy.status = 0;
    let began = 0;
    const asked = (['GET', 'POST'] as const).map((method) => failureOf(ask({ method, mayLeave: () => (began += 1) })));
    while (proxy.targets.length < 2) await clock.advance(0);
    undiciClock.tick(connectTimeoutMs);
    for (const error of await Promise.all(asked)) {
      assert.equal(error.code, 'TIMEOUT');
      assert.match(error.message, /^The proxy 127\.0\.0\.1:\d+ did not answer within 10 seconds/);
    }
    assert.equal(began, 0);
    while (proxy.open > 0) await clock.advance(0);
    await transport.close();
    assert.equal(clock.sleeping, 0);
  });

  it('gives up on a service that never answers the TLS handshake in the tunnel, and leaves no connection', async () => {
    const url = new URL('https://mute.test/');
    const askBoth = (): Promise<VehicleError>[] =>
      (['GET', 'POST'] as const).map((method) => failureOf(ask({ method, url })));
    use({ HTTPS_PROXY: proxy.url });
    const asked = askBoth();
    while (mute.size < 2) await clock.advance(0);
    undiciClock.tick(connectTimeoutMs);
    for (const error of await Promise.all(asked))
      assert.match(error.message, /^The service did not answer within 10 sec/);
    while (mute.size > 0) await clock.advance(0);
    await transport.close();
    use({ HTTPS_PROXY: proxy.url });
    const closed = askBoth();
    while (mute.size < 2) await clock.advance(0);
    await transport.close();
    for (const error of await Promise.all(closed)) assert.equal(error.code, 'CANCELLED');
    while (mute.size > 0 || proxy.open > 0) await clock.advance(0);
    assert.equal(clock.sleeping, 0);
  });

  it('shows the proxy only the host of a request over https', async () => {
    use({ HTTPS_PROXY: proxy.url });
    const seen: Buffer[] = [];
    muteService.on('connection', (socket: Socket) => socket.on('data', (bytes) => seen.push(bytes)));
    const asked = failureOf(
      ask({
        method: 'POST',
        url: new URL('https://mute.test/private?private'),
        headers: { authorization: 'Bearer private', 'vcc-api-key': 'private' },
        body: 'private',
      }),
    );
    while (seen.length === 0) await clock.advance(0);
    await transport.close();
    await asked;
    // A TLS record of a handshake.
    assert.equal(seen[0]?.[0], 0x16);
    assert.ok(!Buffer.concat(seen).includes('private'));
    assert.deepEqual(proxy.targets, ['mute.test:443']);
    const names = proxy.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    assert.deepEqual(names.sort(), ['connection', 'host', 'proxy-connection', 'user-agent']);
    assert.ok(!proxy.headers.join().includes('private'));
  });

  it('goes past the proxy to loopback addresses and to the hosts of NO_PROXY', async () => {
    use({ HTTP_PROXY: proxy.url, no_proxy: `other.test, .${host}` });
    const local = new URL(`http://127.0.0.1:${portOf(service)}/`);
    assert.equal((await ask({ url: local })).status, 200);
    assert.match((await failureOf(ask())).message, /could not be reached \((ENOTFOUND|EAI_AGAIN)\)/);
    assert.deepEqual(proxy.targets, []);
  });
});
