import { unlinkSync } from 'node:fs';
import * as diskFiles from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { breakLock, createLock, isDead, newMark, type StateFiles } from './file-lock';

/** How often the owner renews its mark. Rarely, because each time is a write to the disk. */
const defaultBeatMs = 10_000;

/**
 * Makes this process the owner of a directory, until it ends. Of two Node-RED processes on one user directory, only the owner may change
 * commands, watches and journals: to the other one they would look like those of a process that ended.
 * @returns false if another process is the owner and lives. Where only its mark can show that it lives, the answer takes as long as two
 * renewals of the mark
 */
export async function ownDirectory(
  directory: string,
  { beatMs = defaultBeatMs, files = diskFiles }: { beatMs?: number; files?: StateFiles } = {},
): Promise<boolean> {
  const path = join(directory, 'state', 'owner');
  const mark = newMark();
  try {
    await files.mkdir(join(directory, 'state'), { recursive: true, mode: 0o700 });
    while (!(await createLock(path, mark, files))) {
      const found = await files.readFile(path, 'utf8').catch(() => '');
      if (!isDead(found) && (await showsLife(path, beatMs))) return false;
      await breakLock(path, found, files);
    }
  } catch {
    // On a directory that cannot be written there is nothing to protect.
    return true;
  }
  const beat = setInterval(() => {
    const now = new Date();
    diskFiles.utimes(path, now, now).catch(() => clearInterval(beat));
  }, beatMs).unref();
  if (owned.size === 0) process.once('exit', disown);
  owned.add(path);
  return true;
}

const owned = new Set<string>();

function disown(): void {
  for (const path of owned) {
    try {
      unlinkSync(path);
    } catch {
      // The directory is gone.
    }
  }
}

/** Process numbers are given again after a restart of the machine, and say nothing on another host: only a renewed mark proves that the owner is alive. */
async function showsLife(path: string, beatMs: number): Promise<boolean> {
  const before = await lastBeat(path);
  for (let polls = 0; polls < 25; polls += 1) {
    await sleep(beatMs / 10, undefined, { ref: false });
    if ((await lastBeat(path)) !== before) return true;
  }
  return false;
}

const lastBeat = async (path: string): Promise<number> =>
  (await diskFiles.stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
