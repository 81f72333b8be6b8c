import * as diskFiles from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StateFiles } from '../../../src/state/file-state-store';

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

  readonly files: StateFiles = {
    ...diskFiles,
    open: async (path, flags, mode) => {
      const place = String(path);
      const handle = await diskFiles.open(path, flags, mode);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        await sync();
        this.#synced.add(place);
        for (const one of this.#replaced) if (dirname(one.file) === place) one.isNameKept = true;
      };
      return handle;
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
