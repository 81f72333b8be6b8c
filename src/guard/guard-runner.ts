import { CarRunner, type CarReducer, type CarRunnerOptions, type PollResult } from '../car-runner';
import type { WatchName } from '../catalogue/openings';
import { VehicleError } from '../errors';
import { endingAt } from '../util/abort';
import { Guard } from './reducer';
import type { GuardSettings, Unchecked } from './options';
import { withClockSet, type GuardState } from './state';
import { readingOf } from './apply-reading';
import { eventShape, type GuardEvent, type GuardInput, type GuardRead, type GuardView } from './types';

type WithoutTime<Input> = Input extends GuardInput ? Omit<Input, 'at'> : never;
type GuardStep = WithoutTime<GuardInput>;

const maxInitialReadMs = 30_000;

const reducerOf = (guard: Guard): CarReducer<GuardRead, GuardState, GuardStep, GuardEvent> => ({
  resume: (stored, at) => guard.resume(stored, at),
  parseEvent: (stored) => eventShape.safeParse(stored).data ?? null,
  inputOf: ({ readings, failed }) => readingOf(readings, failed),
  step: (state, input, { at, skewMs }) =>
    guard.step(state, input.type === 'reading' ? { ...input, at, skewMs } : { ...input, at }),
  // When an answer came, and when it was last closed, matters only while the process runs.
  essence: (state) => [
    { ...state, at: null, inUseReceivedAt: null, openings: null },
    Object.entries(state.openings).map(([key, opening]) => [
      key,
      { ...opening, receivedAt: null, closedAt: opening.closedAt !== null },
    ]),
  ],
  schedules: (seconds) => [{ reads: guard.readsFor(), seconds, timeZone: guard.timeZone }],
  nextDue: (state) => guard.nextDue(state),
  withClockSet,
});

/** Runs a guard: reads the car, stores the state, and wakes when a tick is due. */
export class GuardRunner extends CarRunner<GuardRead, GuardState, GuardStep, GuardEvent> {
  readonly #guard: Guard;

  private constructor(guard: Guard, options: CarRunnerOptions) {
    super(reducerOf(guard), options);
    this.#guard = guard;
  }

  /** @throws VehicleError CONFIG for faulty settings, and where the stored state cannot be read: it may be readable later */
  static async open({
    settings,
    ...options
  }: CarRunnerOptions & { settings: Unchecked<GuardSettings> }): Promise<GuardRunner> {
    const runner = new GuardRunner(new Guard(settings), options);
    await runner.begin();
    return runner;
  }

  get view(): GuardView {
    return this.#guard.view(this.state);
  }

  sample(): GuardEvent {
    return this.#guard.sample(this.options.clock.now());
  }

  /** The reads that this guard needs, and those of the openings that a question names. */
  readsFor(only?: readonly WatchName[]): GuardRead[] {
    return this.#guard.readsFor(only);
  }

  /**
   * Reads the car before an event is derived from stored state. If that takes too long, the stored state is used.
   * @returns null where nothing is stored
   * @throws VehicleError CANCELLED through the signal
   */
  async initialRead(signal: AbortSignal): Promise<PollResult<GuardEvent> | null> {
    if (this.state.at === null) return null;
    const { clock } = this.options;
    const reason = (): VehicleError =>
      new VehicleError(
        'TIMEOUT',
        'The car could not be read in time after the start. The guard continues with the state that it stored before, and reads again later.',
      );
    return endingAt(clock.now() + maxInitialReadMs, { clock, signal, reason }, (ending) =>
      this.poll(this.readsFor(), ending),
    );
  }
}
