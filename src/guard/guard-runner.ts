import * as z from 'zod/mini';
import type { VehicleClient } from '../client';
import type { Clock } from '../util/clock';
import { VehicleError } from '../errors';
import {
  Guard,
  type GuardEvent,
  type GuardInput,
  type GuardSettings,
  type GuardState,
  type GuardView,
  type WatchName,
} from './reducer';
import { lookAtCar, type GuardLook, type GuardRead } from './read-openings';
import { endingAt } from '../util/abort';
import type { StateFile } from '../state/state-file';

export interface GuardKeeperOptions {
  settings: GuardSettings;
  client: Pick<VehicleClient, 'windows' | 'doors' | 'accessibility' | 'clockSkewMs'>;
  /** Whose openings they are: what is kept of another car is forgotten. */
  vin: string;
  file: StateFile;
  clock: Clock;
  /** It is time for a tick. */
  onDue: () => void;
  /** What the guard knows could not be written: it is lost with the next restart. Said once, until it works again. */
  onUnkept: () => void;
}

const kept = z.object({ vin: z.string(), state: z.unknown() });

/** A timer that comes too early must not become a loop. */
const leastPauseMs = 1_000;
/** How long what is remembered waits for the first look. */
const firstLookMs = 30_000;

/** What a look of a guard came to. */
export interface GuardLooked {
  events: GuardEvent[];
  /** Why something could not be read; one that was not among the failures of the looks before comes first. */
  failure: VehicleError | null;
  /** The failure is a new one, and to be told; until its read works again, it is none. */
  isNews: boolean;
}

/** A guard with eyes on a car, a memory that outlives a restart, and a clock that wakes it. */
export class GuardKeeper {
  readonly #guard: Guard;
  readonly #options: GuardKeeperOptions;
  #state: GuardState;
  #cancel: () => void = () => undefined;
  #isKept = true;
  /** The reads whose failure was told. */
  readonly #failing = new Set<GuardRead>();

  private constructor(options: GuardKeeperOptions, guard: Guard, stored: unknown) {
    this.#options = options;
    this.#guard = guard;
    this.#state = guard.resume(stored, options.clock.now());
  }

  /** @throws VehicleError CONFIG */
  static async open(options: GuardKeeperOptions): Promise<GuardKeeper> {
    const guard = new Guard(options.settings);
    const stored = kept.safeParse(await options.file.load().catch(() => undefined));
    return new GuardKeeper(
      options,
      guard,
      stored.success && stored.data.vin === options.vin ? stored.data.state : undefined,
    );
  }

  get view(): GuardView {
    return this.#guard.view(this.#state);
  }

  /** Takes a step now; what is kept of it is written before long. */
  step(input: WithoutTime<GuardInput>): GuardEvent[] {
    const { clock, client } = this.#options;
    const at = clock.now();
    const { state, events } = this.#guard.step(
      this.#state,
      input.type === 'reading' ? { ...input, at, skewMs: client.clockSkewMs } : { ...input, at },
    );
    const news = JSON.stringify({ ...state, at: null }) !== JSON.stringify({ ...this.#state, at: null });
    this.#state = state;
    // A card in a small computer wears out: only news is written.
    if (news) void this.#keep(state);
    this.#wakeAt(this.#guard.nextDue(state));
    return events;
  }

  /** What tells this guard all that it must know, and what it is asked besides. */
  readsFor(only: readonly WatchName[] = []): GuardRead[] {
    return [...this.#guard.readsFor(only), ...(this.#guard.mindsUse ? (['accessibility'] as const) : [])];
  }

  /**
   * Looks before anything is said from memory; where that takes too long, it says what it can.
   * @returns null where there is no memory
   * @throws VehicleError CANCELLED through the signal
   */
  async lookFirst(signal: AbortSignal): Promise<GuardLooked | null> {
    if (this.#state.at === null) return null;
    const { clock } = this.#options;
    const reason = (): VehicleError =>
      new VehicleError(
        'TIMEOUT',
        'The car could not be read in time after the start. The guard goes on with what it knew before, and keeps trying.',
      );
    return endingAt(clock.now() + firstLookMs, { clock, signal, reason }, (ending) =>
      this.look(this.readsFor(), ending),
    );
  }

  /**
   * Reads the car and takes the step that follows from it.
   * @throws VehicleError CANCELLED through the signal
   */
  async look(reads: readonly GuardRead[], signal: AbortSignal, duePoll?: GuardLook['poll']): Promise<GuardLooked> {
    const { client, vin } = this.#options;
    const { heard, failures } = await lookAtCar({ client, vin, reads, signal, poll: duePoll });
    return { events: this.step(heard), ...this.#judge(reads, failures) };
  }

  end(): void {
    this.#cancel();
  }

  /** What fails for the same reason is told together; what fails for another, by the next look. */
  #judge(
    reads: readonly GuardRead[],
    failures: ReadonlyMap<GuardRead, VehicleError>,
  ): Pick<GuardLooked, 'failure' | 'isNews'> {
    for (const read of reads) if (!failures.has(read)) this.#failing.delete(read);
    const failed = reads.flatMap((read) => failures.get(read) ?? []);
    const news = reads.flatMap((read) => (this.#failing.has(read) ? [] : (failures.get(read) ?? [])))[0];
    for (const [read, { code }] of failures) if (code === news?.code) this.#failing.add(read);
    return { failure: news ?? failed[0] ?? null, isNews: news !== undefined };
  }

  async #keep(state: GuardState): Promise<void> {
    const { file, vin, onUnkept } = this.#options;
    try {
      await file.save({ vin, state });
      this.#isKept = true;
    } catch {
      if (this.#isKept) onUnkept();
      this.#isKept = false;
    }
  }

  #wakeAt(due: number | null): void {
    const { clock, onDue } = this.#options;
    this.#cancel();
    this.#cancel = due === null ? () => undefined : clock.after(Math.max(leastPauseMs, due - clock.now()), onDue);
  }
}

type WithoutTime<Input> = Input extends GuardInput ? Omit<Input, 'at'> : never;
