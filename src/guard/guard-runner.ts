import * as z from 'zod/mini';
import type { VehicleClient } from '../client';
import { VehicleError } from '../errors';
import type { DuePoll, Poller } from '../polling/poller';
import { ReportedFailures } from '../polling/reported-failures';
import { readUndamaged, type StateStore } from '../state/state-store';
import { endingAt } from '../util/abort';
import type { Clock } from '../util/clock';
import type { WatchName } from '../catalogue/openings';
import { readOpenings, type GuardRead, type ReadOpeningsOptions } from './read-openings';
import { Guard } from './reducer';
import type { GuardEvent, GuardInput, GuardView } from './types';
import type { GuardSettings } from './options';
import type { GuardState } from './state';
import { withClockSet } from './state';

export interface GuardRunnerOptions {
  settings: GuardSettings;
  client: Pick<VehicleClient, 'read' | 'clockSkewMs'>;
  /** State that was stored for another vehicle is ignored. */
  vin: string;
  store: StateStore;
  /** The key of the guard's state in the store. */
  key: string;
  clock: Clock;
  /** Called when a tick is due. */
  onDue: () => void;
  /** Awaited between a read and the step that follows from it: the state after the step says that its events were sent. */
  whenSendable?: () => Promise<void>;
  /** Called when the state could not be stored, once until it can be stored again. */
  onSaveFailed: () => void;
}

const storedShape = z.object({ vin: z.string(), state: z.unknown() });

/** A timer that fires early must not become a loop. */
const minPauseMs = 1_000;
const maxInitialReadMs = 30_000;
/** A smaller difference between wall time and monotonic time is no clock that was set. */
const minClockSetMs = 2_000;

/** The result of a poll of the guard. */
export interface GuardPollResult {
  events: GuardEvent[];
  /** Why something could not be read; a failure that was not reported before comes first. */
  failure: VehicleError | null;
  /** The failure is new. Until its read works again, it is not reported once more. */
  isNewFailure: boolean;
}

/** Runs a guard: reads the car, stores the state, and wakes when a tick is due. */
export class GuardRunner {
  readonly #guard: Guard;
  readonly #options: GuardRunnerOptions;
  #state: GuardState;
  #cancel: () => void = () => undefined;
  #unsaved: GuardState | null = null;
  #saving: Promise<void> = Promise.resolve();
  #isSaved = true;
  #hasRead = false;
  readonly #failures = new ReportedFailures<GuardRead>();
  #startedAt: number;
  /** Wall time minus monotonic time, as of the last step. */
  #wallOffset: number;

  private constructor(options: GuardRunnerOptions, guard: Guard, stored: unknown) {
    const { clock } = options;
    this.#options = options;
    this.#guard = guard;
    this.#startedAt = clock.now();
    this.#wallOffset = clock.now() - clock.monotonic();
    this.#state = guard.resume(stored, this.#startedAt);
  }

  /** @throws VehicleError CONFIG for faulty settings, and where the stored state cannot be read: it may be readable later */
  static async open(options: GuardRunnerOptions): Promise<GuardRunner> {
    const guard = new Guard(options.settings);
    const stored = storedShape.safeParse(await readUndamaged(options.store, options.key));
    const isOfVehicle = stored.success && stored.data.vin === options.vin;
    return new GuardRunner(options, guard, isOfVehicle ? stored.data.state : undefined);
  }

  get view(): GuardView {
    return this.#guard.view(this.#state);
  }

  /** Whether a reading came since the start. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Takes a step now. The state is stored afterwards. */
  step(input: WithoutTime<GuardInput>): GuardEvent[] {
    const { clock, client } = this.#options;
    this.#applyClockChange();
    const at = clock.now();
    const { state, events } = this.#guard.step(
      this.#state,
      input.type === 'reading' ? { ...input, at, skewMs: client.clockSkewMs } : { ...input, at },
    );
    if (input.type === 'reading') this.#hasRead = true;
    // The memory card of a small computer wears out, so an unchanged state is not written again.
    const isChanged = JSON.stringify({ ...state, at: null }) !== JSON.stringify({ ...this.#state, at: null });
    this.#state = state;
    if (isChanged) {
      this.#unsaved = state;
      this.#saving = this.#saving.then(() => this.#save());
    }
    this.#wakeAt(this.#guard.nextDue(state));
    return events;
  }

  /** The reads that this guard needs, and those of the openings that a question names. */
  readsFor(only: readonly WatchName[] = []): GuardRead[] {
    return [...this.#guard.readsFor(only), ...(this.#guard.needsUsage ? (['accessibility'] as const) : [])];
  }

  /**
   * Polls with the other readers of the account.
   * @param poll called with the reads that are due
   * @returns ends it
   */
  startPolling(poller: Poller, seconds: number, poll: (reads: GuardRead[], due: DuePoll) => void): () => void {
    const { vin, settings } = this.#options;
    return poller.start(
      { vin, reads: this.readsFor(), everyMs: seconds * 1000, timeZone: settings.timeZone ?? '' },
      (due) =>
        poll(
          this.readsFor().filter((read) => due.reads.includes(read)),
          due,
        ),
    );
  }

  /**
   * Reads the car before an event is derived from stored state. If that takes too long, the stored state is used.
   * @returns null where nothing is stored
   * @throws VehicleError CANCELLED through the signal
   */
  async initialRead(signal: AbortSignal): Promise<GuardPollResult | null> {
    if (this.#state.at === null) return null;
    const { clock } = this.#options;
    const reason = (): VehicleError =>
      new VehicleError(
        'TIMEOUT',
        'The car could not be read in time after the start. The guard continues with the state that it stored before, and reads again later.',
      );
    return endingAt(clock.now() + maxInitialReadMs, { clock, signal, reason }, (ending) =>
      this.poll(this.readsFor(), ending),
    );
  }

  /**
   * Reads the car and takes the step that follows.
   * @throws VehicleError CANCELLED through the signal
   */
  async poll(
    reads: readonly GuardRead[],
    signal: AbortSignal,
    duePoll?: ReadOpeningsOptions['poll'],
  ): Promise<GuardPollResult> {
    const { client, vin, whenSendable } = this.#options;
    const { reading, failures } = await readOpenings({ client, vin, reads, signal, poll: duePoll });
    await whenSendable?.();
    return { events: this.step(reading), ...this.#failures.record(reads, failures) };
  }

  /** Fulfilled when the last state is stored. */
  end(): Promise<void> {
    this.#cancel();
    return this.#saving;
  }

  /** Shifts the times of this process when the machine's clock was set, so that durations stay right. */
  #applyClockChange(): void {
    const { clock } = this.#options;
    const offset = clock.now() - clock.monotonic();
    const setBy = offset - this.#wallOffset;
    if (Math.abs(setBy) < minClockSetMs) return;
    this.#wallOffset = offset;
    this.#state = withClockSet(this.#state, { since: this.#startedAt, byMs: setBy, at: clock.now() });
    this.#startedAt += setBy;
  }

  async #save(): Promise<void> {
    const { store, key, vin, onSaveFailed } = this.#options;
    const state = this.#unsaved;
    if (state === null) return;
    this.#unsaved = null;
    try {
      await store.write(key, { vin, state });
      this.#isSaved = true;
    } catch {
      if (this.#isSaved) onSaveFailed();
      this.#isSaved = false;
    }
  }

  #wakeAt(due: number | null): void {
    const { clock, onDue } = this.#options;
    this.#cancel();
    this.#cancel = due === null ? () => undefined : clock.after(Math.max(minPauseMs, due - clock.now()), onDue);
  }
}

type WithoutTime<Input> = Input extends GuardInput ? Omit<Input, 'at'> : never;
