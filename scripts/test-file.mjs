// `npm run test:file <spec...>`: builds what has changed and runs these files of tests, named as source or as compiled. With --watch
// (`npm run test:watch <spec...>`) it does so again after each change, until Ctrl-C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mocha } from './mocha.mjs';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const isWatching = process.argv.includes('--watch');
const specs = process.argv
  .slice(2)
  .filter((argument) => argument !== '--watch')
  .map((spec) => spec.replace(/^(\.\/)?test\//, 'dist/test/').replace(/\.ts$/, '.js'));

const run = async (...command) => {
  const [code] = await once(spawn(process.execPath, command, { cwd, stdio: 'inherit' }), 'close');
  return code ?? 1;
};
const test = async () =>
  (await run('scripts/build.mjs', '--changed')) || (await run(...mocha, '--timeout', '60000', ...specs));

let changed = () => undefined;
if (isWatching)
  for (const folder of ['src', 'nodes', 'test']) watch(`${cwd}${folder}`, { recursive: true }, () => changed());
for (;;) {
  const change = new Promise((resolve) => (changed = resolve));
  process.exitCode = await test();
  if (!isWatching) break;
  console.log('Waiting for a change …');
  await change;
}
