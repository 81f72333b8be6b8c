import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { VehicleError } from '../../src/index';
import {
  createTransport,
  isReset,
  largestBody,
  longestLine,
  mostSockets,
  mostSocketsUnderLoad,
  type Transport,
  type TransportRequest,
} from '../../src/transport';
import { ManualClock } from '../support/manual-clock';

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
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    clock = new ManualClock();
    transport = createTransport(clock);
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
  const failure = async (promise: Promise<unknown>): Promise<VehicleError> => {
    const [result] = await Promise.allSettled([promise]);
    assert.equal(result?.status, 'rejected');
    return (result as PromiseRejectedResult).reason as VehicleError;
  };

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

  it('follows no redirect', async () => {
    answer = (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    assert.equal((await ask()).status, 302);
  });

  it('reads over at most six sockets, which it keeps', async () => {
    answer = (_request, response) => void setImmediate(() => response.end('{}'));
    await Promise.all(Array.from({ length: longestLine }, () => ask()));
    await ask();
    assert.equal(opened, mostSockets);
    assert.equal(mostOpen, mostSockets);
  });

  it('opens more sockets for a longer line, and goes back to the six when it is gone', async () => {
    answer = (_request, response) => void setImmediate(() => response.end('{}'));
    await Promise.all(Array.from({ length: 200 }, () => ask()));
    assert.equal(opened, mostSockets + mostSocketsUnderLoad);
    await Promise.all(Array.from({ length: longestLine }, () => ask()));
    assert.equal(opened, mostSockets + mostSocketsUnderLoad);
  });

  it('sends each command on a socket of its own', async () => {
    await ask();
    await ask('/', { method: 'POST' });
    await ask('/', { method: 'POST' });
    assert.equal(opened, 3);
  });

  it('takes a body of 1 MiB and cuts off a longer one', async () => {
    answer = (_request, response) => void response.end(Buffer.alloc(largestBody, 'a'));
    assert.equal((await ask()).body.length, largestBody);
    answer = (_request, response) => void response.end(Buffer.alloc(largestBody + 1, 'a'));
    const error = await failure(ask());
    assert.equal(error.code, 'BAD_RESPONSE');
    assert.equal(error.retryable, false);
  });

  it('cuts off a body that never ends', async () => {
    answer = (_request, response) => {
      const more = (): void =>
        void (response.destroyed || response.write(Buffer.alloc(64 * 1024, 'a'), () => setImmediate(more)));
      more();
    };
    assert.equal((await failure(ask())).code, 'BAD_RESPONSE');
  });

  it('tells a socket that the peer ended under a request', async () => {
    answer = (request) => request.socket.resetAndDestroy();
    const before = await failure(ask());
    assert.equal(before.code, 'NETWORK');
    assert.ok(isReset(before));
    answer = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"half":', () => request.socket.destroy());
    };
    assert.ok(isReset(await failure(ask())));
  });

  it('tells what cannot be connected, without the address', async () => {
    const error = await failure(ask('/', { url: new URL('http://127.0.0.1:1/secret') }));
    assert.equal(error.code, 'NETWORK');
    assert.ok(!isReset(error));
    assert.deepEqual(error.cause, { code: 'ECONNREFUSED' });
  });

  it('fails what cannot be written as a header, and goes on', async () => {
    assert.equal((await failure(ask('/', { headers: { accept: 'a\nb' } }))).code, 'NETWORK');
    assert.equal((await ask()).status, 200);
  });

  it('gives up after its time limit, which begins with its socket, though a body is on its way', async () => {
    let arrived = 0;
    answer = (_request, response) => {
      arrived += 1;
      response.write('{');
    };
    const asked = Array.from({ length: mostSockets + 2 }, () => failure(ask('/', { timeoutMs: 5_000 })));
    while (arrived < mostSockets) await clock.advance(0);
    await clock.advance(5_000);
    assert.deepEqual(
      (await Promise.all(asked.slice(0, mostSockets))).map(({ code }) => code),
      Array(mostSockets).fill('TIMEOUT'),
    );
    while (arrived < mostSockets + 2) await clock.advance(0);
    await clock.advance(5_000);
    for (const error of await Promise.all(asked)) assert.equal(error.code, 'TIMEOUT');
  });

  it('gives up where no socket becomes free within a minute', async () => {
    answer = () => undefined;
    const asked = Array.from({ length: mostSockets + 1 }, () => failure(ask('/', { timeoutMs: 300_000 })));
    while (sockets.size < mostSockets) await clock.advance(0);
    await clock.advance(60_000);
    assert.match((await (asked.at(-1) as Promise<VehicleError>)).message, /within 60 seconds/);
  });

  it('lets no command wait for another', async () => {
    let arrived = 0;
    answer = () => void (arrived += 1);
    const asked = Array.from({ length: 20 }, () => failure(ask('/', { method: 'POST' })));
    while (arrived < 20) await clock.advance(0);
    await transport.close();
    await Promise.all(asked);
  });

  it('ends with its signal, before and after it was sent', async () => {
    assert.equal((await failure(ask('/', { signal: AbortSignal.abort() }))).code, 'CANCELLED');
    const abort = new AbortController();
    answer = () => abort.abort();
    assert.equal((await failure(ask('/', { signal: abort.signal }))).code, 'CANCELLED');
    answer = (_request, response) => void response.end('{"ok":true}');
    assert.equal((await ask()).body, '{"ok":true}');
  });

  it('says that sending begins when it does, and not where nothing can be reached', async () => {
    let began = 0;
    answer = (_request, response) => void response.end(String(began));
    assert.equal((await ask('/', { method: 'POST', onDispatch: () => (began += 1) })).body, '1');
    await failure(ask('/', { method: 'POST', url: new URL('http://127.0.0.1:1/'), onDispatch: () => (began += 1) }));
    assert.equal(began, 1);
  });

  it('leaves no socket and no timer when it is closed, and fails what is under way', async () => {
    const open = (): number =>
      process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocketWrap')).length;
    const before = open();
    await Promise.all(Array.from({ length: 3 }, () => ask()));
    answer = () => undefined;
    const asked = Array.from({ length: mostSockets + 4 }, () => failure(ask()));
    while (sockets.size < mostSockets) await new Promise((resolve) => setImmediate(resolve));
    await transport.close();
    for (const error of await Promise.all(asked)) assert.equal(error.code, 'CANCELLED');
    assert.equal((await failure(ask())).code, 'CANCELLED');
    assert.equal(clock.sleeping, 0);
    // At most the server's ends are left, which follow.
    assert.ok(open() - before <= sockets.size, `${open()} sockets are open, ${sockets.size} of them the server’s`);
  });
});
