import { strict as assert } from 'node:assert';
import { expiryNote, useClock } from '../../../nodes/runtime';
import type { Account } from '../../../src/index';
import { ManualClock } from '../../support/manual-clock';
import { wordsIn } from '../../support/words';

describe('The note of a token that ends', () => {
  const clock = new ManualClock();
  before(() => useClock(clock));
  after(() => useClock(undefined));

  const note = (kind: string, minutes: number | null): string | null => {
    const expiresAt = minutes === null ? null : new Date(clock.now() + minutes * 60_000).toISOString();
    return expiryNote(wordsIn('en-US'), { token: () => ({ kind, expiresAt }) } as unknown as Account);
  };

  it('counts the last half hour of a pasted token, and of a sign-in without a refresh token', () => {
    assert.equal(note('ending', 12), 'token expires in 12 min');
    assert.equal(note('pasted', 12), 'token expires in 12 min');
    assert.equal(note('pasted', 0.2), 'token expires in 1 min');
    assert.equal(note('pasted', 30), 'token expires in 30 min');
  });

  it('says nothing while there is time, when it is over, if the end is unknown, and for what renews itself', () => {
    for (const [kind, minutes] of [
      ['pasted', 31],
      ['pasted', 0],
      ['pasted', -5],
      ['pasted', null],
      ['ending', 31],
      ['ending', null],
      ['refreshing', 4],
      ['none', null],
    ] as const)
      assert.equal(note(kind, minutes), null);
  });
});
