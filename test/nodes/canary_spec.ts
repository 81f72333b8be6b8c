import { strict as assert } from 'node:assert';
import { runCanary } from '../support/canary';
import { isLong } from '../support/long';

describe('The canary', function () {
  this.timeout(isLong ? 1_200_000 : 240_000);

  it('finds no secret and no whole VIN in output, logs, messages, statuses, answers and files', async () => {
    const { hits, searched, secrets, debug } = await runCanary(isLong ? 'whole' : 'some');
    assert.deepEqual(hits, []);
    // It runs with NODE_DEBUG=connected-vehicle, which prints each request and each failure.
    assert.match(debug[0] ?? '', /: \d+\.\d+\.\d+, Node-RED \S+, Node\.js v\d\S*, \w+ \w+$/);
    for (const kind of [
      /: GET 127\.0\.0\.1:\d+\/connected-vehicle\/v2\/vehicles\/…[\dA-F]{6}\/windows 200  \d+ ms$/,
      /: POST .*\/commands\//,
      /: connected-vehicle-status: SIGN_IN_REQUIRED The service/,
    ])
      assert.ok(
        debug.some((line) => kind.test(line)),
        `${kind} in ${debug.slice(0, 50).join('\n')}`,
      );
    const counts = [secrets, ...Object.values(searched)];
    assert.ok(
      counts.every((count) => count > 20),
      JSON.stringify({ secrets, searched }),
    );
  });

  it('finds a secret on stdout, on stderr, and in a file wherever a process may write one', async () => {
    const { hits, searched } = await runCanary('leak');
    assert.equal(searched.output, 3);
    const found = [
      /^stdout: .*canary-stdout-/s,
      /^stdout: .*canary-stream-/s,
      /^stderr: .*canary-stderr-/s,
      /^file .*user-directory\.txt: canary-user-directory-/,
      /^file \/working-directory\.txt: canary-working-directory-/,
      /^file \/home\/home\.txt: canary-home-/,
      /^file \/temporary\/temporary\.txt: canary-temporary-/,
      /^file \/temporary\/temporary\.txt: .*CN[\dA-F]{15}/,
    ];
    for (const pattern of found)
      assert.ok(
        hits.some((hit) => pattern.test(hit)),
        `${pattern} in ${hits.join('\n')}`,
      );
    assert.equal(hits.length, found.length);
  });
});
