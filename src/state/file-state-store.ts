import { createHash, randomBytes } from 'node:crypto';
import * as diskFiles from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { systemCodeOf, withFileLock, type StateFiles } from './file-lock';
export type { StateFiles } from './file-lock';
import { systemClock, type Clock } from '../util/clock';
import { parseJson } from '../util/json';
import { sealedSchema, type Seal } from './seal';
import { collectionOf, StateFault, type StateStore, type Stored, type WriteOptions } from './state-store';

export interface FileStateStoreOptions {
  /** Created if it is missing, readable by its owner only. Everything is kept below its folder `state`. */
  directory: string;
  /** Seals secret values; the first one seals, each of them opens. Called when a secret value is read or written. */
  seals?: () => readonly Seal[];
  /** Gets a sentence when a file that cannot be read was put aside. */
  warn?: (sentence: string) => void;
  files?: StateFiles;
  clock?: Clock;
}

const format = 1;
const headSchema = z.lazy(() => z.object({ format: z.int(), key: z.string() }));
const valueSchema = z.lazy(() => z.object({ value: z.optional(z.unknown()), sealed: z.optional(sealedSchema) }));

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
  readonly #swept = new Set<string>();

  constructor(options: FileStateStoreOptions) {
    this.directory = options.directory;
    this.#options = options;
    this.#files = options.files ?? diskFiles;
  }

  async read(key: string): Promise<Stored | null> {
    const file = this.#fileOf(key);
    const text = await this.#text(file, collectionOf(key));
    return text === null ? null : { value: await this.#valueOf(text, key), version: versionOf(text) };
  }

  async write(key: string, value: unknown, { expected, secret = false }: WriteOptions = {}): Promise<string | null> {
    const file = this.#fileOf(key);
    const collection = collectionOf(key);
    const plain = JSON.stringify(value ?? null);
    return this.#next(file, collection, async () => {
      await this.#prepareFolder(collection);
      const text = secret
        ? JSON.stringify({ format, key, sealed: await this.#seal().seal(plain, key) })
        : `{"format":${format},"key":${JSON.stringify(key)},"value":${plain}}`;
      const replace = async (): Promise<string | null> => {
        const present = await this.#text(file, collection);
        if (expected !== undefined && expected !== (present === null ? null : versionOf(present))) return null;
        if (present !== null) await this.#keepIfUnreadable(file, present, key);
        await this.#replace(file, text);
        return versionOf(text);
      };
      return expected === undefined ? replace() : withFileLock(`${file}.lock`, this.#files, replace);
    });
  }

  async remove(key: string): Promise<void> {
    const file = this.#fileOf(key);
    await this.#next(file, collectionOf(key), async () => {
      const names = (await this.#files.readdir(dirname(file)).catch(ignoreMissing)) ?? [];
      // The files of this key that were put aside are removed with it.
      const own = names.filter((name) => name === basename(file) || name.startsWith(`${basename(file)}.unreadable-`));
      for (const name of own) await this.#files.unlink(join(dirname(file), name)).catch(ignoreMissing);
    });
  }

  async list(prefix: string): Promise<string[]> {
    const collection = collectionOf(prefix);
    const folder = this.#folderOf(collection);
    const names = await this.#try(collection, () => this.#files.readdir(folder).catch(ignoreMissing));
    const keys: string[] = [];
    for (const name of (names ?? []).filter((one) => /^[0-9a-f]{32}\.json$/.test(one))) {
      const text = await this.#text(join(folder, name), collection);
      const head = text === null ? null : headOf(text, collection);
      if (head instanceof StateFault) await this.#putAside(join(folder, name), head).catch(() => undefined);
      else if (head?.startsWith(prefix)) keys.push(head);
    }
    return keys;
  }

  /** Every path of the store is made here: a folder with the name of a collection, and a hash. */
  #fileOf(key: string): string {
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    return join(this.#folderOf(collectionOf(key)), `${name}.json`);
  }

  #folderOf = (collection: string): string => join(this.directory, 'state', collection);

  async #text(file: string, collection: string): Promise<string | null> {
    return this.#try(collection, async () => (await this.#files.readFile(file, 'utf8').catch(ignoreMissing)) ?? null);
  }

  async #valueOf(text: string, key: string): Promise<unknown> {
    const collection = collectionOf(key);
    const head = headOf(text, collection);
    if (head instanceof StateFault) throw head;
    const parsed = valueSchema.safeParse(parseJson(text));
    if (!parsed.success || head !== key) throw new StateFault('damaged', collection);
    const { value, sealed } = parsed.data;
    if (sealed === undefined) return value;
    let fault: 'damaged' | 'foreign' = 'foreign';
    for (const seal of this.#options.seals?.() ?? []) {
      const opened = await seal.open(sealed, key);
      if ('text' in opened) return JSON.parse(opened.text) as unknown;
      if (opened.fault === 'damaged') fault = 'damaged';
    }
    throw new StateFault(fault, collection);
  }

  #seal(): Seal {
    const [seal] = this.#options.seals?.() ?? [];
    if (seal === undefined) throw new TypeError('A store without a seal keeps no secrets.');
    return seal;
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

  async #keepIfUnreadable(file: string, text: string, key: string): Promise<void> {
    try {
      await this.#valueOf(text, key);
    } catch (error) {
      if (!(error instanceof StateFault)) throw error;
      await this.#putAside(file, error);
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

const versionOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

function headOf(text: string, collection: string): string | StateFault {
  const head = headSchema.safeParse(parseJson(text));
  if (!head.success) return new StateFault('damaged', collection);
  return head.data.format > format ? new StateFault('newer', collection) : head.data.key;
}

const ignoreMissing = (error: unknown): undefined => {
  if (systemCodeOf(error) === 'ENOENT') return undefined;
  throw error;
};
