import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  createTransport,
  maxBodyBytes,
  readConnections,
  type Transport,
  type TransportRequest,
} from '../../../src/http/transport';
import { connectTimeoutMs, isReset } from '../../../src/http/network-faults';
import { ManualClock } from '../../support/manual-clock';
import { testCertificate } from '../../support/test-certificate';
import { failureOf } from '../../support/failure';
import { listen } from '../../support/listening';

describe('transport', () => {
  let server: Server;
  let base: string;
  let transport: Transport;
  let clock: ManualClock;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const sockets = new Set<Socket>();
  let mostOpen = 0;
  let opened = 0;

  beforeEach(async () => {
    opened = mostOpen = 0;
    answer = (_request, response) => void response.end('{"ok":true}');
    server = createServer((request, response) => answer(request, response));
    server.on('connection', (socket) => {
      sockets.add(socket);
      opened += 1;
      mostOpen = Math.max(mostOpen, sockets.size);
      socket.on('close', () => sockets.delete(socket));
    });
    base = `http://127.0.0.1:${await listen(server)}`;
    clock = new ManualClock();
    transport = createTransport({ clock, env: {} });
  });

  afterEach(async () => {
    await transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (path = '/', changes: Partial<TransportRequest> = {}): ReturnType<Transport['send']> =>
    transport.send({
      method: 'GET',
      url: new URL(path, base),
      headers: { accept: 'application/json' },
      timeoutMs: 30_000,
      ...changes,
    });

  it('sends method, path, headers and body, and gives status, headers and body back', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          seen.push(request.method, request.url, request.headers['x-key'], Buffer.concat(chunks).toString());
          response.writeHead(202, { 'X-Name': 'value' }).end('grün');
        });
    };
    const got = await ask('/a/b?c=d', { method: 'POST', headers: { 'x-key': 'k' }, body: '{"unlockDuration":5}' });
    assert.deepEqual(seen, ['POST', '/a/b?c=d', 'k', '{"unlockDuration":5}']);
    assert.equal(got.status, 202);
    assert.equal(got.headers['x-name'], 'value');
    assert.equal(got.body, 'grün');
  });

  it('reads over at most six sockets, which it keeps', async () => {
    answer = (_request, response) => void setImmediate(() => response.end('{}'));
    await Promise.all(Array.from({ length: 200 }, () => ask()));
    await ask();
    assert.equal(opened, readConnections);
    assert.equal(mostOpen, readConnections);
  });

  it('sends each command on a socket of its own', async () => {
    await ask();
    await ask('/', { method: 'POST' });
    await ask('/', { method: 'POST' });
    assert.equal(opened, 3);
  });

  it('asks for no compression, and unpacks an answer that is compressed anyway', async () => {
    let asked: unknown;
    const codings = {
      gzip: gzipSync,
      'x-gzip': gzipSync,
      deflate: deflateSync,
      ' Deflate': deflateSync,
      br: brotliCompressSync,
      Identity: String,
      '': String,
    };
    for (const [coding, compress] of Object.entries(codings)) {
      answer = (request, response) => {
        asked = request.headers['accept-encoding'];
        response.writeHead(200, { 'content-encoding': coding }).end(compress('{"grün":1}'));
      };
      assert.equal((await ask()).body, '{"grün":1}', coding);
      assert.equal(asked, 'identity');
    }
    answer = (_request, response) => void response.writeHead(204, { 'content-encoding': 'gzip' }).end();
    assert.equal((await ask()).body, '');
  });

  it('unpacks no more than 1 MiB', async () => {
    const bodies = { gzip: gzipSync, br: brotliCompressSync };
    for (const [coding, compress] of Object.entries(bodies)) {
      const reply = (length: number): void => {
        answer = (_request, response) =>
          void response.writeHead(200, { 'content-encoding': coding }).end(compress(Buffer.alloc(length, 'a')));
      };
      reply(maxBodyBytes);
      assert.equal((await ask()).body.length, maxBodyBytes);
      reply(maxBodyBytes + 1);
      const error = await failureOf(ask());
      assert.equal(error.code, 'BAD_RESPONSE');
      assert.match(error.message, /more than 1 MiB/);
      assert.equal(error.retryable, false);
    }
  });

  it('reports a failed connection without the address', async () => {
    const error = await failureOf(ask('/', { url: new URL('http://127.0.0.1:1/secret') }));
    assert.equal(error.code, 'NETWORK');
    assert.ok(!isReset(error));
    assert.deepEqual(error.cause, { code: 'ECONNREFUSED' });
  });

  it('gives up after its time limit, which begins with its socket, though a body is on its way', async () => {
    let arrived = 0;
    answer = (_request, response) => {
      arrived += 1;
      response.write('{');
    };
    const asked = Array.from({ length: readConnections + 2 }, () => failureOf(ask('/', { timeoutMs: 5_000 })));
    while (arrived < readConnections) await clock.advance(0);
    await clock.advance(5_000);
    assert.deepEqual(
      (await Promise.all(asked.slice(0, readConnections))).map(({ code }) => code),
      Array(readConnections).fill('TIMEOUT'),
    );
    while (arrived < readConnections + 2) await clock.advance(0);
    await clock.advance(5_000);
    for (const error of await Promise.all(asked)) assert.equal(error.code, 'TIMEOUT');
  });

  it('waits for a slow address of a name, although its other address does not answer', async () => {
    const child = spawn(process.execPath, [join(__dirname, '../../support/busy-server.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const queued: Socket[] = [];
    let slow: Transport | undefined;
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(line);
      while (queued.length < 2) {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        queued.push(socket);
      }
      slow = createTransport({
        clock,
        env: {},
        lookup: (_host, _options, done) => {
          done(null, [
            { address: '127.0.0.1', family: 4 },
            { address: '::1', family: 6 },
          ]);
          // The first packet of the connection is lost; the network sends it again a second later.
          setImmediate(() => child.stdin.write('\n'));
        },
      });
      const url = new URL(`http://service.test:${port}/`);
      assert.equal((await slow.send({ method: 'POST', url, headers: {}, timeoutMs: 30_000 })).body, 'late');
    } finally {
      await slow?.close();
      for (const socket of queued) socket.destroy();
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    }
  });

  it('names a server that speaks no TLS, or a version that is too old', async () => {
    const plain = new URL(base.replace('http:', 'https:'));
    assert.match((await failureOf(ask('/', { url: plain }))).message, /The TLS handshake .*\(ERR_SSL_.*base URL/);
    const old = createTlsServer({
      ...testCertificate,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    }) as Server;
    const url = new URL(`https://127.0.0.1:${await listen(old)}/`);
    const { message } = await failureOf(ask('/', { url }));
    await new Promise((resolve) => old.close(resolve));
    assert.match(message, /The TLS handshake .*PROTOCOL_VERSION/);
  });

  describe('to a server that accepts connections and never answers the TLS handshake', () => {
    let mute: Server;
    let url: URL;
    const accepted = new Set<Socket>();
    let connections = 0;

    beforeEach(async () => {
      connections = 0;
      mute = createTcpServer((socket) => {
        connections += 1;
        accepted.add(socket);
        socket.on('error', () => undefined).on('close', () => accepted.delete(socket));
        socket.resume();
      }) as Server;
      url = new URL(`https://127.0.0.1:${await listen(mute)}/`);
    });

    afterEach(async () => {
      for (const socket of accepted) socket.destroy();
      await new Promise((resolve) => mute.close(resolve));
    });

    for (const method of ['GET', 'POST'] as const) {
      it(`ends each ${method} after the connect time limit and tries a new connection with the next`, async () => {
        for (let round = 1; round <= 2; round += 1) {
          let began = 0;
          const asked = Array.from({ length: readConnections + 2 }, () =>
            failureOf(ask('/', { url, method, mayLeave: () => (began += 1) })),
          );
          const expected = method === 'GET' ? readConnections : readConnections + 2;
          while (accepted.size < expected) await clock.advance(0);
          await clock.advance(connectTimeoutMs);
          if (method === 'GET') {
            while (connections < round * (readConnections + 2)) await clock.advance(0);
            await clock.advance(connectTimeoutMs);
          }
          for (const error of await Promise.all(asked)) assert.equal(error.code, 'TIMEOUT');
          assert.equal(began, 0);
          while (accepted.size > 0) await clock.advance(0);
          assert.equal(connections, round * (readConnections + 2));
        }
      });
    }
  });

  it('ends with its signal, before and after it was sent', async () => {
    assert.equal((await failureOf(ask('/', { signal: AbortSignal.abort() }))).code, 'CANCELLED');
    const abort = new AbortController();
    answer = () => abort.abort();
    assert.equal((await failureOf(ask('/', { signal: abort.signal }))).code, 'CANCELLED');
    answer = (_request, response) => void response.end('{"ok":true}');
    assert.equal((await ask()).body, '{"ok":true}');
  });

  for (const method of ['GET', 'POST'] as const)
    it(`leaves no listener at the signal of a caller, which lives as long as its node (${method})`, async () => {
      const { signal } = new AbortController();
      const listeners = (): number => getEventListeners(signal, 'abort').length;
      await ask('/', { method, signal });
      assert.equal(listeners(), 0, 'after an answer');
      answer = (request) => void request.socket.destroy();
      assert.equal((await failureOf(ask('/', { method, signal }))).code, 'NETWORK');
      assert.equal(listeners(), 0, 'after a cut connection');
      answer = () => void clock.advance(5_000);
      assert.equal((await failureOf(ask('/', { method, signal, timeoutMs: 5_000 }))).code, 'TIMEOUT');
      assert.equal(listeners(), 0, 'after the time limit');
    });

  it('reports when sending begins, and reports nothing if the service cannot be reached', async () => {
    let began = 0;
    answer = (_request, response) => void response.end(String(began));
    assert.equal((await ask('/', { method: 'POST', mayLeave: () => (began += 1) })).body, '1');
    await failureOf(ask('/', { method: 'POST', url: new URL('http://127.0.0.1:1/'), mayLeave: () => (began += 1) }));
    assert.equal(began, 1);
  });

  it('leaves no socket and no timer when it is closed, and fails what is in progress', async () => {
    const open = (): number =>
      process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocketWrap')).length;
    const before = open();
    await Promise.all(Array.from({ length: 3 }, () => ask()));
    answer = () => undefined;
    const asked = Array.from({ length: readConnections + 4 }, () => failureOf(ask()));
    while (sockets.size < readConnections) await new Promise((resolve) => setImmediate(resolve));
    await transport.close();
    for (const error of await Promise.all(asked)) assert.equal(error.code, 'CANCELLED');
    assert.equal((await failureOf(ask())).code, 'CANCELLED');
    assert.equal(clock.sleeping, 0);
    // At most the server's ends are left, which follow.
    assert.ok(open() - before <= sockets.size, `${open()} sockets are open, ${sockets.size} of them the server’s`);
  });
});
