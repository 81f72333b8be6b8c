// Runs files of tests, without the choice of files in .mocharc.json.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const withoutConfig = [
  'node_modules/mocha/bin/mocha.js',
  '--no-config',
  // Ends a test that hangs, however slow the machine is.
  '--timeout',
  '600000',
  '--require',
  'dist/test/support/known-environment.js',
];

/** The compiled specs below a folder of dist/test. */
export const specsBelow = (folder = '') =>
  readdirSync(`${root}dist/test/${folder}`, { recursive: true })
    .filter((file) => file.endsWith('_spec.js'))
    .map((file) => join('dist/test', folder, file.replaceAll('\\', '/')))
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

export const runMocha = (args, env, node) => runNode([...withoutConfig, ...args], env, node);
