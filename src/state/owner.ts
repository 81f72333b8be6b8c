import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import * as diskFiles from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import * as z from 'zod/mini';
import { systemCodeOf, VehicleError } from '../errors';
import { systemClock, type Clock } from '../util/clock';
import { parseJson } from '../util/json';
import { SharedRuns } from '../util/serial';
import { Listeners } from '../util/listeners';

export interface DirectoryOwnerOptions {
  directory: string;
  clock?: Clock;
  /**
   * Whether every process that uses the folder runs on this machine. Default: by the
   * type of its file system.
   */
  isLocal?: (folder: string) => Promise<boolean>;
  /** Default: a server for the path. @throws the error of the system if no socket can be created */
  listen?: (path: string) => Promise<Server>;
}

/**
 * `deciding`: it is not known yet whether this process may act. `standby`: another process acts;
 * this one waits for its end. `lost`: another process has taken over; only a restart helps, because
 * what this process remembers may be outdated.
 */
export type Role = 'deciding' | 'active' | 'standby' | 'lost';

/** The use of a directory by another process. Nothing was read or written. */
export class DirectoryInUse extends VehicleError {
  constructor(role: Role) {
    super(
      'CONFIG',
      role === 'lost'
        ? 'Another Node-RED has taken over the folder "connected-vehicle" of this user directory, so this one does nothing. Stop one of the two, then restart this one.'
        : 'Another Node-RED uses the folder "connected-vehicle" of this user directory, so this one does nothing until the other one has ended. Give each Node-RED its own user directory.',
    );
  }
}

const beatMs = 5_000;
const silentMs = 20_000;
const emptyMs = 2_000;
/** How often a process that waits looks whether the owner still lives. */
const lookAtOwnerMs = 1_000;
const retryMs = 10_000;

/** How an owner shows that it lives. */
const markSchema = z.lazy(() =>
  z.object({
    /** The name of its socket in the folder, or of its pipe; null if none could be created. */
    socket: z.nullable(
      z.string().check(z.regex(/^(owner-\d+\.[0-9a-f]{12}|\\\\\.\\pipe\\connected-vehicle-[0-9a-f]{32})$/)),
    ),
    /** Whether it renews the time of the file, because the socket does not show that it ended. */
    beats: z.boolean(),
  }),
);
type Mark = z.infer<typeof markSchema>;

const ended = 'ended';

/**
 * The use of a directory by one process, for its life. The file `owner-<n>` with the highest number
 * names the owner, and a socket proves that it lives: the kernel accepts a connection also while
 * the process is stopped or blocked, and refuses it or closes it when the process has ended. On a
 * network file system, where the owner may be on another machine, and if no socket can be created,
 * the owner renews the time of its file instead, and has ended when that stays the same for 20
 * seconds.
 *
 * The file with the highest number is never removed, so that a process that was stopped on its way
 * cannot take a number again.
 */
export class DirectoryOwner {
  readonly #folder: string;
  readonly #options: DirectoryOwnerOptions;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  readonly #changed = new Listeners();
  /** Calls back when the role has changed. @returns ends the calls */
  readonly onChange = this.#changed.add;
  readonly #connections = new Set<Socket>();
  readonly #decided: Promise<void>;
  readonly #running: Promise<void>;
  /** Writes that begin at the same time look together. */
  readonly #looks = new SharedRuns<number>();
  #role: Role = 'deciding';
  /** The number of the own file; 0 while there is none. */
  #number = 0;
  #mark: Mark | null = null;
  /** Which file the own one is, once it was read. */
  #stamp = '';
  #server: Server | null = null;

  constructor(options: DirectoryOwnerOptions) {
    this.#folder = join(options.directory, 'state');
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#decided = new Promise((resolve) => void this.onChange(resolve));
    this.#running = this.#take();
  }

  get role(): Role {
    return this.#role;
  }

  /**
   * Fulfilled when this process may use the directory; waits only for the decision.
   * @throws DirectoryInUse
   */
  async ready(): Promise<void> {
    await this.#decided;
    if (this.#role !== 'active') throw new DirectoryInUse(this.#role);
  }

  /**
   * Called before each write: a process that was stopped for long on a network file system
   * may have been replaced.
   * @throws DirectoryInUse
   */
  async confirm(): Promise<void> {
    if (this.#role === 'active' && this.#number > 0 && !this.#isSurelyLast()) {
      const last = await this.#looks.run(() => this.#lastNumber()).catch(() => this.#number);
      // A person has emptied the folder.
      if (last === 0) await this.#writeMark(this.#number).catch(() => undefined);
      if ((last !== 0 && last !== this.#number) || !this.#isOwnFile()) this.#lose();
    }
    if (this.#role !== 'active') throw new DirectoryInUse(this.#role);
  }

  /**
   * Whether the own number is still the highest one, as far as two files show, which the system of
   * this machine has in memory: reading the folder goes through another thread, which costs more.
   * The next owner takes the next number, and one after that removes the own file first.
   */
  #isSurelyLast(): boolean {
    if (this.#mark?.beats !== false || this.#stamp === '') return false;
    return this.#stampNow() === this.#stamp && !existsSync(this.#pathOf(this.#number + 1));
  }

  /**
   * False if another process has begun again at the number of this one, because a person has
   * emptied the folder. A file that cannot be read, or that a full disk left empty, is not another
   * one's.
   */
  #isOwnFile(): boolean {
    const stamp = this.#stampNow();
    const text = this.#ownText();
    if (text === JSON.stringify(this.#mark)) this.#stamp = stamp;
    else if (text !== '') return false;
    return true;
  }

  #stampNow(): string {
    try {
      const { ino, mtimeMs } = statSync(this.#pathOf(this.#number));
      return `${ino} ${mtimeMs}`;
    } catch {
      return '';
    }
  }

  /** What is in the file with the own number; empty if that is unknown. */
  #ownText(): string {
    try {
      return readFileSync(this.#pathOf(this.#number), 'utf8');
    } catch {
      return '';
    }
  }

  /** The next process can use the directory at once; this one has lost it. */
  async end(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#leave();
    this.#lose();
  }

  #set(role: Role): void {
    if (role === this.#role) return;
    this.#role = role;
    this.#changed.notify();
  }

  #lose(): void {
    this.#stopping.abort();
    process.removeListener('exit', this.#leave);
    this.#unlisten();
    this.#set('lost');
  }

  async #take(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const last = await this.#lastNumber();
        await this.#untilEnded(last);
        if (await this.#create(last + 1)) return this.#set('active');
      } catch {
        if (this.#stopping.signal.aborted) return;
        // In a folder that cannot be written there is nothing to protect, until it can be written.
        this.#set('active');
        await this.#sleep(retryMs).catch(() => undefined);
      }
    }
  }

  #seenAlive(): void {
    if (this.#role === 'active') this.#lose();
    else this.#set('standby');
  }

  /** @throws if this process is ending, or has acted as the owner before */
  async #untilEnded(number: number): Promise<void> {
    let isOfThisMachine = false;
    let wasClosed = false;
    for (;;) {
      this.#stopping.signal.throwIfAborted();
      const mark = await this.#readMark(number);
      if (mark === ended) return;
      if (mark === '') {
        await this.#sleep(emptyMs);
        if ((await this.#readMark(number)) === '') return;
        continue;
      }
      const found = mark.socket === null ? 'refused' : await this.#connect(mark.socket);
      if (found === 'refused') {
        if (isOfThisMachine || (!mark.beats && (await this.#isLocal()))) return;
        if (!(await this.#beats(number))) return;
        this.#seenAlive();
      } else {
        this.#seenAlive();
        isOfThisMachine = true;
        if (found === 'busy' || (found === 'closed' && wasClosed)) await this.#sleep(lookAtOwnerMs);
        else if (found !== 'closed') await this.#untilClosed(found);
        wasClosed = found === 'closed';
      }
    }
  }

  /**
   * @returns `busy` if it lives and can accept no connection now; `closed` if it has closed the
   * connection before it was made, as a process does that ends
   */
  async #connect(socket: string): Promise<Socket | 'refused' | 'busy' | 'closed'> {
    const address = await addressOf(this.#folder, socket);
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const connection = createConnection(address.path, () => resolve(connection));
        connection.unref().on('error', reject);
      });
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ECONNRESET') return 'closed';
      return ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(code) ? 'refused' : 'busy';
    } finally {
      await address.close();
    }
  }

  /**
   * An owner that has no file descriptor left closes a connection at once, so a closed connection
   * does not prove that it ended.
   */
  async #untilClosed(connection: Socket): Promise<void> {
    await finished(connection.resume(), { signal: this.#stopping.signal }).catch(() => undefined);
    connection.destroy();
  }

  /** Whether the time of a file is renewed; false after 20 seconds in which it was not. */
  async #beats(number: number): Promise<boolean> {
    const timeOf = (): Promise<number> =>
      diskFiles.stat(this.#pathOf(number)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      );
    const before = await timeOf();
    const since = this.#clock.monotonic();
    while (this.#clock.monotonic() - since < silentMs) {
      await this.#sleep(lookAtOwnerMs);
      if ((await timeOf()) !== before) return true;
    }
    return false;
  }

  /** @returns false if another process was faster */
  async #create(number: number): Promise<boolean> {
    await diskFiles.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const isLocal = await this.#isLocal();
    // The socket listens before the file names it: a file without its socket would be that of
    // a process that ended.
    const socket = await this.#listen(number).catch(() => null);
    this.#mark = { socket, beats: socket === null || !isLocal };
    try {
      const isFirst = await this.#writeMark(number);
      if (isFirst && (await this.#lastNumber()) === number) {
        this.#number = number;
        process.once('exit', this.#leave);
        if (this.#mark.beats) void this.#beat();
        await this.#sweep().catch(() => undefined);
        return true;
      }
      // A process that was stopped since it looked takes a number that was used long ago.
      if (isFirst) await diskFiles.unlink(this.#pathOf(number));
      this.#unlisten();
      return false;
    } catch (error) {
      this.#unlisten();
      await diskFiles.unlink(this.#pathOf(number)).catch(() => undefined);
      throw error;
    }
  }

  /**
   * In one tick, so that no other process finds it empty, unless this one is killed on the way.
   * @returns false if it is there
   */
  async #writeMark(number: number): Promise<boolean> {
    try {
      writeFileSync(this.#pathOf(number), JSON.stringify(this.#mark), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  async #readMark(number: number): Promise<Mark | typeof ended | ''> {
    const text = await diskFiles.readFile(this.#pathOf(number), 'utf8').catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return ended;
      throw error;
    });
    if (text === '' || text === ended) return text;
    return markSchema.safeParse(parseJson(text)).data ?? { socket: null, beats: true };
  }

  async #lastNumber(): Promise<number> {
    const names = await diskFiles.readdir(this.#folder).catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    });
    const own = names.filter((name) => name.startsWith('owner-'));
    return Math.max(0, ...own.map((name) => Number(/^owner-(\d{1,15})$/.exec(name)?.[1] ?? 0)));
  }

  /** Removes what former owners left, the oldest first: `#isSurelyLast` relies on it. */
  async #sweep(): Promise<void> {
    const numberOf = (name: string): number => Number(/^owner-(\d{1,15})(\.[0-9a-f]{12})?$/.exec(name)?.[1]);
    const left = (await diskFiles.readdir(this.#folder)).filter((name) => numberOf(name) < this.#number);
    // After one that cannot be removed, none is: the next owner removes them.
    for (const name of left.toSorted((a, b) => numberOf(a) - numberOf(b)))
      await diskFiles.unlink(join(this.#folder, name)).catch((error: unknown) => {
        if (systemCodeOf(error) !== 'ENOENT') throw error;
      });
  }

  async #listen(number: number): Promise<string> {
    const socket =
      process.platform === 'win32'
        ? `\\\\.\\pipe\\connected-vehicle-${randomBytes(16).toString('hex')}`
        : `owner-${number}.${randomBytes(6).toString('hex')}`;
    const address = await addressOf(this.#folder, socket);
    try {
      this.#server = await (this.#options.listen ?? listenAt)(address.path);
    } finally {
      await address.close();
    }
    this.#server.unref().on('connection', (connection: Socket) => {
      this.#connections.add(connection.unref().resume());
      connection.on('error', () => undefined).once('close', () => this.#connections.delete(connection));
    });
    return socket;
  }

  #unlisten(): void {
    this.#server?.close();
    this.#server = null;
    for (const connection of this.#connections) connection.destroy();
    try {
      // Node also removes it, but not one that was named by a file descriptor of the folder.
      if (this.#mark?.socket) unlinkSync(join(this.#folder, this.#mark.socket));
    } catch {
      // It is gone, or it is a pipe, which has no file.
    }
  }

  /**
   * Also at the end of the process. Its time is not needed then: the next
   * process takes over at once.
   */
  readonly #leave = (): void => {
    if (this.#number === 0 || this.#role !== 'active') return;
    try {
      if (this.#ownText() === JSON.stringify(this.#mark)) writeFileSync(this.#pathOf(this.#number), ended);
    } catch {
      // The folder is gone, or its disk.
    }
    this.#unlisten();
  };

  async #beat(): Promise<void> {
    for (;;) {
      try {
        await this.#sleep(beatMs);
      } catch {
        return;
      }
      const now = new Date();
      await diskFiles.utimes(this.#pathOf(this.#number), now, now).catch(() => undefined);
      await this.confirm().catch(() => undefined);
    }
  }

  #isLocal = (): Promise<boolean> => (this.#options.isLocal ?? isLocalFolder)(this.#folder);
  #pathOf = (number: number): string => join(this.#folder, `owner-${number}`);
  #sleep = (ms: number): Promise<void> => this.#clock.sleep(ms, this.#stopping.signal);
}

const listenAt = (path: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen({ path, exclusive: true }, () => resolve(server));
  });

/** The longest path of a socket on macOS; on Linux it may have four bytes more. */
const maxSocketPath = 103;

/**
 * What the system calls a socket in a folder. `close` is called when the socket
 * is bound or connected.
 */
async function addressOf(folder: string, socket: string): Promise<{ path: string; close: () => unknown }> {
  const nothing = (): undefined => undefined;
  const path = join(folder, socket);
  if (process.platform === 'win32') return { path: socket, close: nothing };
  if (Buffer.byteLength(path) <= maxSocketPath) return { path, close: nothing };
  if (process.platform !== 'linux') return { path: relative('', path), close: nothing };
  const opened = await diskFiles.open(folder, 'r');
  return { path: `/proc/self/fd/${opened.fd}/${socket}`, close: () => opened.close() };
}

/** The types of file systems on the disks of one machine, as `statfs` numbers them. */
const localTypes: Partial<Record<NodeJS.Platform, readonly number[]>> = {
  // ext4, xfs, btrfs, f2fs, zfs, overlay, tmpfs, ramfs
  linux: [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x794c7630, 0x01021994, 0x858458f6],
  // APFS, HFS+
  darwin: [0x1a, 0x11],
};

async function isLocalFolder(folder: string): Promise<boolean> {
  // A network drive is named by its full path and not by its letter.
  if (process.platform === 'win32') return !(await diskFiles.realpath(folder)).startsWith('\\\\');
  const { type } = await diskFiles.statfs(folder, { bigint: true });
  // Some systems return the number with a sign.
  return localTypes[process.platform]?.includes(Number(BigInt.asUintN(32, type))) ?? false;
}
