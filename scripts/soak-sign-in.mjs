// A virtual year of sign-ins, in three worlds; then 90 days of two processes on one Redis. Arguments: days (365), seed of the random numbers (1).
import { createRequire } from 'node:module';

const { virtualYear } = createRequire(import.meta.url)('../dist/test/src/session/virtual-year.js');
const [days = 365, seed = 1] = process.argv.slice(2).map(Number);

const worlds = [
  {
    name: 'a rotated token lives on for 60 s; cuts anywhere',
    graceSeconds: 60,
    cuts: 'anywhere',
    mayLoseUnheard: false,
  },
  {
    name: 'a rotated token dies at once; no cut before its successor is saved',
    graceSeconds: 0,
    cuts: 'outside',
    mayLoseUnheard: false,
  },
  { name: 'a rotated token dies at once; cuts anywhere', graceSeconds: 0, cuts: 'anywhere', mayLoseUnheard: true },
];

const sharedDays = Math.min(days, 90);
worlds.push({
  name: `two processes on one Redis for ${sharedDays} days; a rotated token lives on for 60 s; cuts anywhere, also from Redis`,
  days: sharedDays,
  members: 2,
  graceSeconds: 60,
  cuts: 'anywhere',
  mayLoseUnheard: false,
});

const rows = await Promise.all(
  worlds.map(async ({ name, mayLoseUnheard, ...world }) => {
    const report = await virtualYear({ days, seed, ...world });
    if (report.lost > 0 || (report.lostUnheard > 0 && !mayLoseUnheard)) process.exitCode = 1;
    return { world: name, ...report };
  }),
);
console.log(`${days} days, tokens of 299 s, two configurations, seed ${seed}`);
for (const row of rows) console.log(row);
console.log(
  'lost: the fault would be ours. lostUnheard: the service rotated, and its answer never came or was not saved: no client can mend that.',
);
