import { requestOf } from '../catalogue/groups';
import {
  isLocalReadName,
  isResourceName,
  type AnyReadName,
  type InterfaceChoice,
  type InterfaceName,
  type ReadName,
} from '../catalogue/reads';
import type { Clock } from '../util/clock';
import { Allowance, stretchFor, unstretched, type Stretch } from './daily-pacer';
import { Meetings } from './request-groups';
import {
  nextPoll,
  phaseOf,
  pollGroupOf,
  PollingProfile,
  watches,
  type LastFailure,
  type PolledFailure,
  type PolledReading,
} from './profile';
import { Starts } from './startup-limiter';
import { SteadyClock } from '../util/monotonic-clock';

/** Something that polls: a node of a flow. */
export interface PollerUser {
  /** As the client knows it; empty where there is none. */
  vin: string;
  reads: readonly AnyReadName[];
  everyMs: number;
  /** Default: `auto`. */
  interface?: InterfaceChoice;
}

/** What is to be read now. */
export interface Turn {
  reads: readonly AnyReadName[];
  /** How old an answer may be that somebody else's request brought, in ms: who meets shares, but no turn is answered by the last one. */
  maxAgeMs: number;
  /** To be told how a read of it failed. What others ask for, by another interface perhaps, says nothing of it. */
  failed(read: AnyReadName, failure: PolledFailure): void;
}

/** What the reads of a key may cost. */
export interface ReadsQuota {
  /** Of the last 24 hours. */
  used: number;
  perDay: number;
  perMinute: number;
}

export interface PollerOptions {
  /** Whose account: accounts of different people do not fire together, and one's readers of one car meet. */
  id: string;
  /** True: the adaptive profile stretches what each user asks for (src/polling/profile.ts). */
  adaptive: boolean;
  alive: readonly InterfaceName[];
  quota(): ReadsQuota;
  /** How old an answer may be that serves further readers, in ms. */
  shareForMs: number;
  clock: Clock;
}

const minute = 60_000;
const hour = 60 * minute;
/** First reads are spread over this long, and further where they are many. */
const firstSpreadMs = 10_000;
/** How long the others wait for the doors to show what the car is about. */
const patienceMs = 30_000;
/** How often it is looked at whether the quota lasts. */
const thriftEveryMs = 5 * minute;

/** What all vehicles of an account have in common. */
interface Shared {
  options: PollerOptions;
  clock: SteadyClock;
  starts: Starts;
  stretch(): Stretch;
}

/**
 * Says when to poll what, with one timer for each vehicle. Users of one request meet, so that it serves them all; different
 * requests do not fire together.
 */
export class Poller {
  readonly #shared: Shared;
  readonly #vehicles = new Map<string, PolledVehicle>();
  readonly #allowance = new Allowance();
  #stretch = unstretched;
  #stretchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#shared = {
      options,
      clock: new SteadyClock(options.clock),
      starts: new Starts(() => options.quota().perMinute),
      stretch: () => this.#stretchNow(),
    };
  }

  /**
   * @param poll called with what is due
   * @returns ends it
   */
  start(user: PollerUser, poll: (turn: Turn) => void): () => void {
    let vehicle = this.#vehicles.get(user.vin);
    if (vehicle === undefined) {
      vehicle = new PolledVehicle(`${this.#shared.options.id} ${user.vin}`, this.#shared);
      this.#vehicles.set(user.vin, vehicle);
    }
    return vehicle.add(user, poll);
  }

  /** Nobody is called back any more. */
  close(): void {
    for (const vehicle of this.#vehicles.values()) vehicle.close();
  }

  /** A reading came, whoever asked for it. */
  saw(read: ReadName, vin: string, reading: PolledReading): void {
    this.#vehicles.get(vin)?.saw(read, reading);
  }

  commanded(vin: string): void {
    this.#vehicles.get(vin)?.commanded();
  }

  #stretchNow(): Stretch {
    const { clock, options } = this.#shared;
    const now = clock.now();
    if (now - this.#stretchedAt < thriftEveryMs) return this.#stretch;
    this.#stretchedAt = now;
    const { used, perDay } = options.quota();
    this.#allowance.note(used, now);
    const demand = { watch: 0, others: 0 };
    for (const vehicle of this.#vehicles.values()) vehicle.addDemand(demand, now);
    const left = perDay - used;
    return (this.#stretch = stretchFor(demand, left, this.#allowance.pace(left)));
  }
}

interface Reader {
  user: PollerUser;
  poll: (turn: Turn) => void;
  since: number;
  requests: readonly string[];
  lastRead: Map<AnyReadName, number>;
  lastFailure: Map<AnyReadName, LastFailure>;
}

class PolledVehicle {
  readonly #id: string;
  readonly #shared: Shared;
  readonly #profile: PollingProfile | null;
  readonly #readers = new Set<Reader>();
  #meetings = new Meetings();
  /** Whether somebody has gone since `#meetings` and `#doorsMs` were put together. */
  #isStale = false;
  /** When the last of what is read was read first, or will be. */
  #startsAt = 0;
  /** How often somebody reads the doors. */
  #doorsMs: number | null = null;
  /** Until then the doors are awaited; 0: they have answered. */
  #heldUntil = 0;
  #cancel: () => void = () => undefined;
  #wakeAt = Number.POSITIVE_INFINITY;

  constructor(id: string, shared: Shared) {
    this.#id = id;
    this.#shared = shared;
    const hourOf = (now: number): number => new Date(shared.clock.wallOf(now)).getHours();
    this.#profile = shared.options.adaptive ? new PollingProfile({ id, hourOf }) : null;
  }

  add(user: PollerUser, poll: Reader['poll']): () => void {
    this.#refresh();
    const now = this.#shared.clock.now();
    const requests = [...new Set(user.reads.map((read) => this.#requestOf(user, read)))];
    const fresh = requests.filter((request) => !isLocalReadName(request) && !this.#meetings.has(request)).length;
    if (fresh > 0) this.#startsAt = Math.max(this.#startsAt, now + this.#shared.starts.book(fresh, now));
    // What an interval brings anyway need not wait longer than that.
    const since = Math.min(Math.max(now, this.#startsAt), now + user.everyMs);
    const reader: Reader = { user, poll, since, requests, lastRead: new Map(), lastFailure: new Map() };
    this.#readers.add(reader);
    this.#meetings.join(requests);
    if (user.reads.includes('doors')) this.#doorsMs = Math.min(this.#doorsMs ?? user.everyMs, user.everyMs);
    this.#wake(this.#dueAt(reader));
    return () => this.#remove(reader);
  }

  saw(read: ReadName, reading: PolledReading): void {
    if (this.#profile === null) return;
    this.#profile.saw(read, reading, this.#shared.clock.now());
    for (const { lastFailure } of this.#readers) lastFailure.delete(read);
    this.#learned(read);
  }

  commanded(): void {
    this.#profile?.commanded(this.#shared.clock.now());
    this.#reschedule();
  }

  /** What it would send an hour if nothing were stretched for the quota. */
  addDemand(demand: { watch: number; others: number }, now: number): void {
    const often = new Map<string, { read: ReadName; perHour: number }>();
    for (const { user, lastFailure } of this.#readers) {
      for (const read of user.reads) {
        if (isLocalReadName(read)) continue;
        const request = this.#requestOf(user, read);
        const { everyMs } = user;
        const interval =
          this.#profile?.interval({
            read,
            now,
            baseMs: everyMs,
            doorsMs: this.#doorsMs,
            lastFailure: lastFailure.get(read) ?? null,
          }) ?? everyMs;
        const perHour = hour / interval;
        if (perHour > (often.get(request)?.perHour ?? 0)) often.set(request, { read, perHour });
      }
    }
    for (const { read, perHour } of often.values()) demand[watches(pollGroupOf(read)) ? 'watch' : 'others'] += perHour;
  }

  close(): void {
    this.#readers.clear();
    this.#sleep();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    this.#isStale = true;
    if (this.#readers.size === 0) this.#sleep();
    // Without its doors, the others are due sooner.
    else if (reader.user.reads.includes('doors')) this.#wake(this.#shared.clock.now());
  }

  /** After readers have gone, once for all of them. */
  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#meetings = new Meetings();
    this.#doorsMs = null;
    for (const { user, requests } of this.#readers) {
      this.#meetings.join(requests);
      if (user.reads.includes('doors')) this.#doorsMs = Math.min(this.#doorsMs ?? user.everyMs, user.everyMs);
    }
  }

  #requestOf({ interface: iface = 'auto' }: PollerUser, read: AnyReadName): string {
    if (isLocalReadName(read)) return read;
    const request = requestOf(read, this.#shared.options.alive);
    const old =
      !isResourceName(read) &&
      (iface === 'v1' || (iface === 'auto' && !this.#shared.options.alive.includes('connected-v2')));
    return old ? `${request} v1` : request;
  }

  #failed(reader: Reader, read: AnyReadName, { retryable, retryAt }: PolledFailure): void {
    if (this.#profile === null || isLocalReadName(read) || !this.#readers.has(reader)) return;
    const lasting = retryable ? 0 : (reader.lastFailure.get(read)?.lasting ?? 0) + 1;
    const until = retryAt === null ? null : new Date(this.#shared.clock.ofWall(retryAt.getTime()));
    reader.lastFailure.set(read, { retryable, retryAt: until, lasting });
    this.#profile.failed(read, { retryable, retryAt: until });
    this.#learned(read);
  }

  #learned(read: ReadName): void {
    if (read === 'doors') this.#heldUntil = 0;
    this.#reschedule();
  }

  /** Asks everybody, the doors first: what they show decides about the others. */
  #tick(): void {
    this.#refresh();
    const now = this.#shared.clock.now();
    const due = [...this.#readers].map((reader) => ({
      reader,
      reads: reader.user.reads.filter((read) => this.#readDueAt(reader, read) <= now),
    }));
    const doorsDue = due.some(({ reads }) => reads.includes('doors'));
    // Doors that did not answer in time are not waited for again before they do.
    if (this.#profile !== null && doorsDue && this.#heldUntil === 0) this.#heldUntil = now + patienceMs;
    for (const { reader, reads } of due) {
      if (reads.length > 0 && (reader.user.reads.includes('doors') || this.#heldUntil <= now))
        this.#ask(reader, reads, now);
    }
    this.#reschedule();
  }

  #ask(reader: Reader, reads: readonly AnyReadName[], now: number): void {
    for (const read of reads) reader.lastRead.set(read, now);
    const { shareForMs, adaptive } = this.#shared.options;
    // Turns are half an interval apart at least; after a command the profile reads the doors four times as often.
    const maxAgeMs = Math.min(shareForMs, reader.user.everyMs / (adaptive ? 8 : 4));
    reader.poll({ reads, maxAgeMs, failed: (read, failure) => this.#failed(reader, read, failure) });
  }

  #dueAt = (reader: Reader): number => {
    const due = Math.min(...reader.user.reads.map((read) => this.#readDueAt(reader, read)));
    return reader.user.reads.includes('doors') ? due : Math.max(due, this.#heldUntil);
  };

  #readDueAt({ user, since, requests, lastRead, lastFailure }: Reader, read: AnyReadName): number {
    const last = lastRead.get(read) ?? null;
    // What costs no request is read as often as it is asked for.
    if (this.#profile === null || isLocalReadName(read)) {
      const id = `${this.#id} ${this.#meetings.nameOf(requests[0] ?? '')}`;
      if (last === null) return since + phaseOf(id, Math.min(firstSpreadMs, user.everyMs));
      const next = nextPoll(id, user.everyMs, last);
      // The first one comes out of turn: the next turn may follow too soon to be worth a request.
      return next - last < user.everyMs / 2 ? next + user.everyMs : next;
    }
    const { clock, stretch } = this.#shared;
    const options = {
      read,
      now: clock.now(),
      since,
      lastRead: last,
      baseMs: user.everyMs,
      doorsMs: this.#doorsMs,
      stretch: stretch(),
    };
    return this.#profile.dueAt({ ...options, lastFailure: lastFailure.get(read) ?? null });
  }

  #reschedule(): void {
    this.#refresh();
    this.#sleep();
    if (this.#readers.size > 0) this.#wake(Math.min(...[...this.#readers].map(this.#dueAt)));
  }

  #wake(at: number): void {
    if (at >= this.#wakeAt) return;
    this.#cancel();
    this.#wakeAt = at;
    this.#cancel = this.#shared.clock.after(Math.max(0, at - this.#shared.clock.now()), () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#tick();
    });
  }

  #sleep(): void {
    this.#cancel();
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }
}
