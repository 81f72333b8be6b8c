import { strict as assert } from 'node:assert';
import { services } from '../../../src/index';
import { readNames, type ReadName } from '../../../src/catalogue/reads';
import { callsOfRequests, callsPerDay } from '../../../src/polling/calls';
import {
  pollGroupOf,
  PollingProfile,
  activityFactorOf,
  activityFactors,
  type DueOptions,
  type VehicleActivity,
  type PolledReading,
} from '../../../src/polling/profile';
import { nextPoll, phaseOf } from '../../../src/polling/schedule';
import { baseIntervals, hour, live, minute, second, securityKinds, type Kind } from '../../support/day';
import { ordinaryDay, randomDay, troubledDay } from '../../support/days';
import { times } from '../../support/random';

const noon = Date.UTC(2026, 5, 1, 12);
const midnight = Date.UTC(2026, 5, 2);
const transient = { retryAt: null, lasting: 0 };
const lasting = { retryAt: null, lasting: 1 };
const lastingAgain = { retryAt: null, lasting: 3 };
const forNow = { retryable: true, retryAt: null };
const forGood = { retryable: false, retryAt: null };

const doors = (
  locked: boolean | null,
  open: string[] = [],
  unknown: string[] = [],
  timestamp = 'a',
): PolledReading => ({ payload: { locked, open, timestamp }, vehicle: { locked, open, unknown } });
const windows = (open: string[] = [], unknown: string[] = []): PolledReading => ({
  payload: open,
  vehicle: { open, unknown },
});
const engine = (value: boolean | null): PolledReading => ({ payload: { value }, vehicle: {} });
const accessibility = (value: string, unavailableReason: string | null = null): PolledReading => ({
  payload: { value, unavailableReason },
  vehicle: {},
});

describe('the adaptive profile', () => {
  const profileAt = (): PollingProfile => new PollingProfile('car', (now) => new Date(now).getUTCHours());
  /** Left locked, closed and not in use, all read at one moment. */
  const parked = (now = noon): PollingProfile => {
    const profile = profileAt();
    profile.observe('doors', doors(true), now);
    profile.observe('windows', windows(), now);
    profile.observe('engineRunning', engine(false), now);
    return profile;
  };
  const due = (profile: PollingProfile, read: ReadName, now: number, options: Partial<DueOptions> = {}): number =>
    profile.dueAt({
      read,
      now,
      everyMs: baseIntervals[pollGroupOf(read)],
      doorsMs: minute,
      since: now - hour,
      lastRead: now,
      lastFailure: null,
      ...options,
    });
  const activityOf = (profile: PollingProfile, now: number, doorsMs: number | null = minute): VehicleActivity =>
    profile.activity(now, doorsMs);
  const interval = (profile: PollingProfile, read: ReadName, now: number): number =>
    activityFactorOf(pollGroupOf(read), activityOf(profile, now)) * baseIntervals[pollGroupOf(read)];

  it('has a poll group for every read', () => {
    for (const read of readNames) assert.ok(pollGroupOf(read) in activityFactors, read);
    assert.equal(pollGroupOf('carLocked'), 'doors');
    assert.equal(pollGroupOf('rearLeftWindowOpen'), 'windows');
    assert.equal(pollGroupOf('engineRunning'), 'engine');
    assert.equal(pollGroupOf('oilLevel'), 'levels');
    assert.equal(pollGroupOf('details'), 'model');
    assert.equal(pollGroupOf('kmToService'), 'rest');
  });

  it('never reads the doors less often than the fixed schedule', () => {
    for (const [activity, factor] of Object.entries(activityFactors.doors)) assert.ok(factor <= 1, activity);
  });

  describe('finds the activity of the car', () => {
    it('active while nothing is known of it', () => {
      assert.equal(activityOf(profileAt(), noon), 'active');
    });

    it('parked when it is locked, closed and not in use, by day and by night', () => {
      assert.equal(activityOf(parked(), noon), 'parked');
      assert.equal(activityOf(parked(midnight - hour), midnight, hour), 'parkedNight');
    });

    /** All that is read of the car stays the same over ten minutes. */
    const settled = ({ door = doors(true), window = windows(), motor = engine(false) }): PollingProfile => {
      const profile = parked();
      for (const at of [noon + minute, noon + 10 * minute]) {
        profile.observe('doors', door, at);
        profile.observe('windows', window, at);
        profile.observe('engineRunning', motor, at);
      }
      return profile;
    };
    const activitiesOf = (profile: PollingProfile): VehicleActivity[] =>
      [20 * minute, hour, 20 * hour].map((later) => activityOf(profile, noon + later, 24 * hour));

    it('never parked if the state of any part is unknown, or is not locked and closed', () => {
      assert.deepEqual(activitiesOf(settled({})), ['parked', 'parked', 'parked']);
      const odd: Record<string, Parameters<typeof settled>[0]> = {
        'an unlocked car': { door: doors(false) },
        'a lock that cannot be told': { door: doors(null) },
        'an open door': { door: doors(true, ['hood']) },
        'a door that cannot be told': { door: doors(true, [], ['rearLeft']) },
        'a window that cannot be told': { window: windows([], ['rearLeft']) },
        'an engine that cannot be told': { motor: engine(null) },
      };
      for (const [what, read] of Object.entries(odd))
        assert.deepEqual(activitiesOf(settled(read)), ['active', 'active', 'active'], what);
      for (const read of ['doors', 'windows'] as const) {
        const profile = settled({});
        profile.fail(read, forGood);
        assert.deepEqual(activitiesOf(profile), ['active', 'active', 'active'], `${read} that can no longer be read`);
      }
    });

    it('active for ten minutes after its last change, and until its windows and engine were read again', () => {
      const left = noon + 2 * minute;
      const leftNow = (): PollingProfile => {
        const profile = parked();
        profile.observe('doors', doors(false), noon + minute);
        profile.observe('doors', doors(true), left);
        return profile;
      };
      const later = (profile: PollingProfile): VehicleActivity => activityOf(profile, left + 20 * minute, hour);
      const profile = leftNow();
      profile.observe('windows', windows(), left + minute);
      profile.observe('engineRunning', engine(false), left + minute);
      assert.equal(later(profile), 'active', 'a car locks itself when it drives off');
      profile.observe('engineRunning', engine(false), left + 5 * minute);
      assert.equal(activityOf(profile, left + 10 * minute - 1, hour), 'active');
      assert.equal(activityOf(profile, left + 10 * minute, hour), 'parked');
      const withoutWindows = leftNow();
      withoutWindows.observe('engineRunning', engine(false), left + 5 * minute);
      assert.equal(later(withoutWindows), 'active', 'a window may have been opened');
    });

    it('driving, also for a car without an engine', () => {
      const profile = parked();
      profile.observe('engineRunning', engine(true), noon);
      assert.equal(activityOf(profile, noon), 'driving');
      const electric = profileAt();
      electric.fail('engineRunning', forGood);
      electric.observe('doors', doors(true), noon);
      electric.observe('windows', windows(), noon);
      electric.observe('accessibility', accessibility('UNAVAILABLE', 'CAR_IN_USE'), noon);
      assert.equal(activityOf(electric, noon), 'driving');
      electric.observe('accessibility', accessibility('UNAVAILABLE', 'NO_INTERNET'), noon + minute);
      assert.equal(activityOf(electric, noon + hour), 'active');
      electric.observe('windows', windows(), noon + 2 * minute);
      electric.observe('accessibility', accessibility('UNAVAILABLE', 'POWER_SAVING_MODE'), noon + 3 * minute);
      electric.observe('windows', windows(), noon + 4 * minute);
      electric.observe('accessibility', accessibility('AVAILABLE'), noon + 9 * minute);
      electric.observe('doors', doors(true), noon + hour);
      assert.equal(activityOf(electric, noon + hour), 'parked');
    });
  });

  describe('says when a read is due', () => {
    it('as often as the fixed schedule while nothing is known', () => {
      for (const read of ['doors', 'windows', 'engineRunning', 'odometer', 'bulbFailure'] as const) {
        const base = baseIntervals[pollGroupOf(read)];
        const at = due(profileAt(), read, noon);
        assert.ok(at > noon && at <= noon + base + second, read);
      }
    });

    it('rarely while the car is parked, except for the doors', () => {
      const profile = parked();
      assert.equal(interval(profile, 'doors', noon), minute);
      assert.equal(interval(profile, 'windows', noon), 30 * minute);
      assert.ok(due(profile, 'doors', noon) <= noon + minute);
      assert.equal(due(profile, 'windows', noon), nextPoll('car', 30 * minute, noon));
    });

    it('every five intervals for the windows while one is open, and the others as if all were closed', () => {
      const left = midnight - hour;
      const leftWith = (open: string[]): PollingProfile => {
        const profile = parked(left);
        profile.observe('windows', windows(open), left);
        profile.observe('engineRunning', engine(false), left + 6 * minute);
        profile.observe('doors', doors(true), left + 10 * minute);
        return profile;
      };
      const at = left + 11 * minute;
      assert.equal(due(leftWith(['rearLeft']), 'windows', at), nextPoll('car', 5 * minute, at));
      for (const read of ['engineRunning', 'fuelAmount', 'accessibility'] as const)
        assert.equal(due(leftWith(['rearLeft']), read, at), due(leftWith([]), read, at), read);
    });

    it('every six intervals for what belongs to the model of the car, whatever the car does', () => {
      const driving = parked();
      driving.observe('engineRunning', engine(true), noon);
      for (const profile of [profileAt(), parked(), driving])
        for (const read of ['details', 'commands', 'chargingCapabilities'] as const)
          assert.equal(due(profile, read, noon), nextPoll('car', 6 * hour, noon), read);
    });

    it('at once for windows, engine and accessibility when the doors show a change, and not twice', () => {
      const profile = parked();
      const at = noon + 10 * minute;
      profile.observe('doors', doors(false), at);
      for (const read of ['windows', 'engineRunning', 'accessibility'] as const)
        assert.equal(due(profile, read, at, { lastRead: noon }), at, read);
      assert.ok(due(profile, 'odometer', at, { lastRead: at - minute }) > at);
      assert.ok(due(profile, 'windows', at, { lastRead: at }) > at);
    });

    it('at once too when only the time of the doors has changed: opened and closed again in between', () => {
      const profile = parked();
      const at = noon + 10 * minute;
      profile.observe('doors', doors(true, [], [], 'b'), at);
      assert.equal(due(profile, 'windows', at, { lastRead: noon }), at);
      assert.equal(activityOf(profile, at), 'active');
    });

    it('at once after a command, and the doors quickly for two minutes', () => {
      const profile = parked();
      profile.commandSent(noon + minute);
      assert.equal(activityOf(profile, noon + minute), 'commandPending');
      assert.equal(due(profile, 'windows', noon + minute, { lastRead: noon }), noon + minute);
      assert.ok(due(profile, 'doors', noon + minute) <= noon + minute + 16 * second);
      assert.equal(activityOf(profile, noon + 3 * minute), 'active');
    });

    it('at most six hours apart, or as far as the reader itself asked', () => {
      assert.equal(due(parked(), 'odometer', noon, { everyMs: 2 * hour }), nextPoll('car', 6 * hour, noon));
    });

    it('slowed by what the day’s quota requires', () => {
      const slowdown = { security: 1.5, others: 6 };
      assert.equal(due(profileAt(), 'doors', noon, { slowdown }), nextPoll('car', 90 * second, noon));
      assert.equal(due(profileAt(), 'odometer', noon, { slowdown }), nextPoll('car', 6 * hour, noon));
      // Doors that are read so rarely still keep watch.
      assert.equal(
        due(parked(), 'windows', noon + 2.5 * minute, { slowdown }),
        nextPoll('car', 45 * minute, noon + 2.5 * minute),
      );
    });

    it('at the reader’s own interval for windows that are polled more often than the doors', () => {
      assert.equal(due(parked(), 'windows', noon, { doorsMs: 10 * minute }), nextPoll('car', minute, noon));
      assert.equal(due(parked(), 'windows', noon, { doorsMs: null }), nextPoll('car', minute, noon));
      assert.equal(
        due(parked(), 'windows', noon, { doorsMs: 5 * minute, everyMs: 5 * minute }),
        nextPoll('car', 150 * minute, noon),
      );
    });
  });

  describe('follows charging and trips', () => {
    const charging = (status: string, connection = 'CONNECTED'): PolledReading => ({
      payload: { chargingStatus: { value: status }, chargerConnectionStatus: { value: connection } },
      vehicle: {},
    });
    const kilometers = (value: number): PolledReading => ({ payload: { value }, vehicle: {} });

    for (const [what, reading, every] of [
      ['charges', charging('CHARGING'), 2 * minute],
      ['waits at the plug for its time', charging('SCHEDULED'), 2 * minute],
      ['has a time but no plug', charging('SCHEDULED', 'DISCONNECTED'), 30 * minute],
      ['is charged', charging('DONE'), 30 * minute],
      ['cannot tell', { payload: {}, vehicle: {} }, 30 * minute],
    ] as const) {
      it(`reads the energy of a parked car that ${what} every ${every / minute} minutes`, () => {
        const profile = parked();
        profile.observe('charging', reading, noon);
        for (const read of ['charging', 'batteryChargeLevel'] as const)
          assert.equal(due(profile, read, noon), nextPoll('car', every, noon));
      });
    }

    it('takes no change from an answer that was received before the known one', () => {
      const profile = parked();
      const at = noon + 10 * minute;
      profile.observe('doors', doors(true), at);
      profile.observe('doors', doors(false), at + second, at - second);
      assert.equal(activityOf(profile, at + second), 'parked');
      profile.observe('doors', doors(false), at + 2 * second, at + second);
      assert.equal(activityOf(profile, at + 2 * second), 'active');
    });

    it('reads the energy at once when the doors show a change', () => {
      const profile = parked();
      profile.observe('doors', doors(true, [], [], 'b'), noon + minute);
      assert.equal(due(profile, 'charging', noon + minute, { lastRead: noon }), noon + minute);
    });

    it('reads location, odometer and fuel at once when the engine has stopped, and not again', () => {
      const profile = parked();
      profile.observe('engineRunning', engine(true), noon);
      const stopped = noon + 10 * minute;
      assert.equal(due(profile, 'location', noon + minute, { lastRead: noon }), nextPoll('car', 6 * hour, noon));
      profile.observe('engineRunning', engine(false), stopped);
      for (const read of ['location', 'odometer', 'fuelAmount'] as const)
        assert.equal(due(profile, read, stopped, { lastRead: noon }), stopped);
      assert.ok(due(profile, 'location', stopped, { lastRead: stopped }) > stopped);
    });

    it('reads the location at once when the odometer of a parked car has moved, but not twice in a minute', () => {
      const profile = parked();
      profile.observe('odometer', kilometers(100), noon);
      profile.observe('odometer', kilometers(100), noon + 20 * second);
      const later = noon + 80 * second;
      assert.ok(due(profile, 'location', later, { lastRead: noon + 10 * second }) > later + minute);
      profile.observe('odometer', kilometers(112), later);
      assert.equal(due(profile, 'location', later, { lastRead: noon + 10 * second }), later);
      assert.equal(due(profile, 'location', later, { lastRead: noon + 40 * second }), noon + 100 * second);
    });
  });

  describe('after a failure', () => {
    it('waits until the time that the failure names', () => {
      const retryAt = noon + 3 * hour;
      assert.equal(due(profileAt(), 'doors', noon, { lastFailure: { ...transient, retryAt } }), noon + 3 * hour);
    });

    it('rarely tries a read that keeps failing for a lasting reason, but still often doors and windows', () => {
      assert.equal(
        due(profileAt(), 'accessibility', noon, { lastFailure: lasting }),
        nextPoll('car', 15 * minute, noon),
      );
      assert.equal(due(profileAt(), 'accessibility', noon, { lastFailure: lastingAgain }), nextPoll('car', hour, noon));
      for (const read of ['doors', 'windows'] as const)
        assert.equal(due(profileAt(), read, noon, { lastFailure: lastingAgain }), nextPoll('car', minute, noon), read);
    });

    for (const failure of [forNow, forGood]) {
      it(`reads the others at their own interval while the doors cannot be read (${failure.retryable ? 'for now' : 'for good'})`, () => {
        const profile = parked();
        const later = noon + minute;
        profile.fail('doors', failure);
        assert.equal(due(profile, 'windows', later), nextPoll('car', minute, later));
        assert.equal(due(profile, 'engineRunning', later), nextPoll('car', 2 * minute, later));
        const again = noon + 2 * minute;
        profile.observe('doors', doors(true), again);
        assert.equal(
          due(profile, 'windows', again, { lastRead: later }),
          again,
          'nobody knows what happened meanwhile',
        );
        assert.equal(activityOf(profile, again), 'active');
      });
    }
  });

  describe('on a whole day', function () {
    this.timeout(times(120_000));
    it('costs the fixed schedule 5,592 requests', () => {
      assert.equal(live(ordinaryDay, 'fixed', 'home').calls, 5_592);
    });

    it('asks at most half as often and notices nothing later, at any place of the car in the minute', () => {
      for (let i = 0; i < times(5); i += 1) {
        const id = `home ${i}`;
        const fixed = live(ordinaryDay, 'fixed', id);
        const adaptive = live(ordinaryDay, 'adaptive', id);
        assert.ok(adaptive.calls <= fixed.calls / 2, `${adaptive.calls} of ${fixed.calls}`);
        assertPunctual(fixed.notices, adaptive.notices, id);
      }
    });

    it('notices no opened door, unlocked car, window opened after unlocking, start or end of charging later on random days', () => {
      for (let seed = 1_000; seed < 1_000 + times(12); seed += 1) {
        const day = randomDay(seed);
        assertPunctual(
          live(day, 'fixed', `car ${seed}`).notices,
          live(day, 'adaptive', `car ${seed}`).notices,
          `day ${seed}`,
        );
      }
    });

    it('notices none of that later while endpoints fail alone, messages also ask and the doors are read less often', () => {
      for (let seed = 2_000; seed < 2_000 + times(24); seed += 1) {
        const day = troubledDay(seed);
        assertPunctual(
          live(day, 'fixed', `car ${seed}`).notices,
          live(day, 'adaptive', `car ${seed}`).notices,
          `day ${seed}`,
          securityKinds,
        );
      }
    });

    const assertPunctual = (
      fixed: ReturnType<typeof live>['notices'],
      adaptive: ReturnType<typeof live>['notices'],
      what: string,
      kinds: readonly Kind[] = [...securityKinds, 'charging', 'charged'],
    ): void => {
      fixed.forEach(({ kind, delay, happening }, i) => {
        if (!kinds.includes(kind)) return;
        const other = adaptive[i]?.delay ?? Number.POSITIVE_INFINITY;
        assert.ok(
          other <= (delay ?? Number.POSITIVE_INFINITY),
          `${what}: ${happening.what} after ${other} ms, not ${delay} ms`,
        );
      });
    };
  });
});

describe('nextPoll', () => {
  it('gives one moment per interval, always at the same phase', () => {
    let at = noon;
    const moments = Array.from({ length: 5 }, () => (at = nextPoll('node', minute, at)));
    for (const [i, moment] of moments.entries()) assert.equal(moment % minute, phaseOf('node', minute), `${i}`);
    assert.deepEqual(
      moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0)),
      [minute, minute, minute, minute],
    );
  });

  it('spreads different ids over the interval', () => {
    const used = new Map<number, number>();
    for (let i = 0; i < 6_000; i += 1) {
      const slot = Math.floor(phaseOf(`${(i * 7_919).toString(16)}.${i}`, minute) / second);
      used.set(slot, (used.get(slot) ?? 0) + 1);
    }
    assert.equal(used.size, 60);
    assert.ok(Math.max(...used.values()) < 200, `${Math.max(...used.values())} in one second`);
  });

  it('does not give the same moment twice because a timer fired a little early', () => {
    const moment = nextPoll('node', minute, noon);
    assert.equal(nextPoll('node', minute, moment - 5), moment + minute);
  });
});

describe('callsOfRequests', () => {
  const total = (...args: Parameters<typeof callsOfRequests<ReadName>>): number =>
    callsOfRequests(...args).reduce((sum, { calls }) => sum + calls, 0);

  it('does not count what the pack keeps itself', () => {
    assert.deepEqual(callsOfRequests([{ vehicle: 'home', reads: ['windows', 'journal'], poll: 60 }]), [
      { read: 'windows', calls: 1_440 },
    ]);
  });

  it('counts one request for reads that one answer holds', () => {
    const nodes = [{ vehicle: 'home', reads: ['tripMeter1', 'tripMeter2', 'averageSpeed'] as const, poll: 3_600 }];
    assert.equal(total(nodes), 72);
    assert.equal(
      total(nodes, () => 'statistics'),
      24,
    );
  });
});

describe('callsPerDay', () => {
  it('counts the requests of each API, because each has a quota of its own, and none for what the service lacks', () => {
    const nodes = [
      { vehicle: 'home', reads: ['doors', 'charging', 'batteryChargeLevel', 'journal'], poll: 60 },
      { vehicle: 'home', reads: ['location', 'windows', 'externalTemp'], poll: 600 },
    ];
    const options = { interfaces: services['volvo-cars'].availableInterfaces, isShared: true, isAdaptive: false };
    assert.deepEqual(callsPerDay(nodes, options), {
      connected: 1_584,
      energy: 1_440,
      location: 144,
      'energy-device': 0,
    });
  });
});
