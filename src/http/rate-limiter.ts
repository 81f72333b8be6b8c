import * as z from 'zod/mini';
import { apiNames, type ApiName } from '../catalogue/reads';
import { cancelledError, VehicleError } from '../errors';
import { asSentence, clockTime, sentence } from '../sentence';
import { DirectoryInUse } from '../state/owner';
import { readUndamaged, type StateStore } from '../state/state-store';
import { raceAbort, reasonOf } from '../util/abort';
import type { Clock } from '../util/clock';
import { SlidingWindow } from './window';

/** The limits of one API key (docs/message-contract.md 2). */
export interface Quota {
  /** The limit of each API by itself. */
  requestsPerDay: number;
  /** The limit of all APIs together, as the next one. */
  requestsPerMinute: number;
  commandsPerMinute: number;
}

/** `follow` is a read on behalf of a command: it may use what is reserved for commands, and counts as no command. */
export type RequestKind = 'read' | 'follow' | 'command';

/** The error code of the requests that the limiter refuses while nothing may be sent. */
export type RateLimitCode = 'RATE_LIMITED' | 'QUOTA_SPENT';

export interface AcquireOptions {
  api: ApiName;
  /** Until when the request may wait, in monotonic time. One that has passed fails at once where the request cannot be sent now. */
  deadline: number;
  signal?: AbortSignal | undefined;
}

/** The use of one API key, for the dialog ("1,204 of 10,000 today") and for diagnostics. */
export interface QuotaSnapshot {
  /** The requests to the connected vehicle API; `apis` has those of every API. */
  usedToday: number;
  perDay: number;
  usedThisMinute: number;
  perMinute: number;
  commandsThisMinute: number;
  commandsPerMinute: number;
  /** The part of day and minute that plain reads may use; the rest is reserved for commands. */
  readsPerDay: number;
  readsPerMinute: number;
  /** ISO-8601: until when the connected vehicle API is blocked; null where it is not. */
  blockedUntil: string | null;
  rateLimitCode: RateLimitCode | null;
  waiting: number;
  apis: Record<ApiName, { usedToday: number; blockedUntil: string | null }>;
}

export type CountStore = Pick<StateStore, 'read' | 'write'>;

export interface RateLimiterOptions extends Quota {
  /** The share of the minute and of the day that plain reads leave to commands. */
  reserveForCommands: number;
  clock: Clock;
  /** Stores the counts, so that they outlive a restart; null where nothing is stored. */
  store: CountStore | null;
  /** The key of the counts in `store`. */
  key: string;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const dayBucket = 5 * minute;
/** The most requests to one API that are stored before they are sent. */
const maxReserved = 20;
/** Waits end with this precision, so that many of them need few timers. */
const deadlineGrainMs = 100;

/** In the order in which waiting requests are served. */
const kinds = ['command', 'follow', 'read'] as const satisfies readonly RequestKind[];

const number = z.number().check(z.nonnegative());
const pairs = z.array(z.tuple([number, number]));
const blockShape = z.object({ code: z.enum(['RATE_LIMITED', 'QUOTA_SPENT']), until: z.number() });
/** Wall time in milliseconds since 1970; counts as pairs of age and count. */
const stored = z.lazy(() =>
  z.object({
    savedAt: z.number(),
    minute: pairs,
    commands: pairs,
    apis: z.record(z.enum(apiNames), z.object({ day: pairs, reserved: number, block: z.nullable(blockShape) })),
  }),
);
type Stored = z.infer<typeof stored>;

interface Limit {
  window: SlidingWindow;
  of: keyof Quota;
  code: RateLimitCode;
  what: string;
}

interface ApiState {
  day: SlidingWindow;
  limits: readonly Limit[];
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
  kind: RequestKind;
  api: ApiName;
  /** In monotonic time. */
  deadline: number;
  settle(result: VehicleError | Promise<void>): void;
}

/** The earliest moment at which a request can be sent, and what delays it. */
interface Slot {
  at: number;
  code: RateLimitCode;
  /** Null where nothing but the requests in front delays it. */
  cause: Limit | 'block' | null;
}

const blockReasons = {
  RATE_LIMITED: 'The service asked for a pause',
  QUOTA_SPENT: 'The service says that the quota of this API key is spent',
} as const satisfies Record<RateLimitCode, string>;

const granted = Promise.resolve();

/**
 * Decides when a request of one API key may be sent: requests for each day and API, requests and commands for each minute, all
 * in sliding windows. Requests that cannot be sent now wait in order, commands first.
 *
 * Requests are stored before they are sent: the first one of a process alone, then 2, 4, at most 20 at once. A process that crashes again and
 * again is charged for what it sent, at most twice.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #reserve: number;
  readonly #store: CountStore | null;
  readonly #key: string;
  readonly #minute = new SlidingWindow(minute, second);
  readonly #commands = new SlidingWindow(minute, second);
  readonly #apis: Record<ApiName, ApiState>;
  #quota: Quota;
  readonly #waiting: Record<RequestKind, Set<Waiter>> = { command: new Set(), follow: new Set(), read: new Set() };
  #loading: Promise<void> | null;
  /** Stored counts that were not read yet are not overwritten. */
  #isLoaded = false;
  #isClosed = false;
  #timer: { at: number; cancel: () => void } | null = null;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: RateLimiterOptions) {
    const { clock, reserveForCommands, store, key } = options;
    this.#clock = clock;
    this.#reserve = reserveForCommands;
    this.#store = store;
    this.#key = key;
    this.#quota = options;
    const minuteLimits: Limit[] = [
      { window: this.#minute, of: 'requestsPerMinute', code: 'RATE_LIMITED', what: 'requests a minute' },
      { window: this.#commands, of: 'commandsPerMinute', code: 'RATE_LIMITED', what: 'commands a minute' },
    ];
    const apiState = (): ApiState => {
      const window = new SlidingWindow(day, dayBucket);
      const dayLimit: Limit = { window, of: 'requestsPerDay', code: 'QUOTA_SPENT', what: 'requests a day' };
      const limits = [...minuteLimits, dayLimit];
      return { day: window, limits, reserved: 0, reservation: 0, storing: granted, block: null };
    };
    this.#apis = { connected: apiState(), energy: apiState(), location: apiState() };
    this.#loading = store === null ? null : this.#begin(store);
    this.#loading?.catch(() => undefined);
  }

  /**
   * Waits until a request of this kind may be sent, and counts it.
   * @throws VehicleError QUOTA_SPENT or RATE_LIMITED, with `retryAt`, where the wait would be too long; CANCELLED;
   * CONFIG while another process uses the directory of the counts
   */
  async acquire(kind: RequestKind, options: AcquireOptions): Promise<void> {
    if (this.#loading !== null) await raceAbort(this.#loading, options.signal);
    if (this.#isClosed) throw cancelledError();
    if (options.signal?.aborted === true) throw reasonOf(options.signal);
    const { api } = options;
    const time = this.#clock.monotonic();
    if (this.#isBehindOthers(kind) || this.#nextSlot(kind, api, time).at > time) return this.#wait(kind, time, options);
    await raceAbort(this.#count(kind, api, time), options.signal);
  }

  /**
   * Blocks requests until a time that the service has named, a day at most. A spent quota blocks its API, a rate limit every API.
   * A later call never shortens a block.
   */
  blockUntil(code: RateLimitCode, until: Date, api: ApiName): void {
    const time = this.#clock.monotonic();
    const wait = until.getTime() - this.#clock.now();
    const at = time + Math.min(Number.isNaN(wait) ? minute : wait, day);
    for (const name of code === 'QUOTA_SPENT' ? [api] : apiNames) {
      const state = this.#apis[name];
      if (at > Math.max(time, state.block?.until ?? 0)) state.block = { code, until: at };
    }
    // The block is stored at once: after a crash, the next process must not go on sending.
    void this.#save();
    this.#serveWaiting();
  }

  /** Replaces the limits; the counts stay. */
  setLimits(quota: Quota): void {
    this.#quota = quota;
    this.#serveWaiting();
  }

  snapshot(): QuotaSnapshot {
    const time = this.#clock.monotonic();
    const { requestsPerDay, requestsPerMinute, commandsPerMinute } = this.#quota;
    const use = (api: ApiName): QuotaSnapshot['apis'][ApiName] => ({
      usedToday: this.#apis[api].day.total(time),
      blockedUntil: this.#isBlocked(api, time)
        ? new Date(this.#wallTimeOf(this.#apis[api].block?.until ?? time)).toISOString()
        : null,
    });
    const apis = { connected: use('connected'), energy: use('energy'), location: use('location') };
    return {
      ...apis.connected,
      rateLimitCode: apis.connected.blockedUntil === null ? null : (this.#apis.connected.block?.code ?? null),
      perDay: requestsPerDay,
      usedThisMinute: this.#minute.total(time),
      perMinute: requestsPerMinute,
      commandsThisMinute: this.#commands.total(time),
      commandsPerMinute,
      readsPerDay: this.#leftToReads(requestsPerDay),
      readsPerMinute: this.#leftToReads(requestsPerMinute),
      waiting: kinds.reduce((sum, kind) => sum + this.#waiting[kind].size, 0),
      apis,
    };
  }

  /** Rejects every waiting request with CANCELLED, and stores the counts. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const kind of kinds) for (const waiter of this.#waiting[kind]) this.#end(waiter, cancelledError());
    for (const api of apiNames) this.#apis[api].reserved = 0;
    await this.#save();
  }

  #leftToReads(size: number): number {
    return size - Math.min(Math.ceil(size * this.#reserve), Math.floor(size / 2));
  }

  #isBlocked(api: ApiName, time: number): boolean {
    return (this.#apis[api].block?.until ?? 0) > time;
  }

  /** Fulfilled when the request is stored: then it may be sent. */
  #count(kind: RequestKind, api: ApiName, time: number): Promise<void> {
    const state = this.#apis[api];
    this.#minute.add(time);
    state.day.add(time);
    if (kind === 'command') this.#commands.add(time);
    if (this.#store === null) return granted;
    if (state.reserved > 0) state.reserved -= 1;
    else {
      const most = Math.min(maxReserved, Math.floor(this.#quota.requestsPerMinute / 5));
      state.reservation = Math.max(1, Math.min(2 * state.reservation, most));
      state.reserved = state.reservation - 1;
      state.storing = this.#save();
    }
    return state.storing;
  }

  /** The earliest moment for a request of this kind, if no other is sent before. */
  #nextSlot(kind: RequestKind, api: ApiName, time: number): Slot {
    const { limits, block } = this.#apis[api];
    let latest: Slot = { at: time, code: 'RATE_LIMITED', cause: null };
    for (const limit of limits) {
      if (limit.of === 'commandsPerMinute' && kind !== 'command') continue;
      const size = this.#quota[limit.of];
      const at = limit.window.freeAt(kind === 'read' ? this.#leftToReads(size) : size, time);
      if (at > latest.at) latest = { at, code: limit.code, cause: limit };
    }
    return block !== null && block.until > latest.at ? { at: block.until, code: block.code, cause: 'block' } : latest;
  }

  #isBehindOthers(kind: RequestKind): boolean {
    return kinds.slice(0, kinds.indexOf(kind) + 1).some((other) => this.#waiting[other].size > 0);
  }

  #wait(kind: RequestKind, time: number, { api, deadline, signal }: AcquireOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        if (signal !== undefined) this.#end(waiter, reasonOf(signal));
      };
      const waiter: Waiter = {
        kind,
        api,
        deadline,
        settle: (result) => {
          signal?.removeEventListener('abort', cancel);
          if (result instanceof VehicleError) reject(result);
          else resolve(raceAbort(result, signal));
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting[kind].add(waiter);
      const slot = this.#nextSlot(kind, api, time);
      if (slot.at > waiter.deadline) this.#end(waiter, this.#tooLong(slot));
      // Only waiting requests are in front of this one: they, or this one, can be sent now.
      else if (slot.at <= time) this.#serveWaiting();
      else this.#wakeAt(Math.min(slot.at, roundedUpToGrain(waiter.deadline)));
    });
  }

  #tooLong({ at, code, cause }: Slot): VehicleError {
    const retryAt = new Date(Math.ceil(this.#wallTimeOf(at)));
    const reason =
      cause === null
        ? 'Too many requests wait'
        : cause === 'block'
          ? blockReasons[code]
          : `The limit of ${withThousands(this.#quota[cause.of])} ${cause.what} is reached`;
    const message = sentence`${asSentence(reason)}. The next request can be sent at ${clockTime(Math.ceil(retryAt.getTime() / minute) * minute, this.#clock.now())}.`;
    return new VehicleError(code, message, { retryAt });
  }

  #wallTimeOf(monotonic: number): number {
    return this.#clock.now() + monotonic - this.#clock.monotonic();
  }

  #end(waiter: Waiter, result: VehicleError | Promise<void>): void {
    if (!this.#waiting[waiter.kind].delete(waiter)) return;
    if (kinds.every((kind) => this.#waiting[kind].size === 0)) this.#cancelTimer();
    waiter.settle(result);
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
          this.#end(waiter, this.#count(kind, waiter.api, time));
          continue;
        }
        slots.set(waiter.api, slot);
        if (slot.at > waiter.deadline || waiter.deadline <= time) this.#end(waiter, this.#tooLong(slot));
        else next = Math.min(next, slot.at, roundedUpToGrain(waiter.deadline));
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
    const store = this.#store;
    if (store === null || this.#loading !== null) return granted;
    this.#saving = this.#saving.then(async () => {
      try {
        if (!this.#isLoaded) await this.#load(store);
        await store.write(this.#key, this.#toStore());
      } catch {
        // A full or missing disk must not stop requests: the next reservation is stored again.
      }
    });
    return this.#saving;
  }

  #toStore(): Stored {
    const time = this.#clock.monotonic();
    const api = (name: ApiName): Stored['apis'][ApiName] => {
      const { day: window, reserved, block } = this.#apis[name];
      return {
        day: window.entries(time),
        reserved,
        block: block === null ? null : { code: block.code, until: this.#wallTimeOf(block.until) },
      };
    };
    return {
      savedAt: this.#clock.now(),
      minute: this.#minute.entries(time),
      commands: this.#commands.entries(time),
      apis: { connected: api('connected'), energy: api('energy'), location: api('location') },
    };
  }

  async #begin(store: CountStore): Promise<void> {
    try {
      await this.#load(store);
    } catch (error) {
      if (error instanceof DirectoryInUse) throw error;
      // The service counts as well, and refuses requests beyond the quota, so an unreadable store is no reason to send nothing.
    }
    this.#loading = null;
  }

  async #load(store: CountStore): Promise<void> {
    const state = stored.safeParse(await readUndamaged(store, this.#key));
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
      this.#apis[name].day.restore(older([...counts, [0, reserved]]), time);
      this.#minute.restore(older([[0, reserved]]), time);
      const left = block === null ? 0 : Math.min(block.until - savedAt, day) - elapsed;
      if (block !== null && left > 0) this.#apis[name].block = { code: block.code, until: time + left };
    }
  }
}

const roundedUpToGrain = (deadline: number): number => Math.ceil(deadline / deadlineGrainMs) * deadlineGrainMs;

/** Not `toLocaleString`, whose first call loads 6 MB of language data. */
const withThousands = (number: number): string =>
  number < 1000 || !Number.isFinite(number)
    ? String(number)
    : `${withThousands(Math.floor(number / 1000))},${String(number % 1000).padStart(3, '0')}`;
