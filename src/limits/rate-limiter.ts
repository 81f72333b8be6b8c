import * as z from 'zod/mini';
import { systemClock, type Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { reasonOf } from '../util/abort';
import { LateWriter } from './write-behind';
import { SlidingWindow } from './window';

/**
 * What may be sent with one API key, and when (contract 2, field notes 5): requests a minute and a day, commands a
 * minute, all in sliding windows. Whatever cannot be sent now waits in order, commands first.
 */
export interface Budget {
  /**
   * Waits until a request of this kind may be sent, and counts it.
   * @throws VehicleError QUOTA_SPENT or RATE_LIMITED, with `retryAt`, where the wait is longer than the patience; CANCELLED
   */
  take(kind: RequestKind, options?: TakeOptions): Promise<void>;
  /** The service said stop: nothing of this key is sent until then (at most a day). What waits goes on afterwards. */
  stop(code: StopCode, until: Date): void;
  /** Other limits from now on; what is counted stays. */
  limit(quota: Quota): void;
  snapshot(): BudgetSnapshot;
  /** Fails what waits with CANCELLED and stores the counts. */
  close(): Promise<void>;
}

/** Why nothing may be sent: the two codes of contract 6 that a stop can have. */
export type StopCode = 'RATE_LIMITED' | 'QUOTA_SPENT';

/** `follow`: a read that watches a command; it may use what is reserved for commands, but is none (field notes 2.2). */
export type RequestKind = 'read' | 'follow' | 'command';

export interface TakeOptions {
  /** The longest acceptable wait in ms; 0: now or never. */
  patienceMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** "1,204 of 10,000 today", and the rest for diagnostics. */
export interface BudgetSnapshot {
  usedToday: number;
  perDay: number;
  usedThisMinute: number;
  perMinute: number;
  commandsThisMinute: number;
  commandsPerMinute: number;
  /** What of day and minute plain reads may use: the rest is for commands. */
  readsPerDay: number;
  readsPerMinute: number;
  /** ISO-8601, or null where nothing was stopped. */
  stoppedUntil: string | null;
  stopCode: StopCode | null;
  waiting: number;
}

/** What the service grants one API key (contract 2). */
export interface Quota {
  requestsPerDay: number;
  requestsPerMinute: number;
  commandsPerMinute: number;
}

export interface BudgetOptions extends Quota {
  /** The share of the minute and of the day that plain reads leave to commands. */
  reserveForCommands?: number;
  clock?: Clock;
  /** What was last saved; undefined or anything unreadable: nothing is known to be used. */
  load?(): Promise<unknown>;
  /** Stores plain JSON data; a failure is tried again with the next change. */
  save?(data: unknown): Promise<void>;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const dayBucket = 5 * minute;
const defaultPatience = 30 * second;
const longestStop = 24 * hour;
/** How exactly a wait that became too long is ended, so that many waits need few wake-ups. */
const deadlineGrain = 100;

/** In the order in which waiting requests are served. */
const kinds = ['command', 'follow', 'read'] as const satisfies readonly RequestKind[];

const bucketPairs = z.array(z.tuple([z.int(), z.number().check(z.nonnegative())]));
const storedBudget = z.lazy(() =>
  z.object({
    version: z.literal(1),
    savedAt: z.number(),
    /** How many more may have been sent since: counted as sent where the end was not clean. */
    ahead: z.number().check(z.nonnegative()),
    minute: bucketPairs,
    commands: bucketPairs,
    day: bucketPairs,
    stop: z.nullable(z.object({ code: z.enum(['RATE_LIMITED', 'QUOTA_SPENT']), until: z.number() })),
  }),
);
type StoredBudget = z.infer<typeof storedBudget>;

/** One limit on one window. */
interface Limit {
  window: SlidingWindow;
  size: number;
  code: StopCode;
  name: string;
}

interface Waiter {
  kind: RequestKind;
  deadline: number;
  settle(error: VehicleError | null): void;
}

/** When it is a request's turn, and what it waits for. */
interface Turn {
  at: number;
  code: StopCode;
  reason: string;
}

const stopReasons = {
  RATE_LIMITED: 'The service asked for a pause',
  QUOTA_SPENT: 'The service says that the quota of this API key is spent',
} as const satisfies Record<StopCode, string>;

const granted = Promise.resolve();
/** Not `toLocaleString`: the first call of that loads 6 MB of language data. */
const count = (number: number): string =>
  number < 1000 || !Number.isFinite(number)
    ? String(number)
    : `${count(Math.floor(number / 1000))},${String(number % 1000).padStart(3, '0')}`;
/** With the day, where that is not plain. */
const clockTime = (at: number, now: number): string => {
  const day = new Date(at).toDateString();
  return `${day === new Date(now).toDateString() ? '' : `${day}, `}${new Date(at).toTimeString().slice(0, 8)}`;
};

export const createBudget = (options: BudgetOptions): Budget => new SlidingBudget(options);

class SlidingBudget implements Budget {
  readonly #options: BudgetOptions;
  readonly #clock: Clock;
  readonly #minute = new SlidingWindow(minute, second);
  readonly #commands = new SlidingWindow(minute, second);
  readonly #day = new SlidingWindow(24 * hour, dayBucket);
  #quota: Quota;
  #limits: Record<RequestKind, readonly Limit[]>;
  readonly #waiting: Record<RequestKind, Set<Waiter>> = { command: new Set(), follow: new Set(), read: new Set() };
  /** The sum of their sizes: the way of a request that need not wait looks at nothing else. */
  #waiters = 0;
  #stop: { code: StopCode; until: number } | null = null;
  /** Time as counted here never runs backwards, even where the clock is set back. */
  #time = Number.NEGATIVE_INFINITY;
  #shift = 0;
  #loading: Promise<void> | null;
  #closed = false;
  #alarm: AbortController | null = null;
  #alarmAt = Number.POSITIVE_INFINITY;
  readonly #writer: LateWriter | null;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#quota = options;
    this.#limits = this.#limitsOf(options);
    const { requestsPerDay, requestsPerMinute } = options;
    // As much as the seconds until the next write hold at a steady pace.
    const ahead = Math.ceil(Math.min(requestsPerMinute / 6, requestsPerDay / 100));
    this.#writer = options.save === undefined ? null : new LateWriter((more) => this.#save(more), ahead, this.#clock);
    this.#loading = options.load === undefined ? null : this.#load();
  }

  take(kind: RequestKind, options?: TakeOptions): Promise<void> {
    if (this.#closed) return Promise.reject(closedError());
    if (options?.signal?.aborted === true) return Promise.reject(reasonOf(options.signal));
    if (this.#loading !== null) return this.#loading.then(() => this.take(kind, options));
    const time = this.#now();
    const before = this.#waiters === 0 ? 0 : this.#waitingBefore(kind);
    if (before === 0 && this.#admits(kind, time)) {
      this.#count(kind, time);
      return granted;
    }
    return this.#wait(kind, before, time, options);
  }

  stop(code: StopCode, until: Date): void {
    const time = this.#now();
    const asked = until.getTime() + this.#shift;
    const at = Math.min(Number.isNaN(asked) ? time + minute : asked, time + longestStop);
    if (at <= Math.max(time, this.#stop?.until ?? 0)) return;
    this.#stop = { code, until: at };
    this.#writer?.important();
    this.#serve();
  }

  limit(quota: Quota): void {
    this.#quota = quota;
    this.#limits = this.#limitsOf(quota);
    if (this.#waiters > 0) this.#serve();
  }

  snapshot(): BudgetSnapshot {
    const time = this.#now();
    const stop = this.#stop !== null && this.#stop.until > time ? this.#stop : null;
    return {
      usedToday: this.#day.total(time),
      perDay: this.#quota.requestsPerDay,
      usedThisMinute: this.#minute.total(time),
      perMinute: this.#quota.requestsPerMinute,
      commandsThisMinute: this.#commands.total(time),
      commandsPerMinute: this.#quota.commandsPerMinute,
      readsPerDay: this.#leftToReads(this.#quota.requestsPerDay),
      readsPerMinute: this.#leftToReads(this.#quota.requestsPerMinute),
      stoppedUntil: stop === null ? null : new Date(stop.until - this.#shift).toISOString(),
      stopCode: stop?.code ?? null,
      waiting: this.#waiters,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const kind of kinds) for (const waiter of this.#waiting[kind]) this.#end(waiter, closedError());
    await this.#loading;
    await this.#writer?.close();
  }

  #limitsOf({ requestsPerDay, requestsPerMinute, commandsPerMinute }: Quota): Record<RequestKind, readonly Limit[]> {
    const limit = (window: SlidingWindow, size: number, code: StopCode, name: string): Limit => ({
      window,
      size,
      code,
      name,
    });
    const perMinute = limit(
      this.#minute,
      requestsPerMinute,
      'RATE_LIMITED',
      `${count(requestsPerMinute)} requests a minute`,
    );
    const perDay = limit(this.#day, requestsPerDay, 'QUOTA_SPENT', `${count(requestsPerDay)} requests a day`);
    return {
      command: [
        limit(this.#commands, commandsPerMinute, 'RATE_LIMITED', `${count(commandsPerMinute)} commands a minute`),
        perMinute,
        perDay,
      ],
      follow: [perMinute, perDay],
      read: [
        { ...perMinute, size: this.#leftToReads(requestsPerMinute) },
        { ...perDay, size: this.#leftToReads(requestsPerDay) },
      ],
    };
  }

  #leftToReads(size: number): number {
    const { reserveForCommands = 0.04 } = this.#options;
    return size - Math.min(Math.ceil(size * reserveForCommands), Math.floor(size / 2));
  }

  /** The clock's time, held so that it never runs backwards. */
  #now(): number {
    const time = this.#clock.now() + this.#shift;
    if (time >= this.#time) this.#time = time;
    else this.#shift += this.#time - time;
    return this.#time;
  }

  #admits(kind: RequestKind, time: number): boolean {
    if (this.#stop !== null) {
      if (this.#stop.until > time) return false;
      this.#stop = null;
    }
    for (const { window, size } of this.#limits[kind]) if (window.total(time) >= size) return false;
    return true;
  }

  #count(kind: RequestKind, time: number): void {
    this.#minute.add(time);
    this.#day.add(time);
    if (kind === 'command') this.#commands.add(time);
    this.#writer?.changed();
  }

  /** The earliest time for a request with so many of its kind before it, and what makes it wait. */
  #earliest(kind: RequestKind, before: number, time: number): Turn {
    let earliest: Turn = { at: time, code: 'RATE_LIMITED', reason: '' };
    if (this.#stop !== null && this.#stop.until > time) {
      earliest = { at: this.#stop.until, code: this.#stop.code, reason: stopReasons[this.#stop.code] };
    }
    for (const { window, size, code, name } of this.#limits[kind]) {
      const rank = window.total(time) + before - size;
      if (rank < 0) continue;
      const at = size > 0 ? window.placeAt(rank, size, time) : time + longestStop;
      if (at > earliest.at) earliest = { at, code, reason: `The limit of ${name} is reached` };
    }
    return earliest;
  }

  /** How many are served before a new request of this kind. */
  #waitingBefore(kind: RequestKind): number {
    let before = 0;
    for (const other of kinds) {
      before += this.#waiting[other].size;
      if (other === kind) break;
    }
    return before;
  }

  #wait(
    kind: RequestKind,
    before: number,
    time: number,
    { patienceMs = defaultPatience, signal }: TakeOptions = {},
  ): Promise<void> {
    const turn = this.#earliest(kind, before, time);
    const deadline = time + patienceMs;
    if (turn.at > deadline) return Promise.reject(this.#tooLong(turn));
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        if (signal !== undefined) this.#end(waiter, reasonOf(signal));
      };
      const waiter: Waiter = {
        kind,
        deadline,
        settle: (error) => {
          signal?.removeEventListener('abort', stop);
          if (error === null) resolve();
          else reject(error);
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting[kind].add(waiter);
      this.#waiters += 1;
      this.#wakeAt(Math.min(this.#earliest(kind, 0, time).at, grained(deadline)));
    });
  }

  #tooLong({ at, code, reason }: Turn): VehicleError {
    const retryAt = new Date(at - this.#shift);
    return new VehicleError(
      code,
      `${reason}. The next request can be sent at ${clockTime(retryAt.getTime(), this.#clock.now())}.`,
      { retryAt },
    );
  }

  #end(waiter: Waiter, error: VehicleError | null): void {
    if (!this.#waiting[waiter.kind].delete(waiter)) return;
    this.#waiters -= 1;
    if (this.#waiters === 0) this.#disarm();
    waiter.settle(error);
  }

  /** Serves whose turn it is, ends what waited too long, and sets the alarm for the rest. */
  #serve(): void {
    const time = this.#now();
    let next = Number.POSITIVE_INFINITY;
    let before = 0;
    for (const kind of kinds) {
      for (const waiter of this.#waiting[kind]) {
        if (!this.#admits(kind, time)) break;
        this.#count(kind, time);
        this.#end(waiter, null);
      }
      if (this.#waiting[kind].size === 0) continue;
      const turn = this.#earliest(kind, before, time);
      next = Math.min(next, turn.at);
      for (const waiter of this.#waiting[kind]) {
        if (waiter.deadline < turn.at) this.#end(waiter, this.#tooLong(turn));
        else next = Math.min(next, grained(waiter.deadline));
      }
      before += this.#waiting[kind].size;
    }
    if (this.#waiters > 0) this.#wakeAt(next);
  }

  #wakeAt(at: number): void {
    if (at >= this.#alarmAt) return;
    this.#disarm();
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#alarmAt = at;
    this.#clock.sleep(at - this.#time, alarm.signal).then(
      () => {
        this.#alarm = null;
        this.#alarmAt = Number.POSITIVE_INFINITY;
        this.#serve();
      },
      () => undefined,
    );
  }

  #disarm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    this.#alarmAt = Number.POSITIVE_INFINITY;
  }

  async #save(ahead: number): Promise<void> {
    const time = this.#now();
    await this.#options.save?.({
      version: 1,
      savedAt: time,
      ahead,
      minute: this.#minute.entries(time),
      commands: this.#commands.entries(time),
      day: this.#day.entries(time),
      stop: this.#stop,
    } satisfies StoredBudget);
  }

  async #load(): Promise<void> {
    try {
      const stored = storedBudget.safeParse(await this.#options.load?.());
      if (stored.success) this.#restore(stored.data);
    } catch {
      // A store that cannot be read tells nothing: the service still has its own count and says stop when it must.
    } finally {
      this.#loading = null;
    }
  }

  #restore({ savedAt, ahead, minute, commands, day, stop }: StoredBudget): void {
    const time = this.#now();
    // Saved in the future: the clock was wrong then or is now. How long ago each was sent holds all the same.
    const shift = Math.min(0, time - savedAt);
    this.#minute.restore(minute, time, shift);
    this.#commands.restore(commands, time, shift);
    this.#day.restore(day, time, shift);
    this.#minute.add(savedAt + shift, ahead);
    this.#day.add(savedAt + shift, ahead);
    if (stop !== null) this.stop(stop.code, new Date(stop.until + shift));
  }
}

const grained = (deadline: number): number => Math.ceil(deadline / deadlineGrain) * deadlineGrain;

const closedError = (): VehicleError =>
  new VehicleError('CANCELLED', 'The vehicle configuration was closed before the request was sent.');
