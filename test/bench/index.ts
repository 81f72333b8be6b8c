/**
 * The benchmarks: `npm run bench`, or a part of them: `npm run bench -- throughput`.
 */
import { appendFileSync } from 'node:fs';
import { command } from './command';
import { day } from './day';
import { growth } from './growth';
import { start } from './start';
import { fleets, stores } from './stores';
import { passed, tableOf, type Row } from './table';
import { throughput } from './throughput';

const parts: Record<string, () => Promise<Row[]>> = {
  start: () => start(),
  throughput: () => throughput(),
  command: () => command(),
  growth: () => growth(),
  stores: () => stores(),
  fleets: () => fleets(),
  day: async () => day(),
};

async function main(asked: readonly string[]): Promise<void> {
  const names = asked.length > 0 ? asked : Object.keys(parts);
  const rows: Row[] = [];
  for (const name of names) {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`There is no benchmark ${name}. There are: ${Object.keys(parts).join(', ')}.`);
    process.stdout.write(`${name}…\n`);
    rows.push(...(await part()));
  }
  process.stdout.write(`\n${tableOf(rows)}\n`);
  const failed = rows.filter((row) => !passed(row));
  if (failed.length > 0) process.exitCode = 1;
  // `.ci/run` counts each limit as a test.
  const tally = process.env['TALLY'];
  if (!tally) return;
  const limits = rows.filter(({ atMost, atLeast }) => atMost !== undefined || atLeast !== undefined);
  appendFileSync(tally, `${limits.length - failed.length} ${failed.length}\n`);
  for (const { what, value } of failed) appendFileSync(`${tally}-failures`, `npm run bench: ${what}: ${value}\n\n`);
}

void main(process.argv.slice(2));
