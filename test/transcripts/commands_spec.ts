import { strict as assert } from 'node:assert';
import { cases } from './command-cases';
import { Golden } from './golden';
import { Stage } from './stage';

describe('What a flow hears of a command', () => {
  const golden = new Golden('commands.json');
  let stage: Stage | undefined;

  afterEach(() => stage?.end());
  after(() => golden.save());

  for (const { title, cast, play } of cases)
    it(title, async () => {
      stage = await Stage.open(cast);
      await play(stage);
      const { found, stored } = golden.compare(title, stage.heard());
      assert.equal(found, stored);
    });

  it('has a case for each stored transcript', function () {
    // Only after all cases.
    if (golden.count < cases.length) return this.skip();
    assert.deepEqual(golden.unused, []);
  });
});
