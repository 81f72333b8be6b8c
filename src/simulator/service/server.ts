import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../util/clock';
import { VehicleError } from '../../errors';
import type { Answer, RefusalContext, ServiceRequest } from './answer';
import { distort, faultAnswer, type Fault, type Faults } from './faults';

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

/** The total, the number at the moment, and the highest number at once. */
export interface Count {
  total: number;
  current: number;
  peak: number;
}

interface ServerParts {
  clock: Clock;
  faults: Faults;
  signal: AbortSignal;
  /** For the refusals that faults ask for. */
  contextOf(request: ServiceRequest): RefusalContext;
  answer(request: ServiceRequest): Promise<Answer>;
  /** Paths that faults and the record leave alone. */
  isPrivate(path: string): boolean;
}

const recordLength = 1000;
const longestBody = 64 * 1024;

/** The HTTP server: sockets, the record of requests, and faults of the connection. */
export class SimulatorServer {
  readonly requests: RecordedRequest[] = [];
  readonly connections: Count = { total: 0, current: 0, peak: 0 };
  readonly inFlight: Count = { total: 0, current: 0, peak: 0 };
  readonly #server: Server;
  readonly #parts: ServerParts;
  /** Connections whose next request finds them closed. */
  readonly #doomed = new WeakSet<Socket>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => this.#abandon(response, error));
    });
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      enter(this.connections);
      socket.once('close', () => leave(this.connections));
    });
  }

  /** @returns the port */
  async listen(port: number, keepsProcessAlive: boolean): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(
          new VehicleError('CONFIG', `The simulated service cannot use port ${port}. Choose another one.`, {
            cause: error,
          }),
        ),
      );
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    if (!keepsProcessAlive) this.#server.unref();
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#doomed.has(request.socket)) return void request.socket.resetAndDestroy();
    const { method = '', url = '', headers } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const record: RecordedRequest = { method, path: url, headers, body: '', at: this.#parts.clock.now(), status: 0 };
    const isPrivate = this.#parts.isPrivate(path);
    // A name that leads here is not yet this service: a page of another site can give its own name this address.
    if (!this.#isOwnHost(headers.host))
      return this.#send(response, record, {
        status: 403,
        body: { error: { description: 'This service answers under a loopback address only.' } },
      });
    if (!isPrivate) this.#remember(record, response);
    const body = await readBody(request);
    if (body === null) return this.#send(response, record, { status: 413, headers: { connection: 'close' } });
    record.body = body;
    const serviceRequest: ServiceRequest = {
      method,
      path,
      query: new URLSearchParams(mark < 0 ? '' : url.slice(mark)),
      headers,
      body,
    };
    const fault = isPrivate ? null : this.#parts.faults.take(method, path);
    if (fault !== null) return this.#fail(fault, serviceRequest, response, record);
    this.#send(response, record, await this.#parts.answer(serviceRequest));
  }

  async #fail(
    fault: Fault,
    serviceRequest: ServiceRequest,
    response: ServerResponse,
    record: RecordedRequest,
  ): Promise<void> {
    const { socket } = response.req;
    const { clock, signal } = this.#parts;
    const wait = async (): Promise<void> =>
      fault.latencyMs === undefined ? undefined : clock.sleep(fault.latencyMs, signal);
    if (fault.afterEffect !== true) await wait();
    if (fault.cut === 'before-headers') return void socket.resetAndDestroy();
    const instead = faultAnswer(fault, this.#parts.contextOf(serviceRequest));
    const own = instead === null || fault.afterEffect === true ? await this.#parts.answer(serviceRequest) : null;
    if (fault.afterEffect === true) await wait();
    if (fault.cut === 'after-effect') return void socket.resetAndDestroy();
    if (fault.dropKeepAlive === true) this.#doomed.add(socket);
    const answer =
      instead ??
      (own === null ? { status: 200 } : { ...distort(own, fault), headers: { ...own.headers, ...fault.headers } });
    this.#send(response, record, answer, fault.cut);
  }

  /** @param cut announces the whole body, sends none or half of it, and closes the connection */
  #send(response: ServerResponse, record: RecordedRequest, answer: Answer, cut?: Fault['cut']): void {
    record.status = answer.status;
    if (answer.stream !== undefined) {
      response.writeHead(answer.status, { ...answer.headers, 'cache-control': 'no-store' }).flushHeaders();
      response.once(
        'close',
        answer.stream((text) => void response.write(text)),
      );
      return;
    }
    const { text, headers } = serialized(this.#parts.clock.now(), answer);
    response.writeHead(answer.status, headers);
    if (cut === undefined) return void response.end(text);
    response.flushHeaders();
    const { socket } = response.req;
    const end = (): void => void socket.end(() => socket.destroy());
    if (cut === 'after-headers') end();
    else response.write(text.slice(0, Math.ceil(text.length / 2)), end);
  }

  /** Nobody waits for an answer if the client is gone or the simulator closes; anything else is a fault of the simulator. */
  #abandon(response: ServerResponse, error: unknown): void {
    if (this.#parts.signal.aborted || response.headersSent) response.destroy();
    else response.writeHead(500, { 'content-type': 'text/plain' }).end(`The simulator failed: ${String(error)}`);
  }

  #remember(record: RecordedRequest, response: ServerResponse): void {
    this.requests.push(record);
    if (this.requests.length > recordLength) this.requests.shift();
    enter(this.inFlight);
    // `close` alone comes after the client has its answer, and may already count what is in flight.
    let left = false;
    for (const event of ['finish', 'close']) response.once(event, () => (left ||= leave(this.inFlight)));
  }

  #isOwnHost(host: string | undefined): boolean {
    const { port } = this.#server.address() as AddressInfo; // It listens on a port.
    return ['127.0.0.1', 'localhost', '[::1]'].some((name) => host === `${name}:${port}`);
  }

  /** Removes the recorded requests and resets the counters. */
  clear(): void {
    this.requests.splice(0);
    for (const count of [this.connections, this.inFlight])
      Object.assign(count, { total: count.current, peak: count.current });
  }
}

function enter(count: Count): void {
  count.total += 1;
  count.current += 1;
  count.peak = Math.max(count.peak, count.current);
}

function leave(count: Count): true {
  count.current -= 1;
  return true;
}

/** Null: too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return '';
  const chunks: Buffer[] = [];
  let length = 0;
  // Without an encoding, a request gives buffers.
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
