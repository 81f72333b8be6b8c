import type { Dispatcher } from 'undici';
import Pool = require('undici/lib/dispatcher/pool');
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

export function createTransport(clock: Clock = systemClock): Transport {
  const pools = new Map<string, Pool>();
  let closed = false;

  const poolFor = (request: TransportRequest): Pool => {
    // A kept-alive socket may have died unseen. A read is sent again; a command is not, so each one gets a new socket.
    const key = `${request.method} ${request.url.origin}`;
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = new Pool(request.url.origin, { connections: mostSockets, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 0 });
      pools.set(key, pool);
    }
    return pool;
  };

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (closed || request.signal?.aborted) return reject(cancelled());
        const exchange = new Exchange(request, clock, resolve, reject);
        try {
          poolFor(request).dispatch(
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
      await Promise.all([...pools.values()].map((pool) => pool.destroy(cancelled())));
      pools.clear();
    },
  };
}

/** One exchange as undici's handler: the leanest of its interfaces, and the only one that tells when sending begins. */
class Exchange implements Dispatcher.DispatchHandler {
  #request: TransportRequest;
  #resolve: (response: TransportResponse) => void;
  #reject: (error: VehicleError) => void;
  #cancelTimer: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: TransportResponse['headers'] = {};
  #done = false;

  constructor(request: TransportRequest, clock: Clock, resolve: (response: TransportResponse) => void, reject: (error: VehicleError) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = clock.after(request.timeoutMs, () => this.#fail(timedOut(request.timeoutMs)));
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  #onAbort = (): void => this.#fail(cancelled());

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#done) controller.abort(cancelled());
    else this.#request.onDispatch?.();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: TransportResponse['headers']): void {
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

  #fail(error: VehicleError): void {
    if (!this.#finish()) return;
    this.#reject(error);
    this.#controller?.abort(error);
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

const cancelled = (): VehicleError => new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');

const timedOut = (ms: number): VehicleError =>
  new VehicleError('TIMEOUT', `The service did not answer within ${Math.round(ms / 1000)} seconds. Try again later.`);

const tooLarge = (status: number): VehicleError =>
  new VehicleError('BAD_RESPONSE', 'The service sent more than 1 MiB, which no answer of it should. Check the base URL.', { httpStatus: status, retryable: false });

/** Codes of Node and undici for a peer that ended a socket which had worked before. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** True where a kept-alive socket was ended under the request: a read may go again at once (field notes 6.2). */
export const isReset = (error: VehicleError): boolean => error.code === 'NETWORK' && resetCodes.has(codeOf(error.cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** The cause is rebuilt from its code alone: the errors of a client hold addresses and headers. */
function networkFault(error: unknown): VehicleError {
  const code = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  return new VehicleError('NETWORK', `The service could not be reached (${code}). Check the network and the base URL; the pack tries again at the next request.`, {
    cause: { code },
  });
}
