// `npm run model [histories]`: commands and their watches against the simulated car, and the guard and the events against their
// brute-force oracles, each on 10,000 random histories or as many as asked for. A failure names the seed that repeats it.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const histories = process.argv[2] ?? '10000';
const specs = [
  'commands/watch-model_spec',
  'commands/dispatch-model_spec',
  'guard/guard-oracle_spec',
  'events/events-oracle_spec',
].map((name) => `${root}dist/test/src/${name}.js`);

spawn(process.execPath, [`${root}node_modules/mocha/bin/mocha.js`, '--no-config', '--timeout', '0', ...specs], {
  stdio: 'inherit',
  env: { MODEL_HISTORIES: histories, GUARD_HISTORIES: histories, EVENT_HISTORIES: histories, ...process.env },
}).on('close', (code) => (process.exitCode = code ?? 1));
