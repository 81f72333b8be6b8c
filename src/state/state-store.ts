import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import type { Clock } from '../util/clock';

/** A stored value, as JSON can hold it, and the version that a conditional write names. */
export interface Stored {
  value: unknown;
  version: string;
}

export interface StoredEntry extends Stored {
  key: string;
}

export interface WriteCondition {
  /**
   * Change only if this is the stored version, or, with `null`, only if nothing is stored.
   * Default: change in any case.
   */
  expected?: string | null | undefined;
}

/**
 * Everything that outlives a restart: a small key-value store with compare-and-set. A key is a
 * collection and a name, `command/4f3c`; the collection is a fixed word of the pack, the name is
 * any text. No two writes of a key get the same version, not even when it was removed in between.
 */
export interface StateStore {
  /**
   * @throws StateFault if something is stored that cannot be read; the next write of the key puts
   * it aside
   */
  read(key: string): Promise<Stored | null>;
  /**
   * Fulfilled when the value is durable.
   * @returns the new version, or null if `expected` is not the stored version;
   * then nothing was written
   * @throws StateFault
   */
  write(key: string, value: unknown, condition?: WriteCondition): Promise<string | null>;
  /**
   * Removing a missing key succeeds.
   * @returns false if `expected` is not the stored version; then nothing was removed
   * @throws StateFault
   */
  remove(key: string, condition?: WriteCondition): Promise<boolean>;
  /**
   * Whatever is stored below `prefix`, which names at least a collection: `command/`. The entry
   * that was written last comes last. What cannot be read is left out.
   * @throws StateFault
   */
  entries(prefix: string): Promise<StoredEntry[]>;
}

/** A store that several processes share. */
export interface SharedStore extends StateStore {
  /**
   * Milliseconds since 1970 by the clock of the store, which is one clock for all processes.
   * @throws StateFault `unavailable`
   */
  now(): Promise<number>;
  /**
   * Milliseconds for which no process may take a turn or refresh a sign-in, because the store was
   * restarted, or replaced by a replica, and may have lost the last claims. 0 otherwise, Infinity
   * before the store was reached.
   */
  readonly settlesInMs: number;
  /** Why the store cannot be used now; null while all is well, and before its first use. */
  readonly fault: StateFault | null;
  /**
   * Calls back when `fault` has changed, or when the store may have lost its last writes.
   * @returns ends the calls
   */
  onChange(listener: () => void): () => void;
}

const sentences = {
  damaged: (collection: string) =>
    sentence`The saved state “${collection}” is damaged and cannot be read. Restore it from a backup, or continue without it.`,
  foreign: (collection: string) =>
    sentence`The saved state “${collection}” was encrypted with another secret. Put the previous credentialSecret back into the settings of Node-RED, or the previous store.key into its folder.`,
  newer: (collection: string) =>
    sentence`The saved state “${collection}” was written by a newer version of this pack. Update the pack.`,
} as const;

/**
 * A stored value that cannot be read, a place that cannot be read or written, or a shared store
 * that is not available (STORE_UNAVAILABLE).
 */
export class StateFault extends VehicleError {
  readonly fault: keyof typeof sentences | 'inaccessible' | 'unavailable';
  /** The code of the file system or network, such as ENOSPC; empty if there is none. */
  readonly systemCode: string;
  /** The version of a damaged value, if a store can overwrite the value on condition of it. */
  version: string | null = null;

  constructor(fault: keyof typeof sentences, collection: string);
  constructor(fault: 'inaccessible', collection: string, place: string, systemCode: string);
  constructor(fault: 'unavailable', problem: Sentence);
  constructor(fault: StateFault['fault'], collection: string | Sentence, place = '', systemCode = '') {
    super(
      fault === 'unavailable' ? 'STORE_UNAVAILABLE' : 'CONFIG',
      typeof collection !== 'string' || fault === 'unavailable'
        ? collection
        : fault === 'inaccessible'
          ? sentence`The saved state “${collection}” cannot be read or written (${systemCode || 'unknown fault'}). Make the folder “${place}” readable and writable for the user that runs Node-RED, with free space on its disk.`
          : sentences[fault](collection),
    );
    this.fault = fault;
    this.systemCode = systemCode;
  }

  /** Whether the store cannot be reached, so that another process may act meanwhile. */
  get isAway(): boolean {
    return this.fault === 'unavailable';
  }
}

/**
 * For a change that a full disk must not stop: what files cannot keep stays in memory, but while a
 * shared store is away, another process may act.
 * @throws StateFault `unavailable`; any error but a StateFault
 */
export const unlessAway =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (error instanceof StateFault && !error.isAway) return otherwise;
    throw error;
  };

/** For a caller of `readForUpdate` that reads the value itself. */
export const anyShape = z.unknown();

/**
 * What is stored under a key, to be changed on condition of its version. Its value is null if
 * nothing is stored, or nothing that has the shape: a damaged value is lost in any case.
 * @throws StateFault
 */
export async function readForUpdate<Shape extends z.ZodMiniType>(
  store: Pick<StateStore, 'read'>,
  key: string,
  shape: Shape,
): Promise<{ value: z.infer<Shape> | null; version: string | null }> {
  try {
    const stored = await store.read(key);
    return { value: shape.safeParse(stored?.value).data ?? null, version: stored?.version ?? null };
  } catch (error) {
    if (error instanceof StateFault && error.fault === 'damaged' && error.version !== null)
      return { value: null, version: error.version };
    throw error;
  }
}

/** How often a change is tried if other processes are faster. */
const maxConflicts = 100;

/**
 * Changes what other processes also change.
 * @param change makes one try; null if another process was faster. `isAgain`: what is stored has to
 * be read again
 * @param clock pauses for a random time before each try but the first three, so that processes do
 * not meet again and again
 * @throws StateFault `unavailable` if other processes were always faster
 */
export async function retryOnConflict<T>(change: (isAgain: boolean) => Promise<T | null>, clock?: Clock): Promise<T> {
  for (let tries = 0; tries < maxConflicts; tries += 1) {
    if (tries > 2) await clock?.sleep(Math.random() * Math.min(10 * tries, 200));
    const changed = await change(tries > 0);
    if (changed !== null) return changed;
  }
  throw new StateFault(
    'unavailable',
    sentence`The shared store refused the same change ${maxConflicts} times, because the values read back differ from the values written. Enter the address of the primary server itself in CONNECTED_VEHICLE_STORE, and no proxy that reads from a replica.`,
  );
}

/** A name that reveals nothing of the text that it stands for. */
export const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The collection of a key. @throws TypeError if the caller made up a key that no store can hold */
export function collectionOf(key: string): string {
  const [, collection] = /^([a-z][a-z-]{0,30})\//.exec(key) ?? [];
  if (collection === undefined) throw new TypeError(`“${key.slice(0, 40)}” does not begin with a collection.`);
  return collection;
}

/** A sentence as a part of a stored value. */
export const storedSentence: z.ZodMiniType<Sentence> = z.object({
  template: z.string(),
  values: z.array(
    z.union([
      z.string(),
      z.number(),
      z.lazy(() => storedSentence),
      z.array(z.union([z.string(), z.lazy(() => storedSentence)])),
    ]),
  ),
});

/**
 * A store in memory, which ends with the process: for tests, and for a process without a directory.
 */
export class MemoryStateStore implements StateStore {
  readonly #entries = new Map<string, { text: string; version: string }>();
  #writes = 0;

  read(key: string): Promise<Stored | null> {
    collectionOf(key);
    const entry = this.#entries.get(key);
    return Promise.resolve(entry ? { value: JSON.parse(entry.text) as unknown, version: entry.version } : null);
  }

  write(key: string, value: unknown, { expected }: WriteCondition = {}): Promise<string | null> {
    collectionOf(key);
    if (!this.#holds(key, expected)) return Promise.resolve(null);
    const version = String((this.#writes += 1));
    this.#entries.delete(key);
    this.#entries.set(key, { text: JSON.stringify(value ?? null), version });
    return Promise.resolve(version);
  }

  remove(key: string, { expected }: WriteCondition = {}): Promise<boolean> {
    collectionOf(key);
    const holds = this.#holds(key, expected);
    if (holds) this.#entries.delete(key);
    return Promise.resolve(holds);
  }

  entries(prefix: string): Promise<StoredEntry[]> {
    collectionOf(prefix);
    const found = [...this.#entries].filter(([key]) => key.startsWith(prefix));
    return Promise.resolve(
      found.map(([key, { text, version }]) => ({ key, value: JSON.parse(text) as unknown, version })),
    );
  }

  #holds = (key: string, expected: string | null | undefined): boolean =>
    expected === undefined || expected === (this.#entries.get(key)?.version ?? null);
}
