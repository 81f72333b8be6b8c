import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a private file as one step of the file system: a process that is killed leaves the old one or the new one. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  try {
    write(draft, text);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function write(path: string, text: string): void {
  const opened = openSync(path, 'w', 0o600);
  try {
    writeFileSync(opened, text);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** An id may come from a message: it names no path of its own. */
export const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);
