import { strict as assert } from 'node:assert';
import { days, liveADay } from './day-cases';
import { Golden } from './golden';
import { Stage } from './stage';

describe('What a flow hears in a day, and which requests it costs in each hour', function () {
  const golden = new Golden('days.json');
  let stage: Stage | undefined;

  afterEach(() => stage?.end());
  after(() => golden.save());

  for (const { title, cast } of days)
    it(title, async () => {
      stage = await Stage.open(cast);
      await liveADay(stage);
      const { found, stored } = golden.compare(title, stage.heardInShort());
      assert.equal(found, stored);
    });

  it('and no other is stored', () => assert.deepEqual(golden.unused, []));
});
