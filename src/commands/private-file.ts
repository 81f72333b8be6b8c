import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a private file as one step of the file system: a process that is killed leaves the old one or the new one. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const opened = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeFileSync(opened, text);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(`${path}.new`, path);
}

/** An id may come from a message: it names no path of its own. */
export const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);
