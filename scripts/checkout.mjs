// The files and the programs of this checkout.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const textOf = (path) => readFile(root + path, 'utf8');
export const jsonOf = async (path) => JSON.parse(await textOf(path));

/** The files below a folder whose names end so, as paths from the root. */
export const filesBelow = (folder, end = '') =>
  readdirSync(root + folder, { recursive: true })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith(end))
    .sort();

/**
 * @returns the exit code of a Node.js program in the checkout; `env` is added to the environment
 */
export const runNode = (args, env = {}, node = process.execPath) =>
  new Promise((resolve, reject) => {
    spawn(node, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
      .on('error', reject)
      .on('close', (code) => resolve(code ?? 1));
  });
