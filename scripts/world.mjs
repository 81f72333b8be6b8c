// `npm run world [-- part…]`: the tests against software of others, of all parts or of these, each in a process of its own, and a table
// of them. A part that is not installed counts as a failure. Ends with 1 where anything failed.
import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mocha } from './mocha.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const { parts, versionOf } = require('../dist/test/world/support/parts.js');
const { makeAuthority } = require('../dist/test/world/support/certificates.js');

/** No part takes longer, also on a busy machine. */
const minutesForPart = 5;

const specs = readdirSync(join(root, 'dist/test/world')).filter((name) => name.endsWith('_spec.js'));
const asked = process.argv.slice(2);
const names = Object.keys(parts).filter((name) => asked.length === 0 || asked.includes(name));
const specsOf = (part) =>
  specs
    .filter((spec) => spec.startsWith(`${part}_`) || spec.startsWith(`${part}-`))
    .map((spec) => `dist/test/world/${spec}`);
const unknown = [
  ...asked.filter((name) => !(name in parts)),
  ...specs.filter((spec) => !Object.keys(parts).some((part) => specsOf(part).includes(`dist/test/world/${spec}`))),
];
if (unknown.length > 0) {
  console.error(`There is no part for ${unknown.join(', ')}. The parts are ${Object.keys(parts).join(', ')}.`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'world-'));
// squid works as a user of its own.
chmodSync(folder, 0o711);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const tally = join(folder, 'tally');

/** Tests of one part: its line of the table. */
async function test(part) {
  const began = performance.now();
  const row = { part, version: 'missing', cases: 0, failures: 0, seconds: 0 };
  const failed = (text) => {
    console.error(`${part}: ${text}`);
    appendFileSync(`${tally}-failures`, `${part}: ${text}\n\n`);
    row.failures += 1;
  };
  try {
    row.version = await versionOf(part);
  } catch (error) {
    failed(error.message);
    return row;
  }
  rmSync(tally, { force: true });
  const authority = join(folder, 'authority');
  const child = spawn(
    process.execPath,
    [...mocha, '--timeout', '120000', '--reporter', 'scripts/tally.cjs', ...specsOf(part)],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        TALLY: tally,
        TMPDIR: folder,
        WORLD_AUTHORITY: authority,
        // Node reads both at its start only, so they hold for the processes that the tests start, too.
        NODE_EXTRA_CA_CERTS: join(authority, 'authority.pem'),
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(join(root, 'dist/test/world/support/names.js'))}`,
      },
    },
  );
  running = child;
  const soft = setTimeout(() => child.kill('SIGTERM'), minutesForPart * 60_000);
  const hard = setTimeout(() => child.kill('SIGKILL'), minutesForPart * 60_000 + 10_000);
  const status = await new Promise((resolve) => child.on('error', resolve).on('close', resolve));
  clearTimeout(soft);
  clearTimeout(hard);
  for (const line of existsSync(tally) ? readFileSync(tally, 'utf8').trim().split('\n') : []) {
    const [passes, failures] = line.split(' ').map(Number);
    row.cases += passes + failures;
    row.failures += failures;
  }
  if (row.cases === 0 || (status !== 0 && row.failures === 0)) failed(`the tests ended early (status ${status})`);
  row.seconds = (performance.now() - began) / 1000;
  return row;
}

let running;
let isCancelled = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isCancelled = true;
    running?.kill('SIGTERM');
  });

await makeAuthority(join(folder, 'authority'));
const rows = [];
for (const part of names) if (specsOf(part).length > 0 && !isCancelled) rows.push(await test(part));

const columns = ['part', 'version', 'cases', 'failures', 'seconds'];
const cells = rows.map((row) =>
  columns.map((column) => (column === 'seconds' ? row[column].toFixed(0) : String(row[column]))),
);
const widths = columns.map((column, index) => Math.max(column.length, ...cells.map((line) => line[index].length)));
const line = (texts) =>
  texts.map((text, index) => (index < 2 ? text.padEnd(widths[index]) : text.padStart(widths[index]))).join('  ');
console.log([columns, widths.map((width) => '-'.repeat(width)), ...cells].map(line).join('\n'));

const failures = rows.reduce((sum, row) => sum + row.failures, 0);
const cases = rows.reduce((sum, row) => sum + row.cases, 0);
if (process.env.TALLY) {
  appendFileSync(process.env.TALLY, `${Math.max(0, cases - failures)} ${failures}\n`);
  if (existsSync(`${tally}-failures`))
    appendFileSync(`${process.env.TALLY}-failures`, readFileSync(`${tally}-failures`, 'utf8'));
}
process.exitCode = failures > 0 || cases === 0 ? 1 : 0;
