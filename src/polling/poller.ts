import { requestOf } from '../catalogue/groups';
import { isLocalReadName, type AnyReadName, type InterfaceName, type ReadName } from '../catalogue/reads';
import type { VehicleObserver } from '../client';
import type { Clock } from '../clock';
import { nextPoll, phaseOf, PollingProfile, type PolledFailure, type PolledReading } from './profile';

/** Something that polls: a node of a flow. */
export interface PollerUser {
  /** As the client knows it; empty where there is none. */
  vin: string;
  reads: readonly AnyReadName[];
  everyMs: number;
}

export interface PollerOptions {
  /** Whose account: accounts of different people do not fire together, and one's readers of one car meet. */
  id: string;
  /** True: the adaptive profile stretches what each user asks for (src/polling/profile.ts). */
  adaptive: boolean;
  alive: readonly InterfaceName[];
  /** The share of the day's quota that is used, 0 to 1. */
  usedShare(): number;
  clock: Clock;
}

/** First reads are spread over this long. */
const firstSpreadMs = 10_000;
/** How long the others wait for the doors to show what the car is about. */
const patienceMs = 30_000;

/**
 * Says when to poll what, with one timer for each vehicle. Users of one request meet, so that it serves them all; different
 * requests do not fire together.
 */
export class Poller implements VehicleObserver {
  readonly #options: PollerOptions;
  readonly #vehicles = new Map<string, PolledVehicle>();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /**
   * @param poll called with the reads that are due
   * @returns ends it
   */
  start(user: PollerUser, poll: (due: readonly AnyReadName[]) => void): () => void {
    let vehicle = this.#vehicles.get(user.vin);
    if (vehicle === undefined) {
      vehicle = new PolledVehicle(`${this.#options.id} ${user.vin}`, this.#options);
      this.#vehicles.set(user.vin, vehicle);
    }
    return vehicle.add(user, poll);
  }

  /** Nobody is called back any more. */
  close(): void {
    for (const vehicle of this.#vehicles.values()) vehicle.close();
  }

  saw(read: ReadName, vin: string, reading: PolledReading): void {
    this.#vehicles.get(vin)?.saw(read, reading);
  }

  failed(read: ReadName, vin: string, failure: PolledFailure): void {
    this.#vehicles.get(vin)?.failed(read, failure);
  }

  commanded(vin: string): void {
    this.#vehicles.get(vin)?.commanded();
  }
}

interface Reader {
  user: PollerUser;
  poll: (due: readonly AnyReadName[]) => void;
  since: number;
  spreadId: string;
  lastRead: Map<AnyReadName, number>;
  lastFailure: Map<ReadName, PolledFailure>;
}

class PolledVehicle {
  readonly #id: string;
  readonly #options: PollerOptions;
  readonly #profile: PollingProfile | null;
  readonly #readers = new Set<Reader>();
  /** Until then the doors are awaited. */
  #heldUntil = 0;
  #cancel: () => void = () => undefined;
  #wakeAt = Number.POSITIVE_INFINITY;

  constructor(id: string, options: PollerOptions) {
    this.#id = id;
    this.#options = options;
    this.#profile = options.adaptive ? new PollingProfile({ id }) : null;
  }

  add(user: PollerUser, poll: Reader['poll']): () => void {
    const requests = [...new Set(user.reads.map((read) => (isLocalReadName(read) ? read : requestOf(read, this.#options.alive))))].sort();
    const reader: Reader = {
      user,
      poll,
      since: this.#options.clock.now(),
      spreadId: `${this.#id} ${requests.join(' ')}`,
      lastRead: new Map(),
      lastFailure: new Map(),
    };
    this.#readers.add(reader);
    this.#wake(this.#dueAt(reader));
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#sleep();
    };
  }

  saw(read: ReadName, reading: PolledReading): void {
    if (this.#profile === null) return;
    this.#profile.saw(read, reading, this.#options.clock.now());
    for (const { lastFailure } of this.#readers) lastFailure.delete(read);
    this.#learned(read);
  }

  failed(read: ReadName, failure: PolledFailure): void {
    if (this.#profile === null) return;
    this.#profile.failed(read, failure, this.#options.clock.now());
    for (const { user, lastFailure } of this.#readers) if (user.reads.includes(read)) lastFailure.set(read, failure);
    this.#learned(read);
  }

  commanded(): void {
    this.#profile?.commanded(this.#options.clock.now());
    this.#reschedule();
  }

  close(): void {
    this.#readers.clear();
    this.#sleep();
  }

  #learned(read: ReadName): void {
    if (read === 'doors') this.#heldUntil = 0;
    this.#reschedule();
  }

  /** Asks everybody, the doors first: what they show decides about the others. */
  #tick(): void {
    const now = this.#options.clock.now();
    const due = [...this.#readers].map((reader) => ({ reader, reads: reader.user.reads.filter((read) => this.#readDueAt(reader, read) <= now) }));
    const doors = this.#profile === null ? [] : due.filter(({ reads }) => reads.includes('doors'));
    if (doors.length > 0) this.#heldUntil = now + patienceMs;
    for (const { reader, reads } of doors.length > 0 ? doors : due) {
      if (reads.length === 0) continue;
      for (const read of reads) reader.lastRead.set(read, now);
      reader.poll(reads);
    }
    this.#reschedule();
  }

  #dueAt = (reader: Reader): number => {
    const due = Math.min(...reader.user.reads.map((read) => this.#readDueAt(reader, read)));
    return reader.user.reads.includes('doors') ? due : Math.max(due, this.#heldUntil);
  };

  #readDueAt({ user, since, spreadId, lastRead, lastFailure }: Reader, read: AnyReadName): number {
    const last = lastRead.get(read) ?? null;
    // What costs no request is read as often as it is asked for.
    if (this.#profile === null || isLocalReadName(read)) {
      if (last === null) return since + phaseOf(spreadId, Math.min(firstSpreadMs, user.everyMs));
      const next = nextPoll(spreadId, user.everyMs, last);
      // The first one comes out of turn: the next turn may follow too soon to be worth a request.
      return next - last < user.everyMs / 2 ? next + user.everyMs : next;
    }
    const { clock, usedShare } = this.#options;
    const options = { read, now: clock.now(), since, lastRead: last, baseMs: user.everyMs, usedShare: usedShare() };
    return this.#profile.dueAt({ ...options, lastFailure: lastFailure.get(read) ?? null });
  }

  #reschedule(): void {
    this.#sleep();
    this.#wake(Math.min(...[...this.#readers].map(this.#dueAt)));
  }

  #wake(at: number): void {
    if (at >= this.#wakeAt) return;
    this.#cancel();
    this.#wakeAt = at;
    this.#cancel = this.#options.clock.after(Math.max(0, at - this.#options.clock.now()), () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#tick();
    });
  }

  #sleep(): void {
    this.#cancel();
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }
}
