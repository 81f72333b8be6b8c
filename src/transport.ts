import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { systemClock, type Clock } from './clock';
import { VehicleError } from './errors';

/** One HTTP exchange; nothing here knows of vehicles. */
export interface TransportRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** From the call to the last byte of the answer, waiting for a socket included. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Called before the first byte may leave this machine: past it, nobody knows what the service has seen. */
  onDispatch?: () => void;
}

export interface TransportResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface Transport {
  /**
   * Sends once, follows no redirect, reads at most 1 MiB.
   * @throws VehicleError NETWORK, TIMEOUT, BAD_RESPONSE (body too large), CANCELLED
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Ends every socket at once; what is under way fails with CANCELLED. */
  close(): Promise<void>;
}

export const largestBody = 2 ** 20;
export const mostSockets = 6;

/** Idle sockets are closed after this long: before the gateways on the way forget them without a word. */
const idleMs = 30_000;

/**
 * HTTP by Node's own client, which every Node-RED has loaded already: its parser is native, and it costs next to no memory.
 * (A client of its own would cost more than all the rest of the pack.)
 */
export function createTransport(clock: Clock = systemClock): Transport {
  const lanes = new Map<string, Lane>();
  let closed = false;

  const laneOf = ({ method, url }: TransportRequest): Lane => {
    // A kept-alive socket may have died unseen. A read is sent again; a command is not, so each one gets a new socket.
    const key = `${method} ${url.origin}`;
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(url.protocol === 'https:', method === 'GET');
      lanes.set(key, lane);
    }
    return lane;
  };

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (closed || request.signal?.aborted) return reject(cancelled());
        const lane = laneOf(request);
        lane.enter(new Exchange(request, clock, lane, resolve, reject));
      }),
    async close() {
      closed = true;
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
      lanes.clear();
    },
  };
}

/** The sockets to one origin. Who finds all of them taken waits in order. */
class Lane {
  readonly secure: boolean;
  readonly #agent: Agent;
  readonly #waiting = new Set<Exchange>();
  readonly #underway = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();

  constructor(secure: boolean, keepAlive: boolean) {
    this.secure = secure;
    this.#agent = new (secure ? SecureAgent : Agent)({ keepAlive, maxSockets: mostSockets, timeout: idleMs });
  }

  enter(exchange: Exchange): void {
    if (this.#underway.size >= mostSockets) return void this.#waiting.add(exchange);
    this.#underway.add(exchange);
    try {
      const client = exchange.start(this.#agent);
      client.once('socket', (socket) => this.#keep(socket)).once('close', () => this.#leave(exchange));
    } catch (error) {
      // Node refuses what cannot be written as a header.
      this.#underway.delete(exchange);
      exchange.fail(networkFault(error));
    }
  }

  /** Gives up the place in the queue. */
  forget(exchange: Exchange): void {
    this.#waiting.delete(exchange);
  }

  /** Resolves when the last socket has let go of the process. */
  async close(): Promise<void> {
    for (const exchange of [...this.#waiting, ...this.#underway]) exchange.fail(cancelled());
    while (this.#sockets.size > 0) {
      const ended = [...this.#sockets].map((socket) => new Promise((resolve) => void socket.once('close', resolve)));
      this.#agent.destroy();
      await Promise.all(ended);
    }
  }

  #keep(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #leave(exchange: Exchange): void {
    this.#underway.delete(exchange);
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return this.enter(next);
    }
  }
}

/** From a request to its one end: the whole answer, or a failure. */
class Exchange {
  readonly #request: TransportRequest;
  readonly #lane: Lane;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: VehicleError) => void;
  readonly #cancelTimer: () => void;
  readonly #chunks: Buffer[] = [];
  #client: ClientRequest | null = null;
  #size = 0;
  #done = false;

  constructor(request: TransportRequest, clock: Clock, lane: Lane, resolve: (response: TransportResponse) => void, reject: (error: VehicleError) => void) {
    this.#request = request;
    this.#lane = lane;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = clock.after(request.timeoutMs, () => this.fail(timedOut(request.timeoutMs)));
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  start(agent: Agent): ClientRequest {
    const { method, url, headers, body, onDispatch } = this.#request;
    const { secure } = this.#lane;
    const client = (secure ? httpsRequest : httpRequest)({
      method,
      // A URL has IPv6 addresses in brackets, a socket wants them without.
      host: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
      port: url.port,
      path: url.pathname + url.search,
      headers,
      agent,
    });
    this.#client = client.on('error', this.#onError).on('response', this.#onResponse);
    if (onDispatch !== undefined) client.once('socket', (socket) => whenConnected(socket, secure, onDispatch));
    return client.end(body);
  }

  fail(error: VehicleError): void {
    if (!this.#finish()) return;
    this.#reject(error);
    if (this.#client === null) this.#lane.forget(this);
    else this.#client.destroy();
  }

  #onAbort = (): void => this.fail(cancelled());
  #onError = (error: unknown): void => this.fail(networkFault(error));

  #onResponse = (response: IncomingMessage): void => {
    response
      .on('data', (chunk: Buffer) => {
        this.#size += chunk.length;
        if (this.#size > largestBody) this.fail(tooLarge(response.statusCode ?? 0));
        else this.#chunks.push(chunk);
      })
      .on('end', () => this.#complete(response))
      .on('error', this.#onError);
  };

  #complete({ statusCode = 0, headers }: IncomingMessage): void {
    if (!this.#finish()) return;
    const [first = Buffer.alloc(0)] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#resolve({ status: statusCode, headers, body: body.toString('utf8') });
  }

  /** True for the first end only. */
  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Nothing leaves this machine before a socket is connected, and over TLS before the peer has proven itself. */
function whenConnected(socket: Socket, secure: boolean, callback: () => void): void {
  if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', callback);
  else callback();
}

const cancelled = (): VehicleError => new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');

const timedOut = (ms: number): VehicleError =>
  new VehicleError('TIMEOUT', `The service did not answer within ${Math.round(ms / 1000)} seconds. Try again later.`);

const tooLarge = (status: number): VehicleError =>
  new VehicleError('BAD_RESPONSE', 'The service sent more than 1 MiB, which no answer of it should. Check the base URL.', { httpStatus: status, retryable: false });

/** Codes for a peer that ended a socket which had worked before. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE']);

/** True where a kept-alive socket was ended under the request: a read may go again at once (field notes 6.2). */
export const isReset = (error: VehicleError): boolean => error.code === 'NETWORK' && resetCodes.has(codeOf(error.cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** The cause is rebuilt from its code alone: Node's errors hold addresses. */
function networkFault(error: unknown): VehicleError {
  const code = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  return new VehicleError('NETWORK', `The service could not be reached (${code}). Check the network and the base URL; the pack tries again at the next request.`, {
    cause: { code },
  });
}
