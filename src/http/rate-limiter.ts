import * as z from 'zod/mini';
import { apiNames, type ApiName } from '../catalogue/reads';
import { cancelledError, VehicleError } from '../errors';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { DirectoryInUse } from '../state/owner';
import type { Membership } from '../state/membership';
import { readUndamaged, type StateStore } from '../state/state-store';
import { isoTime } from './token-source';
import { raceAbort, reasonOf } from '../util/abort';
import type { Clock } from '../util/clock';
import { byName } from '../util/json';
import { pauseShape, SharedQuota, type Quota, type RateLimitCode, type SharedCounts } from './shared-quota';

/** `follow` is a read on behalf of a command: it may use what is reserved for commands, and counts as no command. */
export type RequestKind = 'read' | 'follow' | 'command';

export interface AcquireOptions {
  api: ApiName;
  /** Until when the request may wait, in monotonic time. One that has passed fails at once where the request cannot be sent now. */
  deadline: number;
  signal?: AbortSignal | undefined;
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
  /** ISO-8601: until when the connected vehicle API is blocked; null where it is not. */
  blockedUntil: string | null;
  rateLimitCode: RateLimitCode | null;
  waiting: number;
  apis: Record<ApiName, { usedToday: number; blockedUntil: string | null }>;
}

interface RateLimiterOptions {
  /** The share of the minute and of the day that plain reads leave to commands. Default 0.04. */
  reserveForCommands?: number;
  clock: Clock;
  /** Stores the counts, so that they outlive a restart. */
  store: Pick<StateStore, 'read' | 'write'>;
  /** Of this process in `store`, where it shares the counts with others. Default: it is the only one. */
  membership?: Membership | null;
  /** The key of the counts in `store`. */
  key: string;
}

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const dayBucket = 5 * minute;
/** The most requests to one API that are stored before they are sent. */
const maxReserved = 20;

/** In the order in which waiting requests are served. */
const kinds = ['command', 'follow', 'read'] as const satisfies readonly RequestKind[];

const number = z.number().check(z.nonnegative());
const pairs = z.array(z.tuple([number, number]));
/** Wall time in milliseconds since 1970; counts as pairs of age and count. */
const stored = z.lazy(() =>
  z.object({
    savedAt: z.number(),
    minute: pairs,
    commands: pairs,
    apis: z.record(z.enum(apiNames), z.object({ day: pairs, reserved: number, block: z.nullable(pauseShape) })),
  }),
);
type Stored = z.infer<typeof stored>;

/** The limits in the order in which they are checked: of two that delay a request equally, the first is named. */
const limits = [
  { of: 'requestsPerMinute', code: 'RATE_LIMITED', what: 'requests a minute' },
  { of: 'commandsPerMinute', code: 'RATE_LIMITED', what: 'commands a minute' },
  { of: 'requestsPerDay', code: 'QUOTA_SPENT', what: 'requests a day' },
] as const satisfies readonly { of: keyof Quota; code: RateLimitCode; what: string }[];

const quotaNames = limits.map(({ of }) => of);

interface ApiState {
  /** What each limit counts; those of a minute are the same for all APIs. */
  windows: Readonly<Record<keyof Quota, SlidingWindow>>;
  /** The requests of the last reservation that are stored and not sent yet. */
  reserved: number;
  /** The size of the last reservation. */
  reservation: number;
  /** Fulfilled when the last reservation is stored. */
  storing: Promise<void>;
  /** The block that the service has ordered; `until` in monotonic time. */
  block: { code: RateLimitCode; until: number } | null;
}

interface Waiter {
  api: ApiName;
  /** In monotonic time. */
  deadline: number;
  signal: AbortSignal | undefined;
  /** Takes it out of the queue, and ends its wait with this result; does nothing the second time. */
  end(result: VehicleError | Promise<void>): void;
}

/** The earliest moment at which a request can be sent, and what delays it. */
interface Slot {
  at: number;
  code: RateLimitCode;
  reason: Sentence;
}

const none = asSentence('Too many requests wait');
const blockReasons = {
  RATE_LIMITED: 'The service asked for a pause',
  QUOTA_SPENT: 'The service says that the quota of this API key is spent',
} as const satisfies Record<RateLimitCode, string>;

/**
 * Decides when a request of one API key may be sent: requests for each day and API, requests and commands for each minute, all
 * in sliding windows. Requests that cannot be sent now wait in order, commands first.
 *
 * Requests are stored before they are sent: the first one of a process alone, then 2, 4, at most 20 at once. A process that crashes again and
 * again is charged for what it sent, at most twice.
 */
export class RateLimiter {
  readonly #options: Required<RateLimiterOptions>;
  readonly #clock: Clock;
  readonly #minute = new SlidingWindow(minute, second);
  readonly #commands = new SlidingWindow(minute, second);
  readonly #apis: Record<ApiName, ApiState>;
  /** Null where no other process counts. */
  readonly #shared: SharedQuota | null;
  /** The limits of each account. */
  readonly #users = new Set<Quota>();
  readonly #waiting: Record<RequestKind, Set<Waiter>> = { command: new Set(), follow: new Set(), read: new Set() };
  /** Settled when the stored counts were read or could not be read; null before the first attempt. */
  #beginning: Promise<void> | null = null;
  #hasBegun = false;
  /** Stored counts that were not read yet are not overwritten. */
  #isLoaded = false;
  #timer: { at: number; cancel: () => void } | null = null;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: RateLimiterOptions) {
    const { clock, key, membership = null } = options;
    this.#options = { reserveForCommands: 0.04, ...options, membership };
    this.#clock = clock;
    this.#apis = byName(apiNames, () => ({
      windows: {
        requestsPerMinute: this.#minute,
        commandsPerMinute: this.#commands,
        requestsPerDay: new SlidingWindow(day, dayBucket),
      },
      reserved: 0,
      reservation: 0,
      storing: Promise.resolve(),
      block: null,
    }));
    this.#shared =
      membership &&
      new SharedQuota({
        membership,
        key,
        clock,
        limits: () => (this.#users.size === 0 ? null : byName(quotaNames, (of) => this.#limit(of, []))),
        onCounts: (...counts) => this.#setCounts(...counts),
      });
  }

  /**
   * Adds an account with its limits: of several accounts, the strictest limits hold.
   * @returns ends its use; the last account rejects every waiting request with CANCELLED, and stores the counts
   */
  use(own: Quota): () => Promise<void> {
    const user = { ...own };
    this.#users.add(user);
    if (!this.#hasBegun) this.#begin().catch(() => undefined);
    return async () => {
      if (!this.#users.delete(user)) return;
      if (this.#users.size > 0) return this.#serveWaiting();
      for (const kind of kinds) for (const waiter of this.#waiting[kind]) waiter.end(cancelledError());
      if (this.#shared !== null) return this.#shared.end().catch(() => undefined);
      for (const api of apiNames) this.#apis[api].reserved = 0;
      await this.#save();
    };
  }

  /** @param others the limits of other processes */
  #limit(of: keyof Quota, others = this.#shared?.limits ?? []): number {
    return Math.min(...[...this.#users, ...others].map((quota) => quota[of]));
  }

  /**
   * Waits until a request of this kind may be sent, and counts it.
   * @throws VehicleError QUOTA_SPENT or RATE_LIMITED, with `retryAt`, where the wait would be too long; CANCELLED;
   * CONFIG while another process uses the directory of the counts
   */
  async acquire(kind: RequestKind, options: AcquireOptions): Promise<void> {
    if (!this.#hasBegun) await raceAbort(this.#begin(), options.signal);
    if (this.#users.size === 0) throw cancelledError();
    if (options.signal?.aborted === true) throw reasonOf(options.signal);
    await this.#wait(kind, options);
  }

  /** Begins to read what other processes have counted. The next request waits for this, and then needs only one access to the store. */
  refresh(): void {
    this.#saving = this.#saving.then(() => this.#shared?.load()).catch(() => undefined);
  }

  /**
   * Blocks requests until a time that the service has named, a day at most. A spent quota blocks its API, a rate limit every API.
   * A later call never shortens a block.
   */
  blockUntil(code: RateLimitCode, until: Date, api: ApiName): void {
    const time = this.#clock.monotonic();
    const wait = until.getTime() - this.#clock.now();
    const at = time + Math.min(Number.isNaN(wait) ? minute : wait, day);
    const apis = code === 'QUOTA_SPENT' ? [api] : apiNames;
    for (const name of apis) {
      const state = this.#apis[name];
      if (at > Math.max(time, state.block?.until ?? 0)) state.block = { code, until: at };
    }
    // The block is stored at once: neither the next process after a crash nor another process may send.
    if (this.#shared === null) void this.#save();
    else void this.#shared.pause(code, this.#wallTimeOf(at), apis);
    this.#serveWaiting();
  }

  /** Until when the service has blocked an API, in milliseconds since 1970; null where it has not. */
  blockedUntil(api: ApiName): number | null {
    const { block } = this.#apis[api];
    return block === null || block.until <= this.#clock.monotonic() ? null : this.#wallTimeOf(block.until);
  }

  snapshot(): QuotaSnapshot {
    const time = this.#clock.monotonic();
    const requestsPerDay = this.#limit('requestsPerDay');
    const apis = byName(apiNames, (api) => ({
      usedToday: this.#apis[api].windows.requestsPerDay.total(time),
      blockedUntil: isoTime(this.blockedUntil(api)),
    }));
    return {
      ...apis.connected,
      rateLimitCode: apis.connected.blockedUntil === null ? null : (this.#apis.connected.block?.code ?? null),
      perDay: requestsPerDay,
      usedThisMinute: this.#minute.total(time),
      commandsThisMinute: this.#commands.total(time),
      readsPerDay: this.#leftToReads(requestsPerDay),
      readsPerMinute: this.#leftToReads(this.#limit('requestsPerMinute')),
      waiting: kinds.reduce((sum, kind) => sum + this.#waiting[kind].size, 0),
      apis,
    };
  }

  /** The requests of the last 24 hours to an API, as pairs of age in milliseconds and count, the oldest first. */
  sentToday(api: ApiName): [ageMs: number, count: number][] {
    return this.#apis[api].windows.requestsPerDay.entries(this.#clock.monotonic());
  }

  #leftToReads(size: number): number {
    return size - Math.min(Math.ceil(size * this.#options.reserveForCommands), Math.floor(size / 2));
  }

  /** Fulfilled when the request is stored: then it may be sent. */
  #count(kind: RequestKind, options: AcquireOptions, time: number): Promise<void> {
    const { api } = options;
    if (this.#shared !== null) return this.#countShared(this.#shared, kind, options);
    const state = this.#apis[api];
    for (const { of } of limits) if (kind === 'command' || of !== 'commandsPerMinute') state.windows[of].add(time);
    if (state.reserved > 0) state.reserved -= 1;
    else {
      const most = Math.min(maxReserved, Math.floor(this.#limit('requestsPerMinute') / 5));
      state.reservation = Math.max(1, Math.min(2 * state.reservation, most));
      state.reserved = state.reservation - 1;
      state.storing = this.#save();
    }
    return state.storing;
  }

  /** One at a time, so that the second one finds the block that the first has taken. */
  async #countShared(shared: SharedQuota, kind: RequestKind, options: AcquireOptions): Promise<void> {
    const { api } = options;
    const room = (): number => {
      if (this.blockedUntil(api) !== null) return 0;
      const time = this.#clock.monotonic();
      const left = limits
        .filter(({ of }) => kind === 'command' || of !== 'commandsPerMinute')
        .map(({ of }) => this.#size(of, kind, api) - this.#apis[api].windows[of].total(time));
      return Math.min(...left);
    };
    const taking = this.#saving.then(() => shared.take(api, kind === 'command', room));
    this.#saving = taking.then(
      () => undefined,
      () => undefined,
    );
    // Another process has taken the room that was left.
    if (!(await taking)) await this.#wait(kind, options, true);
  }

  #setCounts(counts: SharedCounts, toMonotonic: (storeTime: number) => number): void {
    this.#minute.replace(counts.minute.map(({ until, count }) => [toMonotonic(until), count]));
    this.#commands.replace(counts.commands.map((until) => [toMonotonic(until), 1]));
    for (const name of apiNames) {
      const { windows, block } = this.#apis[name];
      windows.requestsPerDay.replace(counts.day[name].map(([until, count]) => [toMonotonic(until), count]));
      const pause = counts.pauses[name];
      const until = pause === null ? 0 : toMonotonic(pause.until);
      if (pause !== null && until > (block?.until ?? this.#clock.monotonic()))
        this.#apis[name].block = { code: pause.code, until };
    }
  }

  /** How many requests a window may hold for one of this kind to be sent. */
  #size(of: keyof Quota, kind: RequestKind, api: ApiName): number {
    const limit = this.#limit(of);
    const size = kind === 'read' ? this.#leftToReads(limit) : limit;
    const used = this.#apis[api].windows[of].total(this.#clock.monotonic());
    return this.#shared?.size(of, api, size, used) ?? size;
  }

  /** The earliest moment for a request of this kind, if no other is sent before. */
  #nextSlot(kind: RequestKind, api: ApiName, time: number): Slot {
    const { windows, block } = this.#apis[api];
    if (kind !== 'command' && this.#shared?.hasBlock(api)) return { at: time, code: 'RATE_LIMITED', reason: none };
    let latest: Slot = { at: time, code: 'RATE_LIMITED', reason: none };
    for (const { of, code, what } of limits) {
      if (of === 'commandsPerMinute' && kind !== 'command') continue;
      const at = windows[of].freeAt(this.#size(of, kind, api), time);
      if (at > latest.at)
        latest = {
          at,
          code,
          reason: sentence`The limit of ${this.#limit(of).toLocaleString('en-US')} ${asSentence(what)} is reached`,
        };
    }
    if (block === null || block.until <= latest.at) return latest;
    return { at: block.until, code: block.code, reason: asSentence(blockReasons[block.code]) };
  }

  /** @param isAgain the caller stops waiting by itself when the signal is aborted */
  #wait(kind: RequestKind, { api, deadline, signal }: AcquireOptions, isAgain = false): Promise<void> {
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
          if (kinds.every((other) => this.#waiting[other].size === 0)) this.#cancelTimer();
          signal?.removeEventListener('abort', cancel);
          if (result instanceof VehicleError) reject(result);
          else resolve(isAgain ? result : raceAbort(result, signal));
        },
      };
      signal?.addEventListener('abort', cancel);
      this.#waiting[kind].add(waiter);
      this.#serveWaiting();
    });
  }

  #tooLong({ at, code, reason }: Slot): VehicleError {
    const retryAt = new Date(Math.ceil(this.#wallTimeOf(at)));
    const message = sentence`${reason}. The next request can be sent at ${clockTime(Math.ceil(retryAt.getTime() / minute) * minute, this.#clock.now())}.`;
    return new VehicleError(code, message, { retryAt });
  }

  #wallTimeOf(monotonic: number): number {
    return this.#clock.now() + monotonic - this.#clock.monotonic();
  }

  /** Admits the requests that can be sent, rejects those that would wait too long, and sets a timer for the rest. */
  #serveWaiting(): void {
    const time = this.#clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const kind of kinds) {
      /** The next slot of each API that can send nothing of this kind now. */
      const slots = new Map<ApiName, Slot>();
      for (const waiter of this.#waiting[kind]) {
        const slot = slots.get(waiter.api) ?? this.#nextSlot(kind, waiter.api, time);
        if (slot.at <= time) {
          waiter.end(this.#count(kind, waiter, time));
          continue;
        }
        slots.set(waiter.api, slot);
        if (slot.at > waiter.deadline) waiter.end(this.#tooLong(slot));
        else next = Math.min(next, slot.at);
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

  /** Fulfilled when the counts are stored, or cannot be. */
  #save(): Promise<void> {
    if (!this.#hasBegun) return this.#saving;
    const { store, key } = this.#options;
    this.#saving = this.#saving.then(async () => {
      try {
        if (!this.#isLoaded) await this.#load();
        await store.write(key, this.#toStore());
      } catch {
        // A full or missing disk must not stop requests: the next reservation is stored again.
      }
    });
    return this.#saving;
  }

  #toStore(): Stored {
    const time = this.#clock.monotonic();
    return {
      savedAt: this.#clock.now(),
      minute: this.#minute.entries(time),
      commands: this.#commands.entries(time),
      apis: byName(apiNames, (name) => {
        const { windows, reserved, block } = this.#apis[name];
        return {
          day: windows.requestsPerDay.entries(time),
          reserved,
          block: block && { ...block, until: this.#wallTimeOf(block.until) },
        };
      }),
    };
  }

  #begin(): Promise<void> {
    this.#beginning ??= this.#load()
      .catch((error: unknown) => {
        if (error instanceof DirectoryInUse) throw error;
        // The service counts as well, and refuses requests beyond the quota, so requests are sent although the store cannot be read.
      })
      .then(() => {
        this.#hasBegun = true;
      })
      .finally(() => {
        this.#beginning = null;
      });
    return this.#beginning;
  }

  async #load(): Promise<void> {
    const { store, key } = this.#options;
    if (this.#shared !== null) return this.#shared.load();
    const state = stored.safeParse(await readUndamaged(store, key));
    if (state.success) this.#restore(state.data);
    this.#isLoaded = true;
  }

  #restore({ savedAt, minute: requests, commands, apis }: Stored): void {
    const time = this.#clock.monotonic();
    // Wall time may have been set since; then the counts are as old as they were when they were saved.
    const elapsed = Math.max(0, this.#clock.now() - savedAt);
    const older = (counts: [number, number][]): [number, number][] =>
      counts.map(([age, count]) => [age + elapsed, count]);
    this.#minute.restore(older(requests), time);
    this.#commands.restore(older(commands), time);
    for (const name of apiNames) {
      const { day: counts, reserved, block } = apis[name];
      // A process that crashed may have sent what it had stored.
      this.#apis[name].windows.requestsPerDay.restore(older([...counts, [0, reserved]]), time);
      this.#minute.restore(older([[0, reserved]]), time);
      if (block === null) continue;
      this.#apis[name].block = { code: block.code, until: time + Math.min(block.until - savedAt, day) - elapsed };
    }
  }
}

/**
 * Counts events of a sliding time window in buckets: bounded memory however many are counted. A bucket leaves as a whole when its last
 * event has left, so the count is never too low, and too high by at most one bucket of time.
 */
export class SlidingWindow {
  readonly #spanMs: number;
  readonly #bucketMs: number;
  /** The number of events by the time at which the last one of their bucket leaves the span, in no order. */
  readonly #counts = new Map<number, number>();

  /** @param spanMs a multiple of `bucketMs` */
  constructor(spanMs: number, bucketMs: number) {
    this.#spanMs = spanMs;
    this.#bucketMs = bucketMs;
  }

  /** The number of events in the span that ends at `time`. Times must be monotonic. */
  total(time: number): number {
    let total = 0;
    for (const [end, count] of this.#counts)
      if (end <= time) this.#counts.delete(end);
      else total += count;
    return total;
  }

  add(time: number, count = 1): void {
    const end = (Math.floor(time / this.#bucketMs) + 1) * this.#bucketMs + this.#spanMs;
    this.#counts.set(end, (this.#counts.get(end) ?? 0) + count);
  }

  /** Takes the place of what was counted: pairs of the time at which events leave the span, and their number. */
  replace(pairs: readonly (readonly [until: number, count: number])[]): void {
    this.#counts.clear();
    for (const [until, count] of pairs) this.add(until - this.#spanMs, count);
  }

  /** When fewer than `size` events are left, if none is added. */
  freeAt(size: number, time: number): number {
    let left = this.total(time);
    if (left < size) return time;
    for (const [end, count] of this.#sorted()) {
      left -= count;
      if (left < size) return end;
    }
    return time + this.#spanMs;
  }

  /** Pairs of the least possible age in milliseconds and count, oldest first: the form in which the counts are stored. */
  entries(time: number): [ageMs: number, count: number][] {
    this.total(time);
    return this.#sorted().map(([end, count]) => [Math.max(0, Math.floor(time - end + this.#spanMs)), count]);
  }

  /** Adds stored pairs; those that have left the span since are dropped with the next use. */
  restore(pairs: readonly (readonly [ageMs: number, count: number])[], time: number): void {
    for (const [ageMs, count] of pairs) this.add(time - ageMs, count);
  }

  #sorted(): [end: number, count: number][] {
    return [...this.#counts].sort(([one], [other]) => one - other);
  }
}
