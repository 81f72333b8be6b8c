import * as z from 'zod/mini';
import { apiNames, type ApiName } from '../catalogue/reads';
import { dayMs, minuteMs, secondMs } from '../util/durations';
import { byName } from '../util/json';
import { lastOf, SlidingWindow, type Pair } from './sliding-window';

/** The limits of one API key (docs/internals/contract.md 2). */
export interface Quota {
  /** For each API separately. */
  requestsPerDay: number;
  /** For all APIs together, like `commandsPerMinute`. */
  requestsPerMinute: number;
  commandsPerMinute: number;
}

/** The error code of the requests that the limiter refuses while nothing may be sent. */
export type RateLimitCode = z.infer<typeof pauseShape>['code'];

/**
 * How much longer a request counts here than at the service, which counts it only when it has
 * arrived: for a write that took longer than expected (a quarter at most), a token (half at most),
 * and the way.
 */
export const wayMs = secondMs;
/**
 * Stored times that are so near to the end of a bucket are at its end: processes measure the clock
 * of a shared store with small differences.
 */
const sameBucketMs = 100;
const bucketMs = { minute: secondMs, day: 5 * minuteMs } as const;
/** The limits of a process that writes nothing for so long are forgotten. */
const processLastsMs = 15 * minuteMs;
/** A process is named for this time after its last write, or longer if its limits differ. */
const namedForMs = 2 * minuteMs;
/** Processes measure the clock of a shared store with a difference of less than this. */
const clockDifferenceMs = secondMs;

const number = z.number().check(z.nonnegative());
const pairs = z.array(z.tuple([number, number]));
/** What the service has ordered: nothing is sent until then. */
const pauseShape = z.object({ code: z.enum(['RATE_LIMITED', 'QUOTA_SPENT']), until: number });
/**
 * Times are milliseconds since 1970, by the wall clock, or by the clock of a shared store; a count
 * leaves its window at `until`, the first of its pair.
 */
export const quotaShape = z.lazy(() =>
  z.object({
    savedAt: number,
    /** Milliseconds since the machine was started. */
    uptime: number,
    /** Names the record among those that a shared store had and forgot. */
    epoch: z.string(),
    minute: pairs,
    commands: pairs,
    /** A record of an earlier version lacks the APIs that came later. */
    apis: z.partialRecord(z.enum(apiNames), z.object({ day: pairs, reserved: number, pause: z.nullable(pauseShape) })),
    /** The processes that wrote lately. An entry of an earlier version has no `process`. */
    limits: z.array(
      z.object({
        requestsPerDay: number,
        requestsPerMinute: number,
        commandsPerMinute: number,
        until: number,
        process: z.optional(z.string()),
        /**
         * How many it has counted in all, or more if a write was not answered, by the name of the
         * window.
         */
        counted: z.optional(z.record(z.string(), number)),
      }),
    ),
  }),
);
export type QuotaRecord = z.infer<typeof quotaShape>;
type Process = QuotaRecord['limits'][number];

export const quotaNames = [
  'requestsPerMinute',
  'commandsPerMinute',
  'requestsPerDay',
] as const satisfies readonly (keyof Quota)[];

const isSame = (one: Quota, other: Quota): boolean => quotaNames.every((of) => one[of] === other[of]);
/** The window of a day has the name of its API. */
const windowNames = ['minute', 'commands', ...apiNames] as const;
type WindowName = (typeof windowNames)[number];
const isDay = (name: WindowName): boolean => name !== 'minute' && name !== 'commands';

/** So that all processes count in the same buckets, and a record stays small. */
function endOfBucket(at: number, bucket: number): number {
  const nearest = Math.round(at / bucket) * bucket;
  return Math.abs(at - nearest) < sameBucketMs ? nearest : Math.ceil(at / bucket) * bucket;
}

/** A pause of an API; here `until` is in the time of the counts. */
type Pause = z.infer<typeof pauseShape>;

/**
 * What was sent with one API key, what the service has ordered, and the processes that count, with
 * their limits. Its times are monotonic.
 */
export class QuotaCounts {
  readonly windows = byName(windowNames, (name) =>
    isDay(name) ? new SlidingWindow(dayMs + wayMs, bucketMs.day) : new SlidingWindow(minuteMs + wayMs, bucketMs.minute),
  );
  readonly pauses: Record<ApiName, Pause | null> = byName(apiNames, () => null);
  /** The processes that wrote lately, including this one. */
  processes: Process[] = [];
  /** How far the time of the last record was ahead. */
  #loadedAhead = 0;

  /** The window that a limit is about. */
  windowOf(of: keyof Quota, api: ApiName): SlidingWindow {
    if (of === 'requestsPerDay') return this.windows[api];
    return this.windows[of === 'commandsPerMinute' ? 'commands' : 'minute'];
  }

  /** @param count less than 0: it was not sent */
  add(api: ApiName, isCommand: boolean, time: number, count = 1): void {
    this.windows.minute.add(time, count);
    if (isCommand) this.windows.commands.add(time, count);
    this.windows[api].add(time, count);
  }

  /** Forgets the requests of all processes. */
  clear(): void {
    for (const window of Object.values(this.windows)) window.replace([]);
    this.processes = this.processes.map((known) => (known.process === undefined ? known : { ...known, counted: {} }));
  }

  /**
   * Whether each process that wrote lately has a name: then a record that does not name a process
   * has nothing that this process counted in the two minutes before the record (`namedForMs`). An
   * earlier version of the pack removes the names.
   */
  get #areAllNamed(): boolean {
    return this.processes.length > 0 && this.processes.every(({ process }) => process !== undefined);
  }

  /**
   * Adds the counts of this process that a store has lost: those after the ones that the store
   * still has.
   * @param hasWritten whether the process has written a record of this epoch
   */
  addLost(ownName: string, own: QuotaCounts, hasWritten: boolean, time: number): void {
    const stored = this.processes.find(({ process }) => process === ownName)?.counted;
    // The number of the last minute can be too many for one API, and is never too few for the
    // minute.
    const recent = this.#areAllNamed ? own.windows.minute.total(time) : 0;
    for (const name of windowNames) {
      const window = own.windows[name];
      const lostIfUnnamed = hasWritten ? recent : window.added;
      const lost = stored === undefined ? lostIfUnnamed : window.added - (stored[name] ?? 0);
      this.windows[name].merge(lastOf(window.entries(time), lost));
    }
  }

  /**
   * Adds the counts of other processes that a store has lost, because a process that has ended or
   * is paused cannot add them.
   * @param others what this process knew of them
   * @param before the counts of all processes that this process knew: the times of one process are
   * not known, and the last ones of all leave latest
   */
  #addLostOf(others: readonly Process[], before: Record<WindowName, readonly Pair[]>, time: number): void {
    const inLastMinute = before.minute.reduce((sum, [, count]) => sum + count, 0);
    const lost = byName(windowNames, () => ({ named: 0, unnamed: 0 }));
    const { processes } = this;
    const areAllNamed = this.#areAllNamed;
    for (const known of others) {
      const stored = processes.find(({ process }) => process === known.process);
      const isRecent = known.until - processLastsMs > time - namedForMs + clockDifferenceMs;
      if (stored === undefined && !(isRecent && areAllNamed)) continue;
      const counted = byName(windowNames, (name) => {
        const countedBefore = known.counted?.[name] ?? 0;
        const countedInStore = stored?.counted?.[name] ?? 0;
        if (stored === undefined) lost[name].unnamed += countedBefore;
        else lost[name].named += Math.max(0, countedBefore - countedInStore);
        return Math.max(countedBefore, countedInStore);
      });
      // Otherwise the process itself or a third one would add it again.
      const latest = stored === undefined || known.until > stored.until ? known : stored;
      this.processes = [...this.processes.filter((one) => one !== stored), { ...latest, counted }];
    }
    for (const name of windowNames) {
      const { named, unnamed } = lost[name];
      // As in `addLost`.
      this.windows[name].merge(lastOf(before[name], named + Math.min(unnamed, inLastMinute)));
    }
  }

  /** A later call never shortens a pause. */
  pause(api: ApiName, pause: Pause, time: number): void {
    if (pause.until > Math.max(time, this.pauses[api]?.until ?? 0)) this.pauses[api] = pause;
  }

  /** Notes the limits of a process, and how many it has counted. */
  noteProcess(process: string, limits: Quota, own: QuotaCounts, time: number): void {
    const until = time + processLastsMs;
    const others = this.processes.filter(
      (known) =>
        known.until > time &&
        known.process !== process &&
        // Of processes with the same limits, those that wrote lately are enough: the record of a
        // process that ends again and again stays small.
        !(isSame(known, limits) && known.until < until - namedForMs),
    );
    // If a write was not answered, the store may have counted more.
    const stored = this.processes.find((known) => known.process === process)?.counted;
    const counted = byName(windowNames, (name) => Math.max(own.windows[name].added, stored?.[name] ?? 0));
    this.processes = [...others, { ...limits, until, process, counted }];
  }

  /**
   * @param time now, as the counts see it
   * @param savedAt now, as the record sees it
   * @param reserved the requests of each API that are counted and not sent yet
   */
  toRecord(
    time: number,
    {
      savedAt,
      uptime,
      epoch,
      reserved,
    }: { savedAt: number; uptime: number; epoch: string; reserved: Record<ApiName, number> },
  ): QuotaRecord {
    const ahead = savedAt - time;
    const toStored = (window: SlidingWindow, bucket: number): [number, number][] => {
      const counts = new Map<number, number>();
      for (const [until, count] of window.entries(time)) {
        // Nothing is left of it. A number below zero would make the record unreadable.
        if (count <= 0) continue;
        // What was loaded stays in its bucket: otherwise each difference between the clocks of
        // processes would make it last longer.
        const loaded = Math.abs(ahead - this.#loadedAhead) < wayMs ? Math.round(until + this.#loadedAhead) : NaN;
        const end = loaded % bucket === 0 ? loaded : endOfBucket(until + ahead, bucket);
        counts.set(end, (counts.get(end) ?? 0) + count);
      }
      return [...counts];
    };
    return {
      savedAt,
      uptime,
      epoch,
      minute: toStored(this.windows.minute, bucketMs.minute),
      commands: toStored(this.windows.commands, bucketMs.minute),
      apis: byName(apiNames, (api) => {
        const pause = this.pauses[api];
        return {
          day: toStored(this.windows[api], bucketMs.day),
          reserved: reserved[api],
          pause: pause === null || pause.until <= time ? null : { ...pause, until: pause.until + ahead },
        };
      }),
      limits: this.processes.filter(({ until }) => until > time).map((one) => ({ ...one, until: one.until + ahead })),
    };
  }

  /**
   * Takes the counts of a record in place of its own.
   * @param elapsedMs the age of the record
   * @param others the known ones, if the record may be an earlier copy of the known one: then the
   * counts of theirs that it lacks are added
   */
  load(record: QuotaRecord, time: number, elapsedMs: number, others: readonly Process[]): void {
    const lacking = others.filter(({ process, counted = {} }) => {
      const stored = record.limits.find((one) => one.process === process)?.counted;
      return windowNames.some((name) => (counted[name] ?? 0) > (stored?.[name] ?? 0));
    });
    const before = lacking.length === 0 ? null : byName(windowNames, (name) => this.windows[name].entries(time));
    const ahead = record.savedAt + elapsedMs - time;
    this.#loadedAhead = ahead;
    const fromStored = (stored: readonly [number, number][]): [number, number][] =>
      stored.map(([until, count]) => [until - ahead, count]);
    this.windows.minute.replace(fromStored(record.minute));
    this.windows.commands.replace(fromStored(record.commands));
    for (const api of apiNames) {
      const { day: counts, reserved, pause } = record.apis[api] ?? { day: [], reserved: 0, pause: null };
      this.windows[api].replace(fromStored(counts));
      // A process that crashed may have sent just now what it had reserved.
      if (reserved > 0) this.add(api, false, time, reserved);
      if (pause !== null) this.pause(api, { ...pause, until: Math.min(pause.until - ahead, time + dayMs) }, time);
    }
    this.processes = record.limits.map((one) => ({ ...one, until: one.until - ahead }));
    if (before !== null) this.#addLostOf(lacking, before, time);
  }
}
