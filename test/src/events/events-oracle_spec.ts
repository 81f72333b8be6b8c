import { strict as assert } from 'node:assert';
import { eventNames, type VehicleEvent } from '../../../src/events/types';
import { applyReading, parseEventState } from '../../../src/events/reducer';
import { Random } from '../../support/random';
import { expectedEvents, randomHistory, type Expected } from './oracle';

/*
 * The events against a brute-force oracle on random histories. To repeat it, with as many histories as wanted:
 *
 *   npm run build && EVENT_HISTORIES=100000 npx mocha --no-config dist/test/src/events/events-oracle_spec.js
 *
 * A failure names its seed; EVENT_SEED=<seed> EVENT_HISTORIES=1 runs that history alone.
 */
const firstSeed = Number(process.env['EVENT_SEED'] ?? 1);
const histories = Number(process.env['EVENT_HISTORIES'] ?? 2_000);
const start = Date.UTC(2026, 5, 1, 8);

const line = ({ event, name, place, since, until }: Expected): string =>
  `${event} ${name} ${place} ${new Date(since).toISOString()} ${new Date(until).toISOString()}`;
const lineOf = ({ event, name, place, between }: VehicleEvent): string =>
  line({ event, name, place, since: Date.parse(between.since), until: Date.parse(between.until) });

describe('The events against their oracle', () => {
  const seen = new Map<string, number>();

  it(`report each change of a known value once, over restarts, and nothing else (${histories} histories from seed ${firstSeed})`, function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const random = new Random(seed);
      const { history, level, places } = randomHistory(random, start);
      const expected = expectedEvents(history, level, places);
      for (const { event } of expected) seen.set(event, (seen.get(event) ?? 0) + 1);
      const reported: string[] = [];
      let state = parseEventState(undefined);
      for (const reading of history) {
        const step = applyReading(state, reading, { events: eventNames, level, places });
        reported.push(...step.events.map((event) => `${reading.at} ${lineOf(event)}`));
        // A restart: only what was stored is left.
        state = random.chance(0.2) ? parseEventState(JSON.parse(JSON.stringify(step.state))) : step.state;
        for (const { from, to, between } of step.events) {
          assert.ok(from !== null && to !== null, 'two known values');
          assert.ok(between.since <= between.until && Date.parse(between.until) <= reading.at, JSON.stringify(between));
        }
      }
      const demanded = expected.map((one) => `${one.at} ${line(one)}`);
      const why = `seed ${seed}: repeat with EVENT_SEED=${seed} EVENT_HISTORIES=1`;
      assert.deepEqual(reported.sort(), demanded.sort(), why);
    }
  });

  it('met every event on the way', function () {
    if (histories < 1000) this.skip();
    for (const name of eventNames)
      assert.ok((seen.get(name) ?? 0) > histories / 50, `${name}: ${seen.get(name) ?? 0} times only`);
  });
});
