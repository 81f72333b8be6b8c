import { randomUUID } from 'node:crypto';
import type { VehicleError } from '../errors';
import type { Signal } from '../util/cancellation';
import { systemClock, type Clock } from '../util/clock';
import { DirectoryInUse, type Role } from './owner';
import { MemoryStateStore, type StateStore } from './state-store';

/**
 * This process among those that use the same store. A process alone is no special case: each other
 * id names a former run, which has ended; it may always act; it leads.
 */
export interface Presence {
  /**
   * Names this process in records. It changes if a shared store has lost the record of this
   * process; it may also have lost others.
   */
  readonly id: string;
  readonly role: Role;
  /**
   * Why this process may not act, if a user can end it: a shared store that is away, or another
   * process that uses the directory.
   */
  readonly fault: VehicleError | null;
  /** Whether the same command from the same node of two copies of the flows is one command. */
  readonly joinsCommands: boolean;
  /** Has the slots of the cars. */
  readonly slots: StateStore;
  /** Has the armings of the nodes. */
  readonly armings: StateStore;
  /** How many changes may be stored before they happen; none if others need to see each one. */
  readonly maxAhead: number;
  /** The names of the other processes, for people. */
  readonly others: readonly string[];
  /**
   * Whether this process does what one copy of the flows does for all copies: polls, guards and
   * events. True without a group; in a group, it changes with the calls of `onLeading`.
   */
  readonly isLeading: boolean;
  /**
   * Names a node, or its record, in all copies of the flows: among several, the VIN follows its id,
   * because nodes with the same id can have different cars.
   */
  sharedId(id: string, vin?: string): string;
  /** Names a node that sends one command with its copies; empty if it has none. */
  senderOf(node: string | null): string;
  /**
   * Milliseconds since 1970, by the clock of a shared store as this process has measured it: two
   * processes can differ by as long as an answer of the store takes.
   */
  now(): number;
  /**
   * How long ago something was stored: `savedAt` by `now`, and `uptime`, for which its machine had
   * run then. At least 0.
   */
  ageOf(stored: { savedAt: number; uptime: number }): number;
  /**
   * Whether this process may still act under an id that it had: asked in the last statement
   * before something is sent.
   */
  isStill(id: string): boolean;
  /** The same for what only this node id sends: true if there are no copies of the flows. */
  isStillOfNode(id: string): boolean;
  /**
   * Whether a process has ended, so that what it left may be taken over. True for an empty id: the
   * process has released it.
   * @throws StateFault
   */
  hasEnded(id: string): Promise<boolean>;
  /**
   * When this process found what an earlier version has stored, which is removed before anything is
   * read, in monotonic time; null if it found none.
   * @throws DirectoryInUse
   */
  earlierFoundAt(): Promise<number | null>;
  /** Restores the slots if they ended with the process that had them. */
  restoreSlots(restore: () => void): void;
  /** Makes sure after a pause of this process that it may act. @throws StateFault */
  renew(): Promise<void>;
  /**
   * Waits while no command and no refresh token may be sent, because a shared store may have
   * lost its last writes.
   * @returns whether it had to wait
   */
  settled(signal?: Signal): Promise<boolean>;
  /**
   * Begins to take part.
   * @returns ends this use, once; after the last end, others may take over at once
   */
  use(): () => Promise<void>;
  /**
   * Lets this process lead its group, whenever no other copy does and as long as
   * anything here waits for it.
   * @param listener called with `isLeading`: at once, and at each change
   * @returns ends the calls; with the last one, another copy may lead
   */
  onLeading(listener: (isLeading: boolean) => void): () => void;
  /** Does what only several processes on one store need. */
  forOthers(work: () => void): void;
  /** Whether this process may go on after the store has failed: no other one can act meanwhile. */
  canDoWithout(error: unknown): boolean;
  /**
   * Changes the store now or, if a shared store cannot be reached, when it can be reached
   * again. Never rejects.
   */
  eventually(change: () => Promise<unknown>): Promise<void>;
  /**
   * Calls back when other processes have ended: what they have left may be taken over.
   * @returns ends the calls
   */
  onGone(listener: () => void): () => void;
  /**
   * Calls back when `role`, `fault` or `id` has changed, or when a shared store may have
   * lost its last writes.
   * @returns ends the calls
   */
  onChange(listener: () => void): () => void;
}

const nothing = (): void => undefined;
export const noneFound = (): Promise<number | null> => Promise.resolve(null);

/** A process that uses its store alone. */
export class LocalPresence implements Presence {
  readonly id = randomUUID();
  readonly joinsCommands = false;
  readonly slots = new MemoryStateStore();
  readonly armings = new MemoryStateStore();
  readonly maxAhead = Infinity;
  readonly others = [];
  readonly isLeading = true;
  readonly forOthers = nothing;
  readonly onGone = (): (() => void) => nothing;
  readonly renew = (): Promise<void> => Promise.resolve();
  readonly settled = (): Promise<boolean> => Promise.resolve(false);
  readonly use = (): (() => Promise<void>) => () => Promise.resolve();
  readonly sharedId = (id: string): string => id;
  readonly senderOf = (): string => '';
  readonly isStillOfNode = (): boolean => true;
  readonly restoreSlots = (restore: () => void): void => restore();
  readonly canDoWithout = (error: unknown): boolean => !(error instanceof DirectoryInUse);
  readonly #clock: Clock;

  constructor(
    clock: Clock = systemClock,
    readonly earlierFoundAt = noneFound,
  ) {
    this.#clock = clock;
  }

  get role(): Role {
    return 'active';
  }

  get fault(): VehicleError | null {
    return null;
  }

  now(): number {
    return this.#clock.now();
  }

  /**
   * Wall time may have been set since: it counts at most for as long as the machine has run since.
   * The machine was restarted if it has run for less time than then.
   */
  ageOf({ savedAt, uptime }: { savedAt: number; uptime: number }): number {
    const passed = Math.max(0, this.#clock.now() - savedAt);
    const ran = this.#clock.uptime() - uptime;
    return ran < 0 ? passed : Math.min(passed, ran);
  }

  isStill(id: string): boolean {
    return id === this.id;
  }

  hasEnded(id: string): Promise<boolean> {
    return Promise.resolve(id !== this.id);
  }

  async eventually(change: () => Promise<unknown>): Promise<void> {
    await change().catch(nothing);
  }

  onLeading(listener: (isLeading: boolean) => void): () => void {
    listener(true);
    return nothing;
  }

  onChange(_listener: () => void): () => void {
    return nothing;
  }
}
