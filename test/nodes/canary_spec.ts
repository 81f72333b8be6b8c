import { strict as assert } from 'node:assert';
import { runCanary } from '../support/canary';

describe('The canary', function () {
  this.timeout(120_000);

  it('finds no secret and no whole VIN in logs, messages, statuses, answers and files (all of it: npm run canary)', async () => {
    const { hits, searched, secrets } = await runCanary({ whole: false });
    assert.deepEqual(hits, []);
    assert.ok(
      secrets > 20 && Object.values(searched).every((count) => count > 0),
      JSON.stringify({ secrets, searched }),
    );
  });
});
