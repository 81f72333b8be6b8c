import type { Clock } from '../util/clock';
import { reasonOf } from '../util/abort';
import { Cancellation, type Signal } from '../util/cancellation';
import { setNewest } from '../util/bounded';

export interface SharedReadOptions {
  /**
   * How old an answer to another reader may be, in milliseconds; with 0, only a read
   * in progress is joined.
   */
  maxAgeMs: number;
  /**
   * `false` never keeps the answer (image URLs must not be cached: docs/internals/service.md 8).
   */
  keep?: boolean | undefined;
  /**
   * True for a read that waits for no plain one, because a plain one may have
   * to wait for the quota.
   */
  isUrgent?: boolean | undefined;
  signal?: Signal | undefined;
}

export interface SharedRead<V> {
  value: V;
  /** `shared` for the answer to another reader's request. */
  source: 'live' | 'shared';
}

/** Somebody who waits for the answer of a flight. */
interface Caller<V> {
  source: SharedRead<V>['source'];
  resolve(read: SharedRead<V>): void;
  reject(error: unknown): void;
  signal: Signal | undefined;
  /** Listens to the signal. */
  stop(): void;
}

/** A request that is in progress. All callers that wait for its answer share it. */
interface Flight<V> {
  /** Of the request; after its end it has nothing to end. */
  readonly cancellation: Cancellation;
  readonly callers: Caller<V>[];
}

const once = { once: true } as const;

/** Bounds the memory, at the cost of sharing. */
const maxKept = 1_000;

/**
 * Merges identical reads: all callers share a request that is in progress (single flight), and a
 * fresh answer is reused for further readers. A failure reaches those who waited for it and is not
 * kept.
 */
export class SharedReads<V> {
  readonly #clock: Clock;
  /** Answers and when they came, in monotonic time. */
  readonly #kept = new Map<string, { value: V; at: number }>();
  readonly #flights = new Map<string, Flight<V>>();
  /** Of urgent reads, which wait for no plain one. */
  readonly #urgentFlights = new Map<string, Flight<V>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param key the address, the media type and whose token is used; equal keys are the same read
   * @param load asks the service; its signal is aborted when the last caller has stopped waiting
   * @throws what `load` throws; CANCELLED, or the signal's own VehicleError, if
   * this caller gives up
   */
  read(
    key: string,
    { maxAgeMs, keep = true, isUrgent = false, signal }: SharedReadOptions,
    load: (signal: Signal) => Promise<V>,
  ): Promise<SharedRead<V>> {
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    const kept = keep ? this.#kept.get(key) : undefined;
    if (kept !== undefined && this.#clock.monotonic() - kept.at < maxAgeMs)
      return Promise.resolve({ value: kept.value, source: 'shared' });
    const flights = isUrgent || this.#urgentFlights.has(key) ? this.#urgentFlights : this.#flights;
    const underWay = flights.get(key);
    const flight = underWay ?? this.#start(flights, key, load, keep);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        flight.callers.splice(flight.callers.indexOf(caller), 1);
        if (flight.callers.length === 0) end(flights, key, flight);
        if (signal !== undefined) reject(reasonOf(signal));
      };
      const source = underWay === undefined ? 'live' : 'shared';
      const caller: Caller<V> = { source, resolve, reject, signal, stop };
      flight.callers.push(caller);
      signal?.addEventListener('abort', stop, once);
    });
  }

  /**
   * A later read whose key contains this text reuses no answer from before now: a command changes
   * what its car answers.
   */
  invalidate(part: string): void {
    for (const table of [this.#kept, this.#flights, this.#urgentFlights])
      for (const key of table.keys()) if (key.includes(part)) table.delete(key);
  }

  /** @param flights to which it is added */
  #start(flights: Map<string, Flight<V>>, key: string, load: (signal: Signal) => Promise<V>, keep: boolean): Flight<V> {
    const flight: Flight<V> = { cancellation: new Cancellation(), callers: [] };
    flights.set(key, flight);
    const toEach = (settle: (caller: Caller<V>) => void): void => {
      end(flights, key, flight);
      for (const caller of flight.callers) {
        caller.signal?.removeEventListener('abort', caller.stop);
        settle(caller);
      }
    };
    load(flight.cancellation).then(
      (value) => {
        // The answer of a flight that was left or invalidated is not kept.
        if (keep && flights.get(key) === flight)
          setNewest(this.#kept, key, { value, at: this.#clock.monotonic() }, maxKept);
        toEach(({ resolve, source }) => resolve({ value, source }));
      },
      (error: unknown) => toEach(({ reject }) => reject(error)),
    );
    return flight;
  }
}

/** Nobody can join the flight now, and nobody waits for it. */
function end<V>(flights: Map<string, Flight<V>>, key: string, flight: Flight<V>): void {
  if (flights.get(key) === flight) flights.delete(key);
  flight.cancellation.abort();
}
