import { strict as assert } from 'node:assert';
import { Allowance, stretchFor, unstretched } from '../../../src/polling/daily-pacer';

const minute = 60_000;
const hour = 60 * minute;
const noon = Date.UTC(2026, 5, 1, 12);

describe('what is left of the day', () => {
  it('lasts at the steady pace of the day where nothing was sent yet', () => {
    const allowance = new Allowance();
    allowance.note(0, noon);
    assert.equal(Math.round(allowance.pace(2_400)), 100);
  });

  it('is spread until what was sent comes back', () => {
    const allowance = new Allowance();
    allowance.note(0, noon);
    for (let at = noon; at < noon + 2 * hour; at += 5 * minute) allowance.note(((at - noon) / (2 * hour)) * 1_200, at);
    allowance.note(1_200, noon + 2 * hour);
    // 22 hours with 1,200 left, and then 1,200 come back within two.
    const pace = allowance.pace(1_200);
    assert.ok(pace > 53 && pace < 56, `${pace}`);
  });

  it('counts what was sent before the start as spread over the day', () => {
    const allowance = new Allowance();
    allowance.note(2_400, noon);
    assert.equal(Math.round(allowance.pace(0)), 0);
    assert.ok(allowance.pace(50) > 95);
  });

  it('is looked after only where the demand would use it up', () => {
    assert.deepEqual(stretchFor({ watch: 60, others: 40 }, 100, 100), unstretched);
    assert.deepEqual(stretchFor({ watch: 60, others: 60 }, 720, 100), unstretched, 'plenty for now');
  });

  it('is saved on the others first, then on doors and windows, and without an end to neither', () => {
    assert.deepEqual(stretchFor({ watch: 60, others: 60 }, 700, 100), { watch: 1, others: 1.5 });
    assert.deepEqual(stretchFor({ watch: 60, others: 40 }, 60, 56), { watch: 1.25, others: 5 });
    assert.deepEqual(stretchFor({ watch: 60, others: 40 }, 0, 0), { watch: 64, others: 256 });
  });
});
