import { createHash, randomBytes } from 'node:crypto';
import * as diskFiles from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { systemCodeOf, withFileLock, type StateFiles } from './file-lock';
export type { StateFiles } from './file-lock';
import { systemClock, type Clock } from '../util/clock';
import { parseJson } from '../util/json';
import {
  collectionOf,
  StateFault,
  type Condition,
  type StateStore,
  type Stored,
  type StoredEntry,
} from './state-store';

export interface FileStateStoreOptions {
  /** Created if it is missing, readable by its owner only. Everything is kept below its folder `state`. */
  directory: string;
  /** Gets a sentence when a file that cannot be read was put aside. */
  warn?: (sentence: string) => void;
  files?: StateFiles;
  clock?: Clock;
}

/** The form of the records, and of the values in them: a version of the pack that changes one of them counts on. */
const format = 2;
const headSchema = z.lazy(() => z.object({ format: z.int() }));
const recordSchema = z.lazy(() =>
  z.object({ format: z.literal(format), key: z.string(), version: z.int(), value: z.unknown() }),
);
type StoredRecord = z.infer<typeof recordSchema>;

/**
 * One private file for each key. A file is replaced in one step of the file system, so a crash leaves the old or the new value.
 * File names are hashes, so no key can name a file outside the directory.
 */
export class FileStateStore implements StateStore {
  readonly directory: string;
  readonly #options: FileStateStoreOptions;
  readonly #files: StateFiles;
  /** The last change of each file: changes of one file never overlap. */
  readonly #last = new Map<string, Promise<unknown>>();
  #version = 0;
  readonly #swept = new Set<string>();

  constructor(options: FileStateStoreOptions) {
    this.directory = options.directory;
    this.#options = options;
    this.#files = options.files ?? diskFiles;
  }

  async read(key: string): Promise<Stored | null> {
    const record = await this.#record(this.#fileOf(key), collectionOf(key));
    if (record instanceof StateFault) throw record;
    return record === null ? null : { value: record.value, version: String(record.version) };
  }

  async write(key: string, value: unknown, { expected }: Condition = {}): Promise<string | null> {
    const file = this.#fileOf(key);
    const collection = collectionOf(key);
    const plain = JSON.stringify(value ?? null);
    return this.#next(file, collection, async () => {
      await this.#prepareFolder(collection);
      return withFileLock(`${file}.lock`, this.#files, async () => {
        const present = await this.#record(file, collection);
        if (!holds(present, expected)) return null;
        if (present instanceof StateFault) await this.#putAside(file, present);
        else this.#version = Math.max(this.#version, present?.version ?? 0);
        const version = (this.#version += 1);
        await this.#replace(
          file,
          `{"format":${format},"key":${JSON.stringify(key)},"version":${version},"value":${plain}}`,
        );
        return String(version);
      });
    });
  }

  async remove(key: string, { expected }: Condition = {}): Promise<boolean> {
    const file = this.#fileOf(key);
    const collection = collectionOf(key);
    return this.#next(file, collection, async () => {
      if (expected !== undefined && !holds(await this.#record(file, collection), expected)) return false;
      const names = (await this.#files.readdir(dirname(file)).catch(ignoreMissing)) ?? [];
      // The files of this key that were put aside are removed with it.
      const own = names.filter((name) => name === basename(file) || name.startsWith(`${basename(file)}.unreadable-`));
      for (const name of own) await this.#files.unlink(join(dirname(file), name)).catch(ignoreMissing);
      return true;
    });
  }

  async entries(prefix: string): Promise<StoredEntry[]> {
    const collection = collectionOf(prefix);
    const folder = this.#folderOf(collection);
    const names = await this.#try(collection, () => this.#files.readdir(folder).catch(ignoreMissing));
    const found: StoredRecord[] = [];
    for (const name of (names ?? []).filter((one) => /^[0-9a-f]{32}\.json$/.test(one))) {
      const record = await this.#record(join(folder, name), collection);
      if (record instanceof StateFault) await this.#putAside(join(folder, name), record).catch(() => undefined);
      else if (record?.key.startsWith(prefix)) found.push(record);
    }
    return found
      .sort((a, b) => a.version - b.version)
      .map(({ key, value, version }) => ({ key, value, version: String(version) }));
  }

  /** Every path of the store is made here: a folder with the name of a collection, and a hash. */
  #fileOf(key: string): string {
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    return join(this.#folderOf(collectionOf(key)), `${name}.json`);
  }

  #folderOf = (collection: string): string => join(this.directory, 'state', collection);

  async #record(file: string, collection: string): Promise<StoredRecord | StateFault | null> {
    const text = await this.#try(collection, () => this.#files.readFile(file, 'utf8').catch(ignoreMissing));
    if (text === undefined) return null;
    const record = parseRecord(text, collection);
    const isMisplaced = !(record instanceof StateFault) && this.#fileOf(record.key) !== file;
    return isMisplaced ? new StateFault('damaged', collection) : record;
  }

  async #replace(file: string, text: string): Promise<void> {
    const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
    try {
      const opened = await this.#files.open(draft, 'wx', 0o600);
      try {
        await opened.writeFile(text);
        await opened.sync();
      } finally {
        await opened.close();
      }
      await this.#rename(draft, file);
    } catch (error) {
      await this.#files.unlink(draft).catch(() => undefined);
      throw error;
    }
    await this.#syncFolder(join(file, '..'));
  }

  /** A virus scanner or a backup program on Windows holds a file open for a moment, and no other can take its name. */
  async #rename(draft: string, file: string): Promise<void> {
    const { clock = systemClock } = this.#options;
    const until = clock.monotonic() + renameForMs;
    for (;;) {
      try {
        return await this.#files.rename(draft, file);
      } catch (error) {
        if (!heldOpen.has(systemCodeOf(error)) || clock.monotonic() >= until) throw error;
      }
      await clock.sleep(renamePauseMs);
    }
  }

  /** A new name survives a power failure only when its folder is on disk, too. Windows cannot do that and need not. */
  async #syncFolder(folder: string): Promise<void> {
    try {
      const opened = await this.#files.open(folder, 'r');
      await opened.sync().finally(() => opened.close());
    } catch {
      // The file itself is on disk.
    }
  }

  async #prepareFolder(collection: string): Promise<void> {
    const folder = this.#folderOf(collection);
    if (this.#swept.has(folder)) return;
    await this.#files.mkdir(folder, { recursive: true, mode: 0o700 });
    this.#swept.add(folder);
    // A process that was killed leaves the file that it was writing.
    for (const name of await this.#files.readdir(folder)) {
      const draft = join(folder, name);
      if (!name.endsWith('.new')) continue;
      // Another process may have finished its draft meanwhile.
      const found = await this.#files.stat(draft).catch(ignoreMissing);
      if (found === undefined || Date.now() - found.mtimeMs < oldDraftMs) continue;
      await this.#files.unlink(draft).catch(() => undefined);
    }
  }

  async #putAside(file: string, fault: StateFault): Promise<void> {
    const name = `${basename(file)}.unreadable-${randomBytes(3).toString('hex')}`;
    await this.#files.rename(file, join(file, '..', name));
    this.#options.warn?.(`${fault.message} The old file is kept as “${name}” beside the new ones.`);
  }

  #next<T>(file: string, collection: string, work: () => Promise<T>): Promise<T> {
    const next = (this.#last.get(file) ?? Promise.resolve()).then(() => this.#try(collection, work));
    const settled = next.catch(() => undefined);
    this.#last.set(file, settled);
    void settled.then(() => this.#last.get(file) === settled && this.#last.delete(file));
    return next;
  }

  async #try<T>(collection: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (systemCodeOf(error) === '') throw error;
      // The folder may be gone: the next write makes it again.
      this.#swept.delete(this.#folderOf(collection));
      throw new StateFault('inaccessible', collection, basename(this.directory), systemCodeOf(error));
    }
  }
}

const heldOpen = new Set(['EPERM', 'EACCES', 'EBUSY']);
const renameForMs = 2_000;
const renamePauseMs = 50;

/** Younger drafts may belong to another process that is writing now. */
const oldDraftMs = 60_000;

function parseRecord(text: string, collection: string): StoredRecord | StateFault {
  const json = parseJson(text);
  const head = headSchema.safeParse(json);
  if (head.success && head.data.format > format) return new StateFault('newer', collection);
  return recordSchema.safeParse(json).data ?? new StateFault('damaged', collection);
}

/** Nobody knows the version of what cannot be read. */
const holds = (present: StoredRecord | StateFault | null, expected: string | null | undefined): boolean =>
  expected === undefined ||
  (present instanceof StateFault ? false : (present === null ? null : String(present.version)) === expected);

/** Nothing is stored either where a file stands in place of a folder of the path. */
const ignoreMissing = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error))) return undefined;
  throw error;
};
