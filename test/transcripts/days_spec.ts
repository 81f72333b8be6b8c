import { strict as assert } from 'node:assert';
import { days, liveADay } from './day-cases';
import { StoredTranscripts } from './stored-transcripts';
import { TimedFlow } from './timed-flow';

describe('What a flow receives in a day, and which requests it costs in each hour', function () {
  const transcripts = new StoredTranscripts('days.json');
  let timedFlow: TimedFlow | undefined;

  afterEach(() => timedFlow?.end());
  after(() => transcripts.save());

  for (const { title, setup } of days)
    it(title, async () => {
      timedFlow = await TimedFlow.open(setup);
      await liveADay(timedFlow);
      const { found, stored } = transcripts.compare(title, timedFlow.heardInShort());
      assert.equal(found, stored);
    });

  it('and no other is stored', () => assert.deepEqual(transcripts.unused, []));
});
