import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nameOf, replaceFile } from '../state/private-file';

/** More than anybody sends again, and little enough to hold. */
const most = 1000;

/**
 * The ids of what was settled last: a record that comes again gets no second verdict (contract 5), after a restart neither. On disk
 * a line each, added with one write and cut from time to time; a line that is damaged is left out.
 */
export class SettledIds {
  readonly #path: string | null;
  #names: Set<string> | null = null;
  /** How many there are on disk; Infinity where they must be written anew. */
  #lines = 0;

  /** @param path null keeps them in memory alone */
  constructor(path: string | null) {
    this.#path = path;
  }

  has(id: string): boolean {
    return this.#known().has(nameOf(id));
  }

  /** @throws the file system's own error; in memory it stands all the same */
  add(id: string): void {
    const names = this.#known();
    const name = nameOf(id);
    if (names.has(name)) return;
    names.add(name);
    for (const oldest of names) {
      if (names.size <= most) break;
      names.delete(oldest);
    }
    if (this.#path === null) return;
    if (this.#lines < 2 * most) {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      appendFileSync(this.#path, `${name}\n`, { mode: 0o600 });
      this.#lines += 1;
    } else {
      replaceFile(this.#path, [...names].map((one) => `${one}\n`).join(''));
      this.#lines = names.size;
    }
  }

  /** Read when it is first needed: whoever had the file before has ended by then. */
  #known(): Set<string> {
    if (this.#names === null) {
      const lines = this.#read().split('\n');
      // A write that was cut leaves no line end: the next line must not be joined to it.
      const names = lines.slice(0, -1).filter((line) => /^[0-9a-f]{32}$/.test(line));
      this.#lines = names.length === lines.length - 1 && lines.at(-1) === '' ? names.length : Infinity;
      this.#names = new Set(names.slice(-most));
    }
    return this.#names;
  }

  #read(): string {
    try {
      return this.#path === null ? '' : readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }
}
