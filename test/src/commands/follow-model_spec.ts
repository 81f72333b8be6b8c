import { strict as assert } from 'node:assert';
import { liveThrough, type Met } from '../../model/follow-history';
import { firstSeed, Random, times } from '../../support/random';

/*
 * Following a command on random histories, with the real client, the real way to follow it and the simulated service. A failure names its seed; SEED=<seed> FACTOR=0 runs that history alone.
 */
const histories = times(100);

describe('Following a command, on random histories', () => {
  const met: Met[] = [];

  it(`sends once, settles once, and says nothing that the car denies (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      try {
        met.push(await liveThrough(new Random(seed)));
      } catch (error) {
        throw new Error(`seed ${seed}: repeat with SEED=${seed} FACTOR=0. ${String(error)}`, {
          cause: error,
        });
      }
    }
  });

  it('met everything on the way', function () {
    if (histories < 100) this.skip();
    const count = (test: (one: Met) => boolean): number => met.filter(test).length;
    const counts = {
      succeeded: count(({ outcome }) => outcome === 'succeeded'),
      failed: count(({ outcome }) => outcome === 'failed'),
      undetermined: count(({ outcome }) => outcome === 'undetermined'),
      cancelled: count(({ outcome }) => outcome === 'cancelled'),
      'not sent': count(({ outcome }) => outcome === 'not sent'),
      'verified true': count(({ verified }) => verified === true),
      'verified false': count(({ verified }) => verified === false),
      restarted: count(({ restarts }) => restarts > 0),
      'lost looks': count(({ lostPolls }) => lostPolls > 0),
      expired: count(({ expired }) => expired),
      'told again': count(({ toldAgain }) => toldAgain > 0),
      'unknown words': count(({ unknownWord }) => unknownWord),
    };
    if (histories >= 10_000)
      console.log(
        `      ${Object.entries(counts)
          .map(([what, many]) => `${what} ${many}`)
          .join(', ')}`,
      );
    for (const [what, many] of Object.entries(counts)) assert.ok(many > histories / 200, `${what}: ${many} times only`);
  });
});
