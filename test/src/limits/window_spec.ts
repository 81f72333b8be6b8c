import { strict as assert } from 'node:assert';
import { SlidingWindow } from '../../../src/limits/window';

const second = 1_000;
const minute = 60 * second;

describe('a sliding window', () => {
  it('counts a request for at least the span and at most one bucket more', () => {
    for (const offset of [0, 1, 499, 999]) {
      const window = new SlidingWindow(minute, second);
      window.add(offset);
      assert.equal(window.total(offset + minute), 1, `at ${offset}`);
      assert.equal(window.total(offset + minute + second), 0, `at ${offset}`);
    }
  });

  it('agrees with a list of times, never counting fewer and never later than a bucket', () => {
    const window = new SlidingWindow(minute, second);
    const times: number[] = [];
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    let time = 1_000_000;
    for (let step = 0; step < 5_000; step += 1) {
      time += Math.floor(random() ** 4 * 90_000);
      window.add(time);
      times.push(time);
      const total = window.total(time);
      const atLeast = times.filter((at) => at >= time - minute).length;
      const atMost = times.filter((at) => at > time - minute - second).length;
      assert.ok(total >= atLeast && total <= atMost, `${atLeast} <= ${total} <= ${atMost}`);
    }
  });

  it('says when the next place becomes free, and the one after it', () => {
    const window = new SlidingWindow(minute, second);
    window.add(100);
    window.add(5_700);
    assert.equal(window.placeAt(0, 2, 10_000), 61_000);
    assert.equal(window.placeAt(1, 2, 10_000), 66_000);
    assert.equal(window.total(60_999), 2);
    assert.equal(window.total(61_000), 1);
  });

  it('says of a place further back that it comes with a later turn of the window', () => {
    const window = new SlidingWindow(minute, second);
    window.add(100);
    window.add(5_700);
    assert.equal(window.placeAt(2, 2, 10_000), 61_000 + 61_000);
    assert.equal(window.placeAt(5, 2, 10_000), 66_000 + 2 * 61_000);
  });

  it('does not count twice what is above a limit that was lowered', () => {
    const window = new SlidingWindow(minute, second);
    for (let i = 0; i < 5; i += 1) window.add(1_000 * i);
    // Four must leave until one of two places is free: the fourth does at 64 s.
    assert.equal(window.placeAt(3, 2, 10_000), 64_000);
    assert.equal(window.placeAt(4, 2, 10_000), 65_000);
    assert.equal(window.placeAt(5, 2, 10_000), 64_000 + 61_000);
  });

  it('gives back what it was stored with, and drops what has left meanwhile', () => {
    const window = new SlidingWindow(minute, second);
    window.add(1_000);
    window.add(1_500);
    window.add(50_000);
    const stored = window.entries(50_000);
    assert.deepEqual(stored, [
      [1, 2],
      [50, 1],
    ]);
    const restored = new SlidingWindow(minute, second);
    restored.restore(stored, 70_000, 0);
    assert.equal(restored.total(70_000), 1);
  });

  it('takes nothing from the future', () => {
    const window = new SlidingWindow(minute, second);
    window.restore([[9_000_000, 3]], 70_000, 0);
    assert.equal(window.total(70_000), 3);
    assert.equal(window.total(70_000 + minute + second), 0);
  });
});
