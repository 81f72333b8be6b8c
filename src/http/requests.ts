import { debuglog } from 'node:util';
import type { ApiName } from '../catalogue/reads';
import { asVehicleError, VehicleError, type ErrorCode } from '../errors';
import { sentence } from '../sentence';
import { reasonOf } from '../util/abort';
import { backoffMs } from '../util/backoff';
import { setNewest } from '../util/bounded';
import type { Signal } from '../util/cancellation';
import { iso, type Clock } from '../util/clock';
import { minuteMs, secondMs } from '../util/durations';
import { getOrMake } from '../util/get-or-make';
import { parseJson } from '../util/json';
import type { Address, ReadAddress } from './addresses';
import { wayMs } from './quota-counts';
import type { TokenSource } from './token-source';
import { isRefusedCertificate, isReset } from './network-faults';
import type { Transport, TransportRequest, TransportResponse } from './transport';
import { anonymousAnswer, pathWithoutIds, type AnonymousAnswer } from '../wire/anonymous';
import { failureOf, isAnswerOfCar, operationIdOf } from '../wire/failures';
import { namedStatus } from '../wire/invocations';
import { isWallboxRefusal } from '../wire/wallbox';
import type { AcquireOptions, RateLimiter, RequestKind } from './rate-limiter';
import type { Redactor } from '../redact';
import { shortVin } from '../vin';
import type { SharedRead, SharedReads } from './shared-reads';

interface RequestsOptions {
  apiKeyHeader: string;
  apiKey: string;
  tokens: TokenSource;
  limiter: RateLimiter;
  shared: SharedReads<Answer>;
  /** How old another reader's answer may be, in milliseconds; 0 shares nothing. */
  shareForMs: number;
  transport: Transport;
  /** Removes secrets that the service repeats in an answer. */
  redactor: Pick<Redactor, 'answer' | 'error' | 'text'>;
  clock: Clock;
  /** 0 to 1, for the jitter of pauses. */
  random: () => number;
}

export interface GetRequest {
  /** The API whose daily quota the request counts for. */
  api: ApiName;
  address: ReadAddress;
  /** Besides `openid`; named in the error when the token lacks one. */
  scopes: readonly string[];
  /**
   * How old a shared answer may be, in milliseconds; 0 = only a request in progress is shared,
   * undefined = the account's default.
   */
  maxAgeMs?: number | undefined;
  /**
   * False for answers that must never be kept, such as image URLs (docs/internals/service.md 8).
   */
  keep?: boolean | undefined;
  /**
   * What was kept of this read: an answer is parsed only if it is another one than the last.
   * Without it, each is parsed.
   */
  last?: LastRead | undefined;
  /** `forCommand` for a read on behalf of a command: it may use what is reserved for commands. */
  kind?: Exclude<RequestKind, 'command'> | undefined;
  signal?: Signal | undefined;
}

/** What is kept from one read to the next, because making it again takes longer than to compare. */
export interface LastRead {
  /** The last answer: a car that stands mostly answers the same again. */
  text: string;
  /** What it was parsed to. */
  body: unknown;
}

export interface PostRequest {
  url: URL;
  contentType: string;
  body?: string | undefined;
  scopes: readonly string[];
  timeoutMs: number;
  signal: Signal | undefined;
  /**
   * Asked immediately before the first byte may leave this machine. If it throws, nothing is sent.
   */
  mayLeave: () => void;
}

export interface Answer {
  /**
   * Parsed JSON; do not change it, other readers may hold it too. Undefined if a command was
   * answered without JSON.
   */
  body: unknown;
  /** Milliseconds since 1970. */
  receivedAt: number;
  /** When its request was sent, in milliseconds since 1970 by the clock of `receivedAt`. */
  askedAt: number;
}

export interface CommandAnswer extends Answer {
  isSuccess: boolean;
  operationId: string | null;
}

/**
 * A command has its token and its place in the quota, which is counted: it is
 * sent now or not at all.
 */
export interface ReadyToPost {
  /**
   * Sends the command once.
   * @throws VehicleError if the service refused it or it never left this machine
   * @throws UnconfirmedCommandError if it may have reached the service and no answer came
   */
  post(request: PostRequest): Promise<CommandAnswer>;
}

export type SharedAnswer = SharedRead<Answer>;

/** An answer, its failure (null if it is a success), and how long it took. */
interface Sent {
  response: TransportResponse;
  failure: VehicleError | null;
  ms: number;
}

/** A command that may have reached the service, but whose result is unknown. */
export class UnconfirmedCommandError extends Error {
  override readonly name = 'UnconfirmedCommandError';
  /**
   * @param isAnswerOfCar whether the car itself answered with an error: then nothing of the
   * command is still in progress
   */
  constructor(
    readonly reason: VehicleError,
    readonly isAnswerOfCar: boolean,
  ) {
    super(reason.message);
  }
}

/**
 * One request and its result, safe to show: no headers, no bodies, no query, no
 * ids, the VIN shortened.
 */
export interface LoggedRequest {
  /** ISO-8601, when it was sent. */
  at: string;
  method: string;
  host: string;
  path: string;
  /** Null if no answer came. */
  status: number | null;
  ms: number;
  /** Null for a success. */
  code: ErrorCode | null;
}

const readTimeoutMs = 30_000;
/**
 * How long a request may wait for the rate limiter; for a read, the pauses between tries included.
 */
const maxWaitMs = minuteMs;
/**
 * How often a read is tried again, by what failed. The service is known to answer 401 to a valid
 * key or token at times (docs/internals/vendor-api.md 6.2); the token at hand may be old, and a new
 * one may also be refused.
 */
const retries = { refusedKey: 1, refusedToken: 2, reset: 1, transient: 2 } as const;
const maxFailing = 1_000;
const pauses = { firstMs: 500, maxMs: 8_000 } as const;
const minSkewMs = 5_000;
/** The number of requests that "Copy diagnostics" lists. */
const maxLogged = 30;
/**
 * How many answers it can list, and the longest one in characters. More are kept, because a path
 * that is dropped and comes back gets a new object.
 */
const maxAnswers = 30;
const maxKeptAnswers = 100;
const maxAnswerLength = 20_000;
/** A longer one is parsed each time, because it takes memory for as long as its read is known. */
const maxLastBody = 4_000;
/** Prints with `NODE_DEBUG=connected-vehicle`. */
const debug = debuglog('connected-vehicle');

/**
 * Every request of an account to its service: shared read, token, rate limiter, transport, in this
 * order. Reads are tried again if that can help, within limits; a command never is.
 */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #clock: Clock;
  readonly #log: (Omit<LoggedRequest, 'at' | 'host' | 'path'> & { at: number; url: Address })[] = [];
  /** The last answer of each path, as one object (see `Known` of shared-reads.ts). */
  readonly #answers = new Map<string, { method: string; path: string; status: number; body: string }>();
  /**
   * How far the service's clock is ahead of this machine's, in milliseconds; 0 for a difference too
   * small to measure.
   */
  clockSkewMs = 0;
  /** The header `Date` of the last answer, which has whole seconds, and its time. */
  #date = { text: '', at: Number.NaN };
  /** The last token and its header, so that a read makes no new text. */
  #bearer = { token: '', authorization: 'Bearer ' };
  #closed = false;
  /** The APIs that refuse the key. */
  #refusing: Set<GetRequest['api']> | null = null;
  /**
   * How reads failed last, by the address: while a read keeps failing in the same way, the
   * next call is the retry.
   */
  readonly #failing = new Map<string, ErrorCode>();

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** The last requests, oldest first. */
  recent(): LoggedRequest[] {
    return this.#log.map(({ at, method, url, ...result }) => ({
      at: iso(at),
      method,
      host: url.host,
      path: pathWithoutIds(url.pathname, shortVin),
      ...result,
    }));
  }

  /** The last answer of each address, without what shows whose car it is. */
  answers(): AnonymousAnswer[] {
    const { redactor } = this.#options;
    const last = [...this.#answers.values()].slice(-maxAnswers);
    return last.map(({ method, path, status, body }) =>
      anonymousAnswer(method, path, status, redactor.answer(body) ?? ''),
    );
  }

  /** Drops the kept answers of URLs with this part: a command changes what its car answers. */
  forget(urlPart: string): void {
    this.#options.shared.invalidate(urlPart);
  }

  /** Requests in progress end with the transport; none is tried again. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Reads JSON. Concurrent and recent identical reads share one answer.
   * @throws VehicleError with a code of docs/internals/contract.md 6
   */
  get(request: GetRequest): Promise<SharedAnswer> {
    const { shared, shareForMs } = this.#options;
    const { address, maxAgeMs = shareForMs, keep, kind, signal } = request;
    const options = { maxAgeMs: shareForMs > 0 ? maxAgeMs : 0, keep, isUrgent: kind === 'forCommand', signal };
    const read = (): Promise<SharedAnswer> => shared.read(address.key, options, (until) => this.#load(request, until));
    return read().catch((error: unknown) => {
      // This read had joined the request of another account, and that account was closed.
      const wasOrphaned = error instanceof VehicleError && error.code === 'CANCELLED';
      if (!wasOrphaned || this.#closed || signal?.aborted === true) throw error;
      return read();
    });
  }

  /** Asks the service until it answers or nothing more can be tried. */
  async #load(request: GetRequest, signal: Signal | undefined): Promise<Answer> {
    const { api, address: url, kind = 'read' } = request;
    const deadline = this.#clock.monotonic() + maxWaitMs;
    const left = { ...retries };
    for (;;) {
      const options = { api, deadline, signal };
      const token = this.#tokenAtOnce(kind, options) ?? (await this.#tokenAndQuota(kind, options));
      const headers = this.#headers(token, 'accept', url.accept);
      const sent = await this.#send({ method: 'GET', url, headers, timeoutMs: readTimeoutMs, signal }, token, request);
      const answer = sent instanceof VehicleError || sent.failure !== null ? null : this.#answer(sent, request.last);
      if (answer !== null && answer.body !== undefined) {
        this.#failing.delete(url.href);
        return answer;
      }
      const failure = sent instanceof VehicleError ? sent : (sent.failure ?? notJson(sent.response.status));
      if (await this.#canRetry(failure, left, request, token, { deadline, signal })) continue;
      if (signal?.aborted !== true) setNewest(this.#failing, url.href, failure.code, maxFailing);
      throw failure;
    }
  }

  /** Waits for the moment of the next try. @returns false if none can help */
  async #canRetry(
    failure: VehicleError,
    left: Record<keyof typeof retries, number>,
    { kind, address }: GetRequest,
    token: string,
    { deadline, signal }: { deadline: number; signal: Signal | undefined },
  ): Promise<boolean> {
    if (failure.code === 'API_KEY_REFUSED') return (left.refusedKey -= 1) >= 0;
    if (failure.code === 'SIGN_IN_REQUIRED')
      return (await this.#options.tokens.onUnauthorized(token, signal)) && (left.refusedToken -= 1) >= 0;
    if (kind !== 'forCommand' && this.#failing.get(address.href) === failure.code) return false;
    if (isReset(failure) && (left.reset -= 1) >= 0) return true;
    const pause = this.#pause(retries.transient + 1 - left.transient, failure);
    if (!isTransient(failure) || this.#clock.monotonic() + pause > deadline || (left.transient -= 1) < 0) return false;
    await this.#clock.sleep(pause, signal);
    return true;
  }

  /**
   * Waits for the token of a command and for its place in the quota.
   * @param options `deadline`: until when it may wait, never longer than a minute;
   * `signal`: ends the wait
   * @throws VehicleError
   */
  async ready(options: AcquireOptions & { signal: Signal }): Promise<ReadyToPost> {
    const { signal } = options;
    const deadline = Math.min(options.deadline, this.#clock.monotonic() + maxWaitMs);
    const token = await this.#tokenAndQuota('command', { ...options, deadline });
    if (signal.aborted) throw reasonOf(signal);
    return { post: (request) => this.#post(request, options.api, token) };
  }

  async #post(request: PostRequest, api: ApiName, token: string): Promise<CommandAnswer> {
    const { redactor, tokens } = this.#options;
    const { url, contentType, body, timeoutMs, signal } = request;
    let isSent = false;
    const mayLeave = (): void => {
      request.mayLeave();
      isSent = true;
    };
    const headers = this.#headers(token, 'content-type', contentType);
    const sent = await this.#send(
      { method: 'POST', url, headers, ...(body !== undefined && { body }), timeoutMs, signal, mayLeave },
      token,
      { ...request, api },
    );
    if (sent instanceof VehicleError) throw isSent ? new UnconfirmedCommandError(sent, false) : sent;
    const { failure, response } = sent;
    // A status in the body is the result of the command, with any HTTP status
    // (docs/internals/contract.md 4).
    const isResult = (): boolean =>
      api === 'energy-device' ? isWallboxRefusal(response.status) : namedStatus(parseJson(response.body)) !== null;
    const isSuccess = failure === null;
    if (isSuccess || isResult())
      return {
        ...this.#answer(sent),
        isSuccess,
        operationId: redactor.answer(operationIdOf(response.headers)) ?? null,
      };
    const fromCar = isAnswerOfCar(response);
    if (fromCar || isUncertain(response.status, failure)) throw new UnconfirmedCommandError(failure, fromCar);
    if (failure.code === 'INPUT_INVALID') throw commandRefused(failure, api);
    const isTokenRefused = failure.code === 'SIGN_IN_REQUIRED' && (await tokens.onUnauthorized(token, signal));
    if (isTokenRefused && (await tokens.get(signal)) !== token) throw tokenReplaced();
    throw failure;
  }

  /** Null before the first answer that contains it. */
  get isKeyRefused(): boolean | null {
    return this.#refusing && this.#refusing.size > 0;
  }

  /** A command comes soon: what others have counted is read meanwhile. */
  expectCommand(): void {
    this.#options.limiter.refresh();
  }

  /** @throws VehicleError if no token is available */
  async assertSignedIn(signal?: Signal): Promise<void> {
    await this.#options.tokens.get(signal);
  }

  /**
   * As `#tokenAndQuota`, without a promise, because most reads need no wait.
   * @returns null if the token or the quota needs one; then nothing is counted
   */
  #tokenAtOnce(kind: RequestKind, options: AcquireOptions): string | null {
    const { limiter, tokens } = this.#options;
    const token = tokens.fresh;
    return token !== null && limiter.acquireAtOnce(kind, options) ? token : null;
  }

  /**
   * Waits for a token first and then for the rate limiter, because a request that is counted
   * must be sent at once. After a slow refresh it is counted again, until its deadline: each count
   * uses the quota.
   */
  async #tokenAndQuota(kind: RequestKind, options: AcquireOptions): Promise<string> {
    const { limiter, tokens } = this.#options;
    const token = await tokens.get(options.signal);
    const startedAt = this.#clock.monotonic();
    await limiter.acquire(kind, options);
    const countedAt = this.#clock.monotonic();
    if (countedAt - startedAt < secondMs) return token;
    // The token may have been replaced in the meantime.
    const next = await tokens.get(options.signal);
    const now = this.#clock.monotonic();
    const isCountedAgain = now - countedAt >= wayMs / 2 && now < options.deadline;
    return isCountedAgain ? this.#tokenAndQuota(kind, options) : next;
  }

  /** The three mandatory headers (docs/internals/service.md 5.1). */
  #headers(token: string, name: 'accept' | 'content-type', mediaType: string): Record<string, string> {
    const { apiKeyHeader, apiKey } = this.#options;
    if (token !== this.#bearer.token) this.#bearer = { token, authorization: `Bearer ${token}` };
    return { authorization: this.#bearer.authorization, [apiKeyHeader]: apiKey, [name]: mediaType };
  }

  /**
   * Sends one request and logs it.
   * @returns the answer and its failure, if it has failed; an error if no answer came
   */
  #send(
    request: TransportRequest,
    token: string,
    asked: Pick<GetRequest, 'scopes' | 'api'>,
  ): Promise<VehicleError | Sent> {
    const at = this.#clock.now();
    const started = this.#clock.monotonic();
    const ended = (response: TransportResponse | VehicleError): VehicleError | Sent =>
      this.#judge(response, request, token, asked, { at, ms: Math.round(this.#clock.monotonic() - started) });
    return this.#options.transport.send(request).then(ended, (error: unknown) => ended(asVehicleError(error)));
  }

  #judge(
    response: TransportResponse | VehicleError,
    { method, url }: TransportRequest,
    token: string,
    { scopes, api }: Pick<GetRequest, 'scopes' | 'api'>,
    { at, ms }: { at: number; ms: number },
  ): VehicleError | Sent {
    const { tokens, redactor } = this.#options;
    const status = response instanceof VehicleError ? null : response.status;
    const isSuccess = status !== null && status >= 200 && status < 300;
    const failure =
      response instanceof VehicleError ? response : isSuccess ? null : this.#failure(response, scopes, api);
    const code = failure?.code ?? null;
    this.#log.push({ at, method, url, status, ms, code });
    if (this.#log.length > maxLogged) this.#log.shift();
    if (debug.enabled) {
      const path = pathWithoutIds(url.pathname, shortVin);
      debug('%s', redactor.text(`${method} ${url.host}${path} ${status ?? 'no answer'} ${code ?? ''} ${ms} ms`));
    }
    if (response instanceof VehicleError) return response;
    if (isSuccess) tokens.onAccepted?.(token);
    if (code === 'API_KEY_REFUSED') (this.#refusing ??= new Set()).add(api);
    else if (isSuccess) (this.#refusing ??= new Set()).delete(api);
    const { body } = response;
    const { pathname: path } = url;
    if (body.length <= maxAnswerLength) {
      // The path alone for a read, because it is at hand: reads are many, and each text costs.
      const key = method === 'GET' ? path : `${method} ${path}`;
      const known = getOrMake(this.#answers, key, () => ({ method, path, status: 0, body: '' }));
      Object.assign(known, { status: response.status, body });
      setNewest(this.#answers, key, known, maxKeptAnswers);
    }
    return { response, failure, ms };
  }

  #answer({ response, ms }: Sent, last?: LastRead): Answer {
    const { date } = response.headers;
    const text = typeof date === 'string' ? date : '';
    if (this.#date.text !== text) this.#date = { text, at: Date.parse(text) };
    const skew = this.#date.at - this.#clock.now();
    // The Date header has whole seconds, and an answer takes a while to arrive.
    this.clockSkewMs = Math.abs(skew) > minSkewMs ? skew : 0;
    const receivedAt = this.#clock.now();
    const body = this.#options.redactor.answer(bodyOf(response.body, last), response.body);
    return { body, receivedAt, askedAt: receivedAt - ms };
  }

  /** A pause that the service asks for holds for all requests with this key. */
  #failure(response: TransportResponse, scopes: readonly string[], api: ApiName): VehicleError {
    const { limiter, redactor } = this.#options;
    const failure = failureOf(response, { scopes: this.#lacking(scopes), api, now: this.#clock.now() });
    if ((failure.code === 'RATE_LIMITED' || failure.code === 'QUOTA_SPENT') && failure.retryAt !== null)
      limiter.pauseUntil(failure.code, failure.retryAt, api);
    return redactor.error(failure);
  }

  /**
   * The scopes that the token does not have. If it does not name its scopes, or names all of them:
   * every scope that is needed.
   */
  #lacking(scopes: readonly string[]): readonly string[] {
    const needed = ['openid', ...scopes];
    const granted = this.#options.tokens.describe().scopes ?? [];
    const lacking = needed.filter((scope) => !granted.includes(scope));
    return lacking.length === 0 ? needed : lacking;
  }

  /** Never shorter than the service asks for. */
  #pause(attempt: number, failure: VehicleError): number {
    const requestedMs = failure.retryAt === null ? 0 : failure.retryAt.getTime() - this.#clock.now();
    return Math.max(requestedMs, backoffMs(attempt, pauses, this.#options.random));
  }
}

/**
 * An answer as parsed JSON. Its secrets are removed afterwards, because one may have been learned
 * since the last answer.
 */
function bodyOf(text: string, last: LastRead | undefined): unknown {
  if (last?.text === text) return last.body;
  const body = parseJson(text);
  if (last !== undefined && text.length <= maxLastBody) Object.assign(last, { text, body });
  return body;
}

/**
 * Whether the answer to a command leaves open that the car got it: a gateway may have given up
 * meanwhile (docs/internals/contract.md 4, docs/internals/vendor-api.md 6.2). A car that is in use
 * or asleep did not get it.
 */
const isUncertain = (status: number, { code }: VehicleError): boolean =>
  [408, 425, 499].includes(status) || (status >= 500 && code !== 'VEHICLE_UNAVAILABLE');

/** The code INPUT_INVALID means that nothing was sent. */
const commandRefused = ({ httpStatus, operationId }: VehicleError, api: ApiName): VehicleError =>
  new VehicleError(
    'COMMAND_REFUSED',
    api === 'energy-device'
      ? sentence`The service refused the command (HTTP ${httpStatus ?? ''}). The wallbox may not support it in this form: check the settings of the command.`
      : sentence`The service refused the command (HTTP ${httpStatus ?? ''}). The car may not support it in this form: check the settings of the command.`,
    { httpStatus, operationId },
  );

const tokenReplaced = (): VehicleError =>
  new VehicleError(
    'SERVICE_ERROR',
    'The service refused the access token, so the command was not carried out. The pack now has a new token. Send the command again.',
    { httpStatus: 401 },
  );

/** Failures after which a read is tried again within the same call. */
const transientCodes = new Set(['NETWORK', 'TIMEOUT', 'SERVICE_ERROR', 'BAD_RESPONSE', 'RATE_LIMITED']);
const isTransient = (failure: VehicleError): boolean =>
  failure.retryable && transientCodes.has(failure.code) && !isRefusedCertificate(failure);

const notJson = (httpStatus: number): VehicleError =>
  new VehicleError(
    'BAD_RESPONSE',
    'The service answered with something that is not JSON. It may be down for maintenance; otherwise check the base URL.',
    { httpStatus },
  );
