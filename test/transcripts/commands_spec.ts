import { strict as assert } from 'node:assert';
import { cases } from './command-cases';
import { StoredTranscripts } from './stored-transcripts';
import { TimedFlow } from './timed-flow';

describe('What a flow receives about a command', () => {
  const transcripts = new StoredTranscripts('commands.json');
  let timedFlow: TimedFlow | undefined;

  afterEach(() => timedFlow?.end());
  after(() => transcripts.save());

  for (const { title, setup, run } of cases)
    it(title, async () => {
      timedFlow = await TimedFlow.open(setup);
      await run(timedFlow);
      const { found, stored } = transcripts.compare(title, timedFlow.heard());
      assert.equal(found, stored);
    });

  it('has a case for each stored transcript', function () {
    // Only after all cases.
    if (transcripts.count < cases.length) return this.skip();
    assert.deepEqual(transcripts.unused, []);
  });
});
