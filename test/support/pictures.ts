import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');

/** What a picture was taken of: names of texts in the catalogues (`runtime:status.reading`), and paths of files. */
export interface Shown {
  texts: string[];
  files: string[];
}

/** A picture in docs/images/pictures.json, by its path below docs/images. */
export interface Picture extends Shown {
  /** Of what it showed when it was taken. */
  hash: string;
}

/** Every English text that a picture can show, by its catalogue and key. */
function allTexts(): Map<string, string> {
  const texts = new Map<string, string>();
  const collect = (name: string, value: unknown): void => {
    if (typeof value === 'string') texts.set(name, value);
    else for (const [key, inner] of Object.entries(value as object)) collect(`${name}.${key}`, inner);
  };
  const locales = readdirSync(join(root, 'nodes/locales/en-US')).map((file) => `nodes/locales/en-US/${file}`);
  for (const path of [...locales, 'src/words/en-US.json'].filter((file) => file.endsWith('.json')))
    for (const [key, value] of Object.entries(JSON.parse(readFileSync(join(root, path), 'utf8')) as object))
      collect(`${/[^/]+(?=\.json$)/.exec(path)?.[0]}:${key}`, value);
  return texts;
}

const texts = allTexts();

const place = /__\w+__|\{\w*\}/g;

/** The texts of the catalogues that a page shows, with any values in their places. A text without a word is left out. */
export function textsIn(visible: string): string[] {
  const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = (text: string): RegExp => new RegExp(`(?<!\\w)${text.split(place).map(escaped).join('.+?')}(?!\\w)`);
  return [...texts]
    .filter(([, text]) => /\p{L}{2}/u.test(text.replace(place, '')) && pattern(text).test(visible))
    .map(([name]) => name);
}

/** Of a flow only what the editor draws: not its code, its descriptions and its intervals. */
function drawnOf(path: string): string {
  const text = readFileSync(join(root, path), 'utf8');
  if (!path.startsWith('examples/')) return text;
  const nodes = JSON.parse(text) as Record<string, unknown>[];
  return JSON.stringify(
    nodes.map(({ type, name, label, x, y, wires, once, w, h }) => [type, name, label, x, y, wires, once, w, h]),
  );
}

export function hashOf(shown: Shown): string {
  const hash = createHash('sha256');
  for (const name of shown.texts) hash.update(`${name}\0${texts.get(name)}\0`);
  for (const file of shown.files) hash.update(`${file}\0${drawnOf(file)}\0`);
  return hash.digest('hex').slice(0, 16);
}
