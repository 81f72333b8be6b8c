import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../util/clock';
import { VehicleError } from '../../errors';
import type { Answer, ServiceRequest } from './answer';

/** A request that the simulator got, and what it answered; status 0: nothing. */
export interface RecordedRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Milliseconds since 1970, on the simulator's clock. */
  at: number;
  status: number;
}

interface ServerParts {
  clock: Clock;
  signal: AbortSignal;
  /** Null: the response was used. */
  answer(request: ServiceRequest, response: ServerResponse): Promise<Answer | null>;
  isPrivate(path: string): boolean;
}

const recordLength = 1000;
const longestBody = 64 * 1024;

/** The HTTP server: sockets and the record of requests. */
export class SimulatorServer {
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;
  readonly #parts: ServerParts;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => this.#abandon(response, error));
    });
    this.#server.keepAliveTimeout = 60_000;
  }

  /** @returns the port */
  async listen(port: number, keepsProcessAlive: boolean): Promise<number> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening').catch((cause: unknown) => {
      const message = `The simulated service cannot use port ${port}. Choose another one.`;
      throw new VehicleError('CONFIG', message, { cause });
    });
    if (!keepsProcessAlive) this.#server.unref();
    return this.#port;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port; // It listens on a port.
  }

  async close(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const [path = ''] = url.split('?', 1);
    const record: RecordedRequest = { method, path: url, headers, body: '', at: this.#parts.clock.now(), status: 0 };
    // A name that leads here is not yet this service: a page of another site can point its own
    // name to this address.
    if (!this.#isOwnHost(headers.host))
      return this.#send(response, record, {
        status: 403,
        body: { error: { description: 'This service answers under a loopback address only.' } },
      });
    if (!this.#parts.isPrivate(path)) this.requests.push(record);
    if (this.requests.length > recordLength) this.requests.shift();
    const body = await readBody(request);
    if (body === null) return this.#send(response, record, { status: 413, headers: { connection: 'close' } });
    record.body = body;
    const query = new URLSearchParams(url.slice(path.length));
    const answer = await this.#parts.answer({ method, path, query, headers, body }, response);
    if (answer !== null) this.#send(response, record, answer);
  }

  #send(response: ServerResponse, record: RecordedRequest, answer: Answer): void {
    record.status = answer.status;
    if (answer.stream !== undefined) {
      response.writeHead(answer.status, { ...answer.headers, 'cache-control': 'no-store' }).flushHeaders();
      const end = answer.stream((text) => void response.write(text));
      // An answer that waits for another one on its connection is not notified of its end.
      const { socket } = response.req;
      if (socket.destroyed) end();
      else socket.setMaxListeners(0).once('close', end);
      return;
    }
    const { text, headers } = serialized(this.#parts.clock.now(), answer);
    response.writeHead(answer.status, headers).end(text);
  }

  /** If somebody still waits for an answer, this is a fault of the simulator. */
  #abandon(response: ServerResponse, error: unknown): void {
    if (this.#parts.signal.aborted || response.headersSent) response.destroy();
    else response.writeHead(500, { 'content-type': 'text/plain' }).end(`The simulator failed: ${String(error)}`);
  }

  #isOwnHost(host: string | undefined): boolean {
    return ['127.0.0.1', 'localhost', '[::1]'].some((name) => host === `${name}:${this.#port}`);
  }
}

/** Null: too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return '';
  const chunks: Buffer[] = [];
  let length = 0;
  // Without an encoding, a request emits buffers.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A text in one piece with its headers is one write; bytes beside them would be two. */
function serialized(
  now: number,
  { status, body, headers = {} }: Answer,
): { text: string; headers: OutgoingHttpHeaders } {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  // By the simulator's clock: a client may set its own by it.
  const out: OutgoingHttpHeaders = { 'content-length': Buffer.byteLength(text), date: new Date(now).toUTCString() };
  for (const name in headers) out[name] = headers[name];
  if (typeof body === 'object') out['content-type'] ??= 'application/json';
  if (body === undefined) delete out['content-type'];
  return { text, headers: status === 204 ? {} : out };
}
