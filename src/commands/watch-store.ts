import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { parseRecord, type CommandRecord } from './record';
import type { StatusChange } from '../watch';

/** A watch that has not come to its end, with all that is needed to take it up again. */
export interface OpenWatch {
  record: CommandRecord;
  /** Milliseconds since 1970. */
  startedAt: number;
  history: StatusChange[];
  /** The message that started it. */
  msg: Record<string, unknown>;
}

const shape = z.object({
  record: z.unknown(),
  startedAt: z.number(),
  history: z.array(z.object({ requestStatus: z.nullable(z.string()), at: z.string() })),
  msg: z.record(z.string(), z.unknown()),
});

/**
 * The open watches of a node, one small file each in a private directory. A file is there from before the first look until the
 * verdict; it is replaced and removed as one step of the file system, so a process that is killed leaves a watch either open
 * or ended. The calls are synchronous so that nothing comes between a removal and the message that tells the verdict.
 */
export class WatchStore {
  readonly #directory: string | null;

  /** @param directory null keeps nothing */
  constructor(directory: string | null) {
    this.#directory = directory;
  }

  put(watch: OpenWatch): void {
    if (this.#directory === null) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const file = this.#file(watch.record.id);
    const opened = openSync(`${file}.new`, 'w', 0o600);
    try {
      writeFileSync(opened, JSON.stringify({ ...watch, msg: plain(watch.msg) }));
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(`${file}.new`, file);
  }

  remove(id: string): void {
    if (this.#directory !== null) rmSync(this.#file(id), { force: true });
  }

  /**
   * What was open when the process ended.
   * @param onDamaged told the name of a file that cannot be read, which is put aside under it
   */
  open(onDamaged: (file: string) => void = () => undefined): OpenWatch[] {
    return this.#files().flatMap((file) => {
      try {
        const { record, ...rest } = shape.parse(JSON.parse(readFileSync(file, 'utf8')));
        return [{ ...rest, record: parseRecord(record) }];
      } catch {
        const aside = `${file}.damaged`;
        renameSync(file, aside);
        onDamaged(basename(aside));
        return [];
      }
    });
  }

  /** The node is gone for good. */
  clear(): void {
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true, force: true });
  }

  #files(): string[] {
    if (this.#directory === null) return [];
    const directory = this.#directory;
    try {
      return readdirSync(directory).filter((name) => name.endsWith('.json')).map((name) => join(directory, name));
    } catch {
      return [];
    }
  }

  /** An id may come from a message: it names no path of its own. */
  #file(id: string): string {
    return join(this.#directory as string, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}

/** What of a message can be written down; sockets and functions of a web request cannot. */
function plain(msg: Record<string, unknown>): Record<string, unknown> {
  const { req: _req, res: _res, ...rest } = msg;
  try {
    return JSON.parse(JSON.stringify(rest)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
