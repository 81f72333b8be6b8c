import type { Dispatcher } from 'undici';
import Pool = require('undici/lib/dispatcher/pool');
import { systemClock, type Clock } from './util/clock';
import { VehicleError, asVehicleError } from './errors';

/** One HTTP exchange; nothing here knows of vehicles. */
export interface TransportRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** From when sending begins to the last byte of the answer; the wait for a socket has limits of its own. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /**
   * Called before the first byte may leave this machine: past it, nobody knows what the service has seen. A VehicleError that it throws
   * keeps the request back.
   */
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
/** What flows ask at once goes over these, in line. */
export const mostSockets = 6;
/** All 45 reads of one message are still such a line; one that is longer opens more sockets until it is gone. */
export const longestLine = 45;
export const mostSocketsUnderLoad = 50;

/** How long a request may wait for its socket: until it is open, or, behind others, until one of them is done. */
const socketWaitMs = { open: 30_000, line: 60_000 } as const;

/** Unused for so long, a socket is closed, even where the service would keep it longer. */
const idleMs = { few: 120_000, many: 10_000 } as const;

export function createTransport(clock: Clock = systemClock): Transport {
  const all = new Map<string, Sockets>();
  let closed = false;

  const socketsFor = ({ method, url: { origin } }: TransportRequest): Sockets => {
    // A kept-alive socket may have died unseen. A read is sent again; a command is not, so each one gets a new socket.
    const key = `${method} ${origin}`;
    let sockets = all.get(key);
    if (sockets === undefined) {
      // Commands are few, and each blocks for as long as its car takes: none of them waits for another.
      sockets = new Sockets(origin, method === 'POST' ? mostSocketsUnderLoad : mostSockets);
      all.set(key, sockets);
    }
    return sockets;
  };

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (closed || request.signal?.aborted) return reject(cancelled());
        const sockets = socketsFor(request);
        const exchange = new Exchange(request, { clock, sockets }, resolve, reject);
        try {
          sockets.enter().dispatch(
            {
              path: request.url.pathname + request.url.search,
              method: request.method,
              headers: request.headers,
              body: request.body ?? null,
              reset: request.method === 'POST',
            },
            exchange,
          );
        } catch (error) {
          // undici refuses at once what cannot be written as a header.
          exchange.onResponseError(undefined, error);
        }
      }),
    async close() {
      closed = true;
      await Promise.all([...all.values()].map((sockets) => sockets.destroy()));
      all.clear();
    },
  };
}

/** The sockets of one method to one origin. */
class Sockets {
  readonly #origin: string;
  readonly #most: number;
  readonly #few: Pool;
  /** Of a long line: opened when the first one comes. */
  #many: Pool | undefined;
  #isLong = false;
  #inFlight = 0;

  constructor(origin: string, most: number) {
    this.#origin = origin;
    this.#most = most;
    this.#few = this.#open(most, idleMs.few);
  }

  /** How long the next request may wait. */
  get waitMs(): number {
    return this.#inFlight < this.#most ? socketWaitMs.open : socketWaitMs.line;
  }

  /** The sockets for one request more. */
  enter(): Pool {
    this.#inFlight += 1;
    if (this.#inFlight > longestLine) this.#isLong = true;
    return this.#isLong ? (this.#many ??= this.#open(mostSocketsUnderLoad, idleMs.many)) : this.#few;
  }

  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight <= this.#most) this.#isLong = false;
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#few, this.#many].map((pool) => pool?.destroy(cancelled())));
  }

  #open(connections: number, keepAliveMaxTimeout: number): Pool {
    return new Pool(this.#origin, {
      connections,
      keepAliveMaxTimeout,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: 0,
    });
  }
}

/** One exchange as undici's handler: the leanest of its interfaces, and the only one that tells when sending begins. */
class Exchange implements Dispatcher.DispatchHandler {
  #request: TransportRequest;
  #clock: Clock;
  #sockets: Sockets;
  #resolve: (response: TransportResponse) => void;
  #reject: (error: VehicleError) => void;
  #cancelTimer: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: TransportResponse['headers'] = {};
  #done = false;

  constructor(
    request: TransportRequest,
    { clock, sockets }: { clock: Clock; sockets: Sockets },
    resolve: (response: TransportResponse) => void,
    reject: (error: VehicleError) => void,
  ) {
    this.#request = request;
    this.#clock = clock;
    this.#sockets = sockets;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = this.#failAfter(sockets.waitMs);
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  #onAbort = (): void => this.#fail(cancelled());

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#done) return controller.abort(cancelled());
    try {
      this.#request.onDispatch?.();
    } catch (error) {
      return this.#fail(asVehicleError(error));
    }
    this.#cancelTimer();
    this.#cancelTimer = this.#failAfter(this.#request.timeoutMs);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: TransportResponse['headers'],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > largestBody) this.#fail(tooLarge(this.#status));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#finish()) return;
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body: body.toString('utf8') });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#finish()) this.#reject(error instanceof VehicleError ? error : networkFault(error));
  }

  #failAfter(ms: number): () => void {
    return this.#clock.after(ms, () => this.#fail(timedOut(ms)));
  }

  #fail(error: VehicleError): void {
    if (!this.#finish()) return;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  /** True for the first end only. */
  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    this.#sockets.leave();
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

const cancelled = (): VehicleError =>
  new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');

const timedOut = (ms: number): VehicleError =>
  new VehicleError('TIMEOUT', `The service did not answer within ${Math.round(ms / 1000)} seconds. Try again later.`);

const tooLarge = (status: number): VehicleError =>
  new VehicleError(
    'BAD_RESPONSE',
    'The service sent more than 1 MiB, which no answer of it should. Check the base URL.',
    { httpStatus: status, retryable: false },
  );

/** Codes of Node and undici for a peer that ended a socket which had worked before. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** True where a kept-alive socket was ended under the request: a read may go again at once (field notes 6.2). */
export const isReset = (error: VehicleError): boolean =>
  error.code === 'NETWORK' && resetCodes.has(codeOf(error.cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** The cause is rebuilt from its code alone: the errors of a client hold addresses and headers. */
function networkFault(error: unknown): VehicleError {
  const code = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  return new VehicleError(
    'NETWORK',
    `The service could not be reached (${code}). Check the network and the base URL; the pack tries again at the next request.`,
    {
      cause: { code },
    },
  );
}
