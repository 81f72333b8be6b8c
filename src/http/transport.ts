import { isIP, Socket, type LookupFunction } from 'node:net';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { buildConnector, Client, Pool, ProxyAgent, type Dispatcher } from 'undici';
import type { Signal } from '../util/cancellation';
import { systemClock, type Clock } from '../util/clock';
import { version } from '../../package.json';
import { asVehicleError, cancelledError, systemCodeOf, VehicleError } from '../errors';
import type { Address } from './addresses';
import { parseProxies, type Environment, type Proxy } from './environment';
import { connectionFault, connectTimeoutMs, lateFault, noTunnel, timedOut } from './network-faults';
import { minuteMs } from '../util/durations';

const userAgent = `connected-vehicle-node-red/${version}`;

/** One HTTP request; this module knows nothing of vehicles. */
export interface TransportRequest {
  method: 'GET' | 'POST';
  url: Address;
  headers: Record<string, string>;
  body?: string;
  /** From the first byte sent to the last byte of the answer; connecting has its own limit. */
  timeoutMs: number;
  signal?: Signal | undefined;
  /**
   * Asked immediately before the first byte can leave this machine; afterwards it is unknown what
   * the service received. If it throws a VehicleError, the request is not sent.
   */
  mayLeave?: () => void;
}

export interface TransportResponse {
  status: number;
  /** Names in lowercase. */
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface Transport {
  /**
   * Sends once, follows no redirect, reads at most 1 MiB.
   * @throws VehicleError NETWORK, TIMEOUT, BAD_RESPONSE (body too large, or compressed and not to
   * be unpacked), CANCELLED
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Ends every connection at once, open or not yet; requests in flight fail with CANCELLED. */
  close(): Promise<void>;
}

export const maxBodyBytes = 2 ** 20;
/** The number of connections that all reads of one origin share. */
export const readConnections = 6;

/**
 * How long each address of a name but the last may take. With Node's 250 ms, a slow network fails
 * after one lost packet, and if the other addresses do not answer, the request fails.
 */
const addressTimeoutMs = 2_500;
/** How long a request may wait for a connection until it is sent. */
const waitForConnectionMs = minuteMs;

interface TransportOptions {
  clock?: Clock;
  /** Names the proxies. Default: the environment of the process. */
  env?: Environment;
  /** Default: that of the operating system. */
  lookup?: LookupFunction;
}

/** @throws VehicleError CONFIG if a variable does not hold the address of an http or https proxy */
export function createTransport({ clock = systemClock, env = process.env, lookup }: TransportOptions = {}): Transport {
  const options: ConnectionOptions = {
    clock,
    proxyOf: parseProxies(env),
    // One for all connections, so that later ones resume the TLS session. Its own time limit would
    // not be on the clock.
    connector: buildConnector({
      timeout: 0,
      autoSelectFamilyAttemptTimeout: addressTimeoutMs,
      // The bundle contains no HTTP/2 (scripts/build.mjs).
      allowH2: false,
      ...(lookup && { lookup }),
    }),
  };
  const pools = new Map<string, Connections>();
  const inFlight = new InFlight(clock);
  let closed = false;

  return {
    send(request) {
      if (closed || request.signal?.aborted) return Promise.reject(cancelledError());
      const { origin } = request.url;
      const isCommand = request.method === 'POST';
      // The peer may have ended a kept-alive connection unseen. A read is sent again; a command is
      // not, so each has its own connection.
      const connections =
        (isCommand ? undefined : pools.get(origin)) ??
        new Connections(origin, isCommand ? 1 : readConnections, options);
      if (!isCommand) pools.set(origin, connections);
      const { response } = new Exchange(request, inFlight, connections.dispatcher);
      return isCommand ? response.finally(() => void connections.destroy()) : response;
    },
    async close() {
      closed = true;
      inFlight.fail(cancelledError());
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

/** `Connections` and `Exchange` have their own limits, on the clock that tests own. */
const timeless = { headersTimeout: 0, bodyTimeout: 0 };

interface ConnectionOptions {
  clock: Clock;
  proxyOf: (url: URL) => Proxy | null;
  connector: buildConnector.connector;
}

/** The connections to one origin, directly or each through its own tunnel. */
class Connections {
  readonly dispatcher: Dispatcher;
  /**
   * `Dispatcher.destroy` leaves a socket alone that is still connecting, so all
   * of them are kept here.
   */
  readonly #sockets = new Set<Socket>();
  readonly #options: ConnectionOptions;

  constructor(origin: string, connections: number, own: ConnectionOptions) {
    this.#options = own;
    const proxy = own.proxyOf(new URL(origin));
    if (proxy !== null) {
      this.dispatcher = this.#through(proxy, connections);
      return;
    }
    const options = { ...timeless, connect: this.#connector(null) };
    this.dispatcher = connections === 1 ? new Client(origin, options) : new Pool(origin, { ...options, connections });
  }

  async destroy(): Promise<void> {
    const reason = cancelledError();
    const destroyed = this.dispatcher.destroy(reason);
    for (const socket of this.#sockets) socket.destroy(reason);
    await destroyed;
  }

  #through(proxy: Proxy, connections: number): ProxyAgent {
    const { origin: uri, authorization } = proxy;
    return new ProxyAgent({
      ...timeless,
      uri,
      connections,
      headers: { 'user-agent': userAgent },
      ...(authorization !== null && { token: authorization }),
      // For TLS in the tunnel.
      requestTls: { timeout: connectTimeoutMs, allowH2: false },
      clientFactory: () => new ProxyConnections(proxy, this.#connector(proxy)),
    });
  }

  /** Name lookup, TCP and TLS. @param proxy the peer; null for the service */
  #connector(proxy: Proxy | null): buildConnector.connector {
    const { clock, connector } = this.#options;
    return (target, callback) => {
      // undici would read the name of an https proxy from the header `host`, or its address.
      const peer = proxy === null ? target : { ...target, servername: '' };
      // The declared type leaves out that the connector returns its socket.
      const socket: unknown = connector(peer, (...[error, connected]) => {
        cancelTimer();
        if (error === null) callback(null, connected);
        else callback(connectionFault(error, proxy), null);
      });
      if (!(socket instanceof Socket)) throw new TypeError('The connector of undici returned no socket');
      let hasAddress = isIP(target.hostname) !== 0;
      const cancelTimer = clock.after(connectTimeoutMs, () => socket.destroy(lateFault(proxy, hasAddress)));
      this.#sockets.add(socket);
      socket.once('lookup', () => (hasAddress = true)).once('close', () => this.#sockets.delete(socket));
    };
  }
}

/**
 * The connections to a proxy, from which undici makes tunnels. Without this, undici accepts only
 * 200 for a tunnel, and asks again without end if the proxy closes the connection.
 */
class ProxyConnections extends Pool {
  readonly #proxy: Proxy;

  constructor(proxy: Proxy, connect: buildConnector.connector) {
    super(proxy.origin, { connect, headersTimeout: connectTimeoutMs });
    this.#proxy = proxy;
  }

  override async connect(request: Omit<Dispatcher.ConnectOptions, 'origin'>): Promise<Dispatcher.ConnectData> {
    try {
      const tunnel = await super.connect(request);
      if (tunnel.statusCode >= 200 && tunnel.statusCode < 300) return { ...tunnel, statusCode: 200 };
      tunnel.socket.destroy();
      throw noTunnel(tunnel.statusCode, this.#proxy);
    } catch (error) {
      throw connectionFault(error, this.#proxy);
    }
  }
}

/**
 * The requests in flight. They share a timer, because each read would need two that rarely fire.
 */
class InFlight {
  readonly #clock: Clock;
  /** Not a set (docs/internals/decisions.md, “No map or set …”). */
  readonly #exchanges: Exchange[] = [];
  #timer: { at: number; cancel: () => void } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(exchange: Exchange): void {
    this.#exchanges.push(exchange);
  }

  delete(exchange: Exchange): void {
    this.#exchanges.splice(this.#exchanges.indexOf(exchange), 1);
    if (this.#exchanges.length === 0) this.#stopTimer();
  }

  /** Ends all of them. */
  fail(error: VehicleError): void {
    for (const exchange of Array.from(this.#exchanges)) exchange.fail(error);
  }

  /**
   * Calls `exchange.expire` in so many milliseconds, if it is in flight then.
   * @returns the deadline, in monotonic time
   */
  expireIn(ms: number): number {
    const at = this.#clock.monotonic() + ms;
    if (this.#timer === null || at < this.#timer.at) this.#wakeAt(at, ms);
    return at;
  }

  #wakeAt(at: number, ms: number): void {
    this.#stopTimer();
    this.#timer = { at, cancel: this.#clock.after(ms, this.#onTime) };
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  readonly #onTime = (): void => {
    this.#timer = null;
    const now = this.#clock.monotonic();
    for (const exchange of Array.from(this.#exchanges)) if (exchange.deadline <= now) exchange.expire();
    let next = Infinity;
    for (const exchange of this.#exchanges) next = Math.min(next, exchange.deadline);
    if (next < Infinity) this.#wakeAt(next, next - now);
  };
}

/** One request as undici's handler: the interface that reports when sending begins. */
class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with a VehicleError. */
  readonly response: Promise<TransportResponse>;
  /** In monotonic time. */
  deadline = Infinity;
  readonly #request: TransportRequest;
  readonly #inFlight: InFlight;
  #limitMs = waitForConnectionMs;
  #resolve: (response: TransportResponse) => void = () => undefined;
  #reject: (error: VehicleError) => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: TransportResponse['headers'] = {};
  #hasEnded = false;
  readonly #onAbort = (): void => this.fail(cancelledError());

  constructor(request: TransportRequest, inFlight: InFlight, dispatcher: Dispatcher) {
    this.#request = request;
    this.#inFlight = inFlight;
    const { method, url, headers, body = null, signal } = request;
    const { origin, pathname, search } = url;
    inFlight.add(this);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method,
          headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers },
          body,
          reset: method === 'POST',
        },
        this,
      );
    });
    // With a free connection, it was sent at once.
    if (this.#controller === undefined && !this.#hasEnded) this.deadline = inFlight.expireIn(waitForConnectionMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#hasEnded) return controller.abort(cancelledError());
    const { mayLeave, timeoutMs } = this.#request;
    try {
      mayLeave?.();
    } catch (error) {
      return this.fail(asVehicleError(error));
    }
    this.#limitMs = timeoutMs;
    this.deadline = this.#inFlight.expireIn(timeoutMs);
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
    const [first = Buffer.alloc(0), ...others] = this.#chunks;
    const body = decoded(
      others.length === 0 ? first : Buffer.concat(this.#chunks),
      this.#headers['content-encoding'],
      this.#status,
    );
    if (body instanceof VehicleError) this.#reject(body);
    else this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#finish()) this.#reject(connectionFault(error, null));
  }

  fail(error: VehicleError): void {
    if (!this.#finish()) return;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  /** Its deadline has passed. */
  expire(): void {
    this.fail(timedOut(Math.round(this.#limitMs / 1000)));
  }

  /** True for the first end only. */
  #finish(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#inFlight.delete(this);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

const decoders: ReadonlyMap<string, typeof unzipSync> = new Map([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
]);

/** The body as text. No coding is asked for, but some gateways compress anyway. */
function decoded(body: Buffer, coding: string | string[] | undefined, status: number): string | VehicleError {
  const name = String(coding ?? 'identity')
    .trim()
    .toLowerCase();
  if (body.length === 0 || name === '' || name === 'identity') return body.toString('utf8');
  try {
    const text = decoders.get(name)?.(body, { maxOutputLength: maxBodyBytes });
    if (text !== undefined) return text.toString('utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') return tooLarge(status);
  }
  return new VehicleError(
    'BAD_RESPONSE',
    'The answer of the service is compressed and cannot be unpacked. A proxy may have changed it; otherwise check the base URL.',
    { httpStatus: status },
  );
}

const tooLarge = (status: number): VehicleError =>
  new VehicleError('BAD_RESPONSE', 'The service sent more than 1 MiB, which no valid answer is. Check the base URL.', {
    httpStatus: status,
    retryable: false,
  });
