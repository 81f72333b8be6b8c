import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeFolder } from './remove-folder';

/** Needs a C compiler for Linux. In CI, the tests fail if it is missing. */
export const whyNoOwnClock: string | null =
  process.platform !== 'linux'
    ? 'the clock of a single program can be set on Linux only'
    : process.env['CI'] !== 'true' && spawnSync('cc', ['--version']).error !== undefined
      ? 'there is no C compiler “cc”'
      : null;

/** A wall clock for one program, which the test sets. */
export class OwnClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'own-clock-'));
  readonly #file = join(this.#folder, 'ahead');
  /** Of the program. */
  readonly environment: Readonly<Record<string, string>>;

  constructor() {
    const library = join(this.#folder, 'own-clock.so');
    const source = resolve(__dirname, '../../../test/support/own-clock.c');
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
    writeFileSync(this.#file, Buffer.alloc(8));
    this.environment = { LD_PRELOAD: library, OWN_CLOCK: this.#file };
  }

  /** @param seconds negative: behind the clock of the machine */
  setAhead(seconds: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // In place: the program has the file mapped.
    const file = openSync(this.#file, 'r+');
    writeSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  }

  end(): Promise<void> {
    return removeFolder(this.#folder);
  }
}
