import { strict as assert } from 'node:assert';
import { Arming, MemoryStateStore } from '../../../src/index';
import { countWrites } from '../../support/count-writes';
import { ManualClock } from '../../support/manual-clock';

describe('arming', () => {
  it('expires for an unlock that is still waiting', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await arming.arm(30);
    const { check: mustHold } = await arming.take(30);
    await clock.advance(29_999);
    mustHold();
    await clock.advance(1);
    assert.throws(mustHold, { code: 'INPUT_INVALID', message: /expired after/ });
    (await arming.take(0)).check();
  });

  it('disarms a command that is still waiting', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await arming.arm(30);
    const { check: mustHold } = await arming.take(30);
    mustHold();
    await arming.disarm();
    assert.throws(mustHold, { code: 'INPUT_INVALID', message: /disarmed while it was waiting/ });
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
      uptime: () => now,
      after: () => () => undefined,
      sleep: () => Promise.resolve(),
    };
    const arming = new Arming({ clock });
    await arming.arm(30);
    now -= 3_600_000;
    await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
  });

  it('ends with its process, also for a command that is waiting, and calls back', async () => {
    const clock = new ManualClock();
    const arming = new Arming({ clock });
    await arming.arm(30);
    const { check } = await arming.take(30);
    arming.close();
    assert.throws(check, { code: 'INPUT_INVALID', message: /disarmed while it was waiting/ });
    const { confirm } = await arming.take(0);
    await confirm();
  });

  describe('that several processes share', () => {
    let clock: ManualClock;
    let store: MemoryStateStore;
    let writes: () => number;
    const of = (node = 'node') => new Arming({ clock, presence: { armings: store, now: () => clock.now() }, node });
    beforeEach(() => {
      clock = new ManualClock();
      store = new MemoryStateStore();
      writes = countWrites(store);
    });

    it('is used up in one of them, and is of one node', async () => {
      const [one, two] = [of(), of()];
      await one.arm(30);
      await assert.rejects(of('other').take(30), { code: 'INPUT_INVALID', message: /is not armed/ });
      const results = await Promise.allSettled([one.take(30), two.take(30)]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      await one.arm(30);
      const { check, confirm } = await two.take(30);
      check();
      await confirm();
    });

    it('ends for a waiting command when another process disarms, and only then', async () => {
      const [one, two] = [of(), of()];
      await one.arm(30);
      const { check, confirm } = await one.take(30);
      two.close();
      await confirm();
      await two.disarm();
      check();
      await assert.rejects(confirm(), { code: 'INPUT_INVALID', message: /disarmed while it was waiting/ });
    });

    it('writes nothing if nothing changes', async () => {
      const arming = of();
      await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
      assert.equal(writes(), 0);
      await arming.arm(30);
      const { confirm } = await arming.take(30);
      assert.equal(writes(), 2);
      await confirm();
      assert.equal(writes(), 2);
      await arming.disarm();
      assert.equal(writes(), 3);
    });

    it('holds though the clock of its store is a second behind', async () => {
      let now = clock.now();
      const arming = new Arming({ clock, presence: { armings: store, now: () => now }, node: 'node' });
      await arming.arm(30);
      now -= 999;
      await arming.take(30);
      await arming.arm(30);
      now -= 1_000;
      await assert.rejects(arming.take(30), { code: 'INPUT_INVALID' });
    });
  });
});
