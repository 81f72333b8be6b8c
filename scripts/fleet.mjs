// Several processes on one store (`npm run fleet [-- histories]`): random histories of 2 and 5 processes that command and read one car, with kills and
// cuts. Then what a fleet asks of its store: operations and bytes a second of 50 processes with 10 API keys.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { runFleet, askOfStore } = require('../dist/test/model/fleet-history.js');
const { Random } = require('../dist/test/support/random.js');

const histories = Number(process.argv[2] ?? 500);
const seed = Math.floor(Math.random() * 2 ** 31);
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
console.log('What 50 processes with 10 API keys ask of one store');
console.table(await askOfStore());
