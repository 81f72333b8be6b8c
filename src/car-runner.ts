import * as z from 'zod/mini';
import { readAll, type Reading } from './car/reading';
import type { ReadName } from './catalogue/reads';
import type { ReadOptions } from './client';
import { VehicleError } from './errors';
import type { DuePoll, Poller } from './polling/poller';
import { Outbox } from './state/outbox';
import { LocalPresence, type Presence } from './state/presence';
import { readForUpdate, StateFault, retryOnConflict, type StateStore } from './state/state-store';
import { endingAt } from './util/abort';
import type { Signal } from './util/cancellation';
import type { Clock } from './util/clock';
import { Serial } from './util/serial';
import { secondMs } from './util/durations';

/** The answers of a poll, by the name of the read, and the reads that failed. */
export interface PolledCar<Read extends ReadName> {
  readings: ReadonlyMap<Read, Reading>;
  failed: readonly Read[];
}

/**
 * Milliseconds since 1970, and how far the clock behind the service's timestamps is ahead of that.
 */
export interface StepTime {
  at: number;
  skewMs: number;
}

/** A pure reducer from readings, and other inputs, to events, which a runner feeds. */
export interface CarReducer<Read extends ReadName, State, Input, Event> {
  /** The stored state as far as it can be read, after a restart at `at`. Never throws. */
  resume(stored: unknown, at: number): State;
  /** A stored event; null if it is damaged or no longer wanted. */
  parseEvent(stored: unknown): Event | null;
  inputOf(polled: PolledCar<Read>): Input;
  step(state: State, input: Input & StepTime): { state: State; events: Event[] };
  /**
   * The part of the state whose change is worth a write, because the memory card of a
   * small computer wears out.
   */
  essence(state: State): unknown;
  /** The reads to poll, and how often. */
  schedules(seconds: number): readonly { reads: readonly Read[]; seconds: number }[];
  /**
   * When the next step is due without a reading, in milliseconds since 1970; null: not before
   * something else happens.
   */
  nextDue?(state: State): number | null;
  /**
   * The state after the machine's clock was set by so much; `since` is the start of the process.
   */
  withClockSet?(state: State, set: { since: number; byMs: number; at: number }): State;
}

type RunnerPresence = Pick<Presence, 'id' | 'sharedId' | 'isLeading' | 'isStill' | 'hasEnded'>;

export interface CarRunnerOptions {
  client: { readonly clockSkewMs: number; read(name: ReadName, options: ReadOptions): Promise<Reading> };
  /** State that was stored for another vehicle is ignored. */
  vin: string;
  store: StateStore;
  /**
   * The key of the record with state and unsent events. Among copies of a flow, the VIN follows it.
   */
  key: string;
  clock: Clock;
  /** The presence of this process in `store`. Default: no other process uses the store. */
  presence?: RunnerPresence;
  /** Called when a step without a reading is due. */
  onDue?: () => void;
  /** Called when the record could not be stored, once until it can be stored again. */
  onSaveFailed: () => void;
  /**
   * Called when events are dropped because the process ended several times while they were sent.
   */
  onDropped: () => void;
}

interface PollResult<Event> {
  /** Stored as not sent until `markSent`. */
  events: Event[];
  /** Why something could not be read; a failure that was not reported before comes first. */
  failure: VehicleError | null;
  /** The failure is new. Until its read works again, it is not reported once more. */
  isNewFailure: boolean;
}

const recordShape = z.lazy(() =>
  z.object({ vin: z.string(), state: z.optional(z.unknown()), unsent: z.optional(z.unknown()) }),
);

const maxInitialReadMs = 30_000;
/** A timer that fires early must not become a loop. */
const minPauseMs = 1_000;
/** How often a step that is due is tried while a shared store is away. */
const awayPauseMs = 10_000;
/** A clock counts as set if wall time and monotonic time differ by more than this. */
const minClockSetMs = 2_000;

/**
 * Reads a car for a reducer, and keeps its state over restarts. Each step is read, reduce, write on
 * condition: the record holds the events together with the state that they follow from, until they
 * were sent.
 */
export class CarRunner<Read extends ReadName, State, Input, Event> {
  readonly #reducer: CarReducer<Read, State, Input, Event>;
  readonly #options: CarRunnerOptions;
  readonly #failures = new ReportedFailures<Read>();
  #state: State;
  #outbox = new Outbox<Event>();
  /** The version of the record; null: there is none, undefined: not known. */
  #version: string | null | undefined;
  /** The state that was written last, as text. */
  #stored = '';
  #isSaved = true;
  #fault: StateFault | null = null;
  /** Whether the record has to be read before the next change. */
  #isStale = false;
  /**
   * The events that steps have returned and that are still in the record: for each, as JSON, the
   * process that sends it, or null after it was sent.
   */
  readonly #inFlight = new Map<string, string | null>();
  readonly #presence: RunnerPresence;
  readonly #changes = new Serial();
  #cancel: () => void = () => undefined;
  #hasEnded = false;
  #startedAt: number;
  /** Wall time minus monotonic time, as of the last step. */
  #wallOffset: number;

  /** The key of the record, in all copies of the flow. */
  readonly key: string;

  private constructor(reducer: CarReducer<Read, State, Input, Event>, options: CarRunnerOptions) {
    const { clock, key, vin, presence = new LocalPresence(clock) } = options;
    this.key = presence.sharedId(key, vin);
    this.#presence = presence;
    this.#reducer = reducer;
    this.#options = options;
    this.#startedAt = clock.now();
    this.#wallOffset = clock.now() - clock.monotonic();
    this.#state = reducer.resume(undefined, this.#startedAt);
  }

  /** Reads the record. @throws StateFault if it cannot be read now, but perhaps later */
  static async open<Read extends ReadName, State, Input, Event>(
    reducer: CarReducer<Read, State, Input, Event>,
    options: CarRunnerOptions,
  ): Promise<CarRunner<Read, State, Input, Event>> {
    const runner = new CarRunner(reducer, options);
    await runner.#load();
    if (!runner.#presence.isLeading) runner.standBy();
    return runner;
  }

  /**
   * Stops the timer. The record is read again before the next change, because
   * another copy may write it.
   */
  standBy(): void {
    this.#cancel();
    this.#isStale = true;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Why the last step could not be stored in a shared store: it sent nothing, and the next step
   * starts from the stored state.
   */
  get fault(): StateFault | null {
    return this.#fault;
  }

  async #load(): Promise<void> {
    const { store, vin, clock } = this.#options;
    const { value, version } = await readForUpdate(store, this.key, recordShape);
    this.#version = version;
    const { state, unsent } = value?.vin === vin ? value : {};
    this.#state = this.#reducer.resume(state, clock.now());
    this.#outbox = Outbox.parse(unsent, (event) => this.#reducer.parseEvent(event));
    this.#stored = this.#textOf(this.#state, this.#outbox);
  }

  /**
   * Whether events that a step has returned may be sent. Call it in the statement before the events
   * are sent. False if another process may have taken them over.
   */
  mayBeSent(events: readonly Event[]): boolean {
    return events.every((event) => this.#presence.isStill(this.#inFlight.get(JSON.stringify(event)) ?? ''));
  }

  /** Called when the next nodes have the events. */
  async markSent(events: readonly Event[]): Promise<void> {
    for (const event of events) this.#inFlight.set(JSON.stringify(event), null);
    await this.#change((state, outbox) => ({ state, outbox })).catch(this.#noteFault);
  }

  /**
   * Called when the events were not sent: a later step returns them again, here or in the process
   * that takes them over.
   */
  release(events: readonly Event[]): void {
    for (const event of events) this.#inFlight.delete(JSON.stringify(event));
  }

  /**
   * Takes a step now. Returns the events to send, which are stored as unsent until `markSent`:
   * first those that were left, then those of this step.
   */
  async step(input: Input): Promise<Event[]> {
    const { clock, client, onDropped } = this.#options;
    const sender = this.#presence.id;
    const startedAt = clock.monotonic();
    let isDropped = false;
    const events = await this.#change((before, unsent, ended) => {
      // The clock may be set while the step waits for the one before.
      const at = clock.now() - Math.round(clock.monotonic() - startedAt);
      const left = unsent.takenOver(sender, ended);
      isDropped = left.entries.length < unsent.entries.length;
      const reduced = this.#reducer.step(this.#withClockSet(before), { ...input, at, skewMs: client.clockSkewMs });
      return { state: reduced.state, outbox: left.with(reduced.events, sender) };
    }).then(
      (outbox) => {
        if (isDropped) onDropped();
        return outbox.messagesOf(sender).filter((event) => !this.#inFlight.has(JSON.stringify(event)));
      },
      (error: unknown) => {
        this.#noteFault(error);
        return [];
      },
    );
    for (const event of events) this.#inFlight.set(JSON.stringify(event), sender);
    this.#wake();
    return events;
  }

  /** @throws any error but a fault of a shared store */
  #noteFault = (error: unknown): void => {
    if (!(error instanceof StateFault)) throw error;
    this.#fault = error;
    // It is unknown whether the store took the change, and what other processes
    // have written meanwhile.
    this.#isStale = true;
  };

  /**
   * Reads the car and takes the step that follows.
   * @throws VehicleError CANCELLED through the signal; any other reason of the signal is a
   * failure of the reads
   */
  async poll(
    reads: readonly Read[],
    signal: Signal,
    due?: Pick<DuePoll, 'maxAgeMs' | 'failed'>,
  ): Promise<PollResult<Event>> {
    const { client, vin } = this.#options;
    const options = { vin, signal, ...(due && { maxAgeMs: due.maxAgeMs }) };
    const { readings, failures } = await readAll(reads, (read) => client.read(read, options));
    for (const [read, failure] of failures) {
      if (signal.aborted && failure.code === 'CANCELLED') throw failure;
      due?.failed(read, failure);
    }
    const { fault } = this;
    const events = await this.step(this.#reducer.inputOf({ readings, failed: [...failures.keys()] }));
    if (this.#fault !== null) return { events, failure: this.#fault, isNewFailure: fault === null };
    return { events, ...this.#failures.record(reads, failures) };
  }

  /**
   * Reads the car before an event is derived from stored state. If that takes too long, the
   * stored state is used.
   * @throws VehicleError CANCELLED through the signal
   */
  initialRead(reads: readonly Read[], signal: Signal): Promise<PollResult<Event>> {
    const { clock } = this.#options;
    const reason = (): VehicleError =>
      new VehicleError(
        'TIMEOUT',
        'The car could not be read in time after the start. The guard continues with the state that it stored before, and reads again later.',
      );
    return endingAt(clock.now() + maxInitialReadMs, { clock, signal, reason }, (ending) => this.poll(reads, ending));
  }

  /**
   * Polls with the other readers of the account.
   * @param poll called with the reads that are due
   * @returns ends it
   */
  startPolling(poller: Poller, seconds: number, poll: (reads: Read[], due: DuePoll) => void): () => void {
    const { vin } = this.#options;
    const ends = this.#reducer.schedules(seconds).map(({ reads, seconds: every }) =>
      poller.start({ vin, reads, everyMs: every * secondMs }, (due) =>
        poll(
          reads.filter((read) => due.reads.includes(read)),
          due,
        ),
      ),
    );
    return () => ends.forEach((end) => end());
  }

  /**
   * Stores the last state and its times.
   * @param hasWorked false if another process of the group works for the node: only what waits here
   * for its sending is released
   */
  async end(hasWorked = true): Promise<void> {
    this.#hasEnded = true;
    this.#cancel();
    if (hasWorked || this.#outbox.messagesOf(this.#presence.id).length > 0)
      await this.#change((state, outbox) => ({ state, outbox: outbox.released(this.#presence.id) }), true);
  }

  /**
   * One change after the other: reduces what is known and writes it, again if another process has
   * written meanwhile.
   * @param reduce gets what was not sent, and those of its senders that have ended
   * @returns what is not sent after it
   */
  #change(
    reduce: (
      state: State,
      unsent: Outbox<Event>,
      ended: ReadonlySet<string>,
    ) => { state: State; outbox: Outbox<Event> },
    isForced = false,
  ): Promise<Outbox<Event>> {
    const attempt = async (isAgain: boolean): Promise<Outbox<Event> | null> => {
      if (this.#isStale || isAgain) await this.#load();
      this.#isStale = !this.#presence.isLeading;
      const sent = new Set([...this.#inFlight].flatMap(([event, sender]) => (sender === null ? event : [])));
      this.#outbox = this.#outbox.without(sent);
      const ended = new Set<string>();
      for (const { sender } of this.#outbox.entries) if (await this.#presence.hasEnded(sender)) ended.add(sender);
      const { state, outbox } = reduce(this.#state, this.#outbox, ended);
      if (!(await this.#save(state, outbox, isForced))) return null;
      [this.#state, this.#outbox] = [state, outbox];
      for (const event of sent) this.#inFlight.delete(event);
      this.#fault = null;
      return outbox;
    };
    return this.#changes.run(() => retryOnConflict(attempt));
  }

  /** @returns false if another process has written the record meanwhile */
  async #save(state: State, outbox: Outbox<Event>, isForced: boolean): Promise<boolean> {
    const { store, vin, onSaveFailed } = this.#options;
    const text = this.#textOf(state, outbox);
    if (text === this.#stored && this.#isSaved && !isForced) return true;
    try {
      const record = { vin, state, unsent: outbox.entries };
      const version = await store.write(this.key, record, { expected: this.#version });
      if (version === null) return false;
      this.#version = version;
      this.#stored = text;
      this.#isSaved = true;
    } catch (error) {
      if (error instanceof StateFault && error.isAway) throw error;
      if (this.#isSaved) onSaveFailed();
      this.#isSaved = false;
      // Perhaps it was written anyway.
      this.#version = undefined;
    }
    return true;
  }

  #textOf = (state: State, { entries }: Outbox<Event>): string =>
    JSON.stringify([this.#reducer.essence(state), entries]);

  /**
   * Shifts the times of this process when the machine's clock was set, so that
   * durations stay right.
   */
  #withClockSet(state: State): State {
    const { clock } = this.#options;
    const offset = clock.now() - clock.monotonic();
    const byMs = offset - this.#wallOffset;
    if (Math.abs(byMs) < minClockSetMs) return state;
    this.#wallOffset = offset;
    const since = this.#startedAt;
    this.#startedAt += byMs;
    return this.#reducer.withClockSet?.(state, { since, byMs, at: clock.now() }) ?? state;
  }

  #wake(): void {
    const { clock, onDue } = this.#options;
    const due = this.#reducer.nextDue?.(this.#state) ?? null;
    this.#cancel();
    this.#cancel = () => undefined;
    if (due === null || onDue === undefined || this.#hasEnded || !this.#presence.isLeading) return;
    const pauseMs = this.#fault === null ? minPauseMs : awayPauseMs;
    this.#cancel = clock.after(Math.max(pauseMs, due - clock.now()), onDue);
  }
}

/** Remembers which reads have failed, so that an outage is reported once and not with each poll. */
class ReportedFailures<Read extends string> {
  readonly #reported = new Set<Read>();

  /**
   * Reads that fail with the same code are reported together, another one by the next poll.
   * @returns the failure of a poll, one that was not reported before if there is any
   */
  record(
    reads: readonly Read[],
    failures: ReadonlyMap<Read, VehicleError>,
  ): { failure: VehicleError | null; isNewFailure: boolean } {
    for (const read of reads) if (!failures.has(read)) this.#reported.delete(read);
    const failed = reads.filter((read) => failures.has(read));
    const unreported = failed.find((read) => !this.#reported.has(read));
    const named = unreported ?? failed[0];
    const failure = named === undefined ? null : (failures.get(named) ?? null);
    for (const [read, { code }] of failures)
      if (unreported !== undefined && code === failure?.code) this.#reported.add(read);
    return { failure, isNewFailure: unreported !== undefined };
  }
}
