import { strict as assert } from 'node:assert';
import { itLong } from '../support/long';
import { firstSeed, Random, times } from '../support/random';
import { itOnRedis } from '../support/redis-server';
import { runRealFleet } from './real-fleet';

describe('Real Node-REDs with one account, one Redis and one service', function () {
  this.timeout(times(300_000));

  const [commands, kills, losses] = [times(20), times(1), times(0.4)];
  for (const [processes, disturbances, title] of [
    [1, { kills, pauses: 1, cuts: 2, restarts: 1, losses: 0 }, 'by kills, a pause, cuts and a restart of Redis'],
    [2, { kills, pauses: 1, cuts: 2, restarts: 1, losses: 0 }, 'by kills, a pause, cuts and a restart of Redis'],
    [5, { kills, pauses: 1, cuts: 2, restarts: 1, losses: 0 }, 'by kills, a pause, cuts and a restart of Redis'],
    [
      2,
      { kills: losses, pauses: 0, cuts: 0, restarts: 0, losses },
      'by kills and restarts that lose a second of Redis',
    ],
  ] as const)
    itLong(
      `send each of ${commands} commands once, one at a time to a car, lose nothing and keep within the quota: ${processes}, disturbed ${title}`,
      async () => {
        const options = { processes, commands, ...disturbances, minutes: times(4) };
        const { table, failures } = await runRealFleet(new Random(firstSeed), options);
        console.table(table);
        assert.deepEqual(failures, []);
        assert.equal(table['asked'], commands);
      },
      itOnRedis,
    );
});
