import { createServer, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../clock';
import { VehicleError } from '../errors';
import type { Answer, RefusalContext } from './answer';
import { distort, faultAnswer, type Fault, type Faults } from './faults';
import type { ServiceRequest } from './service';

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

/** How many there were, are now, and were at most at once. */
export interface Count {
  total: number;
  current: number;
  peak: number;
}

export interface ServerParts {
  clock: Clock;
  faults: Faults;
  signal: AbortSignal;
  /** For the refusals that faults ask for. */
  contextOf(request: ServiceRequest): RefusalContext;
  answer(request: ServiceRequest, fault: Fault | null): Promise<Answer>;
  /** Paths that faults and the record leave alone. */
  isPrivate(path: string): boolean;
}

const recordLength = 1000;
const longestBody = 64 * 1024;

/** The sockets, the record of requests, and the faults of the line. */
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
      // An answer that cannot be given any more is nobody's business: the client is gone or the simulator closes.
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      enter(this.connections);
      socket.once('close', () => leave(this.connections));
    });
  }

  /** @returns the port */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => reject(new VehicleError('CONFIG', `The simulated service cannot use port ${port}. Choose another one.`, { cause: error })));
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    enter(this.inFlight);
    // `close` alone comes after the client has its answer, and may already count what is in flight.
    let left = false;
    for (const event of ['finish', 'close']) response.once(event, () => (left ||= leave(this.inFlight)));
    if (this.#doomed.has(request.socket)) return void request.socket.resetAndDestroy();
    const { method = '', url = '', headers } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const record: RecordedRequest = { method, path: url, headers, body: '', at: this.#parts.clock.now(), status: 0 };
    const isPrivate = this.#parts.isPrivate(path);
    if (!isPrivate) this.#remember(record);
    const body = await readBody(request);
    if (body === null) return send(response, record, { status: 413, headers: { connection: 'close' } });
    record.body = body;
    const asked: ServiceRequest = { method, path, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark)), headers, body };
    const fault = isPrivate ? null : this.#parts.faults.take(method, path);
    if (fault === null) return send(response, record, await this.#parts.answer(asked, null));
    await this.#fail(fault, asked, response, record);
  }

  async #fail(fault: Fault, asked: ServiceRequest, response: ServerResponse, record: RecordedRequest): Promise<void> {
    const { socket } = response.req;
    const { clock, signal } = this.#parts;
    const wait = async (): Promise<void> => (fault.latencyMs === undefined ? undefined : clock.sleep(fault.latencyMs, signal));
    if (fault.afterEffect !== true) await wait();
    if (fault.cut === 'before-headers') return void socket.resetAndDestroy();
    const instead = faultAnswer(fault, this.#parts.contextOf(asked));
    const own = instead === null || fault.afterEffect === true ? await this.#parts.answer(asked, fault) : null;
    if (fault.afterEffect === true) await wait();
    if (fault.cut === 'after-effect') return void socket.resetAndDestroy();
    if (fault.dropKeepAlive === true) this.#doomed.add(socket);
    const answer = instead ?? (own === null ? { status: 200 } : { ...distort(own, fault), headers: { ...own.headers, ...fault.headers } });
    if (fault.cut === undefined) send(response, record, answer);
    else cutShort(response, record, answer, fault.cut === 'after-headers' ? 0 : 0.5);
  }

  #remember(record: RecordedRequest): void {
    this.requests.push(record);
    if (this.requests.length > recordLength) this.requests.shift();
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
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const json = { 'content-type': 'application/json' };

function packed({ body, headers = {} }: Answer): { payload: Buffer; headers: OutgoingHttpHeaders } {
  const isText = typeof body === 'string';
  const payload = body === undefined ? Buffer.alloc(0) : Buffer.from(isText ? body : JSON.stringify(body));
  const { 'content-type': type, ...others } = { ...(isText ? {} : json), ...headers };
  return { payload, headers: { ...others, ...(body === undefined ? {} : { 'content-type': type }), 'content-length': payload.length } as OutgoingHttpHeaders };
}

function send(response: ServerResponse, record: RecordedRequest, answer: Answer): void {
  record.status = answer.status;
  const { payload, headers } = packed(answer);
  response.writeHead(answer.status, headers).end(payload);
}

/** Promises a whole body, sends a part of it, and is gone. */
function cutShort(response: ServerResponse, record: RecordedRequest, answer: Answer, part: number): void {
  record.status = answer.status;
  const { payload, headers } = packed(answer);
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  const { socket } = response.req;
  const end = (): void => void socket.end(() => socket.destroy());
  if (part === 0) end();
  else response.write(payload.subarray(0, Math.ceil(payload.length * part)), end);
}
