import * as z from 'zod/mini';
import { isFinal } from '../catalogue/outcomes';
import type { Reading } from '../car/reading';
import { outcomeShape, type CommandRecord } from './record';
import { StateFault, type StateStore } from '../state/state-store';

const text = z.catch(z.nullable(z.string()), null);
const state = z.object({ requestStatus: z.nullable(z.string()), at: z.string() });

/** An entry needs these five members; any other part that cannot be read is left out. */
const storedEntry = z.lazy(() =>
  z.object({
    id: z.string().check(z.minLength(1)),
    command: z.string().check(z.minLength(1)),
    vin: z.string(),
    sentAt: z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)))),
    interface: text,
    sentBy: text,
    operationId: text,
    states: z.catch(z.array(z.unknown()), []),
    outcome: z.catch(outcomeShape, 'undetermined'),
    reason: text,
    verified: z.catch(z.nullable(z.boolean()), null),
    settledAt: text,
  }),
);

type StoredEntry = z.infer<typeof storedEntry>;

/**
 * A command that was sent (docs/message-contract.md 4 and 5): `sentBy` names the node, `states` are the statuses of the service with their times,
 * `reason` is the sentence of the result. Times are ISO-8601; null stands for a value that is not known (yet).
 */
export interface JournalEntry extends Omit<StoredEntry, 'states'> {
  states: z.infer<typeof state>[];
}

export type JournalChanges = Partial<Omit<JournalEntry, 'id'>>;

export interface JournalOptions {
  /** The number of entries that are kept, the newest ones (100). */
  limit?: number;
  /** Gets a sentence when the stored journal could not be read, as a whole or in part. */
  warn?: (sentence: string) => void;
}

/** A status that goes back and forth for hours must not fill the store. */
const maxStates = 50;

/**
 * The last commands of an account. A journal is the only owner of its key: two journals with the same key would overwrite each other.
 *
 * A promise of `add`, `update`, `remove` or `clear` is fulfilled when the change is stored. Saves never overlap, and changes that
 * come during a save share the next one. When the store fails, the promise rejects with the store's own error, the change stays in
 * memory and is stored with the next one. Nothing is written before the store has been read.
 */
export class Journal {
  readonly #store: Pick<StateStore, 'read' | 'write'>;
  readonly #key: string;
  readonly #limit: number;
  readonly #warn: (sentence: string) => void;
  /** Oldest first; an entry is replaced, never changed. */
  #entries = new Map<string, JournalEntry>();
  #loading: Promise<void> | null = null;
  #clears = 0;
  #lastSave: Promise<unknown> = Promise.resolve();
  #nextSave: Promise<void> | null = null;

  /** @param key such as `journal/4f3c` */
  constructor(
    store: Pick<StateStore, 'read' | 'write'>,
    key: string,
    { limit = 100, warn = () => {} }: JournalOptions = {},
  ) {
    this.#store = store;
    this.#key = key;
    this.#limit = limit;
    this.#warn = warn;
  }

  /** An entry with a known id replaces the former one. */
  async add(entry: JournalEntry): Promise<void> {
    this.#put(entry);
    await this.#load();
    await this.#save();
  }

  /** @returns false where there is no such entry (any more) */
  async update(id: string, changes: JournalChanges): Promise<boolean> {
    const known = this.#change(id, changes);
    await this.#load();
    if (!known && !this.#change(id, changes)) return false;
    await this.#save();
    return true;
  }

  /** Removes the entry of a command that was not sent after all. */
  async remove(id: string): Promise<void> {
    if (!this.#entries.delete(id)) return;
    await this.#load();
    await this.#save();
  }

  /** Newest first; copies, which the caller may change. */
  async list(): Promise<JournalEntry[]> {
    await this.#load();
    return this.#newestFirst();
  }

  /** Removes every entry, also those that could not be read. */
  async clear(): Promise<void> {
    this.#clears++;
    this.#entries.clear();
    this.#loading = Promise.resolve();
    await this.#save();
  }

  #put(entry: JournalEntry): void {
    this.#entries.set(entry.id, structuredClone({ ...entry, states: entry.states.slice(-maxStates) }));
    this.#trim();
  }

  #change(id: string, changes: JournalChanges): boolean {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#put({ ...changed(entry, changes), id });
    return entry !== undefined;
  }

  #trim(): void {
    for (const id of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) return;
      this.#entries.delete(id);
    }
  }

  #newestFirst = (): JournalEntry[] => structuredClone([...this.#entries.values()].reverse());

  /** Reads the store once; after a failure, again at the next call. */
  #load(): Promise<void> {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async #read(): Promise<void> {
    const clears = this.#clears;
    try {
      const stored = parseJournal(await this.#stored(), this.#warn);
      if (clears !== this.#clears) return;
      // Stored entries are older than those of this process, and an entry of this process is the newer state of a stored one.
      this.#entries = new Map([...stored.reverse().map((entry) => [entry.id, entry] as const), ...this.#entries]);
      this.#trim();
    } catch (error) {
      if (clears === this.#clears) this.#loading = null;
      throw error;
    }
  }

  /** Undefined where nothing is stored; a value that is no journal where the store cannot read it. */
  async #stored(): Promise<unknown> {
    try {
      return (await this.#store.read(this.#key))?.value;
    } catch (error) {
      if (error instanceof StateFault && error.fault !== 'inaccessible') return error.fault;
      throw error;
    }
  }

  /** A save that has not begun carries every change that is made before it begins. */
  #save(): Promise<void> {
    this.#nextSave ??= this.#lastSave.then(async () => {
      this.#nextSave = null;
      await this.#store.write(this.#key, { version: 1, entries: this.#newestFirst() });
    });
    const save = this.#nextSave;
    this.#lastSave = save.catch(() => {});
    return save;
  }
}

/**
 * A settled entry stays settled, whatever a second watch of the same command reports on its way. Only a result that knows more
 * replaces one that knew less, and a verification that succeeded is kept.
 */
function changed(entry: JournalEntry, changes: JournalChanges): JournalEntry {
  if (entry.settledAt === null) return { ...entry, ...changes };
  const merged = { ...entry, ...changes };
  const contradicts = isFinal(entry.outcome) && merged.outcome !== entry.outcome;
  if (!changes.settledAt || contradicts || knowledgeOf(merged) <= knowledgeOf(entry)) return entry;
  const since = entry.states.at(-1)?.at ?? '';
  return {
    ...merged,
    states: [...entry.states, ...(changes.states ?? []).filter(({ at }) => at > since)],
    verified: merged.verified ?? entry.verified,
  };
}

const knowledgeOf = (entry: JournalEntry): number =>
  (isFinal(entry.outcome) ? 2 : 0) + (entry.verified === null ? 0 : 1);

/** The entry of a command that has just been sent. */
export const journalEntry = (record: CommandRecord, sentBy: string | null, now: Date): JournalEntry => ({
  id: record.id,
  command: record.command,
  vin: record.vin,
  interface: record.interface,
  sentBy,
  sentAt: record.sentAt,
  operationId: record.operationId,
  states: [{ requestStatus: record.requestStatus, at: now.toISOString() }],
  outcome: record.outcome,
  reason: record.outcome === 'pending' ? null : record.message,
  verified: null,
  settledAt: record.outcome === 'pending' ? null : now.toISOString(),
});

const storedJournal = z.lazy(() => z.object({ entries: z.array(z.unknown()) }));

/** The readable entries of a stored journal, in its order. */
function parseJournal(stored: unknown, warn: (sentence: string) => void): JournalEntry[] {
  if (stored === undefined || stored === null) return [];
  const found = storedJournal.safeParse(stored);
  if (!found.success) {
    warn('The stored command journal cannot be read. A new, empty journal replaces it with the next command.');
    return [];
  }
  const all = found.data.entries;
  const entries = all.flatMap(parseEntry);
  const lost = all.length - entries.length;
  if (lost > 0) warn(`${lost} of ${all.length} entries of the stored command journal cannot be read and are left out.`);
  return entries;
}

/** The result of a command that was in flight when the process ended. */
const neverAnswered = {
  outcome: 'undetermined',
  reason:
    'The command may have reached the car, but Node-RED ended before an answer came. Check at the car whether it acted.',
} as const;

function parseEntry(stored: unknown): JournalEntry[] {
  const entry = storedEntry.safeParse(stored);
  if (!entry.success) return [];
  const states = entry.data.states.flatMap((one) => state.safeParse(one).data ?? []).slice(-maxStates);
  const unanswered = entry.data.outcome === 'pending' && states.every(({ requestStatus }) => requestStatus === null);
  return [{ ...entry.data, states, ...(unanswered && neverAnswered) }];
}

/**
 * The journal as a reading of `connected-vehicle-status` (docs/message-contract.md 3): it comes from no vehicle and no request.
 * @param redact removes secrets, which the service can repeat in its reasons
 */
export async function readJournal(
  journal: Journal,
  { clear, now, redact }: { clear: boolean; now: Date; redact: (text: string) => string },
): Promise<Reading<JournalEntry[]>> {
  if (clear) await journal.clear();
  const entries = await journal.list();
  const payload = entries.map((entry) => ({ ...entry, reason: entry.reason && redact(entry.reason) }));
  return {
    payload,
    vehicle: {
      vin: null,
      read: 'journal',
      interface: null,
      receivedAt: now.toISOString(),
      measuredAt: null,
      source: 'live',
    },
  };
}
