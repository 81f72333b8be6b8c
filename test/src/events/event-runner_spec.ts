import { strict as assert } from 'node:assert';
import { MemoryStateStore, type StateStore } from '../../../src/state/state-store';
import { parseEventSettings } from '../../../src/events/settings';
import { eventNames, readsForEvents, type EventName } from '../../../src/events/types';
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

    it('never reports what was undone before they began', async () => {
      const runner = await openInEvening();
      await at(runner, '01T18:30', 'LOCKED');
      await at(runner, '01T23:00', 'UNLOCKED');
      await at(runner, '02T09:00', 'LOCKED');
      assert.deepEqual(await at(runner, '02T18:00', 'LOCKED'), []);
      assert.deepEqual(await at(runner, '02T18:10', 'UNLOCKED'), ['unlocked 02T18:00 02T18:10']);
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

  /** The trips that follow from these readings, one a minute apart unless a time is given. */
  async function tripsOf(readings: { after?: number; payloads: Record<string, unknown> }[]): Promise<unknown[]> {
    let payloads = {};
    const runner = await openRunner({
      settings: parseEventSettings({ events: ['trip-ended'] }),
      client: clientOf(() => ({ at: clock.now(), payloads, receivedAt: {} })),
      store,
      clock,
    });
    const trips: unknown[] = [];
    for (const { after = 1, payloads: given } of readings) {
      clock.setTime(clock.now() + after * 60_000);
      payloads = given;
      const { events } = await runner.poll(['engineRunning', 'accessibility', 'odometer'], signal);
      trips.push(...events.map(({ from, to }) => [from, to]));
    }
    return trips;
  }

  it('reports a trip although one source showed use of the car and was not read again', async () => {
    const parked = (value: number): Record<string, unknown> => ({
      engineRunning: { value: false },
      odometer: { value },
    });
    const inUse = { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' };
    const trips = await tripsOf([
      { payloads: { ...parked(100), accessibility: { value: 'AVAILABLE' } } },
      { payloads: { accessibility: inUse } },
      { after: 5, payloads: parked(112) },
      { after: 11, payloads: parked(112) },
    ]);
    assert.deepEqual(trips, [[100, 112]]);
  });

  it('knows at most 300 values, also where the service makes up names', async () => {
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

  it('takes a stored value that no car can have as unknown', async () => {
    const known = (value: unknown): object => ({ value, at: 1, measuredAt: null, receivedAt: 1, since: 1, readAt: 1 });
    const facts = {
      'doors.carLocked': known('constructor'),
      'doors.frontLeft': known('garbage'),
      'windows.sunroof': known(true),
      engineRunning: known('true'),
      'charging.chargingStatus': known('__proto__'),
      'charging.chargerConnectionStatus.fault': known('toString'),
      'charging.batteryChargeLevel': known('full'),
      location: known('home'),
      'diagnostics.serviceWarning': known(0),
      'tyres.frontLeft': known('FLAT'),
      accessibility: known('valueOf'),
      odometer: known('far'),
      'odometer.parked': known('near'),
    };
    await store.write('event/node', { vin, state: { facts }, unsent: [] });
    const payloads = {
      doors: { carLocked: { value: 'LOCKED' }, frontLeft: { value: 'OPEN' } },
      windows: { sunroof: { value: 'OPEN' } },
      engineRunning: { value: false },
      charging: {
        chargingStatus: { value: 'CHARGING' },
        chargerConnectionStatus: { value: 'FAULT' },
        batteryChargeLevel: { value: 80 },
      },
      location: { latitude: 57.7, longitude: 11.97 },
      diagnostics: { serviceWarning: { value: 'REGULAR_MAINTENANCE_TIME_FOR_SERVICE' } },
      tyres: { frontLeft: { value: 'LOW_PRESSURE' } },
      accessibility: { value: 'AVAILABLE' },
      odometer: { value: 1000 },
    };
    const runner = await openRunner({
      settings: parseEventSettings({
        events: eventNames,
        places: [{ name: 'home', latitude: 57.7, longitude: 11.97, radius: 200 }],
      }),
      client: clientOf(() => ({ at: clock.now(), payloads, receivedAt: {} })),
      store,
      clock,
    });
    assert.deepEqual((await runner.poll(readsForEvents(eventNames), signal)).events, []);
  });
});
