import { strict as assert } from 'node:assert';
import { sendAround, type DispatchesMet } from '../../model/dispatch-history';
import { firstSeed, Random, times } from '../../support/random';

/*
 * Commands that wait for their turn or for the car, are cancelled and lose their connection, with the real client, the real turns and the simulated service.
 * A failure names its seed; SEED=<seed> FACTOR=0 runs that history alone.
 */
const histories = times(60);

describe('Commands on random histories', () => {
  const met: DispatchesMet[] = [];

  it(`leave once, one at a time to a car, and never after their time (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      try {
        met.push(await sendAround(new Random(seed)));
      } catch (error) {
        throw new Error(`seed ${seed}: repeat with SEED=${seed} FACTOR=0. ${String(error)}`, {
          cause: error,
        });
      }
    }
  });

  it('met everything on the way', function () {
    if (histories < 60) this.skip();
    const counts = new Map<string, number>();
    for (const one of met)
      for (const [what, many] of Object.entries(one)) counts.set(what, (counts.get(what) ?? 0) + many);
    if (histories >= 10_000) console.log(`      ${[...counts].map(([what, many]) => `${what} ${many}`).join(', ')}`);
    for (const [what, many] of counts) assert.ok(many > histories / 100, `${what}: ${many} times only`);
  });
});
