import { strict as assert } from 'node:assert';
import { StoredTranscripts } from './stored-transcripts';
import { TimedFlow } from './timed-flow';

const names =
  'lock lock-reduced-guard unlock flash honk honk-flash climatization-start climatization-stop engine-start engine-stop';

describe('The requests that each command costs', function () {
  const transcripts = new StoredTranscripts('requests.json');
  let timedFlow: TimedFlow | undefined;

  afterEach(() => timedFlow?.end());
  after(() => transcripts.save());

  for (const [title, results] of [
    ['without a result node', []],
    ['with a result node', [{}]],
    ['with two result nodes, one of them without a proof', [{}, { verify: false }]],
  ] as const)
    it(title, async () => {
      const found: Record<string, unknown> = {};
      // Some commands of a petrol car are known to version 1 only, or to version 2 only.
      timedFlow = await TimedFlow.open({
        node: { type: 'connected-vehicle-command' },
        results,
        service: { dialect: 'real' },
      });
      timedFlow.service.car().set({
        commandPlan: {
          steps: [
            { afterMs: 0, status: 'RUNNING' },
            { afterMs: 10_000, status: 'COMPLETED' },
          ],
          answerAfterMs: 10_000,
        },
      });
      for (const command of names.split(' '))
        for (const version of ['v1', 'v2']) {
          timedFlow.forget();
          await timedFlow.send({ command, interface: version });
          await timedFlow.pass(200);
          const { node, requests } = timedFlow.heard();
          const sent = node?.['output 1'] !== undefined;
          found[`${command}, ${version}`] = sent ? requests : { ...requests, failed: true };
        }
      const { found: text, stored } = transcripts.compare(title, found);
      assert.equal(text, stored);
    });
});
