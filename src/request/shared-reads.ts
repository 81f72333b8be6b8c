import { systemClock, type Clock } from '../util/clock';
import { reasonOf } from '../util/abort';

/**
 * Identical reads are one request: those under way are joined, and a fresh enough answer serves further readers.
 * Failures are shared with those who were waiting for them and never kept.
 */
export interface SharedReads<V> {
  /**
   * @param key names the read and the vehicle; equal keys are the same read
   * @param load asks the service; its signal is aborted when nobody waits any more
   * @throws what `load` throws; CANCELLED, or the signal's own VehicleError, where this caller gives up
   */
  read(key: string, options: SharedReadOptions, load: (signal: AbortSignal) => Promise<V>): Promise<SharedRead<V>>;
  /** Nothing from before now answers a later read whose key starts so: a command changes what the car says. */
  invalidate(prefix: string): void;
  /** How many answers are held. */
  readonly size: number;
}

export interface SharedReadOptions {
  /** How old an answer may be that somebody else's request brought, in ms; 0: ask the service (or join who is asking now). */
  maxAgeMs?: number | undefined;
  /** `false`: the answer is never held (image URLs must not be cached: specification 8). */
  keep?: boolean | undefined;
  /** `false`: a request of its own, neither joined nor held. */
  share?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface SharedRead<V> {
  value: V;
  /** `shared`: another reader's request brought it. */
  source: 'live' | 'shared';
  /** Since the answer came. */
  ageMs: number;
}

interface Kept<V> {
  value: V;
  at: number;
  until: number;
}

interface Flight<V> {
  answer: Promise<V>;
  abort: AbortController;
  callers: number;
  over: boolean;
}

/** More distinct answers than this are not held at once: sharing suffers, memory does not. */
const mostKept = 5_000;

export function createSharedReads<V>({
  clock = systemClock,
  maxAgeMs: defaultAge = 5_000,
}: { clock?: Clock; maxAgeMs?: number } = {}): SharedReads<V> {
  /** In the order in which the answers came, so that the oldest are found at the front. */
  const kept = new Map<string, Kept<V>>();
  const flights = new Map<string, Flight<V>>();

  const keep = (key: string, value: V, forMs: number): void => {
    const at = clock.now();
    kept.delete(key);
    if (forMs > 0) kept.set(key, { value, at, until: at + forMs });
    for (const [oldest, { until }] of kept) {
      if (until > at && kept.size <= mostKept) break;
      kept.delete(oldest);
    }
  };

  const start = (key: string, load: (signal: AbortSignal) => Promise<V>, keepMs: number): Flight<V> => {
    const abort = new AbortController();
    // A flight that was left or invalidated meanwhile is not in the table any more, and its answer is not held.
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
      return await (signal === undefined ? flight.answer : unlessAborted(flight.answer, signal));
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
      if (!share) return { value: await load(signal ?? new AbortController().signal), source: 'live', ageMs: 0 };
      const held = keeps ? kept.get(key) : undefined;
      if (held !== undefined) {
        const ageMs = clock.now() - held.at;
        // A clock that was set back makes an age that nobody knows.
        if (ageMs >= 0 && ageMs < maxAgeMs) return { value: held.value, source: 'shared', ageMs };
      }
      const underway = flights.get(key);
      const flight = underway ?? start(key, load, keeps ? Math.max(defaultAge, maxAgeMs) : 0);
      return { value: await join(key, flight, signal), source: underway === undefined ? 'live' : 'shared', ageMs: 0 };
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

function unlessAborted<V>(answer: Promise<V>, signal: AbortSignal): Promise<V> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
