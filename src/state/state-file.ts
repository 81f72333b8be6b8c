import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A small private file of plain JSON, for what must outlive a restart. It is replaced as one step of the file system, so that a
 * cut leaves the old or the new; only its owner can read it (contract 6).
 */
export class StateFile {
  readonly #path: string | null;
  #last: Promise<void> = Promise.resolve();

  /** @param path null keeps nothing */
  constructor(path: string | null) {
    this.#path = path;
  }

  /** What was saved last; undefined before the first time; the text itself where it is no JSON. */
  async load(): Promise<unknown> {
    if (this.#path === null) return undefined;
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }

  /** Saves never overlap. Rejects with the file system's own error. */
  save(data: unknown): Promise<void> {
    const text = JSON.stringify(data);
    return this.#next((path) => replace(path, text));
  }

  /** When all that was asked for is done, well or not. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Whoever it belonged to is gone for good. */
  remove(): Promise<void> {
    return this.#next((path) => rm(path, { force: true }));
  }

  #next(work: (path: string) => Promise<void>): Promise<void> {
    const path = this.#path;
    if (path === null) return Promise.resolve();
    const turn = this.#last.then(() => work(path));
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    // Without it a power cut can leave the new name with nothing in it.
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
