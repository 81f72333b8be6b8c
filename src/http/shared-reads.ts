import type { Clock } from '../util/clock';
import { raceAbort, reasonOf } from '../util/abort';

export interface SharedReadOptions {
  /** How old an answer to another reader may be, in milliseconds; with 0, only a read under way is joined. */
  maxAgeMs: number;
  /** `false` never keeps the answer (image URLs must not be cached: docs/service.md 8). */
  keep?: boolean | undefined;
  /** True for a read that waits for no plain one, because a plain one may have to wait for the quota. */
  isUrgent?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface SharedRead<V> {
  value: V;
  /** `shared` for the answer to another reader's request. */
  source: 'live' | 'shared';
}

/** A request under way, for everybody who waits for its answer. */
interface Flight<V> {
  key: string;
  answer: Promise<V>;
  abort: AbortController;
  callers: number;
  isOver: boolean;
}

/** Bounds the memory, at the cost of sharing. */
const maxKept = 5_000;
/** An answer is kept at least this long for other readers, whatever age the one who asked accepts. */
const minKeepMs = 5_000;

/**
 * Merges identical reads: one that is under way serves all who ask meanwhile (single flight), and a fresh answer serves further
 * readers. A failure reaches those who waited for it and is not kept.
 */
export class SharedReads<V> {
  readonly #clock: Clock;
  /** In the order in which the answers came: the oldest are the first. Times in monotonic time. */
  readonly #kept = new Map<string, { value: V; at: number; until: number }>();
  readonly #flights = new Map<string, Flight<V>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of answers that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * @param key of the read and the vehicle; equal keys are the same read
   * @param load asks the service; its signal is aborted when nobody waits any more
   * @throws what `load` throws; CANCELLED, or the signal's own VehicleError, if this caller gives up
   */
  async read(
    key: string,
    { maxAgeMs, keep = true, isUrgent = false, signal }: SharedReadOptions,
    load: (signal: AbortSignal) => Promise<V>,
  ): Promise<SharedRead<V>> {
    if (signal?.aborted === true) throw reasonOf(signal);
    const kept = keep ? this.#kept.get(key) : undefined;
    if (kept !== undefined && this.#clock.monotonic() - kept.at < maxAgeMs)
      return { value: kept.value, source: 'shared' };
    const urgentKey = `${key} urgent`;
    const underWay = this.#flights.get(urgentKey) ?? (isUrgent ? undefined : this.#flights.get(key));
    if (underWay !== undefined) return { value: await this.#join(underWay, signal), source: 'shared' };
    const flight = this.#start(isUrgent ? urgentKey : key, load, (value) => {
      if (keep) this.#keep(key, value, Math.max(minKeepMs, maxAgeMs));
    });
    return { value: await this.#join(flight, signal), source: 'live' };
  }

  /** No answer from before now serves a later read whose key has this prefix: a command changes what its car answers. */
  invalidate(prefix: string): void {
    for (const table of [this.#kept, this.#flights])
      for (const key of table.keys()) if (key.startsWith(prefix)) table.delete(key);
  }

  #start(key: string, load: (signal: AbortSignal) => Promise<V>, keep: (value: V) => void): Flight<V> {
    const abort = new AbortController();
    const answer = (async () => load(abort.signal))()
      .then((value) => {
        // The answer of a flight that was left or invalidated is not kept.
        if (this.#flights.get(key) === flight) keep(value);
        return value;
      })
      .finally(() => {
        flight.isOver = true;
        this.#leave(flight);
      });
    const flight: Flight<V> = { key, answer, abort, callers: 0, isOver: false };
    this.#flights.set(key, flight);
    return flight;
  }

  async #join(flight: Flight<V>, signal: AbortSignal | undefined): Promise<V> {
    flight.callers += 1;
    try {
      return await raceAbort(flight.answer, signal);
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0 && !flight.isOver) {
        this.#leave(flight);
        flight.abort.abort();
      }
    }
  }

  #leave(flight: Flight<V>): void {
    if (this.#flights.get(flight.key) === flight) this.#flights.delete(flight.key);
  }

  #keep(key: string, value: V, forMs: number): void {
    const at = this.#clock.monotonic();
    this.#kept.delete(key);
    this.#kept.set(key, { value, at, until: at + forMs });
    for (const [oldest, { until }] of this.#kept) {
      if (until > at && this.#kept.size <= maxKept) break;
      this.#kept.delete(oldest);
    }
  }
}
