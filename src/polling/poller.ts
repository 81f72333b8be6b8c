import {
  apiNames,
  apiOfRead,
  isReadName,
  requestNameOf,
  type AnyReadName,
  type ApiName,
  type InterfaceChoice,
  type InterfaceName,
  type ReadName,
  partsOf,
} from '../catalogue/reads';
import { getOrMake } from '../util/get-or-make';
import type { Clock } from '../util/clock';
import { hourMs, minuteMs } from '../util/durations';
import { byName } from '../util/json';
import {
  isSecurityRead,
  leastPauseMs,
  PollingProfile,
  type LastFailure,
  type PolledFailure,
  type PolledRead,
  type PolledReading,
} from './profile';
import { firstReadSpreadMs, intervalAfter, nextPoll, phaseOf } from './schedule';
import { noSlowdown, slowdownFor, sustainableRate, type Demand, type SentRequests, type Slowdown } from './slowdown';

/** Something that polls: a node of a flow. */
export interface PollerUser {
  /** As the client knows it; empty if there is none. */
  vin: string;
  reads: readonly AnyReadName[];
  everyMs: number;
  /** Default: `auto`. */
  interface?: InterfaceChoice;
}

/** The reads of a user that are due now. */
export interface DuePoll {
  reads: readonly AnyReadName[];
  /**
   * How old a shared answer may be, in ms. Long enough to share among users that poll at the same
   * moment, too short for the answer of the previous poll.
   */
  maxAgeMs: number;
  /**
   * To be called for each read that failed. A failed read of somebody else, perhaps by another
   * interface, does not count here.
   */
  failed(read: AnyReadName, failure: PolledFailure): void;
}

/** How many reads the quota of a key allows. */
export interface ReadsQuota {
  /** The requests of the last 24 hours. */
  sent(api: ApiName): SentRequests;
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
  /** How old an answer may be to be reused for further readers, in ms. */
  shareForMs: number;
  clock: Clock;
}

const quotaCheckMs = 5 * minuteMs;

/**
 * Shares of the requests of a minute: so many may start at once, and then so many per minute. The
 * rest is left for polls and messages.
 */
const burstShare = 1 / 2;
const sustainedShare = 1 / 3;

/**
 * Decides when to poll what, with one timer per vehicle. All users of a vehicle poll at the same
 * moments, so that they share requests.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #vehicles = new Map<string, VehiclePoller>();
  #slowdowns: Readonly<Record<ApiName, Slowdown>> = byName(apiNames, () => noSlowdown);
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** When the first reads so far would be over at the sustained rate. */
  #firstReadsEnd = 0;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /**
   * @param poll called with what is due
   * @returns ends it
   */
  start(user: PollerUser, poll: (due: DuePoll) => void): () => void {
    const { vin } = user;
    const vehicle = getOrMake(this.#vehicles, vin, () => new VehiclePoller(vin, this.#options, this));
    const { longestMs = Infinity } = this.#options;
    const subscription = vehicle.add(user.everyMs <= longestMs ? user : { ...user, everyMs: longestMs }, poll);
    return () => {
      vehicle.remove(subscription);
      if (vehicle.isUnused && this.#vehicles.get(vin) === vehicle) this.#vehicles.delete(vin);
    };
  }

  /** No callback is called anymore. */
  close(): void {
    for (const vehicle of this.#vehicles.values()) vehicle.close();
  }

  /** A reading arrived, from any reader. */
  observe(read: ReadName, vin: string, reading: PolledReading): void {
    this.#vehicles.get(vin)?.observe(read, reading);
  }

  commandSent(vin: string): void {
    this.#vehicles.get(vin)?.commandSent();
  }

  commandLocked(vin: string): void {
    this.#vehicles.get(vin)?.commandLocked();
  }

  /**
   * Spreads the first reads after a start, so that they fit the service's limit per minute
   * (docs/internals/vendor-api.md 5).
   * @returns how long so many requests should wait, in ms
   */
  delayOfFirst(requests: number): number {
    const now = this.#options.clock.monotonic();
    const { perMinute } = this.#options.quota();
    const perMs = (perMinute * sustainedShare) / minuteMs;
    this.#firstReadsEnd = Math.max(now, this.#firstReadsEnd) + requests / perMs;
    return Math.max(0, this.#firstReadsEnd - now - (perMinute * burstShare) / perMs);
  }

  /** How much the quota of each API slows its reads. */
  slowdowns(): Readonly<Record<ApiName, Slowdown>> {
    const { clock, quota } = this.#options;
    const now = clock.monotonic();
    if (now - this.#checkedAt < quotaCheckMs) return this.#slowdowns;
    this.#checkedAt = now;
    const { sent, perDay } = quota();
    const slowdownOf = (api: ApiName): Slowdown => {
      const demand = { security: 0, others: 0 };
      for (const vehicle of this.#vehicles.values()) vehicle.addDemand(demand, api, now);
      const requests = sent(api);
      const left = perDay - requests.reduce((sum, [, count]) => sum + count, 0);
      return slowdownFor(demand, left, sustainableRate(requests, left));
    };
    return (this.#slowdowns = byName(apiNames, slowdownOf));
  }
}

/** Times are monotonic. */
interface UserPolls extends PolledRead {
  readonly name: AnyReadName;
  /** It was polled and not answered yet. */
  isAwaited: boolean;
  lastFailure: (LastFailure & { inARow: number }) | null;
}

interface Subscription {
  user: PollerUser;
  poll: (due: DuePoll) => void;
  since: number;
  /** Each name once. A list, because most users have one. */
  reads: readonly UserPolls[];
}

const unread = (name: AnyReadName): UserPolls => ({
  name,
  lastRead: null,
  isAwaited: false,
  answeredAt: null,
  lastFailure: null,
});

const pollsOf = (reads: readonly UserPolls[], read: AnyReadName): UserPolls | undefined =>
  reads.find(({ name }) => name === read);

class VehiclePoller {
  readonly #id: string;
  readonly #options: PollerOptions;
  readonly #account: Pick<Poller, 'delayOfFirst' | 'slowdowns'>;
  readonly #profile: PollingProfile | null;
  /** Those that read the doors come first: the doors decide about the others. */
  #subscriptions: readonly Subscription[] = [];
  /** When the last of the first reads is due. */
  #startsAt = 0;
  /** Milliseconds from one poll of the doors to the next; null if the doors are not polled. */
  #doorsMs: number | null = null;
  /** When a command last locked the car. */
  #lockedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(vin: string, options: PollerOptions, account: Pick<Poller, 'delayOfFirst' | 'slowdowns'>) {
    this.#id = `${options.id} ${vin}`;
    this.#options = options;
    this.#account = account;
    this.#profile = options.adaptive
      ? new PollingProfile(this.#id, () => new Date(options.clock.now()).getHours())
      : null;
  }

  get isUnused(): boolean {
    return this.#subscriptions.length === 0;
  }

  add(user: PollerUser, poll: Subscription['poll']): Subscription {
    const reads = [...new Set(user.reads)].map(unread);
    const subscription: Subscription = { user, poll, since: this.#startOf(user), reads };
    this.#subscribe([...this.#subscriptions, subscription]);
    return subscription;
  }

  remove(subscription: Subscription): void {
    this.#subscribe(this.#subscriptions.filter((other) => other !== subscription));
  }

  #startOf(user: PollerUser): number {
    const now = this.#options.clock.monotonic();
    const polled = new Set(this.#subscriptions.flatMap((other) => this.#requestsOf(other.user)));
    const fresh = this.#requestsOf(user).filter((request) => !polled.has(request)).length;
    if (fresh > 0) this.#startsAt = Math.max(this.#startsAt, now + this.#account.delayOfFirst(fresh));
    // Never later than one interval from now.
    return Math.min(Math.max(now, this.#startsAt), now + user.everyMs);
  }

  observe(read: ReadName, reading: PolledReading): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const { receivedAt } = reading.vehicle;
    const ageMs = receivedAt === undefined ? 0 : Math.max(0, clock.now() - Date.parse(receivedAt));
    this.#profile?.observe(read, reading, now, now - ageMs);
    let isRecovery = false;
    for (const polled of this.#subscriptions.flatMap(({ reads }) => pollsOf(reads, read) ?? [])) {
      if (polled.isAwaited) polled.answeredAt = now;
      polled.isAwaited = false;
      isRecovery ||= polled.lastFailure !== null;
      polled.lastFailure = null;
    }
    const hasChanged = this.#endSlowdown(isRecovery);
    if (this.#profile !== null || hasChanged) this.#schedule();
  }

  /**
   * A read that fails while others are answered meets no outage: if that is doors or windows, it
   * keeps its interval. All others keep it when a failed read is answered again, because an outage
   * may be over.
   */
  #endSlowdown(isRecovery: boolean): boolean {
    let hasChanged = isRecovery;
    for (const { reads } of this.#subscriptions)
      for (const { name: read, lastFailure } of reads) {
        if (lastFailure === null || lastFailure.inARow <= 1) continue;
        if (!isRecovery && !(isReadName(read) && isSecurityRead(read))) continue;
        lastFailure.inARow = 1;
        hasChanged = true;
      }
    return hasChanged;
  }

  commandSent(): void {
    this.#profile?.commandSent(this.#options.clock.monotonic());
    this.#schedule();
  }

  /** The car reports its position when somebody parks and locks it. */
  commandLocked(): void {
    this.#lockedAt = this.#options.clock.monotonic();
    this.#schedule();
  }

  /**
   * Adds what this vehicle would send to an API in an hour if nothing were slowed for the quota.
   */
  addDemand(demand: Demand, api: ApiName, now: number): void {
    const rates = new Map<string, { read: ReadName; perHour: number }>();
    for (const { user, reads } of this.#subscriptions) {
      const parts = reads.flatMap(({ name, lastFailure }) => partsOf(name).map((read) => ({ read, lastFailure })));
      for (const { read, lastFailure } of parts) {
        if (apiOfRead(read) !== api) continue;
        const options = { read, now, everyMs: user.everyMs, doorsMs: this.#doorsMs, lastFailure };
        const perHour = hourMs / (this.#profile?.interval(options) ?? user.everyMs);
        const request = this.#requestOf(user, read);
        if (perHour > (rates.get(request)?.perHour ?? 0)) rates.set(request, { read, perHour });
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

  #requestsOf = (user: PollerUser): string[] => [
    ...new Set(user.reads.flatMap(partsOf).map((read) => this.#requestOf(user, read))),
  ];

  #requestOf = ({ interface: choice }: PollerUser, read: ReadName): string =>
    requestNameOf(read, this.#options.availableInterfaces, choice);

  #failed(subscription: Subscription, read: AnyReadName, failure: PolledFailure): void {
    const polled = pollsOf(subscription.reads, read);
    if (polled === undefined || !isReadName(read) || !this.#subscriptions.includes(subscription)) return;
    const { clock } = this.#options;
    const { lasting, inARow } = polled.lastFailure ?? { lasting: 0, inARow: 0 };
    polled.lastFailure = {
      retryAt: failure.retryAt === null ? null : clock.monotonic() + failure.retryAt.getTime() - clock.now(),
      lasting: failure.retryable ? 0 : lasting + 1,
      inARow: inARow + 1,
    };
    this.#profile?.fail(read, failure);
    this.#schedule();
  }

  #tick(): void {
    const now = this.#options.clock.monotonic();
    for (const subscription of this.#subscriptions) {
      const due = subscription.reads.filter((polled) => this.#dueAt(subscription, polled) <= now);
      if (due.length > 0) this.#poll(subscription, due, now);
    }
    this.#schedule();
  }

  #poll(subscription: Subscription, due: readonly UserPolls[], now: number): void {
    for (const polled of due) Object.assign(polled, { lastRead: now, isAwaited: true });
    const { shareForMs, adaptive } = this.#options;
    // Polls are at least half an interval apart; after a command the profile reads the doors
    // four times as often.
    const maxAgeMs = Math.min(shareForMs, subscription.user.everyMs / (adaptive ? 8 : 4));
    const failed: DuePoll['failed'] = (read, failure) => this.#failed(subscription, read, failure);
    subscription.poll({ reads: due.map(({ name }) => name), maxAgeMs, failed });
  }

  #dueAt(subscription: Subscription, polled: UserPolls): number {
    const due = this.#regularlyDueAt(subscription, polled);
    const last = polled.lastRead ?? this.#lockedAt;
    if (polled.name !== 'location' || last >= this.#lockedAt || polled.lastFailure !== null) return due;
    return Math.min(due, Math.max(this.#lockedAt, last + leastPauseMs(subscription.user.everyMs)));
  }

  #regularlyDueAt({ user, since }: Subscription, polled: UserPolls): number {
    const [read] = partsOf(polled.name);
    const { lastRead, lastFailure } = polled;
    const everyMs = intervalAfter(lastFailure?.inARow ?? 0, user.everyMs);
    // A read that costs no request is never slowed.
    if (this.#profile === null || read === undefined) {
      if (lastRead === null) return since + phaseOf(this.#id, Math.min(firstReadSpreadMs, everyMs));
      const next = nextPoll(this.#id, everyMs, lastRead);
      // The first poll does not follow the interval, so the second one may come too soon
      // to be worth a request.
      return next - lastRead < everyMs / 2 ? next + everyMs : next;
    }
    const slowdowns = this.#account.slowdowns();
    return this.#profile.dueAt({
      ...polled,
      read,
      now: this.#options.clock.monotonic(),
      everyMs,
      doorsMs: this.#doorsMs,
      since,
      slowdown: slowdowns[apiOfRead(read)],
      doorsSlowdown: slowdowns.connected.security,
    });
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = () => undefined;
    const due = this.#subscriptions.flatMap((subscription) =>
      subscription.reads.map((polled) => this.#dueAt(subscription, polled)),
    );
    if (due.length === 0) return;
    const { clock } = this.#options;
    this.#cancel = clock.after(Math.max(0, Math.min(...due) - clock.monotonic()), () => this.#tick());
  }
}
