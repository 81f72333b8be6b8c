import type { Clock } from '../util/clock';
import { VehicleError, type ErrorCode } from '../errors';
import { pauseAfter } from './pauses';
import { StoreFault, type Grant, type LockedAccount, type NewGrant, type TokenStore } from './store';
import {
  refusalSentence,
  requestTokens,
  type OAuthClient,
  type Refusal,
  type Send,
  type Tokens,
} from './token-endpoint';

/** One who uses an account: a config node. What it brings is used while it is there. */
export interface Member {
  client: OAuthClient;
  send: Send;
  /** Hears of every token before it is used, so that a redactor knows it. */
  onSecret: (secret: string) => void;
}

/** What is known of an account. Times in milliseconds since 1970. */
export interface GrantState {
  grant: Grant | null;
  retryAt: number | null;
  signInRequiredSince: number | null;
  problem: string | null;
}

export interface KeeperOptions {
  key: string;
  /** A refresh token to start from where the store has none. */
  seed: { token: string; fingerprint: string } | null;
  /** What the last keeper of this grant left open; see `unanswered`. */
  unanswered: number | null;
  store: TokenStore;
  clock: Clock;
  random: () => number;
}

/** An unused refresh token dies after seven days (field notes 4.2). */
const keepAliveEvery = 3 * 86_400_000;
/** A 401 asks for a new token so often and no more: where the service refuses everything, a new token does not help. */
const forcedEvery = 5 * 60_000;
/** Codes that time alone does not mend. */
const lasting = new Set<ErrorCode>(['CONFIG', 'TOKEN_MISSING', 'SIGN_IN_REQUIRED', 'CANCELLED']);
/** Yet a person, or another process, may have mended the store: that costs no request. */
const lookAgainEvery = 15 * 60_000;

/**
 * The grant of one account in this process: refreshed by one request at a time, saved before it is used.
 *
 * What can still be lost: the token endpoint rotates the refresh token, and its answer does not arrive, or the process
 * dies before the save. No client can mend that alone. But a server can let a rotated token live on for some seconds
 * (PingFederate, which serves the real sign-in, calls it the rolling grace period); therefore a try whose end is
 * unknown is repeated within seconds, after a crash too, and room on the disk is claimed before the request is sent.
 */
export class GrantKeeper {
  readonly key: string;
  readonly directory: string;
  readonly #seed: KeeperOptions['seed'];
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #members = new Set<Member>();
  /** Whose way the request under way takes. */
  #carrier: Member | null = null;
  /** Client secrets that the service refused: whoever has one is not asked to carry while another is there. */
  readonly #mistaken = new Set<string>();
  readonly #ending = new AbortController();
  #grant: Grant | null = null;
  #refreshing: Promise<Grant> | null = null;
  /** Rotated, but the disk did not take it: kept until it does. */
  #unsaved: NewGrant | null = null;
  #unanswered: number | null;
  #pause: { failures: number; since: number; until: number; error: VehicleError } | null = null;
  #refusal: { tokens: ReadonlySet<string>; since: number; error: VehicleError } | null = null;
  /** The last access token that the service answered with 401. */
  #rejected = '';
  #forcedAt = -Infinity;
  #cancelTimer: () => void;

  constructor(options: KeeperOptions) {
    this.key = options.key;
    this.directory = options.store.directory;
    this.#seed = options.seed;
    this.#unanswered = options.unanswered;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#cancelTimer = this.#wakeAfter(1_000 * this.#random());
  }

  join(member: Member): void {
    const before = this.#newest;
    this.#members.add(member);
    if (this.#grant !== null) tell(member, this.#grant);
    // Corrected credentials are a change that a refusal waits for.
    if (before !== undefined && before.client.clientSecret !== member.client.clientSecret) this.#refusal = null;
  }

  /** Waits for a refresh that goes over the way of the member: its answer may hold the only valid refresh token. */
  async leave(member: Member): Promise<void> {
    this.#members.delete(member);
    if (this.#carrier === member) await this.#refreshing?.catch(ignore);
  }

  isLast(member: Member): boolean {
    return this.#members.size === 1 && this.#members.has(member);
  }

  /** Ends the timer and the wait for another process, but not a request under way: its answer may hold the only valid refresh token. */
  async end(): Promise<void> {
    this.#cancelTimer();
    this.#ending.abort();
    await this.#refreshing?.catch(ignore);
    if (this.#unsaved !== null) {
      this.#pause = null;
      await this.#refresh().catch(ignore);
    }
    this.#members.clear();
  }

  /** Takes over what a sign-in has just saved. @throws VehicleError CONFIG */
  async look(): Promise<void> {
    const stored = await this.#store.read(this.key);
    // Whatever its generation: where the file had gone, the count has begun anew.
    if (stored !== null) {
      this.#take(stored);
      this.#unsaved = null;
    }
    this.#pause = null;
    this.#refusal = null;
    this.#mistaken.clear();
  }

  get state(): GrantState {
    const trouble = this.#refusal ?? this.#pause;
    return {
      grant: this.#grant,
      retryAt: this.#pause?.until ?? null,
      signInRequiredSince: this.#refusal?.since ?? null,
      problem: trouble?.error.message ?? null,
    };
  }

  /** The generation whose refresh token was sent, and no answer came: it may be spent. */
  get unanswered(): number | null {
    return this.#unanswered;
  }

  /** The token, where it can be sent without asking anybody. */
  get fresh(): string | null {
    return this.#grant !== null && this.#isFresh(this.#grant) ? this.#grant.accessToken : null;
  }

  /** Waits for a refresh only where the token at hand has ended or is about to. */
  async token(): Promise<string> {
    if (this.fresh !== null) return this.fresh;
    const refresh = this.#refresh().then((grant) => grant.accessToken);
    const token = this.#grant?.accessToken ?? '';
    const left = (this.#grant?.expiresAt ?? Infinity) - this.#clock.now();
    if (token === '' || left <= 0) return refresh;
    const orTheOld = refresh.catch(() => token);
    return left > waitBelow ? token : orTheOld;
  }

  /** The service answered 401 to `token`: is another try worth it, once? */
  async refused(token: string): Promise<boolean> {
    if (token !== this.#grant?.accessToken) return true;
    const first = this.#rejected !== token;
    this.#rejected = token;
    if (this.#refreshing === null) {
      if (isWithin(this.#forcedAt, this.#clock.now(), this.#forcedAt + forcedEvery)) return first;
      this.#forcedAt = this.#clock.now();
    }
    await this.#refresh();
    return true;
  }

  /** One at a time, however many ask. */
  #refresh(): Promise<Grant> {
    this.#refreshing ??= this.#attempt().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #attempt(): Promise<Grant> {
    if (this.#pause !== null && isWithin(this.#pause.since, this.#clock.now(), this.#pause.until)) {
      // A timer of Node's can fire a moment early.
      this.#wakeAt(this.#pause.until);
      throw this.#pause.error;
    }
    try {
      await this.#checkRefusal();
      const grant = await this.#store.exclusive(this.key, (locked) => this.#renew(locked), this.#ending.signal);
      if (grant.accessToken === '')
        throw new VehicleError('SERVICE_ERROR', 'The sign-in service gave no usable access token.');
      this.#pause = null;
      this.#wakeAt(grant.refreshedAt + keepAliveEvery);
      return grant;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** While a sign-in is refused, nobody is asked again until the store holds another one. */
  async #checkRefusal(): Promise<void> {
    if (this.#refusal === null) return;
    const stored = await this.#store.read(this.key);
    if (stored === null || this.#refusal.tokens.has(stored.refreshToken)) throw this.#refusal.error;
    this.#refusal = null;
  }

  async #renew(locked: LockedAccount): Promise<Grant> {
    const known = await this.#settle(locked);
    if (known !== null && !locked.afterCrash && this.#isEnough(known)) return known;
    const refused = new Set<string>();
    let next = known?.refreshToken ?? this.#seed?.token;
    while (next !== undefined) {
      await locked.prepare();
      const answer = await this.#request(next);
      if (!('refusal' in answer)) return this.#keep(locked, this.#grantOf(answer, next));
      // What was refused is a client, not the sign-in: another member may have the right secret.
      if (answer.refusal === 'invalid_client' && this.#trusted !== undefined) continue;
      refused.add(next);
      next = answer.refusal === 'invalid_grant' ? await this.#another(locked, refused) : undefined;
      if (next === undefined) throw this.#refuse(answer, refused);
    }
    throw nobodySignedIn();
  }

  /** What is known of the grant, once the store has been given what it did not take before. */
  async #settle(locked: LockedAccount): Promise<Grant | null> {
    if (this.#unsaved !== null) return this.#keep(locked, this.#unsaved);
    this.#use(await this.#stored(locked));
    return this.#grant;
  }

  /** A file that was damaged under a running process is written anew from what the process knows. */
  async #stored(locked: LockedAccount): Promise<Grant | null> {
    try {
      return await locked.read();
    } catch (error) {
      if (this.#grant !== null && error instanceof StoreFault && error.fault === 'damaged') return null;
      throw error;
    }
  }

  /** Another process, or a restored backup, may know a token that was not refused yet. */
  async #another(locked: LockedAccount, refused: ReadonlySet<string>): Promise<string | undefined> {
    const stored = await this.#stored(locked);
    return [stored?.refreshToken, this.#grant?.refreshToken].find(
      (token) => token !== undefined && !refused.has(token),
    );
  }

  async #request(refreshToken: string): Promise<Tokens | Refusal> {
    const member = this.#trusted ?? this.#newest;
    if (member === undefined)
      throw new VehicleError('CANCELLED', 'The sign-in was cancelled because the flow was stopped or redeployed.');
    this.#unanswered = this.#grant?.generation ?? 0;
    this.#carrier = member;
    try {
      const answer = await requestTokens(
        member.send,
        member.client,
        { grant_type: 'refresh_token', refresh_token: refreshToken },
        this.#clock,
      );
      this.#unanswered = null;
      if ('refusal' in answer && answer.refusal === 'invalid_client') this.#mistaken.add(member.client.clientSecret);
      return answer;
    } finally {
      this.#carrier = null;
    }
  }

  #grantOf(answer: Tokens, sent: string): NewGrant {
    return {
      // Sometimes there is none: the one that was sent lives on (field notes 4.2).
      refreshToken: answer.refreshToken ?? sent,
      accessToken: answer.accessToken,
      expiresAt: answer.expiresAt,
      scopes: answer.scopes ?? this.#grant?.scopes ?? null,
      refreshedAt: answer.receivedAt,
      ...(this.#grant?.signedInAt !== undefined && { signedInAt: this.#grant.signedInAt }),
      outdated: this.#grant?.outdated ?? (this.#seed === null ? [] : [this.#seed.fingerprint]),
    };
  }

  /** On disk before it is used. What the disk does not take stays in memory until it does. */
  async #keep(locked: LockedAccount, next: NewGrant): Promise<Grant> {
    for (const member of this.#members) tell(member, next);
    this.#unsaved = next;
    const saved = await locked.save(next, this.#grant?.generation ?? 0);
    this.#unsaved = null;
    this.#use(saved);
    return saved;
  }

  /** Only what is newer: an older file is a backup that was restored under a running process. */
  #use(stored: Grant | null): void {
    if (stored === null || stored.generation <= (this.#grant?.generation ?? 0)) return;
    this.#take(stored);
  }

  #take(stored: Grant): void {
    for (const member of this.#members) tell(member, stored);
    this.#grant = stored;
  }

  #isFresh(grant: Grant): boolean {
    if (grant.accessToken === '') return false;
    return (
      grant.expiresAt === null || grant.expiresAt - this.#clock.now() > aheadOf(grant.expiresAt - grant.refreshedAt)
    );
  }

  /** True where what is stored makes a request needless. */
  #isEnough(stored: Grant): boolean {
    const idle = Math.abs(this.#clock.now() - stored.refreshedAt);
    return (
      this.#isFresh(stored) &&
      idle < keepAliveEvery &&
      stored.accessToken !== this.#rejected &&
      stored.generation !== this.#unanswered
    );
  }

  #refuse(refusal: Refusal, tokens: ReadonlySet<string>): VehicleError {
    const error = new VehicleError('SIGN_IN_REQUIRED', refusalSentence(refusal));
    this.#refusal = { tokens, since: this.#clock.now(), error };
    return error;
  }

  /** A refusal waits for a person; whatever time can mend is tried again after a growing pause. */
  #failed(error: unknown): VehicleError {
    const known =
      error instanceof VehicleError
        ? error
        : new VehicleError('SERVICE_ERROR', 'The sign-in failed for an unknown reason.', { cause: error });
    if (lasting.has(known.code) && this.#unsaved === null) {
      this.#wakeAt(this.#clock.now() + lookAgainEvery);
      return known;
    }
    const failures = (this.#pause?.failures ?? 0) + 1;
    const since = this.#clock.now();
    const until = Math.max(since + pauseAfter(failures, this.#random), known.retryAt?.getTime() ?? 0);
    const told = new VehicleError(known.code, `${known.message} The pack tries again by itself.`, {
      retryable: true,
      retryAt: new Date(until),
      ...(known.httpStatus === null ? {} : { httpStatus: known.httpStatus }),
      cause: known.cause,
    });
    this.#pause = { failures, since, until, error: told };
    this.#wakeAt(until);
    return told;
  }

  /** The grant is kept alive, and a pause ends, while nobody asks too. */
  #wakeAt(at: number): void {
    this.#cancelTimer();
    if (!this.#ending.signal.aborted)
      this.#cancelTimer = this.#wakeAfter(Math.min(at - this.#clock.now(), keepAliveEvery));
  }

  #wakeAfter(ms: number): () => void {
    return this.#clock.after(ms, () => void this.#refresh().catch(ignore));
  }

  get #newest(): Member | undefined {
    return [...this.#members].at(-1);
  }

  /** The newest whose client secret was not refused. */
  get #trusted(): Member | undefined {
    return [...this.#members].findLast(({ client }) => !this.#mistaken.has(client.clientSecret));
  }
}

/** Milliseconds: with less life left than this, a caller waits for the new token. */
const waitBelow = 10_000;

/** How long before its end a token is renewed, by its life, which no service promises (field notes 4.2). Milliseconds. */
const aheadOf = (life: number): number => Math.min(60_000, Math.max(0, life) / 4);

/** A moment to come that one remembers as past was one of a clock that has been set back: it counts no more. */
const isWithin = (since: number, now: number, until: number): boolean => since <= now && now < until;

function tell(member: Member, grant: NewGrant): void {
  member.onSecret(grant.refreshToken);
  if (grant.accessToken !== '') member.onSecret(grant.accessToken);
}

const ignore = (): void => undefined;

export const nobodySignedIn = (): VehicleError =>
  new VehicleError('TOKEN_MISSING', 'Nobody is signed in. Sign in, or paste a token, in the vehicle configuration.');
