import { join } from 'node:path';
import * as z from 'zod/mini';
import type { StateFiles } from './file-lock';

interface FormerFiles {
  /** Relative to the directory, as the pattern for what is inside it. */
  folder: string;
  name: RegExp;
  /** The name of the key in its collection; null for a file that is not understood. */
  keyOf: (match: readonly string[], value: unknown) => string | null;
}

const watch = z.lazy(() => z.object({ record: z.object({ id: z.string() }) }));

const watchFiles = (folder: string): FormerFiles => ({
  folder,
  name: /^([\w.-]+)\/[0-9a-f]{32}\.json$/,
  keyOf: ([, node], value) => {
    const { data } = watch.safeParse(value);
    return data === undefined ? null : `${node}/${data.record.id}`;
  },
});

/**
 * The files in which version 0.1 kept each collection. Its sign-ins are not among them: they are sealed under their file names, and src/session
 * carries them over.
 */
const formerFiles: Readonly<Record<string, FormerFiles>> = {
  journal: { folder: 'journals', name: /^([\w.-]+)\.json$/, keyOf: ([, id]) => `${id}` },
  guard: { folder: 'guards', name: /^([\w.-]+)\.json$/, keyOf: ([, id]) => `${id}` },
  quota: { folder: 'quota', name: /^([0-9a-f]{32})\.json$/, keyOf: ([, hash]) => `${hash}` },
  watches: watchFiles('watches'),
  commands: watchFiles('commands'),
  delivered: { folder: 'watches', name: /^([\w.-]+)\/settled$/, keyOf: ([, node]) => `${node}` },
};

/**
 * Moves what version 0.1 stored into a collection, file by file. The old file goes when the new one is on disk; one that cannot be
 * read, or not moved now, stays.
 */
export async function carryOver(
  directory: string,
  collection: string,
  files: StateFiles,
  put: (key: string, value: unknown) => Promise<void>,
): Promise<void> {
  const former = Object.hasOwn(formerFiles, collection) ? formerFiles[collection] : undefined;
  if (former === undefined) return;
  const folder = join(directory, former.folder);
  for (const found of await files.readdir(folder, { recursive: true }).catch(() => [])) {
    // A process that was killed left the file that it was writing.
    if (found.endsWith('.new')) await files.unlink(join(folder, found)).catch(() => undefined);
    const match = former.name.exec(found.replaceAll('\\', '/'));
    if (match === null) continue;
    try {
      const text = await files.readFile(join(folder, found), 'utf8');
      const value = found.endsWith('.json') ? (JSON.parse(text) as unknown) : linesOf(text);
      const name = former.keyOf(match, value);
      if (name === null) continue;
      await put(`${collection}/${name}`, value);
      await files.unlink(join(folder, found));
    } catch {
      // It is tried again at the next start.
    }
  }
}

/** A write that was cut leaves a last line without its end. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .slice(0, -1)
    .filter((line) => /^[0-9a-f]{32}$/.test(line));
