import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const nodes = resolve(__dirname, '../../nodes');

const bytes = (folder: string, end: RegExp): number =>
  readdirSync(folder)
    .filter((file) => end.test(file))
    .reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** What an editor may load, not compressed, in one language. */
export const mostBytes = 60 * 1024;

/** What an editor loads in a language: all of it as it is sent, and what of it comes only when a dialog is opened. */
export function browserBytes(
  language: string,
): Record<'forms and their code' | 'words' | 'help' | 'dialog' | 'icons', number> {
  const folder = join(nodes, 'locales', language);
  return {
    'forms and their code': bytes(nodes, /\.html$/),
    // Not the words of the runtime, which no browser gets.
    words: bytes(folder, /^connected-vehicle.*\.json$/),
    help: bytes(folder, /\.html$/),
    dialog: bytes(folder, /\.js$/),
    icons: bytes(join(nodes, 'icons'), /\.svg$/),
  };
}
