import * as z from 'zod/mini';
import type { VehicleClient } from '../client';
import type { Clock } from '../clock';
import type { VehicleError } from '../errors';
import { Guard, type GuardEvent, type GuardInput, type GuardSettings, type GuardState, type GuardView, type WatchName } from '../guard';
import { lookAtCar, type GuardRead } from './look';
import type { StateFile } from '../state-file';

export interface GuardKeeperOptions {
  settings: GuardSettings;
  client: Pick<VehicleClient, 'windows' | 'doors' | 'accessibility'>;
  /** Whose openings they are: what is kept of another car is forgotten. */
  vin: string;
  file: StateFile;
  clock: Clock;
  /** It is time for a tick. */
  onDue: () => void;
  /** What the guard knows could not be written: it is lost with the next restart. */
  onUnkept: () => void;
}

const kept = z.object({ vin: z.string(), state: z.unknown() });

/** A timer that comes too early must not become a loop. */
const leastPauseMs = 1_000;

/** A guard with eyes on a car, a memory that outlives a restart, and a clock that wakes it. */
export class GuardKeeper {
  readonly #guard: Guard;
  readonly #options: GuardKeeperOptions;
  #state: GuardState;
  #cancel: () => void = () => undefined;

  private constructor(options: GuardKeeperOptions, guard: Guard, stored: unknown) {
    this.#options = options;
    this.#guard = guard;
    this.#state = guard.restore(stored);
  }

  /** @throws VehicleError CONFIG */
  static async open(options: GuardKeeperOptions): Promise<GuardKeeper> {
    const guard = new Guard(options.settings);
    const stored = kept.safeParse(await options.file.load().catch(() => undefined));
    return new GuardKeeper(options, guard, stored.success && stored.data.vin === options.vin ? stored.data.state : undefined);
  }

  get view(): GuardView {
    return this.#guard.view(this.#state);
  }

  /** Takes a step now; what is kept of it is written before long. */
  step(input: WithoutTime<GuardInput>): GuardEvent[] {
    const { clock, file, vin, onUnkept } = this.#options;
    const { state, events } = this.#guard.step(this.#state, { ...input, at: clock.now() });
    const news = JSON.stringify({ ...state, at: null }) !== JSON.stringify({ ...this.#state, at: null });
    this.#state = state;
    // A card in a small computer wears out: only news is written.
    if (news) file.save({ vin, state }).catch(onUnkept);
    this.#wakeAt(this.#guard.nextDue(state));
    return events;
  }

  /** What tells this guard all that it must know, and what it is asked besides. */
  readsFor(only: readonly WatchName[] = []): GuardRead[] {
    return [...this.#guard.readsFor(only), ...(this.#guard.mindsUse ? (['accessibility'] as const) : [])];
  }

  /**
   * Reads the car and takes the step that follows from it.
   * @returns what it made of it, and the first failure where nothing could be read at all
   * @throws VehicleError CANCELLED through the signal
   */
  async look(reads: readonly GuardRead[], signal: AbortSignal): Promise<{ events: GuardEvent[]; failure: VehicleError | null }> {
    const { client, vin } = this.#options;
    const { heard, failures } = await lookAtCar({ client, vin, reads, signal });
    return { events: this.step(heard), failure: failures.length < reads.length ? null : (failures[0] ?? null) };
  }

  end(): void {
    this.#cancel();
  }

  #wakeAt(due: number | null): void {
    const { clock, onDue } = this.#options;
    this.#cancel();
    this.#cancel = due === null ? () => undefined : clock.after(Math.max(leastPauseMs, due - clock.now()), onDue);
  }
}

type WithoutTime<Input> = Input extends GuardInput ? Omit<Input, 'at'> : never;
