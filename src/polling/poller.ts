import {
  apiNames,
  apiOfRead,
  isLocalReadName,
  isReadName,
  requestNameOf,
  type AnyReadName,
  type ApiName,
  type InterfaceChoice,
  type InterfaceName,
  type ReadName,
} from '../catalogue/reads';
import type { Clock } from '../util/clock';
import { DailyPacer, noSlowdown, slowdownFor, type Demand, type Slowdown } from './daily-pacer';
import {
  isSecurityRead,
  leastPauseMs,
  PollingProfile,
  type DueOptions,
  type LastFailure,
  type PolledFailure,
  type PolledReading,
} from './profile';
import { firstReadSpreadMs, intervalAfter, nextPoll, phaseOf } from './schedule';

/** Something that polls: a node of a flow. */
export interface PollerUser {
  /** As the client knows it; empty where there is none. */
  vin: string;
  reads: readonly AnyReadName[];
  everyMs: number;
  /** Default: `auto`. */
  interface?: InterfaceChoice;
  /** IANA name in which the adaptive profile tells day from night; empty: the machine's own. */
  timeZone?: string;
}

/** The reads of a user that are due now. */
export interface DuePoll {
  reads: readonly AnyReadName[];
  /** How old a shared answer may be, in ms. Long enough to share among users that poll at the same moment, too short for the answer of the previous poll. */
  maxAgeMs: number;
  /** To be called for each read that failed. A failed read of somebody else, perhaps by another interface, does not count here. */
  failed(read: AnyReadName, failure: PolledFailure): void;
}

/** How many reads the quota of a key allows. */
export interface ReadsQuota {
  /** Requests in the last 24 hours. */
  used: Readonly<Record<ApiName, number>>;
  /** For each API. */
  perDay: number;
  /** For all APIs together. */
  perMinute: number;
}

export interface PollerOptions {
  /** Accounts with different ids do not poll at the same moments. */
  id: string;
  /** Whether the adaptive profile slows what each user asks for (src/polling/profile.ts). */
  adaptive: boolean;
  availableInterfaces: readonly InterfaceName[];
  /** Users that ask for a longer pause poll as often as this, in ms. */
  longestMs?: number;
  quota(): ReadsQuota;
  /** How old an answer may be that serves further readers, in ms. */
  shareForMs: number;
  clock: Clock;
}

const minute = 60_000;
const hour = 60 * minute;
const quotaCheckMs = 5 * minute;

/** Shares of the requests of a minute: so many may start at once, and then so many per minute. The rest is left for polls and messages. */
const burstShare = 1 / 2;
const sustainedShare = 1 / 3;

/** A leaky bucket that spreads the first reads after a start, so that they fit the service's limit per minute (docs/field-notes.md 5). */
class StartupLimiter {
  readonly #perMinute: () => number;
  #level = 0;
  #at = 0;

  constructor(perMinute: () => number) {
    this.#perMinute = perMinute;
  }

  /** @returns how long these requests should wait, in ms */
  reserve(requests: number, now: number): number {
    const limit = this.#perMinute();
    const perMs = (limit * sustainedShare) / minute;
    this.#level = Math.max(0, this.#level - (now - this.#at) * perMs) + requests;
    this.#at = now;
    return Math.max(0, this.#level - limit * burstShare) / perMs;
  }
}

/** The parts of an account that the pollers of all its vehicles share. Times are monotonic. */
interface AccountContext {
  options: PollerOptions;
  clock: Clock;
  startup: StartupLimiter;
  /** How much the quota of each API slows its reads. */
  slowdowns(): Readonly<Record<ApiName, Slowdown>>;
}

/** Decides when to poll what, with one timer per vehicle. All users of a vehicle poll at the same moments, so that they share requests. */
export class Poller {
  readonly #shared: AccountContext;
  readonly #vehicles = new Map<string, VehiclePoller>();
  readonly #pacers = { connected: new DailyPacer(), energy: new DailyPacer(), location: new DailyPacer() };
  #slowdowns = { connected: noSlowdown, energy: noSlowdown, location: noSlowdown };
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#shared = {
      options,
      clock: options.clock,
      startup: new StartupLimiter(() => options.quota().perMinute),
      slowdowns: () => this.#slowdownsNow(),
    };
  }

  /**
   * @param poll called with what is due
   * @returns ends it
   */
  start(user: PollerUser, poll: (due: DuePoll) => void): () => void {
    let vehicle = this.#vehicles.get(user.vin);
    if (vehicle === undefined) {
      vehicle = new VehiclePoller(`${this.#shared.options.id} ${user.vin}`, this.#shared);
      this.#vehicles.set(user.vin, vehicle);
    }
    const { longestMs = Infinity } = this.#shared.options;
    return vehicle.add({ ...user, everyMs: Math.min(user.everyMs, longestMs) }, poll);
  }

  /** No callback is called any more. */
  close(): void {
    for (const vehicle of this.#vehicles.values()) vehicle.close();
  }

  /** A reading arrived, whoever asked for it. */
  observe(read: ReadName, vin: string, reading: PolledReading): void {
    this.#vehicles.get(vin)?.observe(read, reading);
  }

  commandSent(vin: string): void {
    this.#vehicles.get(vin)?.commandSent();
  }

  commandLocked(vin: string): void {
    this.#vehicles.get(vin)?.commandLocked();
  }

  #slowdownsNow(): Readonly<Record<ApiName, Slowdown>> {
    const { clock, options } = this.#shared;
    const now = clock.monotonic();
    if (now - this.#checkedAt < quotaCheckMs) return this.#slowdowns;
    this.#checkedAt = now;
    const { used, perDay } = options.quota();
    for (const api of apiNames) {
      const pacer = this.#pacers[api];
      pacer.record(used[api], now);
      const demand = { security: 0, others: 0 };
      for (const vehicle of this.#vehicles.values()) vehicle.addDemand(demand, api, now);
      const left = perDay - used[api];
      this.#slowdowns[api] = slowdownFor(demand, left, pacer.sustainableRate(left));
    }
    return this.#slowdowns;
  }
}

interface Subscription {
  user: PollerUser;
  poll: (due: DuePoll) => void;
  since: number;
  lastRead: Map<AnyReadName, number>;
  /** Reads that were polled and not answered yet. */
  awaited: Set<AnyReadName>;
  /** When the last poll of a read was answered. */
  answeredAt: Map<AnyReadName, number>;
  lastFailure: Map<AnyReadName, LastFailure & { inARow: number }>;
}

class VehiclePoller {
  readonly #id: string;
  readonly #shared: AccountContext;
  readonly #profile: PollingProfile | null;
  /** Those that read the doors come first: the doors decide about the others. */
  #subscriptions: readonly Subscription[] = [];
  /** When the last of the first reads is due. */
  #startsAt = 0;
  /** How often somebody polls the doors; null: nobody does. */
  #doorsMs: number | null = null;
  /** When a command last locked the car. */
  #lockedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(id: string, shared: AccountContext) {
    this.#id = id;
    this.#shared = shared;
    this.#profile = shared.options.adaptive
      ? new PollingProfile(id, () => hourIn(this.#timeZone(), shared.clock.now()))
      : null;
  }

  add(user: PollerUser, poll: Subscription['poll']): () => void {
    const now = this.#shared.clock.monotonic();
    const polled = new Set(this.#subscriptions.flatMap((other) => this.#requestsOf(other.user)));
    const fresh = this.#requestsOf(user).filter((request) => !polled.has(request)).length;
    if (fresh > 0) this.#startsAt = Math.max(this.#startsAt, now + this.#shared.startup.reserve(fresh, now));
    // Never later than one interval from now.
    const since = Math.min(Math.max(now, this.#startsAt), now + user.everyMs);
    const subscription: Subscription = {
      user,
      poll,
      since,
      lastRead: new Map(),
      awaited: new Set(),
      answeredAt: new Map(),
      lastFailure: new Map(),
    };
    this.#subscribe([...this.#subscriptions, subscription]);
    return () => this.#subscribe(this.#subscriptions.filter((other) => other !== subscription));
  }

  observe(read: ReadName, reading: PolledReading): void {
    const { clock } = this.#shared;
    const now = clock.monotonic();
    const { receivedAt } = reading.vehicle;
    const ageMs = receivedAt === undefined ? 0 : Math.max(0, clock.now() - Date.parse(receivedAt));
    this.#profile?.observe(read, reading, now, now - ageMs);
    let isRecovery = false;
    for (const { awaited, answeredAt, lastFailure } of this.#subscriptions) {
      if (awaited.delete(read)) answeredAt.set(read, now);
      isRecovery = lastFailure.delete(read) || isRecovery;
    }
    const hasChanged = this.#endSlowdown(isRecovery);
    if (this.#profile !== null || hasChanged) this.#schedule();
  }

  /**
   * A read that fails while others are answered meets no outage: where that is doors or windows, it keeps its interval. All others keep
   * it when a failed read is answered again, because an outage may be over.
   */
  #endSlowdown(isRecovery: boolean): boolean {
    let hasChanged = isRecovery;
    for (const { lastFailure } of this.#subscriptions)
      for (const [read, failure] of lastFailure) {
        if (failure.inARow <= 1 || (!isRecovery && !(isReadName(read) && isSecurityRead(read)))) continue;
        failure.inARow = 1;
        hasChanged = true;
      }
    return hasChanged;
  }

  commandSent(): void {
    this.#profile?.commandSent(this.#shared.clock.monotonic());
    this.#schedule();
  }

  /** The car reports its position when somebody parks and locks it. */
  commandLocked(): void {
    this.#lockedAt = this.#shared.clock.monotonic();
    this.#schedule();
  }

  /** Adds what this vehicle would send to an API in an hour if nothing were slowed for the quota. */
  addDemand(demand: Demand, api: ApiName, now: number): void {
    const rates = new Map<string, { read: ReadName; perHour: number }>();
    for (const { user, lastFailure } of this.#subscriptions) {
      for (const read of user.reads) {
        if (isLocalReadName(read) || apiOfRead(read) !== api) continue;
        const options = { read, now, everyMs: user.everyMs, doorsMs: this.#doorsMs };
        const interval =
          this.#profile?.interval({ ...options, lastFailure: lastFailure.get(read) ?? null }) ?? user.everyMs;
        const request = this.#requestOf(user, read);
        if (hour / interval > (rates.get(request)?.perHour ?? 0))
          rates.set(request, { read, perHour: hour / interval });
      }
    }
    for (const { read, perHour } of rates.values()) demand[isSecurityRead(read) ? 'security' : 'others'] += perHour;
  }

  close(): void {
    this.#subscribe([]);
  }

  #subscribe(subscriptions: readonly Subscription[]): void {
    const [withDoors, without] = [
      subscriptions.filter(({ user }) => user.reads.includes('doors')),
      subscriptions.filter(({ user }) => !user.reads.includes('doors')),
    ];
    this.#subscriptions = [...withDoors, ...without];
    this.#doorsMs = withDoors.length === 0 ? null : Math.min(...withDoors.map(({ user }) => user.everyMs));
    this.#schedule();
  }

  #timeZone = (): string => this.#subscriptions.find(({ user }) => user.timeZone)?.user.timeZone ?? '';

  #requestsOf = (user: PollerUser): string[] => [
    ...new Set(user.reads.filter((read) => !isLocalReadName(read)).map((read) => this.#requestOf(user, read))),
  ];

  #requestOf = ({ interface: choice }: PollerUser, read: AnyReadName): string =>
    isLocalReadName(read) ? read : requestNameOf(read, this.#shared.options.availableInterfaces, choice);

  #failed(subscription: Subscription, read: AnyReadName, failure: PolledFailure): void {
    if (isLocalReadName(read) || !this.#subscriptions.includes(subscription)) return;
    const { clock } = this.#shared;
    const { lasting, inARow } = subscription.lastFailure.get(read) ?? { lasting: 0, inARow: 0 };
    subscription.lastFailure.set(read, {
      retryAt: failure.retryAt === null ? null : clock.monotonic() + failure.retryAt.getTime() - clock.now(),
      lasting: failure.retryable ? 0 : lasting + 1,
      inARow: inARow + 1,
    });
    this.#profile?.fail(read, failure);
    this.#schedule();
  }

  #tick(): void {
    const now = this.#shared.clock.monotonic();
    for (const subscription of this.#subscriptions) {
      const reads = subscription.user.reads.filter((read) => this.#dueAt(subscription, read) <= now);
      if (reads.length > 0) this.#poll(subscription, reads, now);
    }
    this.#schedule();
  }

  #poll(subscription: Subscription, reads: readonly AnyReadName[], now: number): void {
    for (const read of reads) {
      subscription.lastRead.set(read, now);
      subscription.awaited.add(read);
    }
    const { shareForMs, adaptive } = this.#shared.options;
    // Polls are at least half an interval apart; after a command the profile reads the doors four times as often.
    const maxAgeMs = Math.min(shareForMs, subscription.user.everyMs / (adaptive ? 8 : 4));
    subscription.poll({ reads, maxAgeMs, failed: (read, failure) => this.#failed(subscription, read, failure) });
  }

  #dueAt(subscription: Subscription, read: AnyReadName): number {
    const due = this.#regularlyDueAt(subscription, read);
    const { user, lastRead, lastFailure } = subscription;
    const last = lastRead.get(read) ?? this.#lockedAt;
    if (read !== 'location' || last >= this.#lockedAt || lastFailure.has(read)) return due;
    return Math.min(due, Math.max(this.#lockedAt, last + leastPauseMs(user.everyMs)));
  }

  #regularlyDueAt({ user, since, lastRead, answeredAt, lastFailure }: Subscription, read: AnyReadName): number {
    const everyMs = intervalAfter(lastFailure.get(read)?.inARow ?? 0, user.everyMs);
    const last = lastRead.get(read) ?? null;
    // A read that costs no request is never slowed.
    if (this.#profile === null || isLocalReadName(read)) {
      if (last === null) return since + phaseOf(this.#id, Math.min(firstReadSpreadMs, everyMs));
      const next = nextPoll(this.#id, everyMs, last);
      // The first poll does not follow the interval, so the second one may come too soon to be worth a request.
      return next - last < everyMs / 2 ? next + everyMs : next;
    }
    const slowdowns = this.#shared.slowdowns();
    const options: DueOptions = {
      read,
      now: this.#shared.clock.monotonic(),
      everyMs,
      doorsMs: this.#doorsMs,
      since,
      lastRead: last,
      answeredAt: answeredAt.get(read) ?? null,
      lastFailure: lastFailure.get(read) ?? null,
      slowdown: slowdowns[apiOfRead(read)],
      doorsSlowdown: slowdowns.connected.security,
    };
    return this.#profile.dueAt(options);
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = () => undefined;
    const due = Math.min(
      ...this.#subscriptions.flatMap((subscription) =>
        subscription.user.reads.map((read) => this.#dueAt(subscription, read)),
      ),
    );
    if (due === Number.POSITIVE_INFINITY) return;
    const { clock } = this.#shared;
    this.#cancel = clock.after(Math.max(0, due - clock.monotonic()), () => this.#tick());
  }
}

/** @returns 0 to 23 */
const hourIn = (timeZone: string, at: number): number =>
  timeZone === ''
    ? new Date(at).getHours()
    : Number(new Intl.DateTimeFormat('en-GB', { hour: '2-digit', hourCycle: 'h23', timeZone }).format(at));
