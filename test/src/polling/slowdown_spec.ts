import { strict as assert } from 'node:assert';
import { noSlowdown, slowdownFor, sustainableRate } from '../../../src/polling/slowdown';

const minute = 60_000;
const hour = 60 * minute;

describe('the slowdown for the daily quota', () => {
  it('spreads an unused quota evenly over the day', () => {
    assert.equal(Math.round(sustainableRate([], 2_400)), 100);
  });

  it('counts requests back in when they are 24 hours old', () => {
    const sent = Array.from({ length: 24 }, (_, i) => [2 * hour - i * 5 * minute, 50] as const);
    // 22 hours with 1,200 left, and then 1,200 become free within two.
    const pace = sustainableRate(sent, 1_200);
    assert.ok(pace > 53 && pace < 56, `${pace}`);
  });

  it('counts with what comes back all the time', () => {
    const sent = Array.from({ length: 24 }, (_, i) => [(23.5 - i) * hour, 100] as const);
    assert.equal(Math.round(sustainableRate(sent, 0)), 0);
    assert.ok(sustainableRate(sent, 50) > 95);
  });

  it('slows nothing while the quota covers the demand', () => {
    assert.deepEqual(slowdownFor({ security: 60, others: 40 }, 100, 100), noSlowdown);
    assert.deepEqual(slowdownFor({ security: 60, others: 60 }, 720, 100), noSlowdown, 'plenty for now');
  });

  it('slows other reads first, then doors and windows, each up to a maximum', () => {
    assert.deepEqual(slowdownFor({ security: 60, others: 60 }, 700, 100), { security: 1, others: 1.5 });
    assert.deepEqual(slowdownFor({ security: 60, others: 40 }, 60, 56), { security: 1.25, others: 5 });
    assert.deepEqual(slowdownFor({ security: 60, others: 40 }, 0, 0), { security: 64, others: 256 });
  });
});
