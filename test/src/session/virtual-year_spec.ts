import { strict as assert } from 'node:assert';
import { everyNth, itLong } from '../../support/long';
import { times } from '../../support/random';
import { itOnRedis } from '../../support/redis-server';
import { virtualYear } from './virtual-year';

/** The year in short; FACTOR=365 makes it a whole one. */
describe('a sign-in over a virtual year', function () {
  this.timeout(times(240_000));

  const days = times(1);

  for (const seed of everyNth(2, [1, 2])) {
    it(`is never lost if a rotated token remains valid for a minute, wherever connections and processes are cut (seed ${seed})`, async () => {
      const report = await virtualYear({ days: days + 1, seed, graceSeconds: 60, cuts: 'anywhere' });
      assert.deepEqual([report.lost, report.lostUnheard, report.endedGrants], [0, 0, 0]);
      assert.ok(report.killedProcesses > 0 && report.cutConnections > 0 && report.refreshes > 80 * (days + 1));
    });
  }

  it('is never lost if a rotated token becomes invalid at once, as long as its successor arrives and is saved', async () => {
    const report = await virtualYear({ days, seed: 3, graceSeconds: 0, cuts: 'outside' });
    assert.deepEqual([report.lost, report.lostUnheard, report.endedGrants], [0, 0, 0]);
    assert.ok(report.refreshes > 80 * days);
  });

  itLong(
    'is never lost if two processes share a Redis, one of them dies or is cut off from it, and a rotated token remains valid for a minute',
    async () => {
      const report = await virtualYear({ days, seed: 1, graceSeconds: 60, cuts: 'anywhere', processes: 2 });
      assert.deepEqual([report.lost, report.lostUnheard], [0, 0]);
      assert.ok(report.killedProcesses > 0 && report.refreshes > 80);
    },
    itOnRedis,
  );

  it('is lost only when an answer is lost and the server has no grace period', async () => {
    const report = await virtualYear({ days, seed: 4, graceSeconds: 0, cuts: 'anywhere' });
    assert.equal(report.lost, 0);
    assert.ok(report.lostUnheard > 0);
  });
});
