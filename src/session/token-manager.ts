import { asVehicleError, VehicleError, type ErrorCode } from '../errors';
import { clockTime, sentence } from '../sentence';
import { raceAbort } from '../util/abort';
import { backoffMs } from '../util/backoff';
import { dayMs, minuteMs } from '../util/durations';
import { isoTime, nobodySignedIn, secondTries, type TokenDescription } from '../http/token-source';
import type { Discovery } from './discovery';
import { briefSignIn, type Grant } from './grant-store';
import { checkInputs, refusalSentence, type OAuthClient, type Refusal } from './oauth';
import { SharedGrant, type SharedGrantOptions } from './shared-grant';

interface TokenManagerOptions extends SharedGrantOptions {
  discovery: Discovery;
  random: () => number;
}

/** No request is sent before `until`, in monotonic time. `retryAt` null: only a person can help. */
interface Failure {
  error: VehicleError;
  until: number;
  retryAt: number | null;
  count: number;
}

/** An unused refresh token expires after seven days (docs/internals/vendor-api.md 4.2). */
const keepAliveIntervalMs = 3 * dayMs;
const permanentCodes = new Set<ErrorCode>(['CONFIG', 'TOKEN_MISSING', 'SIGN_IN_REQUIRED', 'CANCELLED']);
/** The store is read again, because the user may have repaired it; that costs no request. */
const reloadIntervalMs = 15 * minuteMs;
/** With less life left than this, a caller waits for the new token. */
const minLifeWithoutWaitMs = 10_000;
/** A deploy waits this long for the answer to a refresh that has been sent. */
const closeTimeoutMs = 3_000;

/** Renews the access token of one grant ahead of its end, and at least every third day. */
export class TokenManager {
  readonly #options: TokenManagerOptions;
  readonly #shared: SharedGrant;
  /**
   * The clients of the users: the config node, and each dialog that tries another client secret.
   */
  readonly #clients: OAuthClient[] = [];
  #client: OAuthClient;
  #stopping = new AbortController();
  #refreshing: Promise<Grant> | null = null;
  #failure: Failure | null = null;
  #refusal: { refreshToken: string; isOfClient: boolean; since: number; error: VehicleError } | null = null;
  /** The last access token that the service answered with 401. It is not used again. */
  #refusedToken = '';
  /** New access tokens refused in a row; -1 after one that the service accepted. */
  #refusedInRow = 0;
  /** For a token that cannot be refreshed. */
  readonly #isWorthSecondTry: () => boolean;
  #cancelTimer: () => void = ignore;
  #stopListening: () => void = ignore;

  constructor(options: TokenManagerOptions, client: OAuthClient) {
    this.#client = client;
    this.#options = options;
    this.#shared = new SharedGrant(options);
    this.#isWorthSecondTry = secondTries(options.clock);
  }

  get isIdle(): boolean {
    return this.#clients.length === 0 && this.#refreshing === null && !this.#shared.isUnsaved;
  }

  acquire(client: OAuthClient): void {
    this.#clients.push(client);
    this.#useLastClient();
    this.#shared.use();
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController();
    if (this.#clients.length > 1) return;
    // A process that has ended may have begun a refresh: this process repeats it.
    const takeOver = (): void => void (this.#shared.known !== null && this.#refresh().catch(ignore));
    const { presence } = this.#options;
    // A shared store that was restarted may have lost the last grant: this process stores it again
    // before another one may refresh.
    const storeAgain = (): void => {
      if (presence.fault === null && this.#shared.known !== null) void this.read().catch(ignore);
    };
    const ends = [presence.onGone(takeOver), presence.onChange(storeAgain)];
    this.#stopListening = () => ends.forEach((end) => end());
  }

  /** The last release cancels what waits, but for a refresh that has been sent. */
  async release(client: OAuthClient): Promise<void> {
    this.#clients.splice(this.#clients.lastIndexOf(client), 1);
    this.#useLastClient();
    if (this.#clients.length > 0) return;
    this.#cancelTimer();
    this.#stopListening();
    this.#stopping.abort();
    if (this.#refreshing !== null) await this.#waitAtMost(closeTimeoutMs, this.#refreshing);
    if (this.#shared.isUnsaved && this.#clients.length === 0) {
      this.#failure = null;
      await this.#waitAtMost(closeTimeoutMs, this.#refresh());
    }
    if (this.#clients.length === 0) this.#cancelTimer();
  }

  /**
   * Takes over the grant that a sign-in has just saved.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE
   */
  async reload(): Promise<void> {
    await this.#shared.reload();
    this.#forgetFailures();
  }

  forget(): void {
    this.#shared.forget();
  }

  describe(): TokenDescription {
    const now = this.#options.clock.now();
    const grant = this.#shared.known;
    const ended = grant === null ? null : whyEnded(grant, now);
    const warning = grant?.refreshToken === '' ? briefSignIn(grant.expiresAt, now) : null;
    const failure = this.#refusal ?? ended ?? this.#failure;
    const isMissing = this.#failure?.error.code === 'TOKEN_MISSING';
    return {
      kind: isMissing ? 'none' : grant?.refreshToken === '' ? 'ending' : 'refreshing',
      expiresAt: isoTime(grant?.expiresAt ?? null),
      scopes: grant?.scopes ?? null,
      signInRequiredSince: isoTime((this.#refusal ?? ended)?.since ?? null),
      signedInAt: isoTime(grant?.signedInAt ?? null),
      endsAt: isoTime(grant === null ? null : endOfGrant(grant)),
      lastRefreshAt: isoTime(grant?.refreshedAt ?? null),
      retryAt: isoTime(this.#failure?.retryAt ?? null),
      problem: failure?.error.sentence ?? warning,
    };
  }

  /**
   * The stored grant, or the known one if the store has lost it.
   * @throws VehicleError CONFIG, STORE_UNAVAILABLE, CANCELLED
   */
  async read(): Promise<Grant | null> {
    return (await this.#shared.read())?.grant ?? null;
  }

  /** The access token; null if `get` has to refresh it. */
  get freshToken(): string | null {
    const grant = this.#shared.known;
    return grant !== null && this.#isFresh(grant) ? grant.accessToken : null;
  }

  /**
   * The access token. It waits for a refresh only if the token at hand has ended or is about to.
   */
  async get(): Promise<string> {
    if (this.freshToken !== null) return this.freshToken;
    const refreshed = this.#refresh().then((grant) => grant.accessToken);
    const grant = this.#shared.known;
    const accessToken = grant?.accessToken ?? '';
    const remainingMs = (grant?.expiresAt ?? Infinity) - this.#options.clock.now();
    if (accessToken === '' || accessToken === this.#refusedToken || remainingMs <= 0) return refreshed;
    // Made in any case: without `catch`, a failed refresh would be an unhandled rejection if the
    // token at hand is returned.
    const refreshedOrCurrent = refreshed.catch(() => accessToken);
    return remainingMs > minLifeWithoutWaitMs ? accessToken : refreshedOrCurrent;
  }

  onAccepted(token: string): void {
    if (token === this.#shared.known?.accessToken) this.#refusedInRow = -1;
  }

  /**
   * The service answered 401 to `token`. Each refused token is replaced at once; but if the service
   * also refuses new tokens, the next one is requested after a growing pause. Resolves to true when
   * the request is worth one more try.
   */
  async onUnauthorized(token: string): Promise<boolean> {
    const grant = this.#shared.known;
    if (token !== grant?.accessToken) return true;
    // The service also answers 401 at random to a good token, and nothing could replace this one.
    if (grant.refreshToken === '') return this.#isWorthSecondTry();
    if (token !== this.#refusedToken) {
      this.#refusedToken = token;
      this.#refusedInRow += 1;
      // The first one may be old: this process has used no other.
      if (this.#refusedInRow > 1) throw this.#pauseAfter(newTokenRefused(), this.#refusedInRow - 1);
    }
    await this.#refresh();
    return true;
  }

  /** All callers share the refresh that runs. */
  #refresh(): Promise<Grant> {
    this.#refreshing ??= this.#attempt().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #attempt(): Promise<Grant> {
    if (this.#failure !== null) {
      const remainingMs = this.#failure.until - this.#options.clock.monotonic();
      // A timer of Node.js can fire a moment early.
      if (remainingMs > 0) this.#wakeAfter(remainingMs);
      if (remainingMs > 0) throw this.#failure.error;
    }
    let grant: Grant;
    try {
      grant = await this.#renew();
      if (grant.accessToken === '')
        throw new VehicleError('SERVICE_ERROR', 'The sign-in service returned no usable access token.');
    } catch (error) {
      throw this.#failed(error);
    }
    this.#failure = null;
    if (grant.accessToken === this.#refusedToken) throw this.#pauseAfter(newTokenRefused(), (this.#refusedInRow += 1));
    const ageMs = grant.refreshToken === '' ? 0 : this.#options.clock.now() - grant.refreshedAt;
    this.#wakeAfter(keepAliveIntervalMs - ageMs);
    return grant;
  }

  async #renew(): Promise<Grant> {
    const { clock } = this.#options;
    checkInputs(this.#client);
    for (;;) {
      const held = await this.#shared.read();
      if (held === null) throw nobodySignedIn();
      const { grant } = held;
      const isKept = grant.refreshToken === '' || Math.abs(clock.now() - grant.refreshedAt) < keepAliveIntervalMs;
      if (isKept && grant.refreshing === null && this.#isFresh(grant)) return this.#accept(grant);
      if (grant.refreshToken === '') throw endedSignIn(grant.expiresAt ?? grant.refreshedAt, clock.now());
      // A later sign-in may have a refresh token that was not refused; for a
      // refused client none helps.
      if (this.#refusal !== null && (this.#refusal.isOfClient || this.#refusal.refreshToken === grant.refreshToken))
        throw this.#refusal.error;
      // Before the mark, because it can take seconds.
      const client = await this.#clientNow();
      const answer = await this.#shared.refresh(held, client, this.#stopping.signal);
      if (answer === null) continue;
      if ('generation' in answer) return this.#accept(answer);
      this.#refuse(answer, grant);
    }
  }

  #accept(grant: Grant): Grant {
    this.#refusal = null;
    return grant;
  }

  /** The client with the token endpoint that the discovery document names now. */
  async #clientNow(): Promise<OAuthClient> {
    const client = this.#client;
    if (!client.issuer) return client;
    const isFresh = (this.#failure?.count ?? 0) > 0;
    const found = await raceAbort(this.#options.discovery.find(client.issuer, { isFresh }), this.#stopping.signal);
    return { ...client, tokenUrl: found?.tokenUrl ?? client.tokenUrl };
  }

  #isFresh({ refreshToken, accessToken, expiresAt, refreshedAt }: Grant): boolean {
    if (accessToken === '' || accessToken === this.#refusedToken) return false;
    const margin = refreshToken === '' ? 0 : renewalMargin((expiresAt ?? 0) - refreshedAt);
    return expiresAt === null || expiresAt - this.#options.clock.now() > margin;
  }

  #refuse(refusal: Refusal, grant: Grant): void {
    const now = this.#options.clock.now();
    const isOfClient = refusal.refusal !== 'invalid_grant' && refusal.refusal !== '';
    const isOfOldApplication = refusal.refusal === 'invalid_grant' && endedAfterWeek(grant, now);
    const error = new VehicleError('SIGN_IN_REQUIRED', isOfOldApplication ? oldApplication : refusalSentence(refusal));
    this.#refusal = { refreshToken: grant.refreshToken, isOfClient, since: now, error };
  }

  /** Failures with one client secret do not count for another one. */
  #useLastClient(): void {
    const before = this.#client;
    this.#client = this.#clients.at(-1) ?? before;
    if (this.#client.clientSecret !== before.clientSecret) this.#forgetFailures();
  }

  #forgetFailures(): void {
    this.#failure = null;
    this.#refusal = null;
    this.#refusedInRow = 0;
  }

  /** A refusal needs a person; any other failure is repeated after a growing pause. */
  #failed(thrown: unknown): VehicleError {
    const error = asVehicleError(thrown);
    const count = this.#failure?.count ?? 0;
    if (permanentCodes.has(error.code) && !this.#shared.isUnsaved) {
      this.#wakeAfter(reloadIntervalMs);
      if (error.code !== 'CANCELLED') this.#failure = { error, until: -Infinity, retryAt: null, count };
      return error;
    }
    // A store that cannot be reached is no failure of the sign-in, and may be back soon.
    const isAway = error.code === 'STORE_UNAVAILABLE';
    return this.#pauseAfter(error, isAway ? 1 : count + 1, isAway ? count : count + 1);
  }

  /**
   * @param pauses how many pauses in a row this is, of its kind: a lost answer must be repeated
   * soon, whatever the failure before it was
   * @param count of failed refreshes in a row
   */
  #pauseAfter(failure: VehicleError, pauses: number, count = 0): VehicleError {
    const { code, sentence: problem, retryAt, httpStatus, cause } = failure;
    const { clock, random } = this.#options;
    const now = clock.now();
    const ms = Math.round(Math.max(backoffMs(pauses, pauseLimits, random), (retryAt?.getTime() ?? now) - now));
    const error = new VehicleError(code, sentence`${problem} The pack tries again automatically.`, {
      retryable: true,
      retryAt: new Date(now + ms),
      httpStatus,
      cause,
    });
    this.#failure = { error, until: clock.monotonic() + ms, retryAt: now + ms, count };
    this.#wakeAfter(ms);
    return error;
  }

  /** Schedules the next refresh, also while no request needs a token. */
  #wakeAfter(ms: number): void {
    this.#cancelTimer();
    if (this.#clients.length === 0) return;
    const wake = (): void => void this.#refresh().catch(ignore);
    this.#cancelTimer = this.#options.clock.after(Math.min(ms, keepAliveIntervalMs), wake);
  }

  async #waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
    const settled = new AbortController();
    await Promise.race([work, this.#options.clock.sleep(ms, settled.signal)]).catch(ignore);
    settled.abort();
  }
}

/** A grant ends after six months (docs/internals/vendor-api.md 4.2), or with its access token. */
function endOfGrant({ refreshToken, expiresAt, signedInAt }: Grant): number | null {
  if (refreshToken === '') return expiresAt;
  const date = new Date(signedInAt);
  return date.setUTCMonth(date.getUTCMonth() + 6);
}

/** Why and since when it ended without a refresh token; null if it has not, or may not have. */
const whyEnded = ({ refreshToken, expiresAt }: Grant, now: number): { since: number; error: VehicleError } | null =>
  refreshToken === '' && expiresAt !== null && expiresAt <= now
    ? { since: expiresAt, error: endedSignIn(expiresAt, now) }
    : null;

const endedSignIn = (at: number, now: number): VehicleError =>
  new VehicleError(
    'SIGN_IN_REQUIRED',
    sentence`The sign-in has ended (${clockTime(at, now)}), because the service returned no refresh token. Sign in again in the vehicle configuration. If the new sign-in is as short, enter offline_access under “More scopes” and sign in once more.`,
  );

/**
 * Whether a sign-in ended about seven days after it was made, although it was in use: an
 * application from before December 2025 has no longer ones (docs/internals/vendor-api.md 4.2).
 */
const endedAfterWeek = ({ signedInAt, refreshedAt }: Grant, now: number): boolean =>
  Math.abs(now - signedInAt - 7 * dayMs) <= dayMs && now - refreshedAt <= 4 * dayMs;

const oldApplication =
  'The service has ended the sign-in after about seven days, as it does for an application from before December 2025. Sign in again in the vehicle configuration. For sign-ins of six months, make a new application at the developer portal.';

/** Milliseconds before its end. No service promises a life (docs/internals/vendor-api.md 4.2). */
const renewalMargin = (life: number): number => Math.min(minuteMs, Math.max(0, life) / 4);

/** The first retries come soon: a server may accept the rotated token for a minute yet. */
const pauseLimits = { firstMs: 2_000, maxMs: 15 * minuteMs };

const ignore = (): void => undefined;

const newTokenRefused = (): VehicleError =>
  new VehicleError(
    'SERVICE_ERROR',
    'The service refused a new access token. If this does not end, sign in again in the vehicle configuration.',
    { httpStatus: 401 },
  );
