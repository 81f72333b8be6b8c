import * as z from 'zod/mini';
import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { DuePoll, Poller } from '../polling/poller';
import { ReportedFailures } from '../polling/reported-failures';
import { readUndamaged, type StateStore } from '../state/state-store';
import type { Clock } from '../util/clock';
import { parseEventSettings } from './settings';
import { applyReading, factValueShape, parseEventState, type EventState } from './reducer';
import {
  eventNames,
  eventPolls,
  hasMember,
  hasPlace,
  readsForEvents,
  type EventName,
  type EventRead,
  type EventReading,
  type EventSettings,
  type VehicleEvent,
} from './types';

export interface EventRunnerOptions {
  /** As a form or a person wrote them. */
  settings: Parameters<typeof parseEventSettings>[0];
  client: Pick<VehicleClient, 'read' | 'clockSkewMs'>;
  /** State that was stored for another vehicle is ignored. */
  vin: string;
  store: StateStore;
  /** The key of the state in the store. */
  key: string;
  clock: Clock;
  /** Called when the state could not be stored, once until it can be stored again. */
  onSaveFailed: () => void;
  /** Called when events are dropped because the process ended several times while they were sent. */
  onDropped: () => void;
}

export interface EventPollResult {
  /** Stored as not sent until `markSent`. */
  events: VehicleEvent[];
  /** Why something could not be read; a failure that was not reported before comes first. */
  failure: VehicleError | null;
  isNewFailure: boolean;
}

/** If Node-RED crashes so often while sending the same event, the event is dropped with a warning. */
const maxTries = 3;

/** The sentence of these says a number (src/events/text.ts). */
const isInNumbers = (event: EventName): boolean => event === 'trip-ended' || event.startsWith('battery-');

const eventShape = z.lazy(() =>
  z
    .object({
      event: z.enum(eventNames),
      from: factValueShape,
      to: factValueShape,
      name: z.nullable(z.string().check(z.minLength(1))),
      place: z.nullable(z.string().check(z.minLength(1))),
      between: z.object({ since: z.iso.datetime(), until: z.iso.datetime() }),
    })
    .check(
      z.refine(({ event, from, to }) => !isInNumbers(event) || (typeof from === 'number' && typeof to === 'number')),
      z.refine(
        ({ event, name, place }) => (name !== null) === hasMember(event) && (place !== null) === hasPlace(event),
      ),
    ),
);

/** An event that is stored and perhaps not sent, and how often its sending has begun. */
const unsentShape = z.lazy(() => z.object({ tries: z.catch(z.int().check(z.minimum(0)), 0), event: eventShape }));
interface Unsent {
  tries: number;
  event: VehicleEvent;
}

const storedShape = z.lazy(() =>
  z.object({ vin: z.string(), state: z.optional(z.unknown()), unsent: z.catch(z.array(z.unknown()), []) }),
);

/** The stored events as far as they can be read: a damaged one is forgotten. */
const parseUnsent = (stored: readonly unknown[]): Unsent[] =>
  stored.flatMap((entry) => unsentShape.safeParse(entry).data ?? []);

/**
 * Reads what the chosen events need, and keeps the last known values over restarts. An event is stored together with the values
 * that it follows from, then sent, then marked as sent: a process that is killed on the way sends the same event again, rather
 * than none.
 */
export class EventRunner {
  readonly #options: EventRunnerOptions;
  readonly #settings: EventSettings;
  readonly #failures = new ReportedFailures<EventRead>();
  #state: EventState;
  #unsent: Unsent[];
  #stored: string;
  #isSaved = true;

  private constructor(
    options: EventRunnerOptions,
    settings: EventSettings,
    stored: { state?: unknown; unsent?: unknown[] },
  ) {
    this.#options = options;
    this.#settings = settings;
    this.#state = parseEventState(stored.state);
    this.#unsent = parseUnsent(stored.unsent ?? []);
    this.#stored = this.#content();
  }

  /** @throws VehicleError CONFIG for faulty settings, and where the stored state cannot be read: it may be readable later */
  static async open(options: EventRunnerOptions): Promise<EventRunner> {
    const settings = parseEventSettings(options.settings);
    const stored = storedShape.safeParse(await readUndamaged(options.store, options.key));
    return new EventRunner(options, settings, stored.success && stored.data.vin === options.vin ? stored.data : {});
  }

  /** The events that a former process stored and did not mark as sent; those that are no longer chosen are left out. */
  async takeUnsent(): Promise<VehicleEvent[]> {
    const { onDropped } = this.#options;
    const chosen = this.#unsent.filter(({ event }) => this.#settings.events.includes(event.event));
    const unsent = chosen.filter(({ tries }) => tries < maxTries);
    if (unsent.length < chosen.length) onDropped();
    this.#unsent = unsent.map(({ event, tries }) => ({ event, tries: tries + 1 }));
    await this.#save();
    return this.#unsent.map(({ event }) => event);
  }

  /** Called when the next nodes have the events. */
  async markSent(events: readonly VehicleEvent[]): Promise<void> {
    this.#unsent = this.#unsent.filter(({ event }) => !events.includes(event));
    await this.#save();
  }

  get reads(): EventRead[] {
    return readsForEvents(this.#settings.events);
  }

  /**
   * Polls with the other readers of the account.
   * @param poll called with the reads that are due
   * @returns ends it
   */
  startPolling(poller: Poller, seconds: number, poll: (reads: EventRead[], due: DuePoll) => void): () => void {
    const ends = eventPolls(this.#settings.events, seconds).map((group) =>
      poller.start({ vin: this.#options.vin, reads: group.reads, everyMs: group.poll * 1000 }, (due) =>
        poll(
          group.reads.filter((read) => due.reads.includes(read)),
          due,
        ),
      ),
    );
    return () => ends.forEach((end) => end());
  }

  /**
   * Reads the car. The state and the events are stored before the events are returned.
   * @throws VehicleError CANCELLED through the signal
   */
  async poll(reads: readonly EventRead[], signal: AbortSignal, due?: DuePoll): Promise<EventPollResult> {
    const { client, vin, clock } = this.#options;
    const payloads: EventReading['payloads'] = {};
    const receivedAt: EventReading['receivedAt'] = {};
    const failures = new Map<EventRead, VehicleError>();
    const readOne = async (read: EventRead): Promise<void> => {
      try {
        const { payload, vehicle } = await client.read(read, { vin, signal, ...(due && { maxAgeMs: due.maxAgeMs }) });
        payloads[read] = payload;
        receivedAt[read] = Date.parse(vehicle.receivedAt);
      } catch (error) {
        const failure = asVehicleError(error);
        if (signal.aborted) throw failure;
        failures.set(read, failure);
        due?.failed(read, failure);
      }
    };
    await Promise.all(reads.map(readOne));
    const reading = { at: clock.now(), payloads, receivedAt, skewMs: client.clockSkewMs };
    const { state, events } = applyReading(this.#state, reading, this.#settings);
    this.#state = state;
    this.#unsent = [...this.#unsent, ...events.map((event) => ({ event, tries: 1 }))];
    await this.#save();
    return { events, ...this.#failures.record(reads, failures) };
  }

  /**
   * A memory card wears out, so a state with the same values is not written again; `between` is then a little wider after a restart.
   */
  async #save(isForced = false): Promise<void> {
    const { store, key, vin, onSaveFailed } = this.#options;
    const content = this.#content();
    if (!isForced && content === this.#stored && this.#isSaved) return;
    this.#stored = content;
    try {
      await store.write(key, { vin, state: this.#state, unsent: this.#unsent });
      this.#isSaved = true;
    } catch {
      if (this.#isSaved) onSaveFailed();
      this.#isSaved = false;
    }
  }

  #content(): string {
    return JSON.stringify([Object.entries(this.#state.facts).map(([name, { value }]) => [name, value]), this.#unsent]);
  }

  /** Stores the times of the last reading, too. An orderly end is no crash: the last try of an event that was not sent does not count. */
  async end(): Promise<void> {
    this.#unsent = this.#unsent.map(({ event, tries }) => ({ event, tries: tries - 1 }));
    await this.#save(true);
  }
}
