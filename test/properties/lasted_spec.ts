import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { CarFacts, type SeenValue } from '../../src/car/facts';
import { judge, MemoryStateStore, parseCondition, parseRow } from '../../src/index';
import { ManualClock } from '../support/manual-clock';
import { tried } from '../support/property';
import { single } from '../support/readings';

type Truth = boolean | null;

/** An answer of the service: minutes since the first moment. */
interface Answer {
  value: string | number;
  stamp: number | null;
  received: number;
}

const start = Date.parse('2026-06-01T12:00:00Z');
const at = (minute: number): number => start + minute * 60_000;
/** The last one is asked for when the condition is checked. */
const answersOf = (values: fc.Arbitrary<string | number>): fc.Arbitrary<Answer[]> =>
  fc
    .tuple(
      fc.boolean(),
      fc.array(fc.tuple(values, fc.integer({ min: 1, max: 150 }), fc.nat(100), fc.boolean()), {
        minLength: 1,
        maxLength: 12,
      }),
    )
    .map(([hasStamps, steps]) => {
      const answers: Answer[] = [];
      let [received, stamp] = [500, 0];
      for (const [value, minutes, part, isNewStamp] of steps) {
        const before = answers.at(-1);
        received += minutes;
        // A new value has a new time; the car may send an equal one again.
        if (before === undefined || before.value !== value || isNewStamp)
          stamp = Math.max(stamp + 1, received - Math.round((part / 100) * (before ? minutes : 400)));
        answers.push({ value, stamp: hasStamps ? stamp : null, received });
      }
      return answers;
    });

/**
 * Paints each minute: what is known of it from the answers. Minutes between two equal answers at
 * most an hour apart count as they do.
 */
function painted(answers: readonly Answer[], isMet: (value: string | number) => boolean): Map<number, boolean> {
  const known = new Map<number, boolean>();
  answers.forEach(({ value, stamp, received }, index) => {
    const from = stamp ?? received;
    const before = answers[index - 1];
    const isBridged = before !== undefined && from - before.received <= 60 && isMet(before.value) === isMet(value);
    for (let minute = isBridged ? Math.min(from, before.received) : from; minute <= received; minute += 1)
      if (minute >= from || !known.has(minute)) known.set(minute, isMet(value));
  });
  return known;
}

/** What a person finds who looks at each minute. */
function oracle(answers: readonly Answer[], isMet: (value: string | number) => boolean, minutes: number): Truth {
  const now = answers.at(-1)?.received ?? 0;
  const known = painted(answers, isMet);
  const asked = Array.from({ length: minutes + 1 }, (_, back) => known.get(now - back));
  if (asked[0] === false || asked.includes(false)) return false;
  return asked.includes(undefined) ? null : true;
}

/** What the pack finds, with a restart before the last answer. */
async function judged(value: string, operator: string, operand: unknown, answers: readonly Answer[], minutes: number) {
  const store = new MemoryStateStore();
  const clock = new ManualClock(at(0));
  let facts = new CarFacts(store, clock);
  for (const [index, answer] of answers.entries()) {
    await clock.advance(at(answer.received) - clock.now());
    if (index === answers.length - 1) {
      await facts.flush();
      facts = new CarFacts(store, clock);
    }
    const stamp = answer.stamp === null ? null : new Date(at(answer.stamp)).toISOString();
    const seen: SeenValue = [value, answer.value, stamp];
    await facts.see('A', [seen], { receivedAt: clock.now(), skewMs: 0 });
  }
  const last = answers.at(-1);
  const row = parseRow(1, { value, operator, forMinutes: minutes });
  const reading = single(value, last?.value, typeof last?.value === 'number' ? 'percent' : null);
  const runs = await facts.statesOf('A', value);
  return judge(parseCondition(1, row, operand, 'CONFIG'), reading, clock.now(), runs).result;
}

describe('A condition that has to last', function () {
  this.timeout(0);
  const minutes = fc.integer({ min: 1, max: 400 });

  it('says of words what a person says who knows each answer', async () => {
    const seen = new Map<Truth, number>();
    const words = fc.constantFrom('CONNECTED', 'DISCONNECTED', 'DISCONNECTED', 'FAULT');
    const operators = fc.constantFrom('is', 'is not', 'one of');
    const property = fc.asyncProperty(answersOf(words), operators, minutes, async (answers, operator, long) => {
      const operand = operator === 'one of' ? 'DISCONNECTED, FAULT' : operator === 'is' ? 'DISCONNECTED' : 'CONNECTED';
      const isMet = (word: unknown): boolean => (operator === 'is' ? word === 'DISCONNECTED' : word !== 'CONNECTED');
      const result = await judged('chargerConnectionStatus', operator, operand, answers, long);
      assert.equal(result, oracle(answers, isMet, long));
      seen.set(result, (seen.get(result) ?? 0) + 1);
    });
    await fc.assert(property, tried(2_000));
    for (const answer of [true, false, null])
      assert.ok((seen.get(answer) ?? 0) > 100, `${answer}: ${seen.get(answer)}`);
  });

  it('says of numbers nothing else, or that it cannot tell', async () => {
    let decided = 0;
    const property = fc.asyncProperty(answersOf(fc.integer({ min: 15, max: 40 })), minutes, async (answers, long) => {
      const isMet = (level: unknown): boolean => Number(level) >= 20;
      const result = await judged('batteryChargeLevel', '>=', 20, answers, long);
      if (result === null) return;
      decided += 1;
      assert.equal(result, oracle(answers, isMet, long));
    });
    await fc.assert(property, tried(1_000));
    assert.ok(decided > 300, String(decided));
  });
});
