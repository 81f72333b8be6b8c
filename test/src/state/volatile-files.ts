import * as diskFiles from 'node:fs/promises';
import { dirname } from 'node:path';
import { durableFiles, type StateFiles } from '../../../src/state/file-state-store';

interface Replaced {
  file: string;
  before: string | null;
  isTextKept: boolean;
  isNameKept: boolean;
}

/**
 * A disk that loses what it was not asked to keep: a replaced file keeps its text if it was synced
 * before it got its name, and its name if the folder was synced afterwards. Until the power fails,
 * reads see everything.
 */
export class VolatileFiles {
  readonly #synced = new Set<string>();
  readonly #replaced: Replaced[] = [];

  readonly #opened = new Map<number, string>();

  readonly files: StateFiles = {
    ...diskFiles,
    ...durableFiles,
    open: async (path, flags, mode) => {
      const descriptor = await durableFiles.open(path, flags, mode);
      this.#opened.set(descriptor, String(path));
      return descriptor;
    },
    openSync: (path, flags) => {
      const descriptor = durableFiles.openSync(path, flags);
      this.#opened.set(descriptor, String(path));
      return descriptor;
    },
    writeFile: async (file, text, options) => {
      await durableFiles.writeFile(file, text, options);
      const path = this.#opened.get(Number(file));
      if (path !== undefined && typeof options === 'object' && options?.flush === true) this.#synced.add(path);
    },
    fsync: async (descriptor) => {
      const place = this.#opened.get(descriptor);
      // A name that comes meanwhile may be lost.
      const named = this.#replaced.filter(({ file }) => dirname(file) === place);
      await durableFiles.fsync(descriptor);
      for (const one of named) one.isNameKept = true;
    },
    rename: async (from, to) => {
      const file = String(to);
      const before = await diskFiles.readFile(file, 'utf8').catch(() => null);
      await diskFiles.rename(from, to);
      this.#replaced.push({ file, before, isTextKept: this.#synced.has(String(from)), isNameKept: false });
    },
  };

  async failPower(): Promise<void> {
    for (const { file, before, isTextKept, isNameKept } of this.#replaced.splice(0).reverse())
      if (isNameKept && !isTextKept) await diskFiles.writeFile(file, '');
      else if (!isNameKept && before === null) await diskFiles.unlink(file);
      else if (!isNameKept) await diskFiles.writeFile(file, before ?? '');
  }
}
