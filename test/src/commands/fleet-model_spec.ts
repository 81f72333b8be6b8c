import { runFleet } from '../../model/fleet-history';
import { firstSeed, Random, times } from '../../support/random';

describe('several processes on one store', () => {
  for (const count of [2, 5])
    it(`send one command at a time to a car, each once, and keep within the quota: ${count} processes, random kills and cuts`, async function () {
      this.timeout(times(120_000));
      for (let seed = firstSeed; seed < firstSeed + times(4); seed += 1) await runFleet(new Random(seed), count);
    });
});
