// Runs the tests that planted.json names: first on the pack as it is, then each on a pack with its
// fault. It writes the faults into the compiled files beside it, so it runs in a copy.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mochaPackage = require('mocha');
import planted from './planted.json';

/** Mocha 12 exports names; the types are those of 10. */
const { Mocha } = mochaPackage as unknown as { Mocha: typeof mochaPackage };

const dist = join(__dirname, '../..');

/**
 * Runs tests with all modules of the pack loaded again.
 * @returns the titles of those that passed and failed
 */
async function run(tests: readonly { spec: string; test: string }[]): Promise<{ passed: string[]; failed: string[] }> {
  for (const file of Object.keys(require.cache))
    if (file.startsWith(dist) && file !== __filename) delete require.cache[file];
  const titles = tests.map(({ test }) => test.replaceAll(/[^\w ]/g, '\\$&')).join('|');
  const isPlanted = tests.length === 1;
  // A fault can be noticed by what does not come.
  const timeout = isPlanted ? 8_000 : 60_000;
  const mocha = new Mocha({ reporter: Mocha.reporters.Base, timeout, bail: isPlanted, grep: titles });
  for (const spec of new Set(tests.map((test) => test.spec))) mocha.addFile(join(dist, 'test', `${spec}.js`));
  const passed: string[] = [];
  const failed: string[] = [];
  await new Promise((ended) => {
    mocha
      .run(ended)
      .on('pass', (test) => passed.push(test.fullTitle()))
      .on('fail', (test) => failed.push(test.fullTitle()));
  });
  return { passed, failed };
}

async function main(): Promise<void> {
  const unchanged = await run(planted);
  const results = [];
  for (const { file, find, plant, spec, test } of planted) {
    const path = join(dist, file);
    const code = readFileSync(path, 'utf8');
    writeFileSync(path, code.split(find).join(plant));
    const { failed } = await run([{ spec, test }]);
    writeFileSync(path, code);
    results.push(failed);
  }
  writeFileSync(join(dist, 'planted-results.json'), JSON.stringify({ unchanged, results }));
  process.exit(0);
}
void main();
