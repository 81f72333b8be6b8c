import * as z from 'zod/mini';
import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { DuePoll, Poller } from '../polling/poller';
import { ReportedFailures } from '../polling/reported-failures';
import type { StateStore } from '../state/state-store';
import type { Clock } from '../util/clock';
import { applyReading, parseEventState, type EventState } from './reducer';
import {
  eventPolls,
  readsForEvents,
  type EventRead,
  type EventReading,
  type EventSettings,
  type VehicleEvent,
} from './types';

export interface EventRunnerOptions {
  settings: EventSettings;
  client: Pick<VehicleClient, 'read' | 'clockSkewMs'>;
  /** State that was stored for another vehicle is ignored. */
  vin: string;
  store: StateStore;
  /** The key of the state in the store. */
  key: string;
  clock: Clock;
  /** Called when the state could not be stored, once until it can be stored again. */
  onSaveFailed: () => void;
}

export interface EventPollResult {
  events: VehicleEvent[];
  /** Why something could not be read; a failure that was not reported before comes first. */
  failure: VehicleError | null;
  isNewFailure: boolean;
}

const storedShape = z.object({ vin: z.string(), state: z.unknown() });

/** Reads what the chosen events need, and keeps the last known values over restarts. */
export class EventRunner {
  readonly #options: EventRunnerOptions;
  readonly #failures = new ReportedFailures<EventRead>();
  #state: EventState;
  #stored: string;
  #isSaved = true;

  private constructor(options: EventRunnerOptions, stored: unknown) {
    this.#options = options;
    this.#state = parseEventState(stored);
    this.#stored = valuesOf(this.#state);
  }

  static async open(options: EventRunnerOptions): Promise<EventRunner> {
    const read = await options.store.read(options.key).catch(() => null);
    const stored = storedShape.safeParse(read?.value);
    return new EventRunner(options, stored.success && stored.data.vin === options.vin ? stored.data.state : undefined);
  }

  get reads(): EventRead[] {
    return readsForEvents(this.#options.settings.events);
  }

  /**
   * Polls with the other readers of the account.
   * @param poll called with the reads that are due
   * @returns ends it
   */
  startPolling(poller: Poller, seconds: number, poll: (reads: EventRead[], due: DuePoll) => void): () => void {
    const ends = eventPolls(this.#options.settings.events, seconds).map((group) =>
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
   * Reads the car. The state is stored before the events are returned, so that none is sent twice.
   * @throws VehicleError CANCELLED through the signal
   */
  async poll(reads: readonly EventRead[], signal: AbortSignal, due?: DuePoll): Promise<EventPollResult> {
    const { client, vin, clock, settings } = this.#options;
    const payloads: EventReading['payloads'] = {};
    const failures = new Map<EventRead, VehicleError>();
    const readOne = async (read: EventRead): Promise<void> => {
      try {
        payloads[read] = (await client.read(read, { vin, signal, ...(due && { maxAgeMs: due.maxAgeMs }) })).payload;
      } catch (error) {
        const failure = asVehicleError(error);
        if (signal.aborted) throw failure;
        failures.set(read, failure);
        due?.failed(read, failure);
      }
    };
    await Promise.all(reads.map(readOne));
    const reading = { at: clock.now(), payloads, skewMs: client.clockSkewMs };
    const { state, events } = applyReading(this.#state, reading, settings);
    this.#state = state;
    await this.#save(events.length > 0);
    return { events, ...this.#failures.judge(reads, failures) };
  }

  /**
   * A memory card wears out, so a state with the same values is not written again; `between` is then a little wider after a restart.
   */
  async #save(hasEvents: boolean): Promise<void> {
    const { store, key, vin, onSaveFailed } = this.#options;
    const values = valuesOf(this.#state);
    if (!hasEvents && values === this.#stored && this.#isSaved) return;
    this.#stored = values;
    try {
      await store.write(key, { vin, state: this.#state });
      this.#isSaved = true;
    } catch {
      if (this.#isSaved) onSaveFailed();
      this.#isSaved = false;
    }
  }

  /** Stores the times of the last reading, too. */
  async end(): Promise<void> {
    await this.#save(true);
  }
}

const valuesOf = ({ facts }: EventState): string =>
  JSON.stringify(Object.entries(facts).map(([name, { value }]) => [name, value]));
