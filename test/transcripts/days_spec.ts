import { strict as assert } from 'node:assert';
import { everyNth } from '../support/long';
import { days, liveADay } from './day-cases';
import { Golden } from './golden';
import { Stage } from './stage';

describe('What a flow hears in a day, and which requests it costs in each hour', function () {
  this.timeout(240_000);
  const golden = new Golden('days.json');
  let stage: Stage | undefined;

  afterEach(() => stage?.end());
  after(() => golden.save());

  after(function () {
    if (golden.count === days.length) assert.deepEqual(golden.unused, []);
  });

  for (const { title, cast } of everyNth(3, days))
    it(title, async () => {
      stage = await Stage.open(cast);
      await liveADay(stage);
      const { found, stored } = golden.compare(title, stage.heardInShort());
      assert.equal(found, stored);
    });
});
