import { strict as assert } from 'node:assert';
import { parseInvocation } from '../../../src/wire/invocations';

describe('the answer to a command', () => {
  it('is kept as it is at its usual length, and cut where the service sends very long words', () => {
    const told = (requestStatus: string, message: string): unknown => {
      const parsed = parseInvocation({ data: { invokeStatus: requestStatus, message } }, 0);
      return { requestStatus: parsed.requestStatus, message: parsed.message };
    };
    assert.deepEqual(told('COMPLETED', 'All is well.'), { requestStatus: 'COMPLETED', message: 'All is well.' });
    assert.deepEqual(told('W'.repeat(100_000), 'm'.repeat(100_000)), {
      requestStatus: 'W'.repeat(100),
      message: 'm'.repeat(500),
    });
  });
});
