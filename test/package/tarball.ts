import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Install } from '../support/real-node-red';
import { packageJson, readText, root } from './checkout';

const run = promisify(execFile);

export interface Tarball {
  /** Absolute path. */
  file: string;
  /** What it holds, from the package's root. */
  paths: string[];
}

/** `npm pack` of what is built. Its scripts are left out: they would build again under the feet of the tests. */
export async function packTarball(folder: string): Promise<Tarball> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { file: join(folder, packed.filename), paths: packed.files.map(({ path }) => path).sort() };
}

type Lock = Record<string, { dev?: boolean; devOptional?: boolean }>;

/** Installs the tarball as a user would, with the dependencies at the versions of this checkout, which npm has in its cache. */
export function installTarball({ file }: Tarball): Install {
  return async (userDir) => {
    const dependencies = { [packageJson.name]: `file:${file}` };
    const locked = Object.entries((JSON.parse(readText('package-lock.json')) as { packages: Lock }).packages);
    const packages = {
      '': { dependencies },
      [`node_modules/${packageJson.name}`]: {
        version: packageJson.version,
        resolved: `file:${file}`,
        dependencies: packageJson.dependencies,
      },
      ...Object.fromEntries(locked.filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)),
    };
    await writeFile(join(userDir, 'package.json'), JSON.stringify({ dependencies }));
    await writeFile(join(userDir, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
    await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: userDir });
  };
}
