import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Debian installs servers into folders that are not in the PATH of every user. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * The absolute path of a program of a Debian package of the same name.
 * @throws Error that names the package to install
 */
export async function programOf(name: string): Promise<string> {
  for (const folder of folders) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  throw new Error(`${name} is not installed. Install its Debian package: apt-get install ${name}`);
}
