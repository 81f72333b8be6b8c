import { asVehicleError, cancelledError, VehicleError, type ErrorCode } from '../errors';
import { clockTime, sentence, type Sentence } from '../sentence';
import { linkSignals, raceAbort } from '../util/abort';
import { backoffMs } from '../util/backoff';
import type { Clock } from '../util/clock';
import type { Presence } from '../state/presence';
import { retryOnConflict } from '../state/state-store';
import { nobodySignedIn, secondTries } from '../http/token-source';
import type { Discovery } from './discovery';
import { briefSignIn, type Grant, type GrantStore, type StoredGrant } from './grant-store';
import { refusalSentence, requestTokens, type OAuthClient, type Refusal, type Send, type Tokens } from './oauth';

/** State of a grant. Times in milliseconds since 1970. */
export interface GrantState {
  grant: Grant | null;
  retryAt: number | null;
  signInRequiredSince: number | null;
  problem: Sentence | null;
}

export interface TokenManagerOptions {
  /** The key of the grant in the store. */
  key: string;
  client: OAuthClient;
  /** A pasted refresh token, used where the store has no grant. */
  pastedRefreshToken: { token: string; fingerprint: string } | null;
  store: GrantStore;
  /** Must work after the configuration is closed, because a refresh may outlive it. */
  send: Send;
  discovery: Discovery;
  /** Null where no other process uses the store. */
  presence: Presence;
  clock: Clock;
  random: () => number;
  /** Of all managers of the grant. */
  turn: RefreshTurn;
}

/** What the managers of one grant share: one refreshes at a time. */
export class RefreshTurn {
  /** A rotated grant that the store did not take: kept until it does. */
  unsaved: Grant | null = null;
  #underWay: Promise<unknown> | null = null;

  /** Runs `refresh` when no other is under way. @throws the reason of the signal while it waits */
  async take<T>(refresh: () => Promise<T>, signal: AbortSignal): Promise<T> {
    while (this.#underWay !== null) await raceAbort(this.#underWay, signal);
    const own = refresh();
    this.#underWay = own.catch(ignore);
    try {
      return await own;
    } finally {
      this.#underWay = null;
    }
  }
}

/** An unused refresh token expires after seven days (docs/internals/vendor-api.md 4.2). */
const keepAliveIntervalMs = 3 * 86_400_000;
/** Failures that only a person can fix. */
const permanentCodes = new Set<ErrorCode>(['CONFIG', 'TOKEN_MISSING', 'SIGN_IN_REQUIRED', 'CANCELLED']);
/** The store is read again, because the user may have repaired it; that costs no request. */
const reloadIntervalMs = 15 * 60_000;
/** With less life left than this, a caller waits for the new token. */
const minLifeWithoutWaitMs = 10_000;
/** How often a process looks whether another one has refreshed. */
const lookAgainMs = 1_000;
const maxSettleMs = 15_000;
/** A deploy waits this long for the answer to a refresh that has been sent. */
const closeTimeoutMs = 3_000;

/**
 * Keeps the access token of one grant valid: one refresh at a time, saved before it is used, at least every third day.
 *
 * Before a refresh token is sent, the grant is marked in the store, on condition that it has not changed. The mark stays if no answer comes.
 *
 * One loss cannot be prevented by a client: the service rotates the refresh token, and its answer is lost on the way or with the
 * process. But a server may accept a rotated token for some more seconds (PingFederate, which serves the real sign-in, calls it the
 * rolling grace period). Therefore a refresh without an answer is repeated within seconds, after a crash too.
 */
export class TokenManager {
  readonly key: string;
  readonly turn: RefreshTurn;
  readonly #options: TokenManagerOptions;
  readonly #clock: Clock;
  /** With the address that tokens are asked for at now. */
  #client: OAuthClient;
  #users = 0;
  #stopping = new AbortController();
  #grant: Grant | null = null;
  #refreshing: Promise<Grant> | null = null;
  #isForgotten = false;
  #pause: { until: number; retryAt: number; error: VehicleError } | null = null;
  /** How many refreshes in a row failed. */
  #failures = 0;
  #refusal: { refreshToken: string; isOfClient: boolean; since: number; error: VehicleError } | null = null;
  /** The last access token that the service answered with 401. It is not used again. */
  #refusedToken = '';
  #acceptedToken = '';
  /** Of a token that cannot be refreshed. */
  readonly #isWorthSecondTry: () => boolean;
  /** How many access tokens in a row the service refused at their first use. */
  #refusedInRow = 0;
  #cancelTimer: () => void = ignore;

  constructor(options: TokenManagerOptions) {
    this.key = options.key;
    this.turn = options.turn;
    this.#options = options;
    this.#client = options.client;
    this.#clock = options.clock;
    this.#isWorthSecondTry = secondTries(options.clock);
  }

  get isIdle(): boolean {
    return this.#users === 0 && this.#refreshing === null && this.turn.unsaved === null;
  }

  acquire(): void {
    this.#users += 1;
    this.#isForgotten = false;
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController();
    if (this.#users > 1) return;
    // A process that has ended may have begun a refresh: this process repeats it.
    const takeOver = (): void => void (this.#grant !== null && this.#refresh().catch(ignore));
    this.#options.presence.onGone(takeOver, this.#stopping.signal);
  }

  /** The last release cancels everything that waits; a refresh that has been sent goes on, and its answer is saved. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#cancelTimer();
    this.#stopping.abort();
    if (this.#refreshing !== null) await this.#waitAtMost(closeTimeoutMs, this.#refreshing);
    if (this.turn.unsaved !== null && this.#users === 0) {
      this.#pause = null;
      await this.#waitAtMost(closeTimeoutMs, this.#refresh());
    }
    if (this.#users === 0) this.#cancelTimer();
  }

  /** Takes over the grant that a sign-in has just saved. @throws VehicleError CONFIG */
  async reload(): Promise<void> {
    const stored = await this.#options.store.read(this.key);
    // The generation does not matter here: where the file had gone, it starts again from 1.
    if (stored !== null) {
      this.#grant = stored.grant;
      this.turn.unsaved = null;
    }
    this.#pause = null;
    this.#refusal = null;
    this.#failures = 0;
    this.#refusedInRow = 0;
  }

  /** The configuration was deleted: an answer that is still on its way is not saved. */
  forget(): void {
    this.#isForgotten = true;
    this.turn.unsaved = null;
    this.#grant = null;
  }

  get state(): GrantState {
    const now = this.#clock.now();
    const ended = this.#grant === null ? null : endOf(this.#grant, now);
    const warning = this.#grant?.refreshToken === '' ? briefSignIn(this.#grant.expiresAt, now) : null;
    const failure = this.#refusal ?? ended ?? this.#pause;
    return {
      grant: this.#grant,
      retryAt: this.#pause?.retryAt ?? null,
      signInRequiredSince: (this.#refusal ?? ended)?.since ?? null,
      problem: failure?.error.sentence ?? warning,
    };
  }

  /** The access token; null where `get` has to refresh it. */
  get freshToken(): string | null {
    return this.#grant !== null && this.#isFresh(this.#grant) ? this.#grant.accessToken : null;
  }

  /** The access token. It waits for a refresh only where the token at hand has ended or is about to. */
  async get(): Promise<string> {
    if (this.freshToken !== null) return this.freshToken;
    const refreshed = this.#refresh().then((grant) => grant.accessToken);
    const token = this.#grant?.accessToken ?? '';
    const leftMs = (this.#grant?.expiresAt ?? Infinity) - this.#clock.now();
    if (token === '' || token === this.#refusedToken || leftMs <= 0) return refreshed;
    const refreshedOrCurrent = refreshed.catch(() => token);
    return leftMs > minLifeWithoutWaitMs ? token : refreshedOrCurrent;
  }

  /** The service answered with success to `token`. */
  onAccepted(token: string): void {
    this.#acceptedToken = token;
  }

  /**
   * The service answered 401 to `token`. Each refused token is replaced at once; but where the service refuses new tokens, too, the next
   * one is requested after a growing pause. Resolves to true when the request is worth one more try.
   */
  async onUnauthorized(token: string): Promise<boolean> {
    if (token !== this.#grant?.accessToken) return true;
    // The service also answers 401 at random to a good token, and nothing could replace this one.
    if (this.#grant.refreshToken === '') return this.#isWorthSecondTry();
    if (token !== this.#refusedToken) {
      this.#refusedToken = token;
      this.#refusedInRow = token === this.#acceptedToken ? 0 : this.#refusedInRow + 1;
      // The first one may be old: this process has used no other.
      if (this.#refusedInRow > 1) throw this.#pauseAfter(newTokenRefused(), this.#refusedInRow - 1);
    }
    await this.#refresh();
    return true;
  }

  /** All callers share the refresh under way. */
  #refresh(): Promise<Grant> {
    this.#refreshing ??= this.#attempt().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #attempt(): Promise<Grant> {
    if (this.#pause !== null && this.#clock.monotonic() < this.#pause.until) {
      // A timer of Node.js can fire a moment early.
      this.#wakeAfter(this.#pause.until - this.#clock.monotonic());
      throw this.#pause.error;
    }
    let grant: Grant;
    try {
      grant = await this.turn.take(() => this.#renew(), this.#stopping.signal);
      if (grant.accessToken === '')
        throw new VehicleError('SERVICE_ERROR', 'The sign-in service gave no usable access token.');
    } catch (error) {
      throw this.#failed(error);
    }
    this.#failures = 0;
    if (grant.accessToken === this.#refusedToken) throw this.#pauseAfter(newTokenRefused(), (this.#refusedInRow += 1));
    this.#pause = null;
    const ageMs = grant.refreshToken === '' ? 0 : this.#clock.now() - grant.refreshedAt;
    this.#wakeAfter(keepAliveIntervalMs - ageMs);
    return grant;
  }

  async #renew(): Promise<Grant> {
    for (;;) {
      if (this.turn.unsaved !== null) await this.#save(this.turn.unsaved);
      const stored = await this.#options.store.read(this.key);
      if (this.#isForgotten) throw cancelledError();
      if (isOlder(stored, this.#grant)) {
        await this.#save(this.#grant);
        continue;
      }
      this.#grant = stored?.grant ?? this.#grant;
      const known = this.#grant ?? this.#pastedGrant();
      if (known === null) throw nobodySignedIn();
      const isKept = known.refreshToken === '' || Math.abs(this.#clock.now() - known.refreshedAt) < keepAliveIntervalMs;
      if (isKept && !known.isRefreshing && this.#isFresh(known)) return known;
      if (known.refreshToken === '') throw endedSignIn(known.expiresAt ?? known.refreshedAt, this.#clock.now());
      // Another configuration may have a refresh token that was not refused; for a refused client none helps.
      if (this.#refusal !== null && (this.#refusal.isOfClient || this.#refusal.refreshToken === known.refreshToken))
        throw this.#refusal.error;
      // Before the turn among several processes and the mark, because it can take seconds.
      await this.#findAddress();
      const answer = await this.#refreshClaimed(known, stored?.version ?? null);
      if (answer === 'overtaken') continue;
      if ('generation' in answer) return answer;
      this.#refuse(answer, known);
    }
  }

  async #findAddress(): Promise<void> {
    const { client, discovery } = this.#options;
    if (!client.issuer) return;
    const finding = discovery.find(client.issuer, { isFresh: this.#failures > 0 });
    const found = await raceAbort(finding, this.#stopping.signal);
    this.#client = { ...client, tokenUrl: found?.tokenUrl ?? client.tokenUrl };
  }

  #pastedGrant(): Grant | null {
    const pasted = this.#options.pastedRefreshToken;
    if (pasted === null) return null;
    return {
      generation: 0,
      refreshToken: pasted.token,
      accessToken: '',
      expiresAt: null,
      scopes: null,
      refreshedAt: this.#clock.now(),
      outdated: [pasted.fingerprint],
      isRefreshing: false,
    };
  }

  /** Only one process refreshes: the others wait for a second and look at the grant again. */
  async #refreshClaimed(known: Grant, version: string | null): Promise<Grant | Refusal | 'overtaken'> {
    const { presence, key } = this.#options;
    const waitMs = Math.min(presence.settlesInMs, maxSettleMs);
    const claim = waitMs > 0 ? null : await presence.claim(`refresh/${key}`);
    if (claim === null) {
      await this.#clock.sleep(Math.max(waitMs, lookAgainMs), this.#stopping.signal);
      return 'overtaken';
    }
    try {
      return await this.#refreshMarked(known, version, () => claim.isHeld());
    } finally {
      await claim.release();
    }
  }

  /** Refreshes a grant and saves the new one. @param isHeld asked before the token is sent */
  async #refreshMarked(
    known: Grant,
    version: string | null,
    isHeld: () => boolean,
  ): Promise<Grant | Refusal | 'overtaken'> {
    // This write also proves that the store can be written to before a token is rotated.
    const marked = await this.#options.store.write(this.key, { ...known, isRefreshing: true }, version);
    if (marked === null) return 'overtaken';
    this.#grant = marked.grant;
    const answer = await this.#request(marked, isHeld);
    return 'refusal' in answer ? answer : await this.#save(rotated(marked.grant, answer));
  }

  async #request(marked: StoredGrant, isHeld: () => boolean): Promise<Tokens | Refusal> {
    const { send } = this.#options;
    const unsent = linkSignals(this.#stopping.signal);
    let isSent = false;
    const mayLeave = (): void => {
      // This process was stopped for long, and another one may refresh now.
      if (!isHeld()) throw new VehicleError('TIMEOUT', 'The refresh of the sign-in took too long and was not sent.');
      isSent = true;
      // From here on the request is not cancelled, because the service may have rotated the token.
      unsent.unlink();
    };
    try {
      const form = { grant_type: 'refresh_token', refresh_token: marked.grant.refreshToken };
      const context = { send, clock: this.#clock, signal: unsent.signal, mayLeave };
      const answer = await requestTokens(this.#client, form, context);
      if ('refusal' in answer) await this.#unmark(marked);
      return answer;
    } catch (error) {
      // Otherwise the service may have rotated the token.
      if (!isSent) await this.#unmark(marked);
      throw error;
    } finally {
      unsent.unlink();
    }
  }

  /** If that cannot be stored, the next refresh comes early. */
  async #unmark({ grant, version }: StoredGrant): Promise<void> {
    await this.#options.store.write(this.key, { ...grant, isRefreshing: false }, version).catch(ignore);
  }

  /** Saves a grant before it is used. */
  async #save(next: Grant): Promise<Grant> {
    if (this.#isForgotten) return next;
    this.turn.unsaved = next;
    const { grant } = await retryOnConflict(async () => {
      const stored = await this.#options.store.read(this.key);
      if (this.#isForgotten) return { grant: next };
      // A sign-in was later than this refresh.
      if (stored !== null && stored.grant.generation >= next.generation) return stored;
      return this.#options.store.write(this.key, next, stored?.version ?? null);
    });
    if (this.#isForgotten) return next;
    this.turn.unsaved = null;
    this.#refusal = null;
    this.#grant = grant;
    return grant;
  }

  #isFresh({ refreshToken, accessToken, expiresAt, refreshedAt }: Grant): boolean {
    if (accessToken === '' || accessToken === this.#refusedToken) return false;
    const margin = refreshToken === '' ? 0 : renewalMargin((expiresAt ?? 0) - refreshedAt);
    return expiresAt === null || expiresAt - this.#clock.now() > margin;
  }

  #refuse(refusal: Refusal, grant: Grant): void {
    const now = this.#clock.now();
    const isOfClient = refusal.refusal !== 'invalid_grant' && refusal.refusal !== '';
    const isOfOldApplication = refusal.refusal === 'invalid_grant' && endedAfterWeek(grant, now);
    const error = new VehicleError('SIGN_IN_REQUIRED', isOfOldApplication ? oldApplication : refusalSentence(refusal));
    this.#refusal = { refreshToken: grant.refreshToken, isOfClient, since: now, error };
  }

  /** After a refusal, the user has to sign in again; after any other failure, the refresh is repeated after a growing pause. */
  #failed(error: unknown): VehicleError {
    const failure = asVehicleError(error);
    if (permanentCodes.has(failure.code) && this.turn.unsaved === null) {
      this.#wakeAfter(reloadIntervalMs);
      return failure;
    }
    // A shared store that is away says nothing of the sign-in, and may be back soon.
    const isAway = failure.code === 'STORE_UNAVAILABLE';
    return this.#pauseAfter(failure, isAway ? 1 : (this.#failures += 1));
  }

  /** @param count of failures in a row, of this kind: a lost answer must be repeated soon, whatever the failure before it was */
  #pauseAfter(failure: VehicleError, count: number): VehicleError {
    const now = this.#clock.now();
    const ms = Math.round(
      Math.max(backoffMs(count, pauses, this.#options.random), (failure.retryAt?.getTime() ?? now) - now),
    );
    const repeated = new VehicleError(failure.code, sentence`${failure.sentence} The pack tries again by itself.`, {
      retryable: true,
      retryAt: new Date(now + ms),
      httpStatus: failure.httpStatus,
      cause: failure.cause,
    });
    this.#pause = { until: this.#clock.monotonic() + ms, retryAt: now + ms, error: repeated };
    this.#wakeAfter(ms);
    return repeated;
  }

  /** Schedules the next refresh, also while no request needs a token. */
  #wakeAfter(ms: number): void {
    this.#cancelTimer();
    if (this.#users === 0) return;
    this.#cancelTimer = this.#clock.after(Math.min(ms, keepAliveIntervalMs), () => void this.#refresh().catch(ignore));
  }

  /** Waits until the work is settled, but no longer than `ms`. */
  async #waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
    const settled = new AbortController();
    await Promise.race([work, this.#clock.sleep(ms, settled.signal)]).catch(ignore);
    settled.abort();
  }
}

/** Whether a store has lost a later grant of the same sign-in. */
const isOlder = (stored: StoredGrant | null, known: Grant | null): known is Grant =>
  stored !== null &&
  known !== null &&
  stored.grant.signedInAt === known.signedInAt &&
  stored.grant.generation < known.generation;

function rotated(before: Grant, answer: Tokens): Grant {
  return {
    ...before,
    generation: before.generation + 1,
    // Some answers hold no refresh token; then the one that was sent stays valid (docs/internals/vendor-api.md 4.2).
    refreshToken: answer.refreshToken ?? before.refreshToken,
    accessToken: answer.accessToken,
    expiresAt: answer.expiresAt,
    scopes: answer.scopes ?? before.scopes,
    refreshedAt: answer.receivedAt,
    isRefreshing: false,
  };
}

/** The end of a sign-in without a refresh token; null while it lasts, where its end is not known, and for any other one. */
const endOf = ({ refreshToken, expiresAt }: Grant, now: number): { since: number; error: VehicleError } | null =>
  refreshToken === '' && expiresAt !== null && expiresAt <= now
    ? { since: expiresAt, error: endedSignIn(expiresAt, now) }
    : null;

const endedSignIn = (at: number, now: number): VehicleError =>
  new VehicleError(
    'SIGN_IN_REQUIRED',
    sentence`The sign-in has ended (${clockTime(at, now)}), because the service gave no refresh token. Sign in again in the vehicle configuration. If the new one is as short, enter offline_access under “More scopes” and sign in once more.`,
  );

const dayMs = 86_400_000;

/**
 * Whether a sign-in ended about seven days after it was made, although it was in use: an application from before December 2025 has no
 * longer ones (docs/internals/vendor-api.md 4.2).
 */
const endedAfterWeek = ({ signedInAt, refreshedAt }: Grant, now: number): boolean =>
  signedInAt !== undefined && Math.abs(now - signedInAt - 7 * dayMs) <= dayMs && now - refreshedAt <= 4 * dayMs;

const oldApplication =
  'The service has ended the sign-in after about seven days, as it does for an application from before December 2025. Sign in again in the vehicle configuration. For sign-ins of six months, make a new application at the developer portal.';

/** Milliseconds before its end at which a token is renewed. No service promises a certain life (docs/internals/vendor-api.md 4.2). */
const renewalMargin = (life: number): number => Math.min(60_000, Math.max(0, life) / 4);

/** The first retries come soon: a server may accept the rotated token for a minute yet. */
const pauses = { firstMs: 2_000, maxMs: 15 * 60_000 };

const ignore = (): void => undefined;

const newTokenRefused = (): VehicleError =>
  new VehicleError(
    'SERVICE_ERROR',
    'The service refused a new access token. If this does not end, sign in again in the vehicle configuration.',
    { httpStatus: 401 },
  );
