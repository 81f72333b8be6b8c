import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npm } from '../support/npm';
import type { Install } from '../support/real-node-red';
import { root } from './checkout';

const [command, ...first] = npm;
/** Prints why it failed, also within `npm run --silent`. */
const runNpm = (args: string[], options: { cwd?: string } = {}): Promise<{ stdout: string }> =>
  promisify(execFile)(command, [...first, '--loglevel', 'error', ...args], options);

export interface Tarball {
  /** Absolute path. */
  file: string;
  /** What it holds, from the package's root. */
  paths: string[];
}

/**
 * `npm pack` of what is built. Its scripts are left out: they would build again under
 * the feet of the tests.
 */
export async function packTarball(folder: string): Promise<Tarball> {
  const { stdout } = await runNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { file: join(folder, packed.filename), paths: packed.files.map(({ path }) => path).sort() };
}

/** Installs the tarball as a user would. It has no dependencies, so npm asks no registry. */
export function installTarball({ file }: Tarball): Install {
  return async (userDir) => {
    // Without a prefix npm installs into a folder above that has a package.json.
    const where = ['--prefix', userDir];
    await runNpm(['install', ...where, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', file]);
  };
}
