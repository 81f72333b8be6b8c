import { randomBytes } from 'node:crypto';
import * as diskFiles from 'node:fs/promises';
import { hostname } from 'node:os';
import * as z from 'zod/mini';
import { systemClock, type Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { parseJson } from './claims';

/**
 * A lock between processes: a file that only one can create. Node has no lock of the operating system, and
 * `proper-lockfile` (last release 2021, 10 ms and 5 MB to load) renews its mark by a timer, so a busy event loop
 * loses it; here the holder works for a bounded time instead.
 */
export interface Lock {
  /** The holder before us died at its work: what it was doing may be half done. */
  readonly afterCrash: boolean;
  release(): Promise<void>;
}

/** What is asked of a file system; a parameter so that a test can cut it at any step. */
export type Files = Pick<typeof diskFiles, 'link' | 'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'unlink'>;

export interface LockOptions {
  files?: Files;
  clock?: Clock;
  /** 0 to 1. */
  random?: () => number;
  /** Ends the wait, not the work. */
  signal?: AbortSignal | undefined;
  self?: Self;
}

/** Who takes a lock; a parameter so that a test can be two processes. */
export interface Self {
  pid: number;
  /** A process number says something only where it was given; containers have host names of their own. */
  host: string;
  isAlive(pid: number): boolean;
  /** The locks of this process that are held now: after a restart in a container, a dead holder may have had our own number. */
  held: Set<string>;
}

export const thisProcess: Self = { pid: process.pid, host: hostname(), isAlive, held: new Set() };

/** Longer than any holder works: one request to the token endpoint and one save. */
export const longestHold = 120_000;
const patience = longestHold + 30_000;
const look = 50;
/** A file without a mark is one that is just being written, or was cut in that moment. */
const unmarkedIsStaleAfter = 5_000;

const markSchema = z.object({ pid: z.int(), host: z.string(), nonce: z.string(), at: z.number() });
type Mark = z.infer<typeof markSchema>;

/** @throws VehicleError TIMEOUT where the holder does not let go, CANCELLED; errors of the file system as they come */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { files = diskFiles, clock = systemClock, random = Math.random, self = thisProcess, signal } = options;
  const started = clock.now();
  let unmarkedSince = Infinity;
  let afterCrash = false;
  for (;;) {
    const mark = await create(path, self, clock, files);
    if (mark !== null) return { afterCrash, release: () => release(path, mark, self, files) };
    const found = await readMark(path, files);
    if (found === 'gone') continue;
    const now = clock.now();
    unmarkedSince = found === 'unmarked' ? Math.min(unmarkedSince, now) : Infinity;
    if (found === 'unmarked' ? now - unmarkedSince > unmarkedIsStaleAfter : isStale(found, self, now)) {
      afterCrash = (await setAside(path, found, files)) || afterCrash;
      continue;
    }
    if (now - started > patience)
      throw new VehicleError(
        'TIMEOUT',
        'Another Node-RED process holds the saved sign-in for too long. Stop it, or try again later.',
      );
    await pause(clock, look * (1 + random()), signal);
  }
}

function isStale(mark: Mark, self: Self, now: number): boolean {
  if (mark.host === self.host) {
    if (self.held.has(mark.nonce)) return false;
    if (mark.pid === self.pid || !self.isAlive(mark.pid)) return true;
  }
  // A mark from the future: the clock was set back meanwhile.
  return Math.abs(now - mark.at) > longestHold;
}

async function create(path: string, self: Self, clock: Clock, files: Files): Promise<Mark | null> {
  const mark: Mark = { pid: self.pid, host: self.host, nonce: randomBytes(12).toString('hex'), at: clock.now() };
  let file;
  try {
    file = await files.open(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' || isBeingDeleted(error)) return null;
    throw error;
  }
  self.held.add(mark.nonce);
  try {
    await file.writeFile(JSON.stringify(mark));
  } catch (error) {
    self.held.delete(mark.nonce);
    await files.unlink(path);
    throw error;
  } finally {
    await file.close();
  }
  // Who was stopped for long between the two steps may have been taken for dead.
  if (nonceOf(await readMark(path, files)) === mark.nonce) return mark;
  self.held.delete(mark.nonce);
  return null;
}

async function readMark(path: string, files: Files): Promise<Mark | 'gone' | 'unmarked'> {
  try {
    const parsed = markSchema.safeParse(parseJson(await files.readFile(path, 'utf8')));
    return parsed.success ? parsed.data : 'unmarked';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone';
    if (isBeingDeleted(error)) return 'unmarked';
    throw error;
  }
}

/** Renaming lets only one win; should the winner have caught a new holder's lock instead of the stale one, it is put back. */
async function setAside(path: string, stale: Mark | 'unmarked', files: Files): Promise<boolean> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await files.rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || isBeingDeleted(error)) return false;
    throw error;
  }
  const caught = await readMark(aside, files);
  const same = nonceOf(caught) === nonceOf(stale);
  if (!same) await files.link(aside, path).catch(ignore);
  await files.unlink(aside).catch(ignore);
  return same;
}

const nonceOf = (mark: Mark | 'gone' | 'unmarked'): string => (typeof mark === 'object' ? mark.nonce : mark);

/** A lock that cannot be removed is stale from here on: its holder does not hold it. */
async function release(path: string, mark: Mark, self: Self, files: Files): Promise<void> {
  self.held.delete(mark.nonce);
  const found = await readMark(path, files).catch(() => 'gone' as const);
  if (nonceOf(found) === mark.nonce) await files.unlink(path).catch(ignore);
}

async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch {
    throw new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Windows answers so for a file whose deletion is under way. */
const isBeingDeleted = (error: unknown): boolean =>
  process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(errorCode(error));

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const ignore = (): void => undefined;
