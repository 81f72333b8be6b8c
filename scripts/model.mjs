// `npm run model [-- factor [options of Mocha]]`: everything that `npm test` tries at random (commands and their watches against the simulated car,
// guard and events against brute-force oracles, polling on random days, the rate limiter, kills, properties of parsers, conditions and
// stores), 100 times or `factor` times as often. SEED chooses other random numbers. A failure names the seed that repeats it.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { mocha } from './mocha.mjs';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const [factor = '100', ...options] = process.argv.slice(2);
const specs = [
  'src/commands/*-model',
  'src/commands/kill',
  'src/guard/guard-oracle',
  'src/events/events-oracle',
  'src/polling/profile',
  'src/http/rate-limiter',
  'properties/*',
].map((name) => `dist/test/${name}_spec.js`);

spawn(process.execPath, [...mocha, '--timeout', '0', ...options, ...specs], {
  cwd,
  stdio: 'inherit',
  env: { FACTOR: factor, ...process.env },
}).on('close', (code) => (process.exitCode = code ?? 1));
