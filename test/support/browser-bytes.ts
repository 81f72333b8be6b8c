import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');
const nodes = join(root, 'dist/nodes');

const bytes = (folder: string, end: RegExp): number =>
  readdirSync(folder)
    .filter((file) => end.test(file))
    .reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** The bytes that an editor loads in a language when it starts, not compressed. */
export function browserBytes(
  language: string,
): Record<'forms and their code' | 'shared code' | 'words' | 'help' | 'icons', number> {
  const folder = join(nodes, 'locales', language);
  return {
    'forms and their code': bytes(nodes, /^connected-vehicle.*\.html$/),
    'shared code': bytes(join(root, 'resources'), /^connected-vehicle\.js$/),
    // `runtime.json` is not a message catalogue: no browser gets it.
    words: bytes(folder, /^connected-vehicle.*\.json$/),
    help: bytes(folder, /\.html$/),
    icons: bytes(join(nodes, 'icons'), /\.svg$/),
  };
}

/** The bytes that it loads when the tab "Cars" is first shown. */
export const carsTabBytes = (): number => bytes(join(root, 'resources'), /^connected-vehicle-cars\.mjs$/);
