import { createHash, randomBytes } from 'node:crypto';
import * as diskFiles from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { systemClock, type Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { parseJson } from './claims';
import { acquireLock, errorCode, type Files, type LockOptions, type Self } from './lock';
import { Seal, sealedSchema, type Sealed } from '../state/seal';

/** What is kept of an account between runs. Times in milliseconds since 1970. */
const grantSchema = z.lazy(() =>
  z.object({
    /** Counts the saves: who finds a higher number than it knows has been overtaken by another process. */
    generation: z.int(),
    refreshToken: z.string(),
    /** Empty where the last answer gave none. */
    accessToken: z.string(),
    /** Null where the service does not say. */
    expiresAt: z.nullable(z.number()),
    scopes: z.nullable(z.array(z.string())),
    refreshedAt: z.number(),
    /** When a person signed in; absent where a refresh token was pasted. */
    signedInAt: z.optional(z.number()),
    /** Fingerprints of the pasted tokens that this grant outdates. */
    outdated: z.array(z.string()),
  }),
);
export type Grant = z.infer<typeof grantSchema>;
export type NewGrant = Omit<Grant, 'generation'>;

const version = 1;
const headSchema = z.object({ version: z.int() });

export interface StoreOptions {
  /** Made where it is missing, readable by its owner only. */
  directory: string;
  /** What the files are encrypted with: Node-RED's credential secret, or the pack's own key. */
  secret: string;
  /** Secrets of before: what they sealed is still opened, and sealed anew with its next save. */
  former?: readonly string[];
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
  /** Who this process is to the lock. */
  self?: Self;
  files?: Files;
  /** Made from the secret; one can serve many stores. */
  seal?: Seal;
}

/** An account while no other process can touch it. */
export interface LockedAccount {
  /** The last holder of the lock died at its work: a token may have been rotated that nobody saved. */
  readonly afterCrash: boolean;
  read(): Promise<Grant | null>;
  /** Claims the room for the next save, so that a full disk is found before a token is rotated, not after. */
  prepare(): Promise<void>;
  /**
   * Replaces the grant. A file that cannot be read is never overwritten but kept under another name.
   * @param follows the generation that the new grant came from; where a later one is found, nothing is saved
   * @returns what stands in the store now
   */
  save(grant: NewGrant, follows?: number): Promise<Grant>;
}

/**
 * Sign-ins on disk: one encrypted file per account, so that one account's lock, which is held over a request to the
 * token endpoint, and one damaged file never concern another. Every fault of a file is CONFIG with what to do.
 */
export class TokenStore {
  readonly directory: string;
  readonly #clock: Clock;
  readonly #lockOptions: LockOptions;
  readonly #seal: Seal;
  readonly #former: readonly Seal[];
  readonly #files: Files;

  constructor(options: StoreOptions) {
    this.directory = options.directory;
    this.#clock = options.clock ?? systemClock;
    this.#lockOptions = { ...options };
    this.#seal = options.seal ?? new Seal(options.secret);
    this.#former = (options.former ?? []).map((secret) => new Seal(secret));
    this.#files = options.files ?? diskFiles;
  }

  /** @throws VehicleError CONFIG */
  async read(account: string): Promise<Grant | null> {
    return this.#read(this.#file(account));
  }

  /**
   * Runs `work` as the only one among all processes that share the directory.
   * @throws VehicleError CONFIG, TIMEOUT (another process does not let go), CANCELLED, and what `work` throws
   */
  async exclusive<T>(account: string, work: (locked: LockedAccount) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const file = this.#file(account);
    const lock = await this.#onDisk(async () => {
      await this.#files.mkdir(this.directory, { recursive: true, mode: 0o700 });
      return acquireLock(lockOf(file), { ...this.#lockOptions, signal });
    });
    const draft = new Draft(`${file}.${randomBytes(6).toString('hex')}.new`, this.#files);
    try {
      if (lock.afterCrash) await this.#sweep(file);
      return await work({
        afterCrash: lock.afterCrash,
        read: () => this.#read(file),
        prepare: () => this.#onDisk(() => draft.claim()),
        save: (grant, follows) => this.#onDisk(() => this.#save(file, draft, grant, follows)),
      });
    } finally {
      await draft.discard();
      await lock.release();
    }
  }

  /** Removes a sign-in, and what was kept aside of it. @throws VehicleError CONFIG, TIMEOUT */
  async forget(account: string): Promise<void> {
    const file = this.#file(account);
    if ((await this.#filesOf(file)).length === 0) return;
    await this.exclusive(account, () =>
      this.#onDisk(
        async () => void (await Promise.all((await this.#filesOf(file)).map((path) => this.#files.unlink(path)))),
      ),
    );
  }

  /** But for the lock. */
  async #filesOf(file: string): Promise<string[]> {
    const names = await this.#files.readdir(this.directory).catch(() => []);
    return names
      .map((name) => join(this.directory, name))
      .filter((path) => path.startsWith(file) && !path.startsWith(lockOf(file)));
  }

  async #save(file: string, draft: Draft, grant: NewGrant, follows: number | undefined): Promise<Grant> {
    const present = await this.#read(file).catch(async () => this.#keepAside(file));
    const found = present?.generation ?? 0;
    if (present !== null && follows !== undefined && found > follows) return present;
    const next: Grant = { ...grant, generation: Math.max(found, follows ?? 0) + 1 };
    const sealed = await this.#seal.seal(JSON.stringify(next), contextOf(file));
    await draft.publish(JSON.stringify({ version, ...sealed }), file);
    await syncDirectory(this.directory, this.#files);
    return next;
  }

  async #read(file: string): Promise<Grant | null> {
    let text: string;
    try {
      text = await this.#files.readFile(file, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw inaccessible(
        'The saved sign-in cannot be read',
        error,
        this.directory,
        'readable for the user that runs Node-RED',
      );
    }
    const json = parseJson(text);
    const head = headSchema.safeParse(json);
    if (!head.success) throw new StoreFault('damaged');
    if (head.data.version > version) throw new StoreFault('newer');
    const sealed = sealedSchema.safeParse(json);
    if (!sealed.success) throw new StoreFault('damaged');
    const opened = await this.#open(sealed.data, contextOf(file));
    if ('fault' in opened) throw new StoreFault(opened.fault);
    const grant = grantSchema.safeParse(parseJson(opened.text));
    if (!grant.success) throw new StoreFault('damaged');
    return grant.data;
  }

  async #open(sealed: Sealed, context: string): ReturnType<Seal['open']> {
    for (const seal of [this.#seal, ...this.#former]) {
      const opened = await seal.open(sealed, context);
      if (!('fault' in opened && opened.fault === 'foreign')) return opened;
    }
    return { fault: 'foreign' };
  }

  async #keepAside(file: string): Promise<null> {
    const day = new Date(this.#clock.now()).toISOString().slice(0, 10);
    await this.#files.rename(file, `${file}.unreadable-${day}-${randomBytes(3).toString('hex')}`);
    return null;
  }

  /** Removes what a dead process had begun to write. */
  async #sweep(file: string): Promise<void> {
    const begun = (name: string): boolean => name.startsWith(`${basename(file)}.`) && name.endsWith('.new');
    const names = await this.#files.readdir(this.directory).catch(() => []);
    await Promise.all(names.filter(begun).map((name) => this.#files.unlink(join(this.directory, name)).catch(ignore)));
  }

  /** What the file system refuses becomes a sentence. */
  async #onDisk<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VehicleError) throw error;
      throw inaccessible(
        'The sign-in cannot be saved',
        error,
        this.directory,
        'writable for the user that runs Node-RED, with free space on its disk',
      );
    }
  }

  #file(account: string): string {
    return join(this.directory, `${createHash('sha256').update(account).digest('hex').slice(0, 32)}.json`);
  }
}

/** The new content while it is not the file yet: written beside it and renamed, so that a cut leaves the old or the new. */
class Draft {
  readonly #path: string;
  readonly #files: Files;
  #file: diskFiles.FileHandle | null = null;
  #exists = false;

  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  async claim(): Promise<void> {
    const file = await this.#open();
    const { bytesWritten } = await file.write(Buffer.alloc(roomFor), 0, roomFor, 0);
    if (bytesWritten < roomFor) throw Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' });
    await file.sync();
  }

  async publish(text: string, target: string): Promise<void> {
    const file = await this.#open();
    await file.writeFile(text);
    await file.truncate(Buffer.byteLength(text));
    await file.sync();
    await this.#close();
    await this.#files.rename(this.#path, target);
    this.#exists = false;
  }

  async discard(): Promise<void> {
    await this.#close();
    if (this.#exists) await this.#files.unlink(this.#path).catch(ignore);
  }

  async #open(): Promise<diskFiles.FileHandle> {
    this.#file ??= await this.#files.open(this.#path, 'wx', 0o600);
    this.#exists = true;
    return this.#file;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

const ignore = (): void => undefined;

/** More than two tokens take, sealed. */
const roomFor = 16 * 1024;

const lockOf = (file: string): string => `${file}.lock`;
const contextOf = (file: string): string => `connected-vehicle sign-in ${version} ${basename(file)}`;

/** The name survives a power cut only when the directory is on disk too; Windows cannot and need not do that. */
async function syncDirectory(path: string, files: Files): Promise<void> {
  try {
    const directory = await files.open(path, 'r');
    await directory.sync().finally(() => directory.close());
  } catch {
    // The file itself is on disk.
  }
}

/** A file that is there and of no use. */
export class StoreFault extends VehicleError {
  readonly fault: keyof typeof faultSentences;

  constructor(fault: keyof typeof faultSentences) {
    super(
      'CONFIG',
      `${faultSentences[fault]}, or sign in again in the vehicle configuration; the old file is kept beside the new one.`,
    );
    this.fault = fault;
  }
}

const faultSentences = {
  damaged: 'The saved sign-in is damaged and cannot be read. Restore it from a backup',
  foreign:
    "The saved sign-in was encrypted with another secret. Put the former credentialSecret back into Node-RED's settings, or the former store.key into its folder",
  newer: 'The saved sign-in was written by a newer version of this pack. Update the pack',
};

const inaccessible = (what: string, error: unknown, directory: string, needs: string): VehicleError =>
  new VehicleError(
    'CONFIG',
    `${what} (${errorCode(error) || 'unknown fault'}). Make the folder "${basename(directory)}" in Node-RED's user directory ${needs}.`,
  );
