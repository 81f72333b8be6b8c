import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecord } from '../../src/index';

const locales = resolve(__dirname, '../../nodes/locales');

/**
 * The texts of the message catalogues as Node-RED gives them; a key that no catalogue
 * has is its own text.
 */
export function textsOf(language: string): (key: string, values?: Record<string, string>) => string {
  const catalogues = new Map<string, unknown>();
  return (key, values = {}) => {
    const [, file, path] = /^@connected-vehicle\/node-red\/([\w-]+):(.+)$/.exec(key) ?? [];
    if (file === undefined || path === undefined) return key;
    if (!catalogues.has(file))
      catalogues.set(file, JSON.parse(readFileSync(resolve(locales, language, `${file}.json`), 'utf8')));
    const found = path
      .split('.')
      .reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), catalogues.get(file));
    const text = typeof found === 'string' ? found : (values['defaultValue'] ?? key);
    return text.replace(/__(\w+)__/g, (place, name: string) => values[name] ?? place);
  };
}
