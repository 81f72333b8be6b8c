import { strict as assert } from 'node:assert';
import { SlidingWindow } from '../../../src/http/sliding-window';

const second = 1_000;
const minute = 60 * second;

describe('a sliding window', () => {
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

  it('takes the counts of another window, and drops what has left since', () => {
    const window = new SlidingWindow(minute, second);
    window.add(1_000);
    window.add(1_500);
    window.add(50_000);
    assert.deepEqual(window.ages(50_000), [
      [48_000, 2],
      [0, 1],
    ]);
    const other = new SlidingWindow(minute, second);
    other.add(50_300);
    other.merge(window.entries(50_000));
    assert.equal(other.total(50_000), 4);
    assert.equal(other.total(70_000), 2);
    other.replace(window.entries(50_000));
    assert.equal(other.total(70_000), 1);
  });

  it('finds the event that leaves first also where a later one was counted before it', () => {
    const window = new SlidingWindow(minute, second);
    window.add(50_000);
    window.merge([[71_000, 1]]);
    assert.equal(window.freeAt(2, 50_000), 71_000);
    assert.equal(window.freeAt(0, 50_000), 110_000);
  });
});
