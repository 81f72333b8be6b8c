import { randomBytes } from 'node:crypto';
import { apiNames, type ApiName } from '../catalogue/reads';
import { cancelledError, VehicleError } from '../errors';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { LocalPresence, type Presence } from '../state/presence';
import { readForUpdate, retryOnConflict, type StateStore } from '../state/state-store';
import { raceAbort, reasonOf } from '../util/abort';
import type { Signal } from '../util/cancellation';
import type { Clock } from '../util/clock';
import { dayMs, minuteMs } from '../util/durations';
import { byName } from '../util/json';
import { Serial } from '../util/serial';
import { isoTime } from './token-source';
import {
  QuotaCounts,
  quotaNames,
  quotaShape,
  wayMs,
  type Quota,
  type QuotaRecord,
  type RateLimitCode,
} from './quota-counts';

/**
 * `forCommand` is a read on behalf of a command: it may use what is reserved for commands, and
 * counts as no command.
 */
export type RequestKind = 'read' | 'forCommand' | 'command';

export interface AcquireOptions {
  api: ApiName;
  /**
   * Until when the request may wait, in monotonic time. One that has passed fails at once if the
   * request cannot be sent now.
   */
  deadline: number;
  signal?: Signal | undefined;
}

/** The use of one API key, for the dialog ("1,204 of 10,000") and for diagnostics. */
export interface QuotaSnapshot {
  /** The requests to the connected vehicle API; `apis` has those of every API. */
  usedToday: number;
  perDay: number;
  usedThisMinute: number;
  commandsThisMinute: number;
  /** The part of day and minute that plain reads may use; the rest is reserved for commands. */
  readsPerDay: number;
  readsPerMinute: number;
  /** ISO-8601: until when the connected vehicle API pauses; null if it does not. */
  pausedUntil: string | null;
  rateLimitCode: RateLimitCode | null;
  waiting: number;
  apis: Record<ApiName, { usedToday: number; pausedUntil: string | null }>;
}

interface RateLimiterOptions {
  /** The share of the minute and of the day that plain reads leave to commands. Default 0.04. */
  reserveForCommands?: number;
  clock: Clock;
  /** Stores the counts, so that they outlive a restart. */
  store: Pick<StateStore, 'read' | 'write'>;
  /** The presence of this process in `store`. Default: no other process uses the store. */
  presence?: Presence;
  /** The key of the counts in `store`. */
  key: string;
}

/**
 * So many requests to one API may be reserved at once, or this share of what is left of the day if
 * that is more; at most this share of a minute.
 */
const reserved = { least: 20, ofDay: 0.01, ofMinute: 0.2 } as const;
/**
 * Counts that another process changes are read again before a request if they are older than this.
 */
const outdatedMs = 2_000;
/**
 * How long nothing is sent after a shared store forgot the counts: until every process
 * has added what it sent.
 */
const recountMs = 15_000;

/** In the order in which waiting requests are served. */
const kinds = ['command', 'forCommand', 'read'] as const satisfies readonly RequestKind[];

/**
 * The limits in the order in which they are checked: of two that delay a request
 * equally, the first is named.
 */
const limits = [
  { of: 'requestsPerMinute', code: 'RATE_LIMITED', what: 'requests a minute' },
  { of: 'commandsPerMinute', code: 'RATE_LIMITED', what: 'commands a minute' },
  { of: 'requestsPerDay', code: 'QUOTA_SPENT', what: 'requests a day' },
] as const satisfies readonly { of: keyof Quota; code: RateLimitCode; what: string }[];

/** Requests that are counted and stored before they are sent. */
interface Reservation {
  /** By this process, without commands. */
  sent: number;
  /** How many are stored and not sent yet. */
  left: number;
  /** How many are about to be stored. */
  next: number;
  /** How many were stored last. */
  size: number;
}

interface Waiter {
  api: ApiName;
  /** In monotonic time. */
  deadline: number;
  signal: Signal | undefined;
  /**
   * Takes it out of the queue, and ends its wait with this result: an error, or the promise that
   * the request is counted. It does nothing the second time.
   */
  end(result: VehicleError | Promise<void>): void;
}

/** A request that waits until it is counted in the store. */
interface Uncounted extends Pick<AcquireOptions, 'api' | 'signal'> {
  kind: RequestKind;
  /** Whether the write for an earlier request has counted it. */
  isCounted: boolean;
  /** Ends its wait: it is counted, so it must be sent at once. */
  end(): void;
}

/** The earliest moment at which a request can be sent, and what delays it. */
interface Moment {
  at: number;
  code: RateLimitCode;
  reason: Sentence;
}

const none = asSentence('Too many requests wait');
const forgotten = asSentence('The shared store lost the counts of the quota');
const pauseReasons = {
  RATE_LIMITED: 'The service asked for a pause',
  QUOTA_SPENT: 'The service reports that the quota of this API key is used up',
} as const satisfies Record<RateLimitCode, string>;

/**
 * Decides when a request of one API key may be sent: requests for each day and API, requests and
 * commands for each minute, all in sliding windows. Requests that cannot be sent now wait in
 * order, commands first.
 *
 * A request is counted in the store before it is sent, on condition that no other process has
 * counted one since. Commands that wait for the same write are counted together. In a store that
 * other processes also use, nothing is reserved, so the counts are exact; without that store,
 * nothing is sent. On files, reads are reserved ahead, so that a memory card is rarely written: the
 * first one of a process alone, then as many as it has sent, at most 20 or 1 % of what is left of
 * the day. The next ones are stored while the last ones are used. A process that crashes again and
 * again is charged for what it sent, at most twice. A disk that fails stops no request, because the
 * service counts as well.
 */
export class RateLimiter {
  readonly #options: Required<RateLimiterOptions>;
  readonly #clock: Clock;
  readonly #counts = new QuotaCounts();
  /**
   * Names this limiter in the record. Not `presence.id`, which changes if the store loses the
   * record of the process.
   */
  readonly #name = randomBytes(6).toString('base64url');
  /** What this process counted; it is a part of `#counts`. */
  readonly #own = new QuotaCounts();
  readonly #reservations: Record<ApiName, Reservation>;
  /** The limits of each account. */
  readonly #users = new Set<Quota>();
  /**
   * The strictest limits of the accounts of this process. After the last account was closed, its
   * limits stay, for what is stored later.
   */
  #ownLimits: Quota | null = null;
  readonly #waiting: Record<RequestKind, Set<Waiter>> = { command: new Set(), forCommand: new Set(), read: new Set() };
  /** Whether the stored counts were read, or the requests go on without them. */
  #hasBegun = false;
  /** Stored counts that were not read yet are not overwritten. */
  #isLoaded = false;
  #timer: { at: number; cancel: () => void } | null = null;
  readonly #changes = new Serial();
  /** The requests that wait for the store, in the order in which it serves them. */
  readonly #uncounted = new Set<Uncounted>();
  /** How many commands this process has counted. */
  #commandsCounted = 0;
  /** The version of the stored record. */
  #version: string | null = null;
  /** Whether another process also changes it: then it is read before it is written. */
  #isContended = false;
  /** Names the record that was read or written last; empty if there was none. */
  #epoch = '';
  /** The epoch of the record that this process wrote last. */
  #writtenEpoch = '';
  /** When the record was last read or written, in monotonic time. */
  #knownAt = -Infinity;
  /**
   * How long the last write took. A request leaves only after the next one, so it is counted
   * for this much longer.
   */
  #writeMs = 0;
  #endWatch: (() => void) | null = null;
  /** Until when every process adds what it sent to a record that was lost, in monotonic time. */
  #settlesAt = 0;

  constructor(options: RateLimiterOptions) {
    const { clock, presence = new LocalPresence(clock) } = options;
    this.#options = { reserveForCommands: 0.04, ...options, presence };
    this.#clock = clock;
    this.#reservations = byName(apiNames, () => ({ sent: 0, left: 0, next: 0, size: 0 }));
  }

  /**
   * Adds an account with its limits: of several accounts, the strictest limits hold.
   * @returns ends its use; the last account rejects every waiting request with CANCELLED,
   * and stores the counts
   */
  use(own: Quota): () => Promise<void> {
    const user = { ...own };
    this.#users.add(user);
    this.#noteLimits();
    this.#endWatch ??= this.#storeAfterLoss();
    if (!this.#hasBegun) this.#begin().catch(() => undefined);
    return async () => {
      if (!this.#users.delete(user)) return;
      if (this.#users.size > 0) {
        this.#noteLimits();
        return this.#serveWaiting();
      }
      for (const kind of kinds) for (const waiter of this.#waiting[kind]) waiter.end(cancelledError());
      this.#endWatch?.();
      this.#endWatch = null;
      const reservations = Object.values(this.#reservations);
      // Nothing was reserved, so the stored counts are right.
      if (reservations.every(({ size }) => size === 0)) return;
      for (const one of reservations) Object.assign(one, { left: 0, next: 0 });
      await this.#store();
    };
  }

  #noteLimits(): void {
    this.#ownLimits = byName(quotaNames, (of) => Math.min(...[...this.#users].map((user) => user[of])));
  }

  /** A shared store that was away, or has lost the record of this process, may have lost counts. */
  #storeAfterLoss(): () => void {
    const { presence } = this.#options;
    return presence.onChange(() => {
      if (presence.fault === null && this.#isLoaded) presence.forOthers(() => void this.#store());
    });
  }

  /** The strictest limit of all accounts and processes. */
  #limit(of: keyof Quota): number {
    const time = this.#clock.monotonic();
    let strictest = this.#ownLimits?.[of] ?? Infinity;
    for (const other of this.#counts.processes)
      if (other.process !== this.#name && other.until > time) strictest = Math.min(strictest, other[of]);
    return strictest;
  }

  /**
   * Waits until a request of this kind may be sent, and counts it.
   * @throws VehicleError QUOTA_SPENT or RATE_LIMITED, with `retryAt`, if the wait would be too
   * long; CANCELLED; CONFIG while another process uses the directory of the counts;
   * STORE_UNAVAILABLE while a shared store cannot be reached
   */
  acquire(kind: RequestKind, options: AcquireOptions): Promise<void> {
    if (!this.#hasBegun) return raceAbort(this.#begin(), options.signal).then(() => this.acquire(kind, options));
    if (this.#users.size === 0) return Promise.reject(cancelledError());
    if (options.signal?.aborted === true) return Promise.reject(reasonOf(options.signal));
    const time = this.#clock.monotonic();
    if (!this.#isFree(kind, options.api, time)) return this.#wait(kind, options);
    if (this.#useReserved(kind, options.api, time)) return Promise.resolve();
    return raceAbort(this.#countStored(kind, options), options.signal);
  }

  /**
   * As `acquire`, without a promise: most reads are reserved, and three promises cost more than the
   * count.
   * @returns false if the request has to wait or to be stored; then nothing is counted
   */
  acquireAtOnce(kind: RequestKind, { api, signal }: Pick<AcquireOptions, 'api' | 'signal'>): boolean {
    if (!this.#hasBegun || this.#users.size === 0 || signal?.aborted === true) return false;
    const time = this.#clock.monotonic();
    return this.#isFree(kind, api, time) && this.#useReserved(kind, api, time);
  }

  /**
   * Begins to read what other processes have counted; on files there is nothing to read. The next
   * request waits for this, and then needs only one access to the store.
   */
  refresh(): void {
    this.#options.presence.forOthers(() => void this.#changes.run(() => this.#load()).catch(() => undefined));
  }

  /**
   * Pauses requests until a time that the service has named, a day at most. A spent quota pauses
   * its API, a rate limit every API. A later call never shortens a pause.
   */
  pauseUntil(code: RateLimitCode, until: Date, api: ApiName): void {
    const time = this.#clock.monotonic();
    const wait = until.getTime() - this.#clock.now();
    const at = time + Math.min(Number.isNaN(wait) ? minuteMs : wait, dayMs);
    for (const name of code === 'QUOTA_SPENT' ? [api] : apiNames) this.#counts.pause(name, { code, until: at }, time);
    // Neither the next process after a crash nor another process may send.
    void this.#store();
    this.#serveWaiting();
  }

  /** Until when the service pauses an API, in milliseconds since 1970; null if it does not. */
  pausedUntil(api: ApiName): number | null {
    const pause = this.#counts.pauses[api];
    return pause === null || pause.until <= this.#clock.monotonic() ? null : this.#wallTimeOf(pause.until);
  }

  snapshot(): QuotaSnapshot {
    const time = this.#clock.monotonic();
    const requestsPerDay = this.#limit('requestsPerDay');
    const apis = byName(apiNames, (api) => ({
      usedToday: this.#counts.windows[api].total(time),
      pausedUntil: isoTime(this.pausedUntil(api)),
    }));
    return {
      ...apis.connected,
      rateLimitCode: apis.connected.pausedUntil === null ? null : (this.#counts.pauses.connected?.code ?? null),
      perDay: requestsPerDay,
      usedThisMinute: this.#counts.windows.minute.total(time),
      commandsThisMinute: this.#counts.windows.commands.total(time),
      readsPerDay: this.#leftToReads(requestsPerDay),
      readsPerMinute: this.#leftToReads(this.#limit('requestsPerMinute')),
      waiting: kinds.reduce((sum, kind) => sum + this.#waiting[kind].size, 0),
      apis,
    };
  }

  /**
   * The requests of the last 24 hours to an API, as pairs of age in milliseconds and
   * count, the oldest first.
   */
  sentToday(api: ApiName): [ageMs: number, count: number][] {
    return this.#counts.windows[api].ages(this.#clock.monotonic());
  }

  /** Whether a request can be counted now: none waits before it, and no limit delays it. */
  #isFree(kind: RequestKind, api: ApiName, time: number): boolean {
    return !this.#waits && this.#nextMoment(kind, api, time).at <= time;
  }

  get #waits(): boolean {
    return kinds.some((kind) => this.#waiting[kind].size > 0);
  }

  #leftToReads(size: number): number {
    return size - Math.min(Math.ceil(size * this.#options.reserveForCommands), Math.floor(size / 2));
  }

  /**
   * A command is not reserved, because it counts for more than a reserved read.
   * @returns false if none is reserved
   */
  #useReserved(kind: RequestKind, api: ApiName, time: number): boolean {
    const reservation = this.#reservations[api];
    if (kind === 'command' || reservation.left === 0) return false;
    reservation.left -= 1;
    reservation.sent += 1;
    this.#count(api, false, time);
    const isNextDue = reservation.left < Math.floor(reservation.size / 4) && reservation.next === 0;
    if (isNextDue) {
      this.#planNext(api, time);
      const stored = this.#changes.run(async () => {
        if (!this.#isLoaded) await this.#load().catch(this.#unlessNeeded);
        await this.#storeNext(api);
      });
      // The next request that is not reserved fails.
      stored.catch(() => undefined);
    }
    return true;
  }

  /**
   * Plans to reserve as many requests as this process has sent, if others need not see each one.
   */
  #planNext(api: ApiName, time: number): void {
    const reservation = this.#reservations[api];
    if (reservation.next > 0) return;
    const leftToday = this.#limit('requestsPerDay') - this.#counts.windows[api].total(time);
    const most = Math.min(
      Math.max(reserved.least, leftToday * reserved.ofDay),
      this.#limit('requestsPerMinute') * reserved.ofMinute,
    );
    const { maxAhead } = this.#options.presence;
    reservation.size = Math.floor(Math.min(most, reservation.sent - reservation.left, maxAhead));
    reservation.next = reservation.size;
  }

  /** @returns false if another process was faster */
  async #storeNext(api: ApiName): Promise<boolean> {
    const reservation = this.#reservations[api];
    const { next } = reservation;
    const isStored = await this.#write().catch(this.#unlessNeeded);
    // More may be planned by now, or none if the last account was closed.
    const stored = Math.min(next, reservation.next);
    if (isStored) reservation.left += stored;
    reservation.next -= stored;
    return isStored;
  }

  /**
   * Fulfilled when the request is stored: then it may be sent. One write at a time, so that each
   * finds what the one before has counted; it can count several commands.
   */
  #countStored(kind: RequestKind, options: AcquireOptions): Promise<void> {
    const { api, signal } = options;
    return new Promise((resolve, reject) => {
      const request: Uncounted = { kind, api, signal, isCounted: false, end: resolve };
      this.#uncounted.add(request);
      const counted = this.#changes.run(async () => {
        this.#uncounted.delete(request);
        if (request.isCounted) return true;
        await this.#options.presence.renew();
        return retryOnConflict((isAgain) => this.#take(request, isAgain), this.#clock);
      });
      // Without room, another request has taken what was left.
      counted.then((isCounted) => (isCounted ? undefined : this.#wait(kind, options))).then(resolve, reject);
    });
  }

  /** The earliest moment for a request of this kind, if no other is sent before. */
  #nextMoment(kind: RequestKind, api: ApiName, time: number): Moment {
    let latest: Moment = { at: time, code: 'RATE_LIMITED', reason: none };
    for (const { of, code, what } of limits) {
      if (of === 'commandsPerMinute' && kind !== 'command') continue;
      const limit = this.#limit(of);
      const size = kind === 'read' ? this.#leftToReads(limit) : limit;
      const at = this.#counts.windowOf(of, api).freeAt(size, time);
      if (at <= latest.at) continue;
      const reason = sentence`The limit of ${limit.toLocaleString('en-US')} ${asSentence(what)} is reached`;
      latest = { at, code, reason };
    }
    if (this.#settlesAt > latest.at) latest = { at: this.#settlesAt, code: 'RATE_LIMITED', reason: forgotten };
    const pause = this.#counts.pauses[api];
    if (pause === null || pause.until <= latest.at) return latest;
    return { at: pause.until, code: pause.code, reason: asSentence(pauseReasons[pause.code]) };
  }

  #wait(kind: RequestKind, { api, deadline, signal }: AcquireOptions): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        if (signal !== undefined) waiter.end(reasonOf(signal));
      };
      const waiter: Waiter = {
        api,
        deadline,
        signal,
        end: (result) => {
          if (!this.#waiting[kind].delete(waiter)) return;
          if (!this.#waits) this.#cancelTimer();
          signal?.removeEventListener('abort', cancel);
          if (result instanceof VehicleError) reject(result);
          else resolve(raceAbort(result, signal));
        },
      };
      signal?.addEventListener('abort', cancel);
      this.#waiting[kind].add(waiter);
      this.#serveWaiting();
    });
  }

  #tooLong({ at, code, reason }: Moment): VehicleError {
    const retryAt = new Date(Math.ceil(this.#wallTimeOf(at)));
    const message = sentence`${reason}. The next request can be sent at ${clockTime(Math.ceil(retryAt.getTime() / minuteMs) * minuteMs, this.#clock.now())}.`;
    return new VehicleError(code, message, { retryAt });
  }

  #wallTimeOf(monotonic: number): number {
    return this.#clock.now() + monotonic - this.#clock.monotonic();
  }

  /**
   * Admits the requests that can be sent, rejects those that would wait too long, and sets
   * a timer for the rest.
   */
  #serveWaiting(): void {
    const time = this.#clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const kind of kinds) {
      /** The next moment of each API that can send nothing of this kind now. */
      const moments = new Map<ApiName, Moment>();
      for (const waiter of this.#waiting[kind]) {
        const moment = moments.get(waiter.api) ?? this.#nextMoment(kind, waiter.api, time);
        if (moment.at <= time) {
          const isReserved = this.#useReserved(kind, waiter.api, time);
          waiter.end(isReserved ? Promise.resolve() : this.#countStored(kind, waiter));
          continue;
        }
        moments.set(waiter.api, moment);
        if (moment.at > waiter.deadline) waiter.end(this.#tooLong(moment));
        else next = Math.min(next, moment.at);
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  #wakeAt(at: number): void {
    if (this.#timer !== null && at >= this.#timer.at) return;
    this.#cancelTimer();
    const cancel = this.#clock.after(at - this.#clock.monotonic(), () => {
      this.#timer = null;
      this.#serveWaiting();
    });
    this.#timer = { at, cancel };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /**
   * Counts a request in the store, and with a command some that wait for the same write.
   * @returns false if there is no room for it; null if another process was faster
   * @throws StateFault of a shared store; the reason of the signal, of a caller that has given up
   */
  async #take(request: Uncounted, isAgain: boolean): Promise<boolean | null> {
    const { kind, api, signal } = request;
    if (signal?.aborted === true) throw reasonOf(signal);
    const isOutdated = this.#isContended && this.#clock.monotonic() - this.#knownAt > outdatedMs;
    const isMissing = !this.#isLoaded && (kind === 'command' || this.#reservations[api].left === 0);
    if (isAgain || isOutdated || isMissing) await this.#load().catch(this.#unlessNeeded);
    const begun = this.#clock.monotonic();
    if (this.#nextMoment(kind, api, begun).at > begun) return false;
    if (this.#useReserved(kind, api, begun)) return true;
    const isCommand = kind === 'command';
    const at = begun + this.#writeMs;
    this.#count(api, isCommand, at);
    const others = isCommand ? this.#countOthers(api, begun, at) : [];
    const count = 1 + others.length;
    if (!isCommand) this.#planNext(api, begun);
    let isStored = false;
    try {
      isStored = await this.#storeNext(api);
    } finally {
      if (!isStored) this.#count(api, isCommand, at, -count);
    }
    if (!isStored) return null;
    for (const one of others) {
      one.isCounted = true;
      // Its own turn may come after a slow write, and it counts from now.
      one.end();
    }
    const sentAt = this.#clock.monotonic();
    this.#writeMs = sentAt - begun;
    if (Math.abs(sentAt - at) > wayMs / 4) {
      // The write took longer or less long than expected: the request is counted again from when it
      // is sent, because otherwise it would leave the window too early or too late. If too early,
      // the others need the new time.
      this.#count(api, isCommand, at, -count);
      this.#count(api, isCommand, sentAt, count);
      if (sentAt > at) this.#options.presence.forOthers(() => void this.#store());
    }
    if (isCommand) this.#commandsCounted += count;
    else this.#reservations[api].sent += 1;
    return true;
  }

  /**
   * Counts the commands that wait for the same write, so that commands to many cars need few
   * writes: at most as many together as this process has counted before, so that one that crashes
   * again and again is charged at most twice, as with reserved reads.
   */
  #countOthers(api: ApiName, time: number, at: number): Uncounted[] {
    const others: Uncounted[] = [];
    for (const one of this.#uncounted) {
      if (others.length + 1 >= this.#commandsCounted || this.#nextMoment('command', api, time).at > time) break;
      if (one.isCounted || one.kind !== 'command' || one.api !== api || one.signal?.aborted === true) continue;
      this.#count(api, true, at);
      others.push(one);
    }
    return others;
  }

  /** @param count less than 0: it was not sent */
  #count(api: ApiName, isCommand: boolean, time: number, count = 1): void {
    this.#counts.add(api, isCommand, time, count);
    this.#own.add(api, isCommand, time, count);
  }

  /** A full or missing disk must not stop requests: the next ones are stored again. */
  readonly #unlessNeeded = (error: unknown): true => {
    if (this.#options.presence.canDoWithout(error)) return true;
    throw error;
  };

  /** Stores what this process knows, as soon as the store can be reached. Never rejects. */
  #store(): Promise<void> {
    return this.#options.presence.eventually(this.#storeNow);
  }

  /**
   * The same function for all calls, so that `presence.eventually` keeps it only once while the
   * store fails.
   */
  readonly #storeNow = (): Promise<true> =>
    this.#changes.run(() =>
      retryOnConflict(async (isAgain) => {
        if (isAgain || !this.#isLoaded) await this.#load();
        return (await this.#write()) || null;
      }, this.#clock),
    );

  /** @returns false if another process was faster */
  async #write(): Promise<boolean> {
    // Stored counts that were not read yet are not overwritten.
    if (!this.#isLoaded) return true;
    const { store, key } = this.#options;
    const record = this.#toRecord();
    const version = await store.write(key, record, { expected: this.#version });
    if (version === null) return false;
    this.#version = version;
    this.#epoch = record.epoch;
    this.#writtenEpoch = record.epoch;
    this.#knownAt = this.#clock.monotonic();
    return true;
  }

  #toRecord(): QuotaRecord {
    const time = this.#clock.monotonic();
    const signed = this.#ownLimits;
    // Other processes must keep to the limits of this one.
    if (signed !== null)
      this.#options.presence.forOthers(() => this.#counts.noteProcess(this.#name, signed, this.#own, time));
    return this.#counts.toRecord(time, {
      savedAt: this.#options.presence.now(),
      uptime: this.#clock.uptime(),
      epoch: this.#epoch || randomBytes(6).toString('base64url'),
      reserved: byName(apiNames, (api) => this.#reservations[api].left + this.#reservations[api].next),
    });
  }

  #begin(): Promise<void> {
    return this.#changes.run(async () => {
      // The service counts as well, and refuses requests beyond the quota, so requests are sent
      // although the files cannot be read.
      if (!this.#hasBegun) await this.#load().catch(this.#unlessNeeded);
      this.#hasBegun = true;
    });
  }

  /** @throws StateFault */
  async #load(): Promise<void> {
    const { presence, store, key } = this.#options;
    await presence.renew();
    const { value: record, version } = await readForUpdate(store, key, quotaShape);
    const time = this.#clock.monotonic();
    const epoch = record?.epoch ?? '';
    const isOther = epoch !== this.#epoch;
    if (record !== null && (version !== this.#version || isOther)) {
      // A clock may have been set: a newer record is not older than the last access to it. Of an
      // earlier copy, this age is too small, so that its counts leave too late.
      const longest = this.#isLoaded ? time - this.#knownAt : Infinity;
      const others = isOther ? [] : this.#counts.processes.filter(({ process }) => process && process !== this.#name);
      this.#counts.load(record, time, Math.min(presence.ageOf(record), longest), others);
      // The store may have gone back to an earlier copy, or another process begun a new record.
      this.#counts.addLost(this.#name, this.#own, epoch === this.#writtenEpoch, time);
    } else if (record === null && isOther) {
      this.#counts.clear();
      this.#counts.addLost(this.#name, this.#own, false, time);
    }
    if (isOther && this.#epoch !== '') this.#settlesAt = time + recountMs;
    this.#epoch = epoch;
    this.#isContended = this.#isLoaded && version !== this.#version;
    this.#version = version;
    this.#isLoaded = true;
    this.#knownAt = time;
  }
}
