import * as z from 'zod/mini';
import { CarRunner, type CarReducer, type CarRunnerOptions } from '../car-runner';
import {
  applyReading,
  applySignIn,
  factValueShape,
  parseEventState,
  sampleEvent,
  type EventState,
  type SignInKnown,
} from './reducer';
import { VehicleError } from '../errors';
import { parseHours, type QuietHours } from '../util/quiet';
import { config, parseEventSettings } from './settings';
import {
  eventNames,
  eventPolls,
  hasMember,
  hasPlace,
  isOfSignIn,
  readsForEvents,
  type EventName,
  type EventRead,
  type EventReading,
  type EventSettings,
  type VehicleEvent,
} from './types';

type EventStep = Omit<EventReading, 'at' | 'skewMs'> & { signIn: SignInKnown | null };

/** How often the sign-in is looked at, which sends no request. */
const signInEveryMs = 5 * 60_000;

/** The sentence of these says a number (src/events/text.ts). */
const isInNumbers = (event: EventName): boolean => event === 'trip-ended' || event.startsWith('battery-');

const eventShape = z.lazy(() =>
  z
    .object({
      event: z.enum(eventNames),
      from: z.nullable(factValueShape),
      to: z.nullable(factValueShape),
      name: z.nullable(z.string().check(z.minLength(1))),
      place: z.nullable(z.string().check(z.minLength(1))),
      between: z.object({ since: z.nullable(z.iso.datetime()), until: z.iso.datetime() }),
    })
    .check(
      z.refine(({ event, from, to }) => !isInNumbers(event) || (typeof from === 'number' && typeof to === 'number')),
      z.refine(
        ({ event, name, place }) => (name !== null) === hasMember(event) && (place !== null) === hasPlace(event),
      ),
    ),
);

const reducerOf = (
  settings: EventSettings,
  quiet: QuietHours,
  signIn: (() => SignInKnown) | null,
): CarReducer<EventRead, EventState, EventStep, VehicleEvent> => ({
  resume: (stored) => parseEventState(stored),
  parseEvent(stored) {
    const { data } = eventShape.safeParse(stored);
    return data !== undefined && settings.events.includes(data.event) ? data : null;
  },
  inputOf({ readings }) {
    const input: Required<Omit<EventReading, 'at' | 'skewMs'>> & EventStep = {
      payloads: {},
      receivedAt: {},
      signIn: signIn?.() ?? null,
    };
    for (const [read, { payload, vehicle }] of readings) {
      input.payloads[read] = payload;
      input.receivedAt[read] = Date.parse(vehicle.receivedAt);
    }
    return input;
  },
  step(before, { signIn: known, ...input }, time) {
    const { state: read, events } = applyReading(before, { ...input, ...time }, settings);
    const { state, events: ofSignIn } =
      known === null ? { state: read, events: [] } : applySignIn(read, known, time.at, settings);
    if (!quiet.holdsAt(time.at)) return { state, events: [...events, ...ofSignIn] };
    // Known values stay as they were before the quiet hours: the first step after them reports what is different then.
    const signIn = state.signIn && { endsAt: null, warnedDays: null, isRequired: false, ...before.signIn, at: time.at };
    return { state: { facts: { ...state.facts, ...before.facts }, signIn }, events: [] };
  },
  // The times of equal values are stored at the end: after a crash, `between` is a little wider.
  essence: ({ facts, signIn: known }) => [
    Object.entries(facts).map(([name, { value }]) => [name, value]),
    { ...known, at: null },
  ],
  nextDue: ({ signIn: known }) => (known === undefined ? null : known.at + signInEveryMs),
  schedules: (seconds) => eventPolls(settings.events, seconds).map(({ reads, poll }) => ({ reads, seconds: poll })),
});

/** Reads what the chosen events need, and keeps the last known values over restarts. */
export class EventRunner extends CarRunner<EventRead, EventState, EventStep, VehicleEvent> {
  readonly reads: readonly EventRead[];
  readonly #settings: EventSettings;

  private constructor(
    settings: EventSettings,
    quiet: QuietHours,
    signIn: (() => SignInKnown) | null,
    options: CarRunnerOptions,
  ) {
    super(reducerOf(settings, quiet, settings.events.some(isOfSignIn) ? signIn : null), options);
    this.reads = readsForEvents(settings.events);
    this.#settings = settings;
  }

  /** @throws VehicleError INPUT_INVALID for an event that is not chosen */
  sample(name: unknown): VehicleEvent {
    const event = this.#settings.events.find((chosen) => chosen === name);
    if (event === undefined)
      throw new VehicleError(
        'INPUT_INVALID',
        'The deployed node does not report this event. Press Done, deploy, then try again.',
      );
    return sampleEvent(event, this.#settings, this.options.clock.now());
  }

  /**
   * @param settings as a form or a person wrote them
   * @throws VehicleError CONFIG for faulty settings, and where the stored state cannot be read: it may be readable later
   */
  static async open({
    settings,
    signIn = null,
    ...options
  }: CarRunnerOptions & {
    settings: Parameters<typeof parseEventSettings>[0] & Parameters<typeof parseHours>[0];
    /** What is known of the sign-in of the account. */
    signIn?: (() => SignInKnown) | null;
  }): Promise<EventRunner> {
    const { quiet } = parseHours(settings, config);
    const runner = new EventRunner(parseEventSettings(settings), quiet, signIn, options);
    await runner.begin();
    return runner;
  }
}
