import { strict as assert } from 'node:assert';
import { MemoryStateStore, type StateStore } from '../../../src/state/state-store';
import { parseEventSettings } from '../../../src/events/settings';
import { type EventName } from '../../../src/events/types';
import { ManualClock } from '../../support/manual-clock';
import { clientOf, openRunner, unsentOf, vin, type EventRunner } from './event-runners';

const { signal } = new AbortController();

describe('The runner of the events', () => {
  let clock: ManualClock;
  let store: StateStore;
  let lock: string;
  let timestamp: string | null;
  let answerMs: number;
  let dropped: number;

  beforeEach(() => {
    clock = new ManualClock('2026-06-01T08:00:00Z');
    store = new MemoryStateStore();
    lock = 'LOCKED';
    timestamp = null;
    answerMs = 0;
    dropped = 0;
  });

  const client = clientOf(() => ({
    at: clock.now(),
    payloads: { doors: { carLocked: { value: lock, timestamp } } },
    receivedAt: { doors: clock.now() - answerMs },
  }));
  const open = (events: EventName[] = ['locked', 'unlocked']): Promise<EventRunner> =>
    openRunner({
      settings: parseEventSettings({ events, places: [{ name: 'Home', latitude: 0, longitude: 0 }] }),
      client,
      store,
      clock,
      onDropped: () => (dropped += 1),
    });
  /** The car is unlocked, and the process is killed before the event is sent. */
  const storeUnlocked = async (): Promise<void> => {
    const runner = await open();
    await runner.poll(['doors'], signal);
    lock = 'UNLOCKED';
    assert.equal((await runner.poll(['doors'], signal)).events.length, 1);
  };

  const unsentEvent = (changes: object = {}): { tries: unknown; message: object } => ({
    tries: 1,
    message: {
      event: 'unlocked',
      from: 'LOCKED',
      to: 'UNLOCKED',
      name: null,
      place: null,
      between: { since: '2026-06-01T07:00:00.000Z', until: '2026-06-01T07:01:00.000Z' },
      ...changes,
    },
  });

  it('drops an event when the process has ended three times while it was sent', async () => {
    await storeUnlocked();
    for (const count of [1, 1, 0, 0]) assert.equal((await unsentOf(await open())).length, count);
    assert.equal(dropped, 1);
  });

  it('forgets a damaged event that was not sent, and sends the others', async () => {
    const damaged: unknown[] = [
      null,
      { tries: 1 },
      unsentEvent({ event: 'exploded' }),
      unsentEvent({ event: 'trip-ended', from: { km: 1 }, to: [[]] }),
      unsentEvent({ event: 'service-due', to: { toString: null } }),
      unsentEvent({ between: { since: 'yesterday', until: '' } }),
      unsentEvent({ event: 'warning-on', name: { toString: null } }),
    ];
    await store.write('event/node', { vin, state: {}, unsent: [...damaged, unsentEvent(), ...damaged] });
    const runner = await open(['unlocked', 'trip-ended', 'service-due', 'warning-on']);
    assert.deepEqual(
      (await unsentOf(runner)).map(({ event }) => event),
      ['unlocked'],
    );
  });

  describe('outside of the hours', () => {
    const openInEvening = (events: EventName[] = ['locked', 'unlocked'], more: object = {}): Promise<EventRunner> =>
      openRunner({
        settings: { events, hours: 'only', quietHours: '18:00-22:00', timeZone: 'UTC' },
        client,
        store,
        clock,
        ...more,
      });
    const at = async (runner: EventRunner, time: string, value: string): Promise<string[]> => {
      lock = value;
      await clock.advance(Date.parse(`2026-06-${time}:00Z`) - clock.now());
      const { events } = await runner.poll(['doors'], signal);
      await runner.markSent(events);
      return events.map(
        ({ event, between }) => `${event} ${between.since?.slice(8, 16)} ${between.until.slice(8, 16)}`,
      );
    };

    it('sends nothing, and reports with the first read in them what is different, once and with its time', async () => {
      const runner = await openInEvening();
      assert.deepEqual(await at(runner, '01T18:30', 'LOCKED'), []);
      assert.deepEqual(await at(runner, '01T23:00', 'UNLOCKED'), []);
      assert.deepEqual(await at(runner, '02T09:00', 'UNLOCKED'), []);
      assert.deepEqual(await at(await openInEvening(), '02T18:00', 'UNLOCKED'), ['unlocked 01T18:30 02T18:00']);
      assert.deepEqual(await at(await openInEvening(), '02T18:02', 'UNLOCKED'), []);
    });

    it('keeps an ended sign-in until they begin, and looks at it no more often', async () => {
      let wakes = 0;
      const signIn = () => ({ endsAt: null, isRequired: true });
      const runner = await openInEvening(['sign-in-required'], { signIn, onDue: () => (wakes += 1) });
      assert.deepEqual((await runner.poll([], signal)).events, []);
      await clock.advance(6 * 60_000);
      assert.equal(wakes, 1);
      await runner.poll([], signal);
      await clock.advance(4 * 60_000);
      assert.equal(wakes, 1);
      await clock.advance(Date.parse('2026-06-01T18:00:00Z') - clock.now());
      assert.deepEqual(
        (await runner.poll([], signal)).events.map(({ event }) => event),
        ['sign-in-required'],
      );
      assert.deepEqual((await runner.poll([], signal)).events, []);
    });
  });

  it('reports a trip soon after the clock was set back by days', async () => {
    let kilometers = 100;
    const runner = await openRunner({
      settings: parseEventSettings({ events: ['trip-ended'] }),
      client: clientOf(() => ({
        at: clock.now(),
        payloads: { engineRunning: { value: false }, odometer: { value: kilometers } },
        receivedAt: {},
      })),
      store,
      clock,
    });
    const poll = () => runner.poll(['engineRunning', 'odometer'], signal);
    await poll();
    clock.setTime(clock.now() - 5 * 24 * 60 * 60_000);
    kilometers = 112;
    const trips = [...(await poll()).events, ...(await poll()).events];
    assert.deepEqual(
      trips.map(({ from, to }) => [from, to]),
      [[100, 112]],
    );
  });

  it('knows at most 300 values, even if the service makes up names', async () => {
    let answer = 0;
    const runner = await openRunner({
      settings: parseEventSettings({ events: ['warning-on'] }),
      client: clientOf(() => {
        const names = Array.from({ length: 10_000 }, (_, i) => `lamp${i < 50 ? i : `${answer}-${i}`}`);
        const value = answer % 2 === 0 ? 'NO_WARNING' : 'FAILURE';
        return {
          at: clock.now(),
          payloads: { warnings: Object.fromEntries(names.map((name) => [name, { value }])) },
          receivedAt: {},
        };
      }),
      store,
      clock,
    });
    const counts: number[] = [];
    for (; answer < 10; answer += 1) {
      counts.push((await runner.poll(['warnings'], signal)).events.length);
      await clock.advance(60_000);
    }
    assert.deepEqual(counts.slice(0, 4), [0, 50, 0, 50], 'those that stay are followed');
    await runner.end();
    const stored = (await store.read('event/node'))?.value as { state: { facts: object } };
    assert.equal(Object.keys(stored.state.facts).length, 300);
  });
});
