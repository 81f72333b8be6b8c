import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { apiNames, type ApiName } from '../catalogue/reads';
import type { Membership } from '../state/membership';
import { readToChange, StateFault, untilChanged } from '../state/state-store';
import type { Clock } from '../util/clock';
import { byName } from '../util/json';

/** The limits of one API key (docs/internals/contract.md 2). */
export interface Quota {
  /** The limit of each API by itself. */
  requestsPerDay: number;
  /** The limit of all APIs together, as the next one. */
  requestsPerMinute: number;
  commandsPerMinute: number;
}

/** The error code of the requests that the limiter refuses while nothing may be sent. */
export type RateLimitCode = z.infer<typeof pauseShape>['code'];

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
/** The requests of a block are sent within this time after it was taken. */
const blockLifeMs = 9 * second;
/** How long a single request counts, and how long one of a block: with a second for the way to the service. */
const countedMs = { one: minute + second, ofBlock: minute + blockLifeMs + second } as const;
/** Requests of a day are counted in steps of this length. */
const dayStepMs = 30 * minute;
/** Limits up to this are counted one by one. */
const maxCountedByOne = 30;
/** Counts that are younger than this are not read again for a request that finds no room. */
const freshMs = 200;
/** The limits of a process that sends nothing for so long are forgotten. */
const limitsLastMs = 15 * minute;
/** The part of the limits that processes that reach the store leave to processes that do not. */
const leftToAway = 0.1;
/** The most processes whose shares are kept. */
const maxShares = 100;

const number = z.number().check(z.nonnegative());
/** What the service has ordered: nothing is sent until then. */
export const pauseShape = z.object({ code: z.enum(['RATE_LIMITED', 'QUOTA_SPENT']), until: z.number() });
/** `until` is milliseconds since 1970 by the clock of the store; a count leaves its window then. */
const countsShape = z.lazy(() =>
  z.object({
    /** Requests to any API; `id` names a block of one process, and is empty for a request by itself. */
    minute: z.array(z.object({ until: number, count: number, id: z.string() })),
    commands: z.array(number),
    day: z.record(z.enum(apiNames), z.array(z.tuple([number, number]))),
    pauses: z.record(z.enum(apiNames), z.nullable(pauseShape)),
    limits: z.array(
      z.object({ requestsPerDay: number, requestsPerMinute: number, commandsPerMinute: number, until: number }),
    ),
    /** How `leftToAway` is divided: the share of each process that has used the key; the sum is 1 at most. */
    shares: z.array(z.object({ id: z.string(), until: number, share: number })),
  }),
);
export type SharedCounts = z.infer<typeof countsShape>;

const nothing = (): SharedCounts => ({
  minute: [],
  commands: [],
  day: { connected: [], energy: [], location: [] },
  pauses: { connected: null, energy: null, location: null },
  limits: [],
  shares: [],
});

/** Requests of one API that this process may send without asking the others. */
interface Block {
  id: string;
  size: number;
  left: number;
  /** By the clock of the store. */
  takenAt: number;
  /** In monotonic time. */
  until: number;
}

interface SharedQuotaOptions {
  membership: Membership;
  key: string;
  clock: Clock;
  /** The limits of this process; null where no account of it uses the key. */
  limits: () => Quota | null;
  /** Called when the counts were read or changed. */
  onCounts: (counts: SharedCounts, toMonotonic: (storeTime: number) => number) => void;
}

/**
 * The counts of one API key that several processes share: a record `quota/<hash>`, changed by compare-and-set. A process takes blocks of
 * requests ahead, so that most requests cost no access to the store; what it did not use of a block is returned with the next access.
 *
 * A process that cannot reach the store does not know whether the others can. So if another one has used the key in the last
 * day, each leaves a tenth of the limits unused. The processes that cannot reach the store divide this tenth: each sends the share that it last read in the record, for a day at most.
 */
export class SharedQuota {
  readonly #options: SharedQuotaOptions;
  readonly #clock: Clock;
  readonly #id = randomBytes(6).toString('base64url');
  readonly #blocks = new Map<ApiName, Block>();
  #counts = nothing();
  /** Undefined until the record was read. */
  #version: string | null | undefined = undefined;
  /** What was sent while the store was away in the last 24 hours; `at` in monotonic time. */
  #sentAway: { api: ApiName; at: number; isRecorded: boolean }[] = [];
  #isAway = false;
  /** In monotonic time. */
  #knownAt = -Infinity;

  constructor(options: SharedQuotaOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** The limit of a window for this process: reduced by the tenth for processes without the store; while this one cannot reach the store, `used` plus what is left of its share. */
  size(of: keyof Quota, api: ApiName, limit: number, used: number): number {
    if (of === 'commandsPerMinute') return limit;
    const left = Math.floor(limit * leftToAway);
    const { shares } = this.#counts;
    if (!this.#isAway) return shares.some(({ id }) => id !== this.#id) ? limit - left : limit;
    const since = this.#clock.monotonic() - second - (of === 'requestsPerDay' ? day : minute);
    const sent = this.#sentAway.filter((one) => one.at > since && (of === 'requestsPerMinute' || one.api === api));
    const share = shares.find(({ id, until }) => id === this.#id && until > this.#now())?.share ?? 0;
    return Math.min(limit, used + Math.floor(left * share) - sent.length);
  }

  /** The limits of all processes, also of this one, as far as they are known. */
  get limits(): readonly Quota[] {
    const now = this.#now();
    return this.#counts.limits.filter(({ until }) => until > now);
  }

  /** Whether a request, unless it is a command, can be sent without access to the store. */
  hasBlock(api: ApiName): boolean {
    const block = this.#blocks.get(api);
    // Monotonic time stops while the machine sleeps.
    return (
      this.#options.membership.isSure && block !== undefined && block.left > 0 && this.#clock.monotonic() < block.until
    );
  }

  /** Reads what the others have counted. @throws StateFault */
  async load(): Promise<void> {
    const { membership, key } = this.#options;
    const stored = await readToChange(membership.store, key);
    this.#isAway = false;
    this.#setCounts(this.#recorded(countsShape.safeParse(stored?.value).data ?? nothing()), stored?.version ?? null);
  }

  /**
   * Counts a request.
   * @param room how many requests the counts leave, as the caller finds it after `onCounts`
   * @returns false where they leave none
   * @throws StateFault for a command while the store is away, and before the store was ever reached
   */
  async take(api: ApiName, isCommand: boolean, room: () => number): Promise<boolean> {
    const block = this.#blocks.get(api);
    if (!isCommand && block !== undefined && this.hasBlock(api)) {
      block.left -= 1;
      return true;
    }
    let next: Block | null = null;
    try {
      await this.#options.membership.renew();
      const begun = this.#clock.monotonic();
      const isTaken = await this.#change((counts) => {
        const left = room();
        if (left <= 0) return null;
        const size = isCommand ? 1 : Math.min(left, this.#sizeAfter(block));
        const id = size > 1 ? randomBytes(6).toString('base64url') : '';
        next = { id, size, left: size - 1, takenAt: this.#now(), until: begun + blockLifeMs };
        return this.#signed(this.#with(isCommand ? counts : this.#returned(counts, api), api, next, isCommand));
      });
      if (isTaken && next !== null && !isCommand) this.#blocks.set(api, next);
      return isTaken;
    } catch (error) {
      const isAway = error instanceof StateFault && error.fault === 'unavailable';
      if (isCommand || !isAway || this.#version === undefined) throw error;
      // The store cannot be reached: this process sends only its share.
      this.#isAway = true;
      if (room() <= 0) return false;
      this.#sentAway.push({ api, at: this.#clock.monotonic(), isRecorded: false });
      this.#setCounts(this.#with(this.#counts, api, { id: '', size: 1 }, false), this.#version);
      return true;
    }
  }

  /** The service asked for a pause, which ends the blocks. It is stored for the other processes as soon as the store can be reached. Never rejects. */
  async pause(code: RateLimitCode, untilWallTime: number, apis: readonly ApiName[]): Promise<void> {
    const until = this.#now() + untilWallTime - this.#clock.now();
    for (const api of apis) this.#endBlock(api);
    const later = (known: SharedCounts['pauses'][ApiName]): typeof known =>
      known !== null && known.until >= until ? known : { code, until };
    const paused = (counts: SharedCounts): SharedCounts => ({
      ...counts,
      pauses: { ...counts.pauses, ...Object.fromEntries(apis.map((api) => [api, later(counts.pauses[api])])) },
    });
    await this.#options.membership.eventually(() => this.#change(paused));
  }

  /** Returns what is left of the blocks, and the share. @throws StateFault */
  async end(): Promise<void> {
    for (const api of apiNames) this.#endBlock(api);
    const { shares } = this.#counts;
    if (!shares.some(({ id }) => id === this.#id)) return;
    await this.#change((counts) => ({
      ...[...this.#blocks.keys()].reduce((before, api) => this.#returned(before, api), counts),
      shares: counts.shares.filter(({ id }) => id !== this.#id),
    }));
    this.#blocks.clear();
  }

  #endBlock(api: ApiName): void {
    const block = this.#blocks.get(api);
    if (block !== undefined) block.until = 0;
  }

  /** Twice the last block if that was used up before it ended, else as many as were used of it: a process that seldom reads takes few requests. */
  #sizeAfter(block: Block | undefined): number {
    const perMinute = Math.min(...this.limits.map(({ requestsPerMinute }) => requestsPerMinute));
    if (perMinute <= maxCountedByOne) return 1;
    const most = Math.max(1, Math.floor(perMinute / (4 * this.#members)));
    if (block === undefined) return 1;
    return Math.min(most, this.#clock.monotonic() < block.until ? 2 * block.size : block.size - block.left);
  }

  #with(
    counts: SharedCounts,
    api: ApiName,
    { id, size }: Pick<Block, 'id' | 'size'>,
    isCommand: boolean,
  ): SharedCounts {
    const now = this.#now();
    const until = now + (id === '' ? countedMs.one : countedMs.ofBlock);
    return {
      ...counts,
      minute: [...counts.minute, { until, count: size, id }],
      commands: isCommand ? [...counts.commands, until] : counts.commands,
      day: { ...counts.day, [api]: counted(counts.day[api], now, size) },
    };
  }

  /** The counts with the limits and the share of this process; a share is left for one more process. */
  #signed(counts: SharedCounts): SharedCounts {
    const now = this.#now();
    const limits = this.#options.limits();
    if (limits === null) return counts;
    const shares = counts.shares.filter(({ id }) => id !== this.#id).slice(1 - maxShares);
    const free = Math.max(0, 1 - sum(shares.map(({ share }) => share)));
    return {
      ...counts,
      limits: [...counts.limits.filter((known) => !isSame(known, limits)), { ...limits, until: now + limitsLastMs }],
      shares: [...shares, { id: this.#id, until: now + day, share: Math.min(1 / (shares.length + 2), free) }],
    };
  }

  /** The counts without the unused requests of the last block, which is not used any more. */
  #returned(counts: SharedCounts, api: ApiName): SharedCounts {
    const block = this.#blocks.get(api);
    if (block === undefined) return counts;
    const count = block.size - block.left;
    return {
      ...counts,
      minute: counts.minute.map((one) => (one.id === block.id ? { ...one, count } : one)),
      day: { ...counts.day, [api]: counted(counts.day[api], block.takenAt, -block.left) },
    };
  }

  /** @returns false where `change` gives null for what is stored now */
  #change(change: (counts: SharedCounts) => SharedCounts | null): Promise<boolean> {
    const { membership, key } = this.#options;
    return untilChanged(async (isAgain) => {
      if (isAgain || this.#version === undefined || this.#isAway) await this.load();
      const next = change(this.#counts);
      if (next === null) return this.#clock.monotonic() - this.#knownAt < freshMs ? false : null;
      const version = await membership.store.write(key, next, { expected: this.#version ?? null });
      if (version === null) return null;
      for (const one of this.#sentAway) one.isRecorded = true;
      this.#setCounts(next, version);
      return true;
    });
  }

  /** With what was sent while the store was away. */
  #recorded(counts: SharedCounts): SharedCounts {
    const now = this.#clock.monotonic();
    this.#sentAway = this.#sentAway.filter(({ at }) => now - at < day + second);
    const unrecorded = this.#sentAway.filter(({ isRecorded }) => !isRecorded);
    return unrecorded.reduce((before, { api, at }) => {
      const time = this.#now() - (now - at);
      return {
        ...before,
        minute: [...before.minute, { until: time + countedMs.one, count: 1, id: '' }],
        day: { ...before.day, [api]: counted(before.day[api], time, 1) },
      };
    }, counts);
  }

  #setCounts(counts: SharedCounts, version: string | null): void {
    const now = this.#now();
    const isLeft = ({ until }: { until: number }): boolean => until > now;
    this.#version = version;
    this.#counts = {
      minute: counts.minute.filter(isLeft),
      commands: counts.commands.filter((until) => until > now),
      day: byName(apiNames, (api) => counts.day[api].filter(([until]) => until > now)),
      pauses: counts.pauses,
      limits: counts.limits.filter(isLeft),
      shares: counts.shares.filter(isLeft),
    };
    for (const api of apiNames) if ((counts.pauses[api]?.until ?? 0) > now) this.#endBlock(api);
    const time = this.#clock.monotonic();
    this.#knownAt = time;
    this.#options.onCounts(this.#counts, (storeTime) => time + storeTime - now);
  }

  #now(): number {
    return this.#options.membership.now();
  }

  get #members(): number {
    return this.#options.membership.others.length + 1;
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const isSame = (one: Quota, other: Quota): boolean =>
  one.requestsPerDay === other.requestsPerDay &&
  one.requestsPerMinute === other.requestsPerMinute &&
  one.commandsPerMinute === other.commandsPerMinute;

/** The counts of a day with more (or less) at a moment. */
function counted(counts: readonly [until: number, count: number][], at: number, count: number): [number, number][] {
  const until = (Math.floor(at / dayStepMs) + 1) * dayStepMs + day;
  const known = counts.find(([one]) => one === until)?.[1] ?? 0;
  return [...counts.filter(([one]) => one !== until), [until, Math.max(0, known + count)]];
}
