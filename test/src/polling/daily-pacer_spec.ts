import { strict as assert } from 'node:assert';
import { DailyPacer, noSlowdown, slowdownFor } from '../../../src/polling/daily-pacer';

const minute = 60_000;
const hour = 60 * minute;
const noon = Date.UTC(2026, 5, 1, 12);

describe('the daily pacer', () => {
  it('spreads an unused quota evenly over the day', () => {
    const pacer = new DailyPacer();
    pacer.record(0, noon);
    assert.equal(Math.round(pacer.sustainableRate(2_400)), 100);
  });

  it('counts requests back in when they are 24 hours old', () => {
    const pacer = new DailyPacer();
    pacer.record(0, noon);
    for (let at = noon; at < noon + 2 * hour; at += 5 * minute) pacer.record(((at - noon) / (2 * hour)) * 1_200, at);
    pacer.record(1_200, noon + 2 * hour);
    // 22 hours with 1,200 left, and then 1,200 come back within two.
    const pace = pacer.sustainableRate(1_200);
    assert.ok(pace > 53 && pace < 56, `${pace}`);
  });

  it('counts requests from before the start as spread over the day', () => {
    const pacer = new DailyPacer();
    pacer.record(2_400, noon);
    assert.equal(Math.round(pacer.sustainableRate(0)), 0);
    assert.ok(pacer.sustainableRate(50) > 95);
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
