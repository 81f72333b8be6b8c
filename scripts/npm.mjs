// A command that runs npm, and its first arguments. Windows starts no `npm.cmd` without a shell, which would take paths with blanks apart.
import { dirname, join } from 'node:path';

const cli = process.env.npm_execpath ?? join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js');
export const [npm, ...npmFirst] = process.platform === 'win32' ? [process.execPath, cli] : ['npm'];
