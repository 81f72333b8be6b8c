import { dirname, join } from 'node:path';

/**
 * A command that runs npm, and its first arguments. Windows starts no `npm.cmd` without a shell,
 * which would split paths at spaces.
 */
export const npm: readonly [command: string, ...first: string[]] =
  process.platform === 'win32'
    ? [
        process.execPath,
        process.env['npm_execpath'] ?? join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js'),
      ]
    : ['npm'];
