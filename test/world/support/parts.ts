import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A foreign program: from a Debian package, or from a dev dependency of this checkout. */
type Part = { debian: string; versionArguments: readonly string[]; version: RegExp } | { npm: string };

/** What `npm run world` tests against, by the name that begins the file name of its specs. */
export const parts = {
  nginx: { debian: 'nginx', versionArguments: ['-v'], version: /nginx\/(\S+)/ },
  squid: { debian: 'squid', versionArguments: ['-v'], version: /Version (\S+)/ },
  mosquitto: { debian: 'mosquitto', versionArguments: ['-h'], version: /version (\S+)/ },
  'redis-server': { debian: 'redis-server', versionArguments: ['--version'], version: /v=(\S+)/ },
  chromium: { debian: 'chromium', versionArguments: ['--version'], version: /Chromium (\S+)/ },
  openssl: { debian: 'openssl', versionArguments: ['version'], version: /OpenSSL (\S+)/ },
  'oidc-provider': { npm: 'oidc-provider' },
  'node-red': { npm: 'node-red' },
} as const satisfies Record<string, Part>;

export type PartName = keyof typeof parts;

export const isPartName = (name: string): name is PartName => Object.hasOwn(parts, name);

/** Debian installs servers into folders that are not in the PATH of every user. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * The absolute path of the program.
 * @throws Error that names the Debian package to install
 */
export async function programOf(name: PartName): Promise<string> {
  const part: Part = parts[name];
  if ('npm' in part) throw new Error(`${name} is a package of npm, not a program.`);
  for (const folder of folders) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  throw new Error(`${name} is not installed. Install its Debian package: apt-get install ${part.debian}`);
}

/**
 * The version that the program or the package states about itself.
 * @throws Error where it is not installed
 */
export async function versionOf(name: PartName): Promise<string> {
  const part: Part = parts[name];
  if ('npm' in part) return versionOfPackage(part.npm);
  // nginx writes its version to stderr; mosquitto ends its help with a status of its own.
  const { stdout, stderr } = await promisify(execFile)(await programOf(name), [...part.versionArguments]).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: error.stdout ?? '', stderr: error.stderr ?? '' }),
  );
  return part.version.exec(stdout + stderr)?.[1] ?? 'unknown';
}

async function versionOfPackage(name: string): Promise<string> {
  const paths = createRequire(__filename).resolve.paths(name) ?? [];
  for (const path of paths) {
    const text = await readFile(join(path, name, 'package.json'), 'utf8').catch(() => null);
    if (text !== null) return (JSON.parse(text) as { version: string }).version;
  }
  throw new Error(`${name} is not installed. Run npm ci in ${dirname(dirname(dirname(dirname(__dirname))))}`);
}
