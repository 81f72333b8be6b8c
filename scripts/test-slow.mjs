// `npm run test:slow [-- options of Mocha]`: what takes too long for `npm test`, three files at a
// time: specs with a long form (they import test/support/long.ts), and those that try what is
// random (test/support/random.ts), five times as often. FACTOR chooses how often, and SEED other
// random numbers; a failure names the seed that repeats it.
import { readFileSync } from 'node:fs';
import { filesBelow, root } from './checkout.mjs';
import { runMocha } from './mocha.mjs';

const specs = filesBelow('dist/test', '_spec.js').filter(
  (file) => !file.includes('/world/') && /support\/(long|random|property)"/.test(readFileSync(root + file, 'utf8')),
);
const { FACTOR = '5' } = process.env;
process.exitCode = await runMocha(['--parallel', '--jobs', '3', ...process.argv.slice(2), ...specs], {
  LONG: 'true',
  FACTOR,
});
