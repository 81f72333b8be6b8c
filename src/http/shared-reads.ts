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

/**
 * What is known of one key. The object stays from one read to the next
 * (docs/internals/decisions.md, “No map or set for what lives as long as a read”).
 */
interface Known<V> {
  answer: V | undefined;
  /** When the answer came, in monotonic time; without one, never. */
  at: number;
  plain: Flight<V> | undefined;
  /** Of urgent reads, which wait for no plain one. */
  urgent: Flight<V> | undefined;
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
  readonly #known = new Map<string, Known<V>>();

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
    const known = this.#knownOf(key);
    if (keep && this.#clock.monotonic() - known.at < maxAgeMs)
      return Promise.resolve({ value: known.answer as V, source: 'shared' }); // It has a time.
    const kind = isUrgent || known.urgent !== undefined ? 'urgent' : 'plain';
    const underWay = known[kind];
    const flight = underWay ?? this.#start(known, kind, key, load, keep);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        flight.callers.splice(flight.callers.indexOf(caller), 1);
        if (flight.callers.length === 0) end(known, kind, flight);
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
    for (const key of this.#known.keys()) if (key.includes(part)) this.#known.delete(key);
  }

  /** The oldest keys are forgotten, even during a read; the next reader sends its own request. */
  #knownOf(key: string): Known<V> {
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    const known: Known<V> = { answer: undefined, at: -Infinity, plain: undefined, urgent: undefined };
    setNewest(this.#known, key, known, maxKept);
    return known;
  }

  #start(
    known: Known<V>,
    kind: 'plain' | 'urgent',
    key: string,
    load: (signal: Signal) => Promise<V>,
    keep: boolean,
  ): Flight<V> {
    const flight: Flight<V> = { cancellation: new Cancellation(), callers: [] };
    known[kind] = flight;
    const toEach = (settle: (caller: Caller<V>) => void): void => {
      end(known, kind, flight);
      for (const caller of flight.callers) {
        caller.signal?.removeEventListener('abort', caller.stop);
        settle(caller);
      }
    };
    load(flight.cancellation).then(
      (value) => {
        // The answer of a flight that was left or invalidated is not kept.
        if (keep && known[kind] === flight && this.#known.get(key) === known) {
          Object.assign(known, { answer: value, at: this.#clock.monotonic() });
          setNewest(this.#known, key, known, maxKept);
        }
        toEach(({ resolve, source }) => resolve({ value, source }));
      },
      (error: unknown) => toEach(({ reject }) => reject(error)),
    );
    return flight;
  }
}

/** Nobody can join the flight from now on, and its request is no longer needed. */
function end<V>(known: Known<V>, kind: 'plain' | 'urgent', flight: Flight<V>): void {
  if (known[kind] === flight) known[kind] = undefined;
  flight.cancellation.abort();
}
