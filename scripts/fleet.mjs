// Several processes on one store. `npm run fleet [-- histories]`: random histories of 2 and 5 processes that command and read one car, with kills
// and cuts; then what a fleet asks of its store: operations and bytes a second of 10, 50 and 200 processes with 10 API keys and 1,000 cars.
// `npm run fleet -- --real`: real Node-REDs, Redis and one simulated service, in real time, with a table for each run of what the service saw; ends with 1 where
// something happened that must not. Sizes, with their defaults: --processes 2,5 (a run for each) --commands 200 --kills 10 --pauses 1 --cuts 4 --restarts 1, of
// the run in which the store loses its last second --losses 2 (0: no such run), and --minutes 20 for each run.
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const require = createRequire(import.meta.url);
const { runFleet, askOfStore } = require('../dist/test/model/fleet-history.js');
const { runRealFleet } = require('../dist/test/model/real-fleet.js');
const { Random } = require('../dist/test/support/random.js');

const size = (name) => ({ type: 'string', default: name });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    real: { type: 'boolean', default: false },
    processes: size('2,5'),
    commands: size('200'),
    kills: size('10'),
    pauses: size('1'),
    cuts: size('4'),
    restarts: size('1'),
    losses: size('2'),
    minutes: size('20'),
  },
});
const seed = Math.floor(Math.random() * 2 ** 31);

async function runHistories(histories) {
  for (const processes of [2, 5]) {
    const total = {};
    for (let index = 0; index < histories; index += 1) {
      const met = await runFleet(new Random(seed + index), processes).catch((error) => {
        throw new Error(`${processes} processes, seed ${seed + index}: ${error.message}`, { cause: error });
      });
      for (const [name, count] of Object.entries(met))
        total[name] = name.startsWith('most') ? Math.max(total[name] ?? 0, count) : (total[name] ?? 0) + count;
    }
    console.log(
      `${histories} histories of ${processes} processes from seed ${seed}: nothing at once, twice, or too often`,
    );
    console.table(total);
  }
  for (const processes of [10, 50, 200]) {
    console.log(`What ${processes} processes with 10 API keys ask of one store, a second`);
    console.table(await askOfStore(processes));
  }
}

async function runReal(processes, given) {
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => ending.abort());
  const { losses, ...sizes } = Object.fromEntries(Object.entries(given).map(([name, text]) => [name, Number(text)]));
  const runs = processes.split(',').map((count) => ({ ...sizes, processes: Number(count), losses: 0 }));
  const commands = Math.min(sizes.commands, 100 * losses);
  if (losses > 0)
    runs.push({ ...sizes, commands, kills: losses, pauses: 0, cuts: 0, restarts: 0, losses, processes: 2 });
  for (const run of runs) {
    if (ending.signal.aborted) break;
    const began = new Date().toISOString();
    const note = (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
    const { table, failures } = await runRealFleet(new Random(seed), run, note, ending.signal);
    console.log(`${run.processes} Node-REDs from ${began}, seed ${seed}`);
    console.table(table);
    for (const failure of failures) console.log(failure);
    if (failures.length > 0 || ending.signal.aborted) process.exitCode = 1;
  }
}

const { real, processes, ...sizes } = values;
if (real) await runReal(processes, sizes);
else await runHistories(Number(positionals[0] ?? 500));
