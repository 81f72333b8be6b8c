import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { CarFacts } from '../../src/car/facts';
import { MemoryStateStore, type StateStore } from '../../src/index';
import { ManualClock } from '../support/manual-clock';
import { tried } from '../support/property';

const vin = 'YV4952NA4F120DEMO';
const start = Date.parse('2026-06-01T12:00:30Z');
const hourMs = 60 * 60_000;
const answer = (value: unknown): object => ({ value, unit: null, timestamp: null });

/**
 * What one of two Node-REDs on one store does, some minutes after the step before; or the store
 * cannot be written from now on, or again.
 */
interface Step {
  minutes: number;
  by: 0 | 1;
  what: 'warning' | 'event' | 'level' | 'status' | 'number' | 'store';
  which: number;
}

const steps = fc.array(
  fc.record<Step>({
    minutes: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 900 })),
    by: fc.constantFrom(0, 1),
    what: fc.constantFrom('warning', 'event', 'level', 'status', 'number', 'store'),
    which: fc.nat(9),
  }),
  { maxLength: 120 },
);

/** A store that others can read, and that can refuse to be written. */
class RefusingStore extends MemoryStateStore {
  refuses = false;

  override write(...args: Parameters<StateStore['write']>): ReturnType<StateStore['write']> {
    return this.refuses ? Promise.reject(new Error('The store cannot be written')) : super.write(...args);
  }
}

/** What one of the two has learned, by time. */
interface Told {
  warnings: Set<string>;
  events: string[];
  levels: { at: number; value: number }[];
  /** The first answer with a value, after another one. */
  changes: { at: number; value: string }[];
}

const statuses = ['IDLE', 'CHARGING', 'DONE'];

/** Takes the steps, and lets both store what they know. @param last who stores it last */
async function taken(all: readonly Step[], last: 0 | 1) {
  const store = new RefusingStore();
  const clock = new ManualClock(start);
  const both = [new CarFacts(store, clock), new CarFacts(store, clock)] as const;
  const told: Told = { warnings: new Set(), events: [], levels: [], changes: [] };
  const before: (string | undefined)[] = [];
  for (const { minutes, by, what, which } of all) {
    await clock.advance(minutes * 60_000);
    const [facts, at] = [both[by], clock.now()];
    const times = { receivedAt: at, skewMs: 0 };
    if (what === 'store') store.refuses = !store.refuses;
    if (what === 'warning') {
      told.warnings.add(`warnings.lamp${which}Warning`);
      await facts.observe(vin, 'warnings', { [`lamp${which}Warning`]: answer('NO_WARNING') });
    }
    if (what === 'event') {
      const text = `${by} at ${new Date(at).toISOString()}`;
      told.events.push(text);
      await facts.addEvents(vin, [{ at: new Date(at).toISOString(), text }]);
    }
    if (what === 'level') {
      told.levels.push({ at, value: which });
      await facts.observe(vin, 'batteryChargeLevel', answer(which));
    }
    if (what === 'number') await facts.see(vin, [['batteryChargeLevel', which, null]], times);
    if (what === 'status') {
      const value = statuses[which % 3] ?? '';
      if (before[by] !== value) told.changes.push({ at, value });
      before[by] = value;
      await facts.see(vin, [['chargingStatus', value, null]], times);
    }
  }
  store.refuses = false;
  const stored = async (): Promise<unknown> => (await store.entries('car/'))[0]?.value;
  const save = (facts: CarFacts): Promise<void> => facts.addEvents(vin, []);
  await save(both[last === 0 ? 1 : 0]);
  await save(both[last]);
  const result = await stored();
  const fresh = new CarFacts(store, clock);
  for (const facts of [both[0], both[1], fresh, both[0]]) await save(facts);
  return { told, result, again: await stored(), fresh, now: clock.now() };
}

describe('What two Node-REDs on one store know of a car, whatever they read and whenever the store can be written', () => {
  it('is all that was told to either, up to the bounds', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom<0 | 1>(0, 1), async (all, last) => {
        const { told, fresh, now } = await taken(all, last);
        const { equipment, events, lines } = await fresh.known(vin);
        const lamps = Object.keys(equipment).filter((name) => name.startsWith('warnings.'));
        assert.deepEqual(new Set(lamps), told.warnings);
        assert.deepEqual(
          events.map(({ text }) => text),
          told.events.slice(-20),
        );
        const points = new Map(lines.batteryChargeLevel);
        const hourOf = (at: number): number => Math.floor(at / hourMs) * hourMs;
        const kept = told.levels.filter(({ at }) => hourOf(at) > now - 7 * 24 * hourMs);
        assert.deepEqual([...points.keys()], [...new Set(kept.map(({ at }) => hourOf(at)))]);
        for (const [hour, value] of points)
          assert.ok(kept.some((level) => hourOf(level.at) === hour && level.value === value));
        const runs = await fresh.statesOf(vin, 'chargingStatus');
        const since = runs.length < 30 ? -Infinity : (runs[0]?.from ?? 0);
        for (const { at, value } of told.changes.filter((change) => change.at >= since))
          assert.ok(
            runs.some((run) => run.value === value && run.from <= at && at <= run.to),
            `${value} at ${at}`,
          );
      }),
      tried(200),
    );
  });

  it('is the same whoever stores it last, and however often', async () => {
    /** Of an hour, the last one has the value. */
    const hours = (stored: unknown): unknown =>
      stored === undefined
        ? stored
        : { ...(stored as object), history: (stored as { history: number[][] }).history.map(([hour]) => hour) };
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const [one, other] = [await taken(all, 0), await taken(all, 1)];
        assert.deepEqual(hours(one.result), hours(other.result));
        for (const { result, again } of [one, other]) assert.deepEqual(hours(again), hours(result));
      }),
      tried(200),
    );
  });
});
