import * as z from 'zod/mini';
import { askedAtOf } from '../car/reading';
import type { CarReducer, PolledCar, StepTime } from '../car-runner';
import { parseHours, type QuietHours } from '../util/quiet';
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
import { eventConfigError, parseEventSettings } from './settings';
import {
  eventNames,
  eventPolls,
  isOfSignIn,
  readsForEvents,
  type EventRead,
  type EventReading,
  type EventSettings,
  type VehicleEvent,
} from './types';
import { minuteMs } from '../util/durations';

type EventStep = Required<Pick<EventReading, 'payloads' | 'receivedAt'>> &
  Pick<EventReading, 'askedAt'> & { signIn: SignInKnown | null };

/** How often the sign-in is looked at, which sends no request. */
const signInEveryMs = 5 * minuteMs;

const sessionShape = z.lazy(() => {
  const text = z.nullable(z.string());
  return z.object({
    id: text,
    start: text,
    end: text,
    open: z.nullable(z.boolean()),
    kWh: z.nullable(z.number()),
    reason: z.optional(z.string()),
    connector: z.nullable(z.number()),
    token: text,
  });
});

const eventShape = z.lazy(() =>
  z.object({
    event: z.enum(eventNames),
    from: z.nullable(factValueShape),
    to: z.nullable(factValueShape),
    name: z.nullable(z.string()),
    place: z.nullable(z.string()),
    target: z.optional(z.nullable(z.number())),
    doneAt: z.optional(z.nullable(z.iso.datetime())),
    between: z.object({ since: z.nullable(z.iso.datetime()), until: z.iso.datetime() }),
    session: z.optional(sessionShape),
  }),
);

/** The reducer of the chosen events of a car and of its account's sign-in. */
export class CarEvents implements CarReducer<EventRead, EventState, EventStep, VehicleEvent> {
  readonly reads: readonly EventRead[];
  readonly resume = parseEventState;
  readonly #settings: EventSettings;
  readonly #quiet: QuietHours;
  readonly #signIn: (() => SignInKnown) | null;

  /**
   * @param settings as a form or a person wrote them
   * @param signIn what is known of the sign-in of the account
   * @throws VehicleError CONFIG for faulty settings
   */
  constructor(
    settings: Parameters<typeof parseEventSettings>[0] & Parameters<typeof parseHours>[0],
    signIn: (() => SignInKnown) | null = null,
  ) {
    this.#quiet = parseHours(settings, eventConfigError);
    this.#settings = parseEventSettings(settings);
    const { events } = this.#settings;
    this.#signIn = events.some(isOfSignIn) ? signIn : null;
    this.reads = readsForEvents(events);
  }

  /** @throws VehicleError INPUT_INVALID for an event that is not chosen */
  sample(name: unknown, at: number): VehicleEvent {
    const event = this.#settings.events.find((chosen) => chosen === name);
    if (event === undefined)
      throw new VehicleError(
        'INPUT_INVALID',
        'The deployed node does not report this event. Press Done, deploy, then try again.',
      );
    return sampleEvent(event, this.#settings, at);
  }

  parseEvent(stored: unknown): VehicleEvent | null {
    const { data } = eventShape.safeParse(stored);
    return data !== undefined && this.#settings.events.includes(data.event) ? data : null;
  }

  inputOf({ readings }: PolledCar<EventRead>): EventStep {
    const payloads: EventStep['payloads'] = {};
    const receivedAt: EventStep['receivedAt'] = {};
    const askedAt: NonNullable<EventStep['askedAt']> = {};
    for (const [read, { payload, vehicle }] of readings) {
      payloads[read] = payload;
      receivedAt[read] = Date.parse(vehicle.receivedAt);
      askedAt[read] = askedAtOf(vehicle);
    }
    return { payloads, receivedAt, askedAt, signIn: this.#signIn?.() ?? null };
  }

  step(
    before: EventState,
    { signIn, ...reading }: EventStep & StepTime,
  ): { state: EventState; events: VehicleEvent[] } {
    const { at } = reading;
    const { state: read, events } = applyReading(before, reading, this.#settings);
    const { state, events: ofSignIn } =
      signIn === null ? { state: read, events: [] } : applySignIn(read, signIn, at, this.#settings);
    if (!this.#quiet.holdsAt(at)) return { state, events: [...events, ...ofSignIn] };
    // Known values stay as they were before the quiet hours: the first step after them reports
    // what is different then.
    const known = state.signIn && { endsAt: null, warnedDays: null, isRequired: false, ...before.signIn, at };
    return { state: { facts: { ...state.facts, ...before.facts }, signIn: known }, events: [] };
  }

  /**
   * The times of equal values are stored at the end: after a crash, `between` is a little wider.
   */
  essence({ facts, signIn }: EventState): unknown {
    return [Object.entries(facts).map(([name, { value }]) => [name, value]), { ...signIn, at: null }];
  }

  nextDue({ signIn }: EventState): number | null {
    return signIn === undefined ? null : signIn.at + signInEveryMs;
  }

  schedules(seconds: number): { reads: EventRead[]; seconds: number }[] {
    return eventPolls(this.#settings.events, seconds).map(({ reads, poll }) => ({ reads, seconds: poll }));
  }
}
