import { systemClock, type Clock } from '../util/clock';
import type { ApiName } from '../catalogue/reads';
import { VehicleError } from '../errors';
import type { TokenSource } from '../session/token-source';
import { isReset, type Transport, type TransportResponse } from '../transport';
import { failureOf, operationIdOf, parseJson } from '../wire/failures';
import { namedStatus } from '../wire/invocations';
import { eitherOf, reasonOf } from '../util/abort';
import type { Budget, RequestKind } from '../limits/rate-limiter';
import type { Redactor } from '../redact';
import type { SharedReads } from './shared-reads';

/**
 * The one road from an account to its service: shared read, then budget, then token, then transport. It repeats reads where
 * that helps and within limits; it never repeats a command.
 */
export interface RequestCoreOptions {
  apiKeyHeader: string;
  apiKey: string;
  tokens: TokenSource;
  budget: Budget;
  shared: SharedReads<Answer>;
  /** Whose token this is: readings are shared with the same owner only. */
  owner: string;
  /** How old another reader's answer may be; 0: nothing is shared. */
  shareForMs: number;
  transport: Transport;
  /** Removes secrets that the service repeats in an answer. */
  redactor?: Pick<Redactor, 'answer' | 'error' | 'text'>;
  clock?: Clock;
  /** 0 to 1, for the jitter of pauses. */
  random?: () => number;
}

export interface ReadRequest {
  /** The API whose daily quota the request counts for. */
  api: ApiName;
  url: URL;
  accept: string;
  /** Besides `openid`; named in the error when the token lacks one. */
  scopes: readonly string[];
  /** How old a shared answer may be, in milliseconds; 0 = none, undefined = the account's default. */
  maxAgeMs?: number | undefined;
  /** False for what must never be kept, such as image URLs (specification 8). */
  keep?: boolean | undefined;
  /** `follow` for a look at a command's link: it may use what is reserved for commands. */
  kind?: Exclude<RequestKind, 'command'> | undefined;
  signal?: AbortSignal | undefined;
}

export interface CommandRequest {
  api: ApiName;
  url: URL;
  contentType: string;
  body?: string | undefined;
  scopes: readonly string[];
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Gives up while nothing is sent yet. */
  cancel?: AbortSignal | undefined;
  /** The longest wait for its turn in the quota. */
  patienceMs?: number | undefined;
  /** Awaited when the command has its token and its slot in the quota, before it is sent. If it rejects, nothing is sent. */
  beforeSend?: (() => Promise<void> | void) | undefined;
  /** Called immediately before the first byte may leave this machine. If it throws, nothing is sent. */
  onDispatch?: (() => void) | undefined;
}

export interface Answer {
  status: number;
  /** Parsed JSON; do not change it, other readers may hold it too. Undefined where a command was answered without JSON. */
  body: unknown;
  operationId: string | null;
  /** Milliseconds since 1970. */
  receivedAt: number;
}

export interface SharedAnswer extends Answer {
  source: 'live' | 'shared';
}

/** A command that may have reached the service, without an answer that says what became of it. */
export class UnconfirmedCommandError extends Error {
  override readonly name = 'UnconfirmedCommandError';
  readonly reason: VehicleError;
  constructor(reason: VehicleError) {
    super(reason.message);
    this.reason = reason;
  }
}

const readTimeoutMs = 30_000;
/** How long a read may wait for its turn, for pauses between tries included. */
const patienceMs = 60_000;
const triesOfARead = 3;
const pauses = { firstMs: 500, longestMs: 8_000 } as const;

export class RequestCore {
  readonly #options: RequestCoreOptions;
  #clockSkewMs = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  #closed = false;

  constructor(options: RequestCoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  /**
   * Reads JSON, sharing the answer with whoever else wants it.
   * @throws VehicleError of contract 6
   */
  async read(request: ReadRequest): Promise<SharedAnswer> {
    try {
      return await this.#readShared(request);
    } catch (error) {
      // The account whose request this one had joined was closed under it.
      const left =
        error instanceof VehicleError &&
        error.code === 'CANCELLED' &&
        !this.#closed &&
        request.signal?.aborted !== true;
      if (!left) throw error;
      return this.#readShared(request);
    }
  }

  /** Drops what is kept of the URLs that begin so: after a command, a reading from before it must not answer. */
  forget(urlPrefix: string): void {
    this.#options.shared.invalidate(urlPrefix);
  }

  /** What is under way ends with the transport; nothing of it is tried again. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Sends a command once (house rule 8).
   * @throws VehicleError where the service refused it or it never left this machine
   * @throws UnconfirmedCommandError where it may have reached the service and no answer came
   */
  async command(request: CommandRequest): Promise<Answer> {
    const before = eitherOf(request.signal, request.cancel);
    const patience = Math.min(patienceMs, Math.max(0, request.patienceMs ?? patienceMs));
    const token = await this.#turn('command', this.#clock.now() + patience, before);
    if (before?.aborted) throw reasonOf(before);
    await request.beforeSend?.();
    let dispatched = false;
    let response: TransportResponse;
    try {
      response = await this.#options.transport.send({
        method: 'POST',
        url: request.url,
        headers: { ...this.#headers(token), 'content-type': request.contentType },
        ...(request.body !== undefined && { body: request.body }),
        timeoutMs: request.timeoutMs,
        signal: request.signal,
        onDispatch: () => {
          if (before?.aborted) throw reasonOf(before);
          request.onDispatch?.();
          dispatched = true;
        },
      });
    } catch (error) {
      if (dispatched && error instanceof VehicleError) throw new UnconfirmedCommandError(error);
      throw error;
    }
    const failure = isSuccess(response) ? null : this.#failure(response, request.scopes);
    // A status word says what became of the command, whatever the HTTP status (docs/message-contract.md 4).
    if (failure === null || namedStatus(parseJson(response.body)) !== null) return this.#answer(response);
    if (isUncertain(response.status, failure)) throw new UnconfirmedCommandError(failure);
    if (failure.code === 'INPUT_INVALID') throw commandRefused(failure);
    if (failure.code === 'SIGN_IN_REQUIRED') await this.#options.tokens.onUnauthorized(token, request.signal);
    throw failure;
  }

  async #readShared(request: ReadRequest): Promise<SharedAnswer> {
    const { shared, shareForMs, owner } = this.#options;
    const { url, accept, maxAgeMs = shareForMs, keep, signal } = request;
    const options = { maxAgeMs, keep, share: shareForMs > 0, signal };
    const { value, source } = await shared.read(`${url.href} ${accept} ${owner}`, options, (until) =>
      this.#readUntilAnswered(request, until),
    );
    return { ...value, source };
  }

  async #readUntilAnswered(request: ReadRequest, signal: AbortSignal): Promise<Answer> {
    const deadline = this.#clock.now() + patienceMs;
    // A false 401 of a key or token that are good is known (field notes 6.2): one more try, never a loop.
    let mayDoubtRefusal = true;
    let mayReset = true;
    for (let attempt = 1; ;) {
      const { answer, failure, token } = await this.#readOnce(request, deadline, signal);
      if (answer !== undefined) return answer;
      if (failure.code === 'SIGN_IN_REQUIRED' || failure.code === 'API_KEY_REFUSED') {
        const again =
          mayDoubtRefusal &&
          (failure.code === 'API_KEY_REFUSED' || (await this.#options.tokens.onUnauthorized(token, signal)));
        mayDoubtRefusal = false;
        if (again) continue;
        throw failure;
      }
      if (isReset(failure) && mayReset) {
        mayReset = false;
        continue;
      }
      const pause = this.#pause(attempt, failure);
      if (!isTransient(failure) || attempt >= triesOfARead || this.#clock.now() + pause > deadline) throw failure;
      attempt += 1;
      await this.#clock.sleep(pause, signal);
    }
  }

  /** Waits for a token and then for its turn: what is counted is sent at once. @returns the token */
  async #turn(kind: RequestKind, deadline: number, signal: AbortSignal | undefined): Promise<string> {
    const { budget, tokens } = this.#options;
    const token = await tokens.get(signal);
    const asked = this.#clock.now();
    await budget.take(kind, { patienceMs: deadline - asked, signal });
    // Another one may have taken its place meanwhile.
    return this.#clock.now() - asked < 1_000 ? token : tokens.get(signal);
  }

  /** What came, as a value: an answer, or the failure and the token that it was for. */
  async #readOnce(
    request: ReadRequest,
    deadline: number,
    signal: AbortSignal,
  ): Promise<
    { answer: Answer; failure?: never; token?: never } | { answer?: never; failure: VehicleError; token: string }
  > {
    const token = await this.#turn(request.kind ?? 'read', deadline, signal);
    try {
      const response = await this.#options.transport.send({
        method: 'GET',
        url: request.url,
        headers: Object.assign(this.#headers(token), { accept: request.accept }),
        timeoutMs: readTimeoutMs,
        signal,
      });
      if (!isSuccess(response)) return { failure: this.#failure(response, request.scopes), token };
      const answer = this.#answer(response);
      return answer.body === undefined ? { failure: notJson(response), token } : { answer };
    } catch (error) {
      if (error instanceof VehicleError) return { failure: error, token };
      throw error;
    }
  }

  /** The three mandatory headers but the media type (specification 5.1). */
  #headers(token: string): Record<string, string> {
    return { authorization: `Bearer ${token}`, [this.#options.apiKeyHeader]: this.#options.apiKey };
  }

  /** How far the service's clock is ahead of this machine's, in milliseconds: 0 where they agree as well as can be told. */
  get clockSkewMs(): number {
    return this.#clockSkewMs;
  }

  #answer(response: TransportResponse): Answer {
    const date = typeof response.headers['date'] === 'string' ? Date.parse(response.headers['date']) : Number.NaN;
    const skew = date - this.#clock.now();
    // The header counts in whole seconds, and an answer is on its way for a while.
    this.#clockSkewMs = Math.abs(skew) > smallestSkewMs ? skew : 0;
    const { redactor } = this.#options;
    const body = parseJson(response.body);
    const operationId = operationIdOf(response.headers);
    return {
      status: response.status,
      body: redactor === undefined ? body : redactor.answer(body, response.body),
      operationId: redactor === undefined || operationId === null ? operationId : redactor.text(operationId),
      receivedAt: this.#clock.now(),
    };
  }

  /** A stop that the service orders holds for everything of this key. */
  #failure(response: TransportResponse, scopes: readonly string[]): VehicleError {
    const failure = failureOf(response, { scopes, now: this.#clock.now() });
    if ((failure.code === 'RATE_LIMITED' || failure.code === 'QUOTA_SPENT') && failure.retryAt !== null) {
      this.#options.budget.stop(failure.code, failure.retryAt);
    }
    return this.#options.redactor?.error(failure) ?? failure;
  }

  /** Doubling, with full jitter, never before the service's own time. */
  #pause(attempt: number, failure: VehicleError): number {
    const grown = Math.min(pauses.longestMs, pauses.firstMs * 2 ** (attempt - 1));
    const told = failure.retryAt === null ? 0 : failure.retryAt.getTime() - this.#clock.now();
    return Math.max(told, grown * (0.5 + this.#random() / 2));
  }
}

/**
 * Whether the answer to a command leaves open that the car got it: a gateway may have given up meanwhile, or a car that acted may have
 * answered with an error (docs/message-contract.md 4, docs/field-notes.md 6.2). A car that is in use or asleep did not get it.
 */
const isUncertain = (status: number, { code }: VehicleError): boolean =>
  [408, 425, 499].includes(status) || (status >= 500 && code !== 'VEHICLE_UNAVAILABLE');

/** The code INPUT_INVALID means that nothing was sent. */
const commandRefused = ({ httpStatus, operationId }: VehicleError): VehicleError =>
  new VehicleError(
    'COMMAND_REFUSED',
    `The service refused the command (HTTP ${httpStatus}). The car may not support it in this form: check the settings of the command.`,
    { ...(httpStatus !== null && { httpStatus }), ...(operationId !== null && { operationId }) },
  );

const smallestSkewMs = 5_000;

const isSuccess = (response: TransportResponse): boolean => response.status >= 200 && response.status < 300;

/** Worth another try of a read within the same call. */
const transientCodes = new Set(['NETWORK', 'TIMEOUT', 'SERVICE_ERROR', 'BAD_RESPONSE', 'RATE_LIMITED']);
const isTransient = (failure: VehicleError): boolean => failure.retryable && transientCodes.has(failure.code);

const notJson = (response: TransportResponse): VehicleError =>
  new VehicleError(
    'BAD_RESPONSE',
    'The service answered with something that is not JSON. It may be down for maintenance; otherwise check the base URL.',
    {
      httpStatus: response.status,
    },
  );
