import { strict as assert } from 'node:assert';
import { Arming, isUnlock } from '../../../src/index';
import { ManualClock } from '../../support/manual-clock';

describe('arming', () => {
  it('lets one unlock through, within its time', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
    await arming.arm(30);
    await clock.advance(29_999);
    await arming.take(30);
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
    await arming.arm(30);
    await clock.advance(30_000);
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
    await arming.arm(30);
    await arming.disarm();
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
  });

  it('expires for an unlock that is still waiting', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await arming.arm(30);
    const { check: mustHold } = await arming.take(30);
    await clock.advance(29_999);
    mustHold();
    await clock.advance(1);
    assert.throws(mustHold, { code: 'INPUT_INVALID', message: /ran out/ });
    (await arming.take(0)).check();
  });

  it('disarms a command that is still waiting', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await arming.arm(30);
    const { check: mustHold } = await arming.take(30);
    mustHold();
    await arming.disarm();
    assert.throws(mustHold, { code: 'INPUT_INVALID', message: /disarmed while it waited/ });
  });

  it('calls back when an arming ends unused, and only then', async () => {
    const clock = new ManualClock();
    let ends = 0;
    const arming = new Arming({ clock, onEnd: () => (ends += 1) });
    await arming.arm(30);
    await arming.take(30);
    await arming.disarm();
    await clock.advance(30_000);
    assert.equal(ends, 0);
    await arming.arm(30);
    await clock.advance(20_000);
    await arming.arm(30);
    await clock.advance(29_999);
    assert.equal(ends, 0);
    await clock.advance(1);
    assert.equal(ends, 1);
    await arming.arm(30);
    await arming.disarm();
    assert.equal(ends, 2);
    assert.equal(clock.sleeping, 0);
  });

  it('ends when the clock is set back', async () => {
    let now = Date.parse('2026-06-01T08:00:00Z');
    const clock = {
      now: () => now,
      monotonic: () => now,
      after: () => () => undefined,
      sleep: () => Promise.resolve(),
    };
    const arming = new Arming({ clock });
    await arming.arm(30);
    now -= 3_600_000;
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
  });

  it('refuses to arm a node that needs no arming', async () => {
    const arming = new Arming({ clock: new ManualClock() });
    await arming.take(0);
    await assert.rejects(arming.arm(0), { code: 'INPUT_INVALID' });
  });

  it('recognises every spelling of unlock', () => {
    for (const name of ['unlock', ' UNLOCK ', 'unlock-trunk', 'UNLOCK_TRUNK', 'TAILGATE_UNLOCK', 'UNLOC\u212a'])
      assert.equal(isUnlock(name), true, name);
    for (const name of ['lock', 'lock-reduced-guard', '', null, 7]) assert.equal(isUnlock(name), false, String(name));
  });
});
