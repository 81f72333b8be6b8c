import { strict as assert } from 'node:assert';
import { applyReading, parseEventState } from '../../../src/events/reducer';
import {
  eventNames as allEvents,
  eventReads,
  readsForEvents,
  type EventName,
  type VehicleEvent,
} from '../../../src/events/types';
import { MemoryStateStore } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { firstSeed, Random, times } from '../../support/random';
import { clientOf, openRunner, unsentOf, type EventRunner } from './event-runners';
import { expectedEvents, randomHistory, type Expected, type HistoryReading } from './oracle';

// The events against a brute-force oracle on random histories. A failure names its seed;
// SEED=<seed> FACTOR=0 runs that history alone.
const histories = times(40);
const start = Date.UTC(2026, 5, 1, 8);

const line = ({ event, name, place, since, until }: Expected): string =>
  `${event} ${name} ${place} ${new Date(since).toISOString()} ${new Date(until).toISOString()}`;
const lineOf = ({ event, name, place, between }: VehicleEvent): string =>
  line({ event, name, place, since: Date.parse(between.since ?? ''), until: Date.parse(between.until) });

const { signal } = new AbortController();
/**
 * Those of the car; the sign-in needs no reading, and the sessions of a wallbox have their oracle
 * in sessions-oracle_spec.ts.
 */
const eventNames = allEvents.filter((name) => !name.startsWith('sign-in-') && name !== 'charging-session-ended');
const eventReadNames = readsForEvents(eventNames);

describe('The events against their oracle', () => {
  const seen = new Map<string, number>();

  it(`report each change of a known value once, over restarts, and nothing else; only a kill repeats what was sent (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const random = new Random(seed);
      const { history, level, places } = randomHistory(random, start);
      const expected = expectedEvents(history, level, places);
      for (const { event } of expected) seen.set(event, (seen.get(event) ?? 0) + 1);
      const demanded = expected.map((one) => `${one.at} ${line(one)}`);
      const clock = new ManualClock(start);
      const store = new MemoryStateStore();
      const settings = { events: eventNames, level, step: 10, places };
      let current: HistoryReading;
      const open = (): Promise<EventRunner> => openRunner({ settings, client: clientOf(() => current), store, clock });
      let runner = await open();
      const sent: string[] = [];
      for (const reading of history) {
        current = reading;
        clock.setTime(reading.at);
        const { events } = await runner.poll(
          eventReadNames.filter((read) => read in reading.payloads),
          signal,
        );
        for (const { from, to, between } of events) {
          assert.ok(from !== null && to !== null, 'two known values');
          assert.ok(
            between.since !== null && between.since <= between.until && Date.parse(between.until) <= reading.at,
            JSON.stringify(between),
          );
        }
        const lines = events.map((event) => `${reading.at} ${lineOf(event)}`);
        let sending = events;
        // A process that is killed has stored the events, and has sent none, some or all of them.
        // The third try succeeds.
        for (let kills = events.length > 0 ? random.pick([0, 0, 1, 2]) : 0; kills > 0; kills -= 1) {
          const repeated = lines.slice(0, random.between(0, lines.length));
          sent.push(...repeated);
          demanded.push(...repeated);
          runner = await open();
          sending = await unsentOf(runner);
          assert.deepEqual(sending, events);
        }
        sent.push(...lines);
        await runner.markSent(sending);
        if (!random.chance(0.2)) continue;
        await runner.end();
        runner = await open();
        assert.deepEqual(await unsentOf(runner), []);
      }
      const why = `seed ${seed}: repeat with SEED=${seed} FACTOR=0`;
      assert.deepEqual(sent.sort(), demanded.sort(), why);
    }
  });

  it('have a period that ends no later than the reading, also after the clock was set back', () => {
    for (let seed = 1; seed <= histories; seed += 1) {
      const random = new Random(seed);
      const { history, level, places } = randomHistory(random, start);
      const from = random.between(1, history.length);
      const back = random.pick([10_000, 3_600_000, 5 * 24 * 3_600_000]);
      let state = parseEventState({});
      for (const [i, { at, payloads, receivedAt, askedAt }] of history.entries()) {
        const shift = (time: number): number => (i >= from ? time - back : time);
        const shifted = (times: Record<string, number>) =>
          Object.fromEntries(Object.entries(times).map(([read, time]) => [read, shift(time)]));
        const reading = { at: shift(at), payloads, receivedAt: shifted(receivedAt), askedAt: shifted(askedAt ?? {}) };
        const result = applyReading(state, reading, { events: eventNames, level, step: 10, places });
        state = JSON.parse(JSON.stringify(result.state)) as typeof state;
        for (const { event, between } of result.events) {
          const [since, until] = [Date.parse(between.since ?? ''), Date.parse(between.until)];
          assert.ok(since <= until && until <= reading.at, `seed ${seed}, ${event}: ${JSON.stringify(between)}`);
        }
      }
    }
  });

  it('need exactly the reads that the table names for each of them', () => {
    const found = (name: EventName, reads: readonly string[], random: ReturnType<typeof randomHistory>): string[] => {
      const { history, level, places } = random;
      let state = parseEventState({});
      return history.flatMap((reading) => {
        const payloads = Object.fromEntries(Object.entries(reading.payloads).filter(([read]) => reads.includes(read)));
        const result = applyReading(state, { ...reading, payloads }, { events: [name], level, step: 10, places });
        state = result.state;
        return result.events.map((event) => `${reading.at} ${lineOf(event)}`);
      });
    };
    const randomHistories = Array.from({ length: 20 }, (_, i) => randomHistory(new Random(i + 1), start));
    for (const name of eventNames) {
      const reads: readonly string[] = eventReads[name];
      const all = randomHistories.map((random) => found(name, eventReadNames, random));
      assert.ok(all.flat().length > 0, name);
      const withReads = (chosen: readonly string[]) => randomHistories.map((random) => found(name, chosen, random));
      assert.deepEqual(withReads(reads), all, name);
      for (const read of reads)
        assert.notDeepEqual(withReads(reads.filter((other) => other !== read)), all, `${name} without ${read}`);
    }
  });

  it('met every event on the way', function () {
    if (histories < 60) this.skip();
    for (const name of eventNames)
      assert.ok((seen.get(name) ?? 0) > histories / 50, `${name}: ${seen.get(name) ?? 0} times only`);
  });
});
