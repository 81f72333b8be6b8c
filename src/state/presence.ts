import { randomUUID } from 'node:crypto';
import type { VehicleError } from '../errors';
import { systemClock, type Clock } from '../util/clock';

/**
 * `deciding`: it is not known yet whether this process may act. `standby`: another process acts; this one waits for its end. `lost`: another
 * process has taken over; only a restart helps, because what this process remembers may be outdated.
 */
export type Role = 'deciding' | 'active' | 'standby' | 'lost';

/**
 * This process among those that use the same store. A process alone is no special case: each other id names a former run, which has
 * ended; it is always sure; it holds each claim that it asks for.
 */
export interface Presence {
  /** Names this process in records. */
  readonly id: string;
  readonly role: Role;
  /** Whether this process may act: asked in the last statement before something is sent. */
  readonly isSure: boolean;
  /** Why this process may not act, if a user can end it: a shared store that is away, or another process that uses the directory. */
  readonly fault: VehicleError | null;
  /** Names the copies of the same flows; null if each process has flows of its own. */
  readonly group: string | null;
  /** Whether the same command from the same node of two copies is one command. */
  readonly joinsCommands: boolean;
  /** This process among the copies of its flows; a process alone if each process has flows of its own. */
  readonly amongCopies: Presence;
  /** Whether other processes may change the store at any time. */
  readonly isShared: boolean;
  /** The names of the other processes, for people. */
  readonly others: readonly string[];
  /** Milliseconds for which no command and no refresh token may be sent, because a shared store may have lost its last writes; otherwise 0. */
  readonly settlesInMs: number;
  /** Milliseconds since 1970, by one clock for all that share the store. */
  now(): number;
  /** Whether this process may still act under an id that it had: asked in the last statement before something is sent. */
  isStill(id: string): boolean;
  /** Whether a process has ended, so that what it left may be taken over. True for an empty id: the process has given it up. @throws StateFault */
  hasEnded(id: string): Promise<boolean>;
  /** Makes sure after a pause of this process that it may act. @throws StateFault */
  renew(): Promise<void>;
  /** Fulfilled when `settlesInMs` is 0. */
  settled(signal: AbortSignal): Promise<void>;
  /** Begins to take part. @returns ends this use, once; after the last end, others may take over at once */
  use(): () => Promise<void>;
  /**
   * Holds a claim as long as it can: takes it as soon as it is free, and again after it was lost.
   * @param onChange called with whether it is held, at each change; first with true
   * @param signal aborted: the claim is released, without a call
   */
  hold(name: string, onChange: (isHeld: boolean) => void, signal: AbortSignal): void;
  /** Changes the store now or, if a shared store cannot be reached, when it can be reached again. Never rejects. */
  eventually(change: () => Promise<unknown>): Promise<void>;
  /** Calls back when other processes have ended, until the signal is aborted: what they have left may be taken over. */
  onGone(call: () => void, signal: AbortSignal): void;
  /** Calls back when a shared store has lost the record of this process: it may also have lost others. @returns ends the calls */
  onForgotten(call: () => void): () => void;
  /** Calls back when `role` or `fault` has changed. @returns ends the calls */
  onChange(listener: () => void): () => void;
}

const nothing = (): void => undefined;

/** A process that uses its store alone. */
export class LocalPresence implements Presence {
  readonly id = randomUUID();
  readonly group = null;
  readonly joinsCommands = false;
  readonly isShared = false;
  readonly others = [];
  readonly settlesInMs = 0;
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get role(): Role {
    return 'active';
  }

  get amongCopies(): Presence {
    return this;
  }

  get isSure(): boolean {
    return true;
  }

  get fault(): VehicleError | null {
    return null;
  }

  now(): number {
    return this.#clock.now();
  }

  isStill(id: string): boolean {
    return id === this.id && this.isSure;
  }

  hasEnded(id: string): Promise<boolean> {
    return Promise.resolve(id !== this.id);
  }

  renew(): Promise<void> {
    return Promise.resolve();
  }

  settled(): Promise<void> {
    return Promise.resolve();
  }

  use(): () => Promise<void> {
    return () => Promise.resolve();
  }

  hold(_name: string, onChange: (isHeld: boolean) => void): void {
    onChange(true);
  }

  async eventually(change: () => Promise<unknown>): Promise<void> {
    await change().catch(nothing);
  }

  onGone(): void {
    // Nobody else is there.
  }

  onForgotten(): () => void {
    return nothing;
  }

  onChange(_listener: () => void): () => void {
    return nothing;
  }
}
