import { randomBytes } from 'node:crypto';
import { closeSync, fsync, open, openSync, writeFile } from 'node:fs';
import * as diskFiles from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { systemCodeOf } from '../errors';
import { sentence, type Sentence } from '../sentence';
import { systemClock, type Clock } from '../util/clock';
import { setNewest } from '../util/bounded';
import { getOrMake } from '../util/get-or-make';
import { parseJson } from '../util/json';
import { Serial, SharedRuns } from '../util/serial';
import { removeEarlier } from './earlier-files';
import type { DirectoryOwner } from './owner';
import {
  collectionOf,
  hashed,
  StateFault,
  type WriteCondition,
  type StateStore,
  type Stored,
  type StoredEntry,
} from './state-store';

/**
 * The steps that force a file to disk. They avoid the file objects of `node:fs/promises`, which
 * cost more CPU than the steps, and another thread if the step itself cannot wait for the disk: to
 * open a folder in which a file was just renamed, and to close a file that is on disk.
 */
export const durableFiles = {
  writeFile: promisify(writeFile),
  open: promisify(open),
  openSync,
  fsync: promisify(fsync),
  closeSync,
};

/** The parts of the file system in use; a parameter so that a test can make any step fail. */
export type StateFiles = Pick<typeof diskFiles, 'mkdir' | 'readFile' | 'readdir' | 'rename' | 'unlink'> &
  typeof durableFiles;

export interface FileStateStoreOptions {
  /**
   * Created if it is missing, readable by its owner only. Everything is kept
   * below its folder `state`.
   */
  directory: string;
  /** The right of this process to use the directory. Default: no other process uses it. */
  owner?: Pick<DirectoryOwner, 'ready' | 'confirm'>;
  /** Gets a sentence when a file that cannot be read was put aside. */
  warn?: (warning: Sentence) => void;
  files?: StateFiles;
  clock?: Clock;
}

/**
 * The form of the records, and of the values in them: a version of the pack that changes
 * one of them counts on.
 */
const format = 2;
const headSchema = z.lazy(() => z.object({ format: z.int() }));
const recordSchema = z.lazy(() =>
  z.object({ format: z.literal(format), key: z.string(), version: z.int(), value: z.unknown() }),
);

/** As in its file; the value as JSON, so that each reader gets one of its own. */
interface FileRecord {
  key: string;
  version: number;
  json: string;
}

interface Collection {
  name: string;
  folder: string;
  /** By file name. */
  records: Map<string, FileRecord | StateFault>;
  /** The files that were put aside, by the name that they had. */
  aside: Map<string, string[]>;
  /** Writes that have ended at the same time force the folder to disk together. */
  syncs: SharedRuns<void>;
}

/**
 * One private file for each key. A file is replaced in one step of the file system, so a crash
 * leaves the old or the new value. File names are hashes, so no key can name a file outside the
 * directory. Since one process uses the directory, a collection is read once, at its first use, and
 * answered from memory.
 */
export class FileStateStore implements StateStore {
  readonly #options: FileStateStoreOptions;
  readonly #files: Omit<StateFiles, keyof typeof durableFiles>;
  readonly #durable: typeof durableFiles;
  readonly #collections = new Map<string, Promise<Collection>>();
  /** The file names of the last keys, which are hashes: a command is written several times. */
  readonly #names = new Map<string, string>();
  /** The changes of each file, by its name: they never overlap. */
  readonly #changes = new Map<string, Serial>();
  #earlier: Promise<number | null> | null = null;
  /**
   * The highest version that was used, of any key: one that was removed and comes back
   * gets another version.
   */
  #version = 0;
  /** So that the drafts of two processes have two names. */
  readonly #process = randomBytes(6).toString('hex');
  #drafts = 0;

  constructor(options: FileStateStoreOptions) {
    this.#options = options;
    this.#files = options.files ?? diskFiles;
    this.#durable = options.files ?? durableFiles;
  }

  async read(key: string): Promise<Stored | null> {
    const record = await this.#record(await this.#open(collectionOf(key)), this.#knownNameOf(key));
    if (record instanceof StateFault) throw record;
    return record === null ? null : { value: JSON.parse(record.json) as unknown, version: String(record.version) };
  }

  async write(key: string, value: unknown, { expected }: WriteCondition = {}): Promise<string | null> {
    const json = JSON.stringify(value ?? null);
    return this.#next(key, async (collection, name) => {
      const present = await this.#record(collection, name);
      if (!holds(present, expected)) return null;
      await this.#options.owner?.confirm();
      if (present instanceof StateFault) await this.#putAside(collection, name, present);
      const version = (this.#version += 1);
      const text = `{"format":${format},"key":${JSON.stringify(key)},"version":${version},"value":${json}}`;
      await this.#replace(collection, name, text);
      collection.records.set(name, { key, version, json });
      return String(version);
    });
  }

  async remove(key: string, { expected }: WriteCondition = {}): Promise<boolean> {
    return this.#next(key, async (collection, name) => {
      if (!holds(collection.records.get(name) ?? null, expected)) return false;
      await this.#options.owner?.confirm();
      // The files of this key that were put aside are removed with it.
      for (const file of [name, ...(collection.aside.get(name) ?? [])])
        await this.#files.unlink(join(collection.folder, file)).catch(ignoreMissing);
      collection.records.delete(name);
      collection.aside.delete(name);
      return true;
    });
  }

  async entries(prefix: string): Promise<StoredEntry[]> {
    const collection = await this.#open(collectionOf(prefix));
    const found: FileRecord[] = [];
    for (const name of collection.records.keys()) {
      const record = await this.#record(collection, name);
      if (record instanceof StateFault) await this.#leaveOut(collection, name, record);
      else if (record?.key.startsWith(prefix)) found.push(record);
    }
    return found
      .sort((a, b) => a.version - b.version)
      .map(({ key, version, json }) => ({
        key,
        // Many callers need few of the values.
        get value() {
          return JSON.parse(json) as unknown;
        },
        version: String(version),
      }));
  }

  /** Reads the folder of a collection; after a failure, again at the next use. */
  async #open(name: string): Promise<Collection> {
    await this.#ready();
    let opened = this.#collections.get(name);
    if (opened === undefined) {
      opened = this.#try(name, () => this.#readFolder(name));
      this.#collections.set(name, opened);
      opened.catch(() => this.#collections.delete(name));
    }
    return opened;
  }

  earlierFoundAt(): Promise<number | null> {
    return this.#ready();
  }

  /**
   * Waits until this process owns the directory, and removes what an earlier version has stored.
   * @returns when it found that; null if there was nothing
   */
  async #ready(): Promise<number | null> {
    const { owner, directory, clock = systemClock, warn = () => undefined } = this.#options;
    await owner?.ready();
    const confirm = async (): Promise<void> => owner?.confirm();
    this.#earlier ??= removeEarlier(join(directory, 'state'), this.#files, {
      isEarlier: (text) => isEarlier(parseJson(text)),
      confirm,
      now: clock.now(),
      warn,
    }).then((isFound) => (isFound ? clock.monotonic() : null));
    return this.#earlier.catch(() => null);
  }

  async #readFolder(name: string): Promise<Collection> {
    const folder = join(this.#options.directory, 'state', name);
    const collection: Collection = { name, folder, records: new Map(), aside: new Map(), syncs: new SharedRuns() };
    for (const file of (await this.#files.readdir(folder).catch(ignoreMissing)) ?? []) {
      const [, key = '', rest] = /^([0-9a-f]{32}\.json)(.*)$/.exec(file) ?? [];
      if (rest === '') await this.#readRecord(collection, file);
      // A process that was killed left the file that it was writing.
      else if (rest?.endsWith('.new')) await this.#files.unlink(join(folder, file)).catch(() => undefined);
      else if (rest?.startsWith(unreadable)) collection.aside.set(key, [...(collection.aside.get(key) ?? []), file]);
    }
    return collection;
  }

  async #readRecord(collection: Collection, name: string): Promise<void> {
    const { records, folder } = collection;
    try {
      const record = parseFile(await this.#files.readFile(join(folder, name), 'utf8'), name, collection.name);
      if (record === null) return void records.delete(name);
      records.set(name, record);
      if (!(record instanceof StateFault)) this.#version = Math.max(this.#version, record.version);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') records.delete(name);
      else records.set(name, this.#inaccessible(collection.name, error));
    }
  }

  /**
   * A file that could not be read is read again at each use: the user may have repaired it.
   * @throws StateFault inaccessible
   */
  async #record(collection: Collection, name: string): Promise<FileRecord | StateFault | null> {
    if (collection.records.get(name) instanceof StateFault) await this.#readRecord(collection, name);
    const record = collection.records.get(name) ?? null;
    if (record instanceof StateFault && record.fault === 'inaccessible') throw record;
    return record;
  }

  async #replace({ folder, syncs }: Collection, name: string, text: string): Promise<void> {
    const draft = join(folder, `${name}.${this.#process}-${(this.#drafts += 1)}.new`);
    try {
      await this.#create(folder, draft, text);
      await this.#rename(draft, join(folder, name));
    } catch (error) {
      await this.#files.unlink(draft).catch(() => undefined);
      throw error;
    }
    await syncs.run(() => this.#syncFolder(folder));
  }

  /** Also creates the folder if it is missing. Fulfilled when the text is on disk. */
  async #create(folder: string, draft: string, text: string): Promise<void> {
    const { open, writeFile, closeSync } = this.#durable;
    const create = (): Promise<number> => open(draft, 'wx', 0o600);
    const opened = await create().catch(async (error: unknown) => {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      await this.#files.mkdir(folder, { recursive: true, mode: 0o700 });
      return create();
    });
    await writeFile(opened, text, { flush: true }).finally(() => closeSync(opened));
  }

  /**
   * A virus scanner or a backup program on Windows holds a file open for a moment, and no
   * other can take its name.
   */
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

  /**
   * A new name survives a power failure only when its folder is also on disk. Windows cannot
   * do that and need not.
   */
  async #syncFolder(folder: string): Promise<void> {
    const { openSync, fsync, closeSync } = this.#durable;
    try {
      const opened = openSync(folder, 'r');
      await fsync(opened).finally(() => closeSync(opened));
    } catch {
      // The file itself is on disk.
    }
  }

  async #putAside(collection: Collection, name: string, fault: StateFault): Promise<void> {
    const kept = `${name}${unreadable}${randomBytes(3).toString('hex')}`;
    await this.#files.rename(join(collection.folder, name), join(collection.folder, kept));
    collection.records.delete(name);
    collection.aside.set(name, [...(collection.aside.get(name) ?? []), kept]);
    this.#options.warn?.(sentence`${fault.sentence} The old file is kept as “${kept}” beside the new ones.`);
  }

  /**
   * The key of such a file cannot be read, so the file is put aside and a warning is logged when
   * the entries are read.
   */
  async #leaveOut(collection: Collection, name: string, fault: StateFault): Promise<void> {
    try {
      await this.#options.owner?.confirm();
      await this.#putAside(collection, name, fault);
    } catch {
      // It is left out anyway.
    }
  }

  #next<T>(key: string, change: (collection: Collection, name: string) => Promise<T>): Promise<T> {
    const collection = collectionOf(key);
    const name = this.#knownNameOf(key);
    const file = `${collection}/${name}`;
    const work = async (): Promise<T> => {
      const opened = await this.#open(collection);
      return this.#try(collection, () => change(opened, name));
    };
    const changes = getOrMake(this.#changes, file, () => new Serial());
    return changes.run(work).finally(() => changes.isIdle && this.#changes.delete(file));
  }

  #knownNameOf(key: string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = nameOf(key);
    setNewest(this.#names, key, name, maxKnownNames);
    return name;
  }

  async #try<T>(collection: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw systemCodeOf(error) === '' ? error : this.#inaccessible(collection, error);
    }
  }

  #inaccessible = (collection: string, error: unknown): StateFault =>
    new StateFault('inaccessible', collection, basename(this.#options.directory), systemCodeOf(error));
}

const unreadable = '.unreadable-';
/** The version of a record that is damaged. */
const damaged = 'damaged';
const maxKnownNames = 100;
const heldOpen = new Set(['EPERM', 'EACCES', 'EBUSY']);
const renameForMs = 2_000;
const renamePauseMs = 50;

const nameOf = (key: string): string => `${hashed(key)}.json`;

function isEarlier(json: unknown): boolean {
  const head = headSchema.safeParse(json);
  return head.success && head.data.format < format;
}

/** @returns null for one of an earlier version, which could not be removed */
function parseFile(text: string, name: string, collection: string): FileRecord | StateFault | null {
  const json = parseJson(text);
  if (isEarlier(json)) return null;
  const head = headSchema.safeParse(json);
  if (head.success && head.data.format > format) return new StateFault('newer', collection);
  const record = recordSchema.safeParse(json);
  if (!record.success || nameOf(record.data.key) !== name)
    return Object.assign(new StateFault('damaged', collection), { version: damaged });
  const { key, version, value } = record.data;
  return { key, version, json: JSON.stringify(value ?? null) };
}

const holds = (present: FileRecord | StateFault | null, expected: string | null | undefined): boolean =>
  expected === undefined || expected === (present === null ? null : String(present.version));

/** The key is also not stored if a folder of its path is a file. */
const ignoreMissing = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error))) return undefined;
  throw error;
};
