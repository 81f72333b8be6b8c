import { strict as assert } from 'node:assert';
import { Guard } from '../../../src/guard/reducer';
import { parseGuardState } from '../../../src/guard/state';
import type { GuardEvent, GuardInput } from '../../../src/guard/types';
import { firstSeed, itMetEverything, itOnHistories, Random, times } from '../../support/random';
import { randomHistory, settingsOf } from './histories';
import { expectedEvents, type History } from './oracle';

// The guard against a brute-force oracle on random histories.
const histories = times(100);
const minute = 60_000;
const start = Date.UTC(2026, 5, 1);

describe('The guard against its oracle', () => {
  const seen = new Map<string, number>();

  itOnHistories(
    'says exactly what the whole history demands, over restarts, ticked when due or each minute',
    histories,
    (random, seed) => {
      const history = randomHistory(random);
      const expected = expectedEvents(history);
      for (const { type, reason } of expected) seen.set(`${type} ${reason}`, (seen.get(`${type} ${reason}`) ?? 0) + 1);
      assert.deepEqual(tickedWhenDue(history, new Random(seed)), expected, 'ticked when due, restarted');
      // Every fourth runs with more ticks than needed, which takes longer and only shows
      // that they do no harm.
      if (seed % 4 === 0) assert.deepEqual(tickedEachMinute(history), expected, 'ticked each minute');
    },
  );

  it('never applies an older measurement, in any order and with any difference of the clocks', () => {
    for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
      const random = new Random(seed);
      const skewMs = random.between(-90, 90) * minute;
      const guard = new Guard({ minutes: 0, watch: ['frontLeftWindow'] });
      let state = parseGuardState();
      let newest = { value: '', stamp: 0 };
      for (const { at, value, stamp } of misorderedHistory(random)) {
        if (stamp > newest.stamp) newest = { value, stamp };
        const windows = { frontLeft: { value, timestamp: new Date(stamp + skewMs).toISOString() } };
        state = guard.step(state, { type: 'reading', at, skewMs, windows }).state;
        assert.equal(guard.view(state).allClosed, newest.value === 'CLOSED', `seed ${seed}`);
      }
    }
  });

  itMetEverything(histories >= 100, histories / 20, () => {
    const kinds = [
      'alert open-too-long',
      'alert repeat',
      'alert asked',
      'clear closed',
      'clear asked',
      'cannot-tell unknown-too-long',
      'cannot-tell asked',
    ];
    return Object.fromEntries(kinds.map((kind) => [kind, seen.get(kind) ?? 0]));
  });
});

/**
 * Measurements of one window, each heard at some time after it was taken, in any order, on clocks
 * that differ by what is known.
 */
function misorderedHistory(random: Random): { value: string; stamp: number; at: number }[] {
  const measured = Array.from({ length: 12 }, (_, index) => ({
    value: random.pick(['OPEN', 'CLOSED']),
    stamp: start + index * minute,
  }));
  return measured
    .map((one) => ({ ...one, at: one.stamp + random.between(0, 6) * minute }))
    .sort((one, other) => one.at - other.at);
}

function tickedEachMinute(history: History): GuardEvent[] {
  const guard = new Guard(settingsOf(history));
  const said: GuardEvent[] = [];
  let state = parseGuardState();
  for (let passed = 0; passed <= history.minutes; passed++) {
    const at = history.start + passed * minute;
    const inputs: GuardInput[] = [...history.inputs.filter((input) => input.at === at), { type: 'tick', at }];
    for (const input of inputs) {
      const step = guard.step(state, input);
      state = step.state;
      said.push(...step.events);
    }
  }
  return said;
}

/**
 * As a node does it: one timer, set to `nextDue`, and the state carried as JSON over a
 * restart now and then.
 */
function tickedWhenDue(history: History, random: Random): GuardEvent[] {
  const said: GuardEvent[] = [];
  let guard = new Guard(settingsOf(history));
  let state = parseGuardState();
  const take = (input: GuardInput): void => {
    const step = guard.step(state, input);
    const due = guard.nextDue(step.state);
    assert.ok(due === null || due > input.at, 'nothing may be left undone');
    said.push(...step.events);
    state = step.state;
    if (!random.chance(0.2)) return;
    guard = new Guard(settingsOf(history));
    state = parseGuardState(JSON.parse(JSON.stringify(state)));
  };
  const tickUntil = (end: number): void => {
    for (let due = guard.nextDue(state); due !== null && due < end; due = guard.nextDue(state))
      take({ type: 'tick', at: due });
  };
  for (const input of history.inputs) {
    tickUntil(input.at);
    take(input);
  }
  tickUntil(history.start + (history.minutes + 1) * minute);
  return said;
}
