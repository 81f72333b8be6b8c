import { Socket } from 'node:net';
import { buildConnector, Client, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { systemClock, type Clock } from '../util/clock';
import { isLoopback } from '../util/loopback';
import { userAgent } from '../util/user-agent';
import { asVehicleError, cancelledError, VehicleError } from '../errors';

/** One HTTP request; this module knows nothing of vehicles. */
export interface TransportRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** From the first byte sent to the last byte of the answer; connecting has a limit of its own. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /**
   * Called immediately before the first byte can leave this machine; afterwards it is unknown what the service received. If it throws
   * a VehicleError, the request is not sent.
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
  /** Ends every connection at once, open or not yet; requests under way fail with CANCELLED. */
  close(): Promise<void>;
}

export const maxBodyBytes = 2 ** 20;
/** The number of connections that all reads of one origin share. */
export const readConnections = 6;

/** How long name lookup, TCP and TLS may take together. */
export const connectTimeoutMs = 10_000;
/** How long a request may wait for a connection until it is sent. */
const waitForConnectionMs = 60_000;

export interface TransportOptions {
  clock?: Clock;
  /** Holds `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. Default: the environment of the process. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** @throws VehicleError CONFIG where a proxy variable holds no address */
export function createTransport({ clock = systemClock, env = process.env }: TransportOptions = {}): Transport {
  const options: ConnectionOptions = {
    clock,
    proxies: proxiesOf(env),
    // One for all connections, so that later ones resume the TLS session. Its own time limit would not be on the clock.
    connector: buildConnector({ timeout: 0 }),
  };
  const pools = new Map<string, Connections>();
  const underWay = new Set<Exchange>();
  let closed = false;

  const poolFor = (origin: string): Connections => {
    let pool = pools.get(origin);
    if (pool === undefined) pools.set(origin, (pool = new Connections(origin, readConnections, options)));
    return pool;
  };

  const exchange = (request: TransportRequest, dispatcher: Dispatcher): Promise<TransportResponse> =>
    new Promise((resolve, reject) => {
      const exchange = new Exchange(request, clock, (result) => {
        underWay.delete(exchange);
        if (result instanceof VehicleError) reject(result);
        else resolve(result);
      });
      underWay.add(exchange);
      try {
        dispatcher.dispatch(
          {
            origin: request.url.origin,
            path: request.url.pathname + request.url.search,
            method: request.method,
            headers: Object.assign({ 'user-agent': userAgent }, request.headers),
            body: request.body ?? null,
            reset: request.method === 'POST',
          },
          exchange,
        );
      } catch (error) {
        // undici refuses at once what cannot be written as a header.
        exchange.onResponseError(undefined, error);
      }
    });

  return {
    async send(request) {
      if (closed || request.signal?.aborted) throw cancelledError();
      const { origin } = request.url;
      if (request.method === 'GET') return exchange(request, poolFor(origin).dispatcher);
      // The peer may have ended a kept-alive connection unseen. A read is sent again; a command is not, so each has a connection of its own.
      const own = new Connections(origin, 1, options);
      try {
        return await exchange(request, own.dispatcher);
      } finally {
        void own.destroy();
      }
    },
    async close() {
      closed = true;
      for (const exchange of underWay) exchange.fail(cancelledError());
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

interface ConnectionOptions {
  clock: Clock;
  proxies: Proxies | null;
  connector: buildConnector.connector;
}

/** The connections to one origin. */
class Connections {
  readonly dispatcher: Dispatcher;
  /** `Dispatcher.destroy` leaves a socket alone that is still connecting, so all of them are kept here. */
  readonly #sockets = new Set<Socket>();
  readonly #clock: Clock;
  readonly #connector: buildConnector.connector;

  constructor(origin: string, connections: number, { clock, proxies, connector }: ConnectionOptions) {
    this.#clock = clock;
    this.#connector = connector;
    const connect = this.#connect;
    // The time limits are those of `Exchange`, on the clock that tests own.
    const options = { connect, headersTimeout: 0, bodyTimeout: 0 };
    if (proxies !== null && !isLoopback(new URL(origin).hostname)) {
      this.dispatcher = new EnvHttpProxyAgent({
        ...options,
        ...proxies,
        connections,
        // The connections to the proxy itself, which bear one CONNECT request each.
        clientFactory: (proxy, given) => new Pool(proxy, { ...given, connect, headersTimeout: connectTimeoutMs }),
      });
    } else {
      this.dispatcher = connections === 1 ? new Client(origin, options) : new Pool(origin, { ...options, connections });
    }
  }

  async destroy(): Promise<void> {
    const destroyed = this.dispatcher.destroy(cancelledError());
    for (const socket of this.#sockets) socket.destroy(cancelledError());
    await destroyed;
  }

  readonly #connect: buildConnector.connector = (target, callback) => {
    // The declared type leaves out that the connector returns its socket.
    const socket: unknown = this.#connector(target, (...result) => {
      cancelTimer();
      callback(...result);
    });
    if (!(socket instanceof Socket)) throw new TypeError('The connector of undici returned no socket');
    const cancelTimer = this.#clock.after(connectTimeoutMs, () => socket.destroy(timedOut(connectTimeoutMs)));
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  };
}

interface Proxies {
  httpProxy: string;
  httpsProxy: string;
  noProxy: string;
}

/** The proxies that the environment asks for, as other programs on the machine use them; null where it asks for none. */
function proxiesOf(env: Readonly<Record<string, string | undefined>>): Proxies | null {
  const valueOf = (name: string): string => (env[name.toLowerCase()] || env[name])?.trim() ?? '';
  const addressIn = (name: string): string => {
    const value = valueOf(name);
    // `proxy:3128` is a common way to write it.
    const address = value === '' || value.includes('://') ? value : `http://${value}`;
    if (address !== '' && !URL.canParse(address))
      throw new VehicleError(
        'CONFIG',
        `The environment variable ${name} does not contain a proxy address. Correct it, for example http://proxy.example:3128, and restart Node-RED.`,
      );
    return address;
  };
  const proxies = {
    httpProxy: addressIn('HTTP_PROXY'),
    httpsProxy: addressIn('HTTPS_PROXY'),
    noProxy: valueOf('NO_PROXY'),
  };
  return proxies.httpProxy === '' && proxies.httpsProxy === '' ? null : proxies;
}

/** One request as undici's handler: the interface that reports when sending begins. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #clock: Clock;
  readonly #onEnd: (result: TransportResponse | VehicleError) => void;
  #cancelTimer: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: TransportResponse['headers'] = {};
  #hasEnded = false;

  constructor(request: TransportRequest, clock: Clock, onEnd: (result: TransportResponse | VehicleError) => void) {
    this.#request = request;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#cancelTimer = this.#failAfter(waitForConnectionMs);
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  #onAbort = (): void => this.fail(cancelledError());

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#hasEnded) return controller.abort(cancelledError());
    try {
      this.#request.onDispatch?.();
    } catch (error) {
      return this.fail(asVehicleError(error));
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
    if (this.#size > maxBodyBytes) this.fail(tooLarge(this.#status));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#finish()) return;
    const body = Buffer.concat(this.#chunks).toString('utf8');
    this.#onEnd({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#finish()) this.#onEnd(error instanceof VehicleError ? error : networkFault(error));
  }

  fail(error: VehicleError): void {
    if (!this.#finish()) return;
    this.#onEnd(error);
    this.#controller?.abort(error);
  }

  #failAfter(ms: number): () => void {
    return this.#clock.after(ms, () => this.fail(timedOut(ms)));
  }

  /** True for the first end only. */
  #finish(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

const timedOut = (ms: number): VehicleError =>
  new VehicleError('TIMEOUT', `The service did not answer within ${Math.round(ms / 1000)} seconds. Try again later.`);

const tooLarge = (status: number): VehicleError =>
  new VehicleError(
    'BAD_RESPONSE',
    'The service sent more than 1 MiB, and none of its answers is that long. Check the base URL.',
    { httpStatus: status, retryable: false },
  );

/** Codes of Node and undici for a peer that ended a socket which had worked before. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** True where a kept-alive socket was ended under the request: a read may go again at once (docs/field-notes.md 6.2). */
export const isReset = (error: VehicleError): boolean =>
  error.code === 'NETWORK' && resetCodes.has(codeOf(error.cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** Codes of Node for a certificate that does not lead to an authority that this machine trusts. */
const untrustedCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const networkSentences: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED:
    'The certificate of the service has expired. Check the date of this machine; otherwise try again later.',
  CERT_NOT_YET_VALID: 'The certificate of the service is not valid yet. Check the date of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the service belongs to another host. Check the base URL.',
  UND_ERR_PRX_TLS: 'The certificate of the proxy belongs to another host. Check the variable HTTPS_PROXY.',
};

/** The cause is rebuilt from its code alone: the errors of undici hold addresses and headers. */
function networkFault(error: unknown): VehicleError {
  const code = codeOf(error) || (error instanceof Error ? error.name : typeof error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return timedOut(connectTimeoutMs);
  return new VehicleError('NETWORK', sentenceOf(code, error), { cause: { code } });
}

function sentenceOf(code: string, error: unknown): string {
  // undici reports the status of a proxy that opened no tunnel only in the text of its error.
  const refused = error instanceof Error ? /^Proxy response \((\d{3})\)/.exec(error.message) : null;
  if (refused !== null)
    return `The proxy did not connect to the service (status ${refused[1]}). Check the variables HTTPS_PROXY and NO_PROXY, and user name and password of the proxy.`;
  if (untrustedCodes.has(code))
    return `The certificate of the service is not trusted on this machine (${code}). Where a proxy or a company network inspects traffic, set NODE_EXTRA_CA_CERTS to the file of its certificate and restart Node-RED.`;
  return (
    networkSentences[code] ??
    `The service could not be reached (${code}). Check the network and the base URL; the pack tries again at the next request.`
  );
}
