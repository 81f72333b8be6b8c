import { systemClock, type Clock } from '../util/clock';
import { raceAbort, reasonOf } from '../util/abort';

/**
 * Merges identical reads: one that is under way serves all who ask meanwhile (single flight), and a fresh answer serves further
 * readers. A failure reaches those who waited for it and is not kept.
 */
export interface SharedReads<V> {
  /**
   * @param key of the read and the vehicle; equal keys are the same read
   * @param load asks the service; its signal is aborted when nobody waits any more
   * @throws what `load` throws; CANCELLED, or the signal's own VehicleError, if this caller gives up
   */
  read(key: string, options: SharedReadOptions, load: (signal: AbortSignal) => Promise<V>): Promise<SharedRead<V>>;
  /** No answer from before now serves a later read whose key has this prefix: a command changes what its car answers. */
  invalidate(prefix: string): void;
  /** The number of answers that are kept. */
  readonly size: number;
}

export interface SharedReadOptions {
  /** How old an answer to another reader may be, in milliseconds; with 0, only a read under way is joined. */
  maxAgeMs?: number | undefined;
  /** `false` never keeps the answer (image URLs must not be cached: docs/service.md 8). */
  keep?: boolean | undefined;
  /** `false` sends a request of its own, which nobody joins and whose answer is not kept. */
  share?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface SharedRead<V> {
  value: V;
  /** `shared` for the answer to another reader's request. */
  source: 'live' | 'shared';
}

interface Kept<V> {
  value: V;
  /** In monotonic time. */
  at: number;
  until: number;
}

interface Flight<V> {
  answer: Promise<V>;
  abort: AbortController;
  callers: number;
  over: boolean;
}

/** Bounds the memory, at the cost of sharing. */
const maxKept = 5_000;

export function createSharedReads<V>({
  clock = systemClock,
  maxAgeMs: defaultAge = 5_000,
}: { clock?: Clock; maxAgeMs?: number } = {}): SharedReads<V> {
  /** In the order in which the answers came: the oldest are the first. */
  const kept = new Map<string, Kept<V>>();
  const flights = new Map<string, Flight<V>>();

  const keep = (key: string, value: V, forMs: number): void => {
    const at = clock.monotonic();
    kept.delete(key);
    if (forMs > 0) kept.set(key, { value, at, until: at + forMs });
    for (const [oldest, { until }] of kept) {
      if (until > at && kept.size <= maxKept) break;
      kept.delete(oldest);
    }
  };

  const start = (key: string, load: (signal: AbortSignal) => Promise<V>, keepMs: number): Flight<V> => {
    const abort = new AbortController();
    // A flight that was left or invalidated is no longer in the table, and its answer is not kept.
    const end = (): boolean => {
      flight.over = true;
      return flights.get(key) === flight && flights.delete(key);
    };
    const answer = (async () => load(abort.signal))().then(
      (value) => {
        if (end()) keep(key, value, keepMs);
        return value;
      },
      (error: unknown) => {
        end();
        throw error;
      },
    );
    const flight: Flight<V> = { answer, abort, callers: 0, over: false };
    flights.set(key, flight);
    return flight;
  };

  const join = async (key: string, flight: Flight<V>, signal: AbortSignal | undefined): Promise<V> => {
    flight.callers += 1;
    try {
      return await raceAbort(flight.answer, signal);
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0 && !flight.over) {
        if (flights.get(key) === flight) flights.delete(key);
        flight.abort.abort();
      }
    }
  };

  return {
    async read(key, { maxAgeMs = defaultAge, keep: keeps = true, share = true, signal }, load) {
      if (signal?.aborted === true) throw reasonOf(signal);
      if (!share) return { value: await load(signal ?? new AbortController().signal), source: 'live' };
      const held = keeps ? kept.get(key) : undefined;
      if (held !== undefined) {
        const ageMs = clock.monotonic() - held.at;
        if (ageMs < maxAgeMs) return { value: held.value, source: 'shared' };
      }
      const underway = flights.get(key);
      const flight = underway ?? start(key, load, keeps ? Math.max(defaultAge, maxAgeMs) : 0);
      return { value: await join(key, flight, signal), source: underway === undefined ? 'live' : 'shared' };
    },
    invalidate(prefix) {
      for (const table of [kept, flights])
        for (const key of table.keys()) if (key.startsWith(prefix)) table.delete(key);
    },
    get size() {
      return kept.size;
    },
  };
}
