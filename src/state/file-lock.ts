import { randomBytes } from 'node:crypto';
import type * as diskFiles from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The parts of the file system in use; a parameter so that a test can make any step fail. */
export type StateFiles = Pick<
  typeof diskFiles,
  'link' | 'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'stat' | 'unlink'
>;

export const systemCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A lock is held while one small file is written. One that stays unchanged for so long belongs to a dead process. */
const abandonedAfterMs = 15_000;
const retryMs = 10;
const heldHere = new Set<string>();

/**
 * Runs `work` as the only one among all processes that use the file: Node has no lock of the operating system, so a file that
 * only one process can create stands for it.
 */
export async function withFileLock<T>(path: string, files: StateFiles, work: () => Promise<T>): Promise<T> {
  const mark = newMark();
  let seen = '';
  let since = performance.now();
  while (!(await createLock(path, mark, files))) {
    const found = await files.readFile(path, 'utf8').catch(() => '');
    if (found !== seen) [seen, since] = [found, performance.now()];
    if (isDead(found) || performance.now() - since > abandonedAfterMs) await breakLock(path, found, files);
    else await sleep(retryMs);
  }
  try {
    return await work();
  } finally {
    heldHere.delete(mark);
    await files.unlink(path).catch(() => undefined);
  }
}

/** Names this process: its host, its number, and a word of its own. */
export const newMark = (): string => JSON.stringify([hostname(), process.pid, randomBytes(8).toString('hex')]);

/** @returns false where another process holds the file */
export async function createLock(path: string, mark: string, files: StateFiles): Promise<boolean> {
  try {
    const file = await files.open(path, 'wx', 0o600);
    heldHere.add(mark);
    await file.writeFile(mark).finally(() => file.close());
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST' || isBeingDeleted(error)) return false;
    if (heldHere.delete(mark)) await files.unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Windows answers so for a file whose deletion is in progress. */
const isBeingDeleted = (error: unknown): boolean => process.platform === 'win32' && systemCodeOf(error) === 'EPERM';

/** Process numbers say something on their own host only. Our own number may have belonged to a process of a former container. */
export function isDead(mark: string): boolean {
  const [, host, pid] = /^\["([^"]*)",(\d+),"\w+"\]$/.exec(mark) ?? [];
  if (host !== hostname()) return false;
  return Number(pid) === process.pid ? !heldHere.has(mark) : !isAlive(Number(pid));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

/**
 * Only one process can rename the file; if it caught the lock of a new holder instead, it puts that back.
 * @throws the error of the file system where the file cannot be moved, on a disk that became read-only for one
 */
export async function breakLock(path: string, stale: string, files: StateFiles): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await files.rename(path, aside);
  } catch (error) {
    // Another process was faster.
    if (systemCodeOf(error) === 'ENOENT' || isBeingDeleted(error)) return;
    throw error;
  }
  try {
    if ((await files.readFile(aside, 'utf8')) !== stale) await files.link(aside, path);
    await files.unlink(aside);
  } catch {
    // A new holder has the lock meanwhile, or another process removed the file.
  }
}
