// `npm run long [-- options of Mocha]`: the specs that `npm test` runs in a short form, in their long form, two files at a time: every spec
// that imports test/support/long.ts. `npm run matrix` runs the long forms with other versions of Node and Node-RED.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mocha } from './mocha.mjs';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const specs = readdirSync(`${cwd}dist/test`, { recursive: true })
  .filter((file) => file.endsWith('_spec.js'))
  .map((file) => `dist/test/${file}`)
  .filter((file) => /support\/long"/.test(readFileSync(cwd + file, 'utf8')))
  .sort();

spawn(
  process.execPath,
  [...mocha, '--timeout', '60000', '--parallel', '--jobs', '2', ...process.argv.slice(2), ...specs],
  { cwd, stdio: 'inherit', env: { ...process.env, LONG: 'true' } },
).on('close', (code) => (process.exitCode = code ?? 1));
