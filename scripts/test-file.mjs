// `npm run test:file <spec...>`: builds what has changed and runs these files of tests, named as
// source or as compiled. With --watch (`npm run test:watch <spec...>`) it does so again after each
// change, until Ctrl-C.
import { watch } from 'node:fs';
import { root, runNode } from './checkout.mjs';
import { runMocha } from './mocha.mjs';

const isWatching = process.argv.includes('--watch');
const specs = process.argv
  .slice(2)
  .filter((argument) => argument !== '--watch')
  .map((spec) => spec.replace(/^(\.\/)?test\//, 'dist/test/').replace(/\.ts$/, '.js'));
const test = async () => (await runNode(['scripts/build.mjs', '--changed'])) || (await runMocha(specs));

let changed = () => undefined;
if (isWatching)
  for (const folder of ['src', 'nodes', 'test']) watch(`${root}${folder}`, { recursive: true }, () => changed());
for (;;) {
  const change = new Promise((resolve) => (changed = resolve));
  process.exitCode = await test();
  if (!isWatching) break;
  console.log('Waiting for a change …');
  await change;
}
