import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import type { StatusChange, WatchReport } from './watch';
import { nameOf, replaceFile } from '../state/private-file';
import { outcomeShape, parseRecord, type CommandRecord } from '../record';
import { SettledIds } from './delivered-ids';

/** A watch that has not come to its end, with all that is needed to take it up again. */
export interface OpenWatch {
  record: CommandRecord;
  /** Milliseconds since 1970. */
  startedAt: number;
  history: StatusChange[];
  /** The message that started it. */
  msg: Record<string, unknown>;
  /** The verdict, from before it is told until it is known to be; and how often that was begun. */
  telling?: { report: WatchReport; tries: number };
}

const shape = z.lazy(() =>
  z.object({
    record: z.unknown(),
    startedAt: z.number(),
    history: z.array(z.object({ requestStatus: z.nullable(z.string()), at: z.string() })),
    msg: z.record(z.string(), z.unknown()),
    telling: z.optional(
      z.object({
        tries: z.number(),
        report: z.object({
          requestStatus: z.nullable(z.string()),
          outcome: outcomeShape,
          message: z.string(),
          reason: z.string(),
          verified: z.nullable(z.boolean()),
          elapsedMs: z.number(),
        }),
      }),
    ),
  }),
);

/**
 * The watches of a node: one small file for each open one in a private directory, and a list of those that ended last. A file is
 * there from before the first look until the verdict is told. What is told was written down before: a process that is killed on
 * the way tells the same verdict again, rather than none. Only then is the watch noted as ended, and its file goes.
 */
export class WatchStore {
  readonly #directory: string | null;
  readonly #settled: SettledIds;
  #gone = false;

  /** @param directory null keeps nothing on disk */
  constructor(directory: string | null) {
    this.#directory = directory;
    this.#settled = new SettledIds(directory === null ? null : join(directory, 'settled'));
  }

  put(watch: OpenWatch): void {
    if (this.#directory !== null && !this.#gone)
      replaceFile(this.#file(watch.record.id), JSON.stringify({ ...watch, msg: plain(watch.msg) }));
  }

  /** Its verdict is told. */
  end(id: string): void {
    if (this.#gone) return;
    try {
      this.#settled.add(id);
    } finally {
      // On a full disk, too: what is told must not be told again.
      this.remove(id);
    }
  }

  /** Among the last thousand. */
  hasEnded(id: string): boolean {
    return this.#settled.has(id);
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
        const { record: stored, telling, ...rest } = shape.parse(JSON.parse(readFileSync(file, 'utf8')));
        const record = parseRecord(stored);
        return [
          {
            ...rest,
            record,
            ...(telling && {
              telling: { ...telling, report: { ...record, ...telling.report, history: rest.history } },
            }),
          },
        ];
      } catch {
        onDamaged(basename(putAside(file)));
        return [];
      }
    });
  }

  /** The node is gone for good: what still comes in is not kept. */
  clear(): void {
    this.#gone = true;
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true, force: true });
  }

  #files(): string[] {
    if (this.#directory === null) return [];
    const directory = this.#directory;
    try {
      return readdirSync(directory)
        .filter((name) => name.endsWith('.json'))
        .map((name) => join(directory, name));
    } catch {
      return [];
    }
  }

  #file(id: string): string {
    return join(this.#directory as string, `${nameOf(id)}.json`);
  }
}

/** @returns where it lies now: where it was, if it cannot be moved */
function putAside(file: string): string {
  try {
    renameSync(file, `${file}.damaged`);
    return `${file}.damaged`;
  } catch {
    return file;
  }
}

/** What of a message can be written down, property by property; sockets and functions of a web request cannot. */
function plain(msg: Record<string, unknown>): Record<string, unknown> {
  const { req: _req, res: _res, ...rest } = msg;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => isPlain(value)));
}

function isPlain(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
