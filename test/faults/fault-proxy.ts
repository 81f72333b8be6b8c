import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { testCertificate } from '../support/test-certificate';
import { listen } from '../support/listening';

/** Statuses of gateways, load balancers and content networks that no service itself sends. */
const gatewayStatuses = [
  408, 425, 429, 499, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 525, 526, 527, 530, 598, 599,
] as const;

const simpleFaults = [
  'cut before the service',
  'cut after the service',
  'cut in the body',
  'stall before the service',
  'stall after the service',
  'stall in the body',
  'drip',
  'short length',
  'long length',
  'broken compression',
  'redirect',
  'headers of 100 kB',
  'no JSON',
  'mute TLS',
] as const;

/** Something that goes wrong between the nodes and the service. */
export type Fault =
  (typeof simpleFaults)[number] | `status ${(typeof gatewayStatuses)[number]} ${'before' | 'after'} the service`;

export const faults: readonly Fault[] = [
  ...simpleFaults,
  ...gatewayStatuses.flatMap((status) => [
    `status ${status} before the service` as const,
    // A 429 means that the request was not accepted.
    ...(status === 429 ? [] : [`status ${status} after the service` as const]),
  ]),
];

/** A proxy with TLS in front of the simulated service that injects faults. */
export interface FaultProxy {
  url: string;
  /**
   * The next requests about a car meet this fault, each of them; null for none. `mute TLS` holds
   * for the next connection of anybody.
   */
  inject(vin: string, fault: Fault | null, times: number): void;
  injected: number;
  /** How many commands about a car have arrived here. */
  commandsOf(vin: string): number;
  /** Connections of clients. */
  readonly open: number;
  close(): Promise<void>;
}

export async function startFaultProxy(serviceUrl: string): Promise<FaultProxy> {
  const planned = new Map<string, { fault: Fault; times: number }>();
  const commands = new Map<string, number>();
  const sockets = new Set<Socket>();
  let muteConnections = 0;

  const take = (vin: string): Fault | null => {
    const plan = planned.get(vin);
    if (plan === undefined || plan.times === 0) return null;
    plan.times -= 1;
    proxy.injected += 1;
    return plan.fault;
  };

  const server = createHttpsServer(testCertificate, (request, response) => void answer(request, response));
  server.keepAliveTimeout = 60_000;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const vin = /\/vehicles\/([A-Z\d]{17})/.exec(request.url ?? '')?.[1] ?? '';
    if (request.method === 'POST') commands.set(vin, (commands.get(vin) ?? 0) + 1);
    const fault = take(vin);
    const status = /^status (\d+) (before|after)/.exec(fault ?? '');
    if (fault === 'cut before the service') return void response.destroy();
    if (fault === 'stall before the service') return;
    if (status?.[2] === 'before') return void response.writeHead(Number(status[1])).end('<html>gateway</html>');
    if (fault === 'redirect') return void response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end();
    const answered = await forward(request, body);
    // Links of the service lead through the proxy.
    const text = answered.body.replaceAll(serviceUrl, proxy.url);
    const headers: Record<string, string> = { ...answered.headers, 'content-length': String(Buffer.byteLength(text)) };
    const half = text.slice(0, text.length / 2);
    const send = (changes: Record<string, string>): void => {
      response.writeHead(answered.status, { ...headers, ...changes });
    };
    if (status !== null) return void response.writeHead(Number(status[1])).end('<html>gateway</html>');
    switch (fault) {
      case 'cut after the service':
        return void response.destroy();
      case 'stall after the service':
        return;
      case 'cut in the body':
        send({});
        return void response.write(half, () => response.destroy());
      case 'stall in the body':
        send({});
        return void response.write(half);
      case 'drip':
        send({});
        for (const character of text) {
          response.write(character);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return void response.end();
      case 'short length':
        send({ 'content-length': String(Buffer.byteLength(half)) });
        return void response.end(text);
      case 'long length':
        send({ 'content-length': String(Buffer.byteLength(text) + 10) });
        return void response.write(text, () => setTimeout(() => response.destroy(), 20));
      case 'broken compression':
        send({ 'content-encoding': 'gzip', 'content-length': '12' });
        return void response.end(Buffer.alloc(12, 0x1f));
      case 'headers of 100 kB':
        send({ 'x-padding': 'x'.repeat(100_000) });
        return void response.end(text);
      case 'no JSON':
        send({ 'content-length': '13' });
        return void response.end('<html></html>');
      default:
        send({});
        return void response.end(text);
    }
  }

  function forward(
    { method, url, headers }: IncomingMessage,
    body: string,
  ): Promise<{ status: number; headers: Record<string, string>; body: string }> {
    const { host: _host, ...onwardHeaders } = headers;
    return new Promise((resolve, reject) => {
      const onward = httpRequest(new URL(url ?? '/', serviceUrl), { method, headers: onwardHeaders }, (answered) => {
        bodyOf(answered).then((text) => {
          const told = Object.entries(answered.headers).filter(
            ([name]) => !/^(connection|transfer-encoding|keep-alive)$/.test(name),
          );
          resolve({
            status: answered.statusCode ?? 502,
            headers: Object.fromEntries(told.map(([name, value]) => [name, String(value)])),
            body: text,
          });
        }, reject);
      });
      onward.on('error', reject).end(body);
    });
  }

  const front = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (muteConnections > 0) {
      muteConnections -= 1;
      proxy.injected += 1;
      return void socket.resume().on('end', () => socket.end());
    }
    server.emit('connection', socket);
  });
  const proxy: FaultProxy = {
    url: `https://127.0.0.1:${await listen(front)}`,
    injected: 0,
    inject(vin, fault, times) {
      if (fault === 'mute TLS') muteConnections = Math.min(times, 2);
      else if (fault === null) planned.delete(vin);
      else planned.set(vin, { fault, times });
    },
    commandsOf: (vin) => commands.get(vin) ?? 0,
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
  return proxy;
}

async function bodyOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
