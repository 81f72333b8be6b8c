import type * as diskFiles from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { parseJson } from '../util/json';
import { shortVin } from '../vin';

/** The collections that only earlier versions have. A version that retires one adds it. */
const retired: ReadonlySet<string> = new Set(['watches', 'commands', 'journal', 'delivered']);

/** A command that was followed, or that had no answer yet. */
const openSchema = z.lazy(() =>
  z.object({
    value: z.object({
      record: z.object({ id: z.string(), command: z.string(), vin: z.string(), sentAt: z.iso.datetime() }),
    }),
  }),
);
type Open = z.infer<typeof openSchema>['value']['record'];

interface Earlier {
  /** Whether the text of a file is of an earlier version. */
  isEarlier: (text: string) => boolean;
  /** Called before the files are removed. */
  confirm: () => Promise<void>;
  /** In milliseconds since 1970. */
  now: number;
  warn: (warning: Sentence) => void;
}

/**
 * Removes what an earlier version has stored and this one cannot read, and reports this, with each
 * command whose result is lost. If the first readable file of a collection is of this version, so
 * are the others.
 * @param folder that has a folder for each collection
 * @returns whether there was any
 */
export async function removeEarlier(
  folder: string,
  files: Pick<typeof diskFiles, 'readdir' | 'readFile' | 'unlink'>,
  { isEarlier, confirm, now, warn }: Earlier,
): Promise<boolean> {
  const found: string[] = [];
  const open = new Map<string, Open>();
  for (const collection of await namesIn(folder, files))
    for (const name of await namesIn(join(folder, collection), files)) {
      const file = join(folder, collection, name);
      const text = await files.readFile(file, 'utf8').catch(() => '');
      const json = parseJson(text);
      if (!retired.has(collection) && !isEarlier(text)) {
        // A file that a crash cut off shows nothing about the others.
        if (json === undefined) continue;
        break;
      }
      found.push(file);
      const { success, data } = openSchema.safeParse(json);
      if (success) open.set(data.value.record.id, data.value.record);
    }
  if (found.length === 0) return false;
  for (const { command, vin, sentAt } of open.values())
    warn(
      sentence`An earlier version of this pack has sent the command “${command}” to the car ${shortVin(vin)} (${clockTime(Date.parse(sentAt), now)}), and its result is lost. Check the car.`,
    );
  warn(
    asSentence(
      'This version cannot read what an earlier one has stored, and removes it. Sign in again in each vehicle configuration. Guards and events begin as after their first deploy, and no command is sent for 150 seconds.',
    ),
  );
  await confirm();
  for (const file of found) await files.unlink(file).catch(() => undefined);
  return true;
}

/** Files of other programs, and folders that cannot be read, are left alone. */
const namesIn = async (folder: string, files: Pick<typeof diskFiles, 'readdir'>): Promise<string[]> =>
  (await files.readdir(folder).catch(() => [])).filter((name) => /^[a-z-]+$|^[0-9a-f]{32}\.json/.test(name));
