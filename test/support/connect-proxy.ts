import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen } from './listening';

/** A real proxy for CONNECT, on 127.0.0.1. It alone knows the hosts that it is given. */
export interface ConnectProxy {
  url: string;
  /** The target of each CONNECT request, in order. */
  targets: string[];
  /**
   * Answers with this status instead of connecting; null connects; 201 to 299 connects and answers
   * with it; 0 never answers; -1 hangs up; 200 hangs up after the tunnel is open.
   */
  status: number | null;
  authorization: string | undefined;
  /** The names and values of the headers of the last request. */
  headers: readonly string[];
  readonly open: number;
  close(): Promise<void>;
}

/**
 * @param ports the port on this machine that each `host:port` leads to
 * @param certificate of an https proxy; without it, an http proxy
 */
export async function startConnectProxy(
  ports: Readonly<Record<string, number>>,
  certificate?: { key: string; cert: string },
): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const server = certificate === undefined ? createServer() : createTlsServer(certificate);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, stream) => {
    const client = stream as Socket;
    const target = request.url ?? '';
    proxy.targets.push(target);
    proxy.authorization = request.headers['proxy-authorization'];
    proxy.headers = request.rawHeaders;
    if (proxy.status === -1) return void client.destroy();
    if (proxy.status === 0) return void client.resume().on('end', () => client.end());
    if (proxy.status === 200) return void client.end('HTTP/1.1 200 Connection established\r\n\r\n');
    const port = ports[target];
    const success = proxy.status ?? 200;
    if (success < 200 || success > 299 || port === undefined)
      return void client.end(`HTTP/1.1 ${proxy.status ?? 502} No tunnel\r\ncontent-length: 0\r\n\r\n`);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write(`HTTP/1.1 ${success} Connection established\r\n\r\n`);
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  const proxy: ConnectProxy = {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${await listen(server)}`,
    targets: [],
    status: null,
    authorization: undefined,
    headers: [],
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
