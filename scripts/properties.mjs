// `npm run properties [-- factor]`: the properties of test/properties, tried 100 times (or `factor` times) as often as in `npm test`,
// with another seed each time. A failure prints the seed and the smallest case; PROPERTY_SEED repeats it.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const env = { PROPERTY_FACTOR: process.argv[2] ?? '100', PROPERTY_SEED: String(Date.now() % 2 ** 31), ...process.env };
console.log(`seed ${env.PROPERTY_SEED}, factor ${env.PROPERTY_FACTOR}`);
const command = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '0', 'dist/test/properties/*_spec.js'];
spawn(process.execPath, command, { cwd, stdio: 'inherit', env }).on('close', (code) => (process.exitCode = code ?? 1));
