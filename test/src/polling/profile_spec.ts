import { strict as assert } from 'node:assert';
import { readNames, type ReadName } from '../../../src/catalogue/reads';
import { callsOfRequests } from '../../../src/polling/calls';
import {
  baseIntervals,
  callsPerDay,
  moodFactors,
  nextPoll,
  phaseOf,
  pollGroupOf,
  pollGroups,
  PollingProfile,
  type DueOptions,
  type PolledReading,
} from '../../../src/polling/profile';
import { hour, live, minute, requests, second } from '../../support/day';
import { ordinaryDay, randomDay, troubledDay } from '../../support/days';

const noon = Date.UTC(2026, 5, 1, 12);
const midnight = Date.UTC(2026, 5, 2);
const transient = { retryable: true, retryAt: null, lasting: 0 };
const lasting = { retryable: false, retryAt: null, lasting: 1 };
const lastingAgain = { ...lasting, lasting: 3 };

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
  const profileAt = (): PollingProfile =>
    new PollingProfile({ id: 'car', hourOf: (now) => new Date(now).getUTCHours() });
  /** Left locked, closed and not in use, all read at one moment. */
  const parked = (now = noon): PollingProfile => {
    const profile = profileAt();
    profile.saw('doors', doors(true), now);
    profile.saw('windows', windows(), now);
    profile.saw('engineRunning', engine(false), now);
    return profile;
  };
  const due = (profile: PollingProfile, read: ReadName, now: number, options: Partial<DueOptions> = {}): number =>
    profile.dueAt({ read, now, since: now - hour, lastRead: now, ...options });
  const interval = (profile: PollingProfile, read: ReadName, now: number): number =>
    moodFactors[profile.mood(now)][pollGroupOf(read)] * baseIntervals[pollGroupOf(read)];

  it('has a group for every read', () => {
    for (const read of readNames) assert.ok(pollGroups.includes(pollGroupOf(read)), read);
    assert.equal(pollGroupOf('carLocked'), 'doors');
    assert.equal(pollGroupOf('rearLeftWindowOpen'), 'windows');
    assert.equal(pollGroupOf('engineRunning'), 'engine');
    assert.equal(pollGroupOf('oilLevel'), 'levels');
    assert.equal(pollGroupOf('odometer'), 'rest');
  });

  it('never reads the doors less often than the fixed schedule', () => {
    for (const [mood, factors] of Object.entries(moodFactors)) assert.ok(factors.doors <= 1, mood);
  });

  describe('tells what the car is about', () => {
    it('and takes a car that it knows nothing of for stirring', () => {
      assert.equal(profileAt().mood(noon), 'stirring');
    });

    it('and lets a parked, locked, closed car rest, and sleep at night', () => {
      assert.equal(parked().mood(noon), 'resting');
      assert.equal(parked(midnight - hour).mood(midnight, hour), 'sleeping');
      assert.equal(
        new PollingProfile({ id: 'car', night: { from: 1, to: 5 }, hourOf: () => 3 }).mood(noon),
        'stirring',
      );
    });

    for (const [what, change] of [
      ['an unlocked car', (profile: PollingProfile) => profile.saw('doors', doors(false), noon)],
      ['a lock that cannot be told', (profile: PollingProfile) => profile.saw('doors', doors(null), noon)],
      ['an open door', (profile: PollingProfile) => profile.saw('doors', doors(true, ['hood']), noon)],
      [
        'a door that cannot be told',
        (profile: PollingProfile) => profile.saw('doors', doors(true, [], ['rearLeft']), noon),
      ],
      [
        'a window that cannot be told',
        (profile: PollingProfile) => profile.saw('windows', windows([], ['rearLeft']), noon),
      ],
      ['an engine that cannot be told', (profile: PollingProfile) => profile.saw('engineRunning', engine(null), noon)],
      ['doors that can no longer be read', (profile: PollingProfile) => profile.failed('doors', lasting)],
      ['windows that can no longer be read', (profile: PollingProfile) => profile.failed('windows', lasting)],
    ] as const) {
      it(`and never takes ${what} for at rest`, () => {
        const profile = parked();
        change(profile);
        for (const later of [0, hour, 20 * hour]) assert.equal(profile.mood(noon + later, 24 * hour), 'stirring');
      });
    }

    it('and does not mind a sunroof or a tank lid that the car does not have', () => {
      const profile = profileAt();
      profile.saw('doors', doors(true, [], ['tankLid']), noon);
      profile.saw('windows', windows([], ['sunroof']), noon);
      profile.saw('engineRunning', engine(false), noon);
      assert.equal(profile.mood(noon), 'resting');
    });

    it('and watches a car for ten minutes after its last change, and until its windows and engine were read again', () => {
      const profile = parked();
      profile.saw('doors', doors(false), noon + minute);
      profile.saw('doors', doors(true), noon + 2 * minute);
      const left = noon + 2 * minute;
      assert.equal(profile.mood(left + 20 * minute), 'stirring');
      profile.saw('windows', windows(), left + minute);
      profile.saw('engineRunning', engine(false), left + minute);
      assert.equal(profile.mood(left + 20 * minute), 'stirring');
      profile.saw('engineRunning', engine(false), left + 5 * minute);
      profile.saw('doors', doors(true), left + 9 * minute);
      assert.equal(profile.mood(left + 10 * minute - 1), 'stirring');
      assert.equal(profile.mood(left + 10 * minute), 'resting');
    });

    it('and lets it rest only while somebody reads the doors, and they answer', () => {
      assert.equal(parked().mood(noon + 2 * minute, minute), 'resting');
      assert.equal(parked().mood(noon + 2 * minute + 2 * second, minute), 'stirring');
      assert.equal(parked().mood(noon + 15 * minute, 10 * minute), 'resting');
      assert.equal(parked().mood(noon, null), 'stirring');
      const failing = parked();
      failing.failed('doors', transient);
      assert.equal(failing.mood(noon), 'stirring');
    });

    it('and knows a car with a window left open from one at rest', () => {
      const profile = parked();
      profile.saw('windows', windows(['rearLeft']), noon);
      profile.saw('engineRunning', engine(false), noon + 6 * minute);
      profile.saw('doors', doors(true), noon + 10 * minute);
      assert.equal(profile.mood(noon + 11 * minute), 'airing');
    });

    it('and knows a car that is driven, also one without an engine', () => {
      const profile = parked();
      profile.saw('engineRunning', engine(true), noon);
      assert.equal(profile.mood(noon), 'driving');
      const electric = profileAt();
      electric.failed('engineRunning', lasting);
      electric.saw('doors', doors(true), noon);
      electric.saw('windows', windows(), noon);
      electric.saw('accessibility', accessibility('UNAVAILABLE', 'CAR_IN_USE'), noon);
      assert.equal(electric.mood(noon), 'driving');
      electric.saw('accessibility', accessibility('UNAVAILABLE', 'NO_INTERNET'), noon + minute);
      assert.equal(electric.mood(noon + hour), 'stirring');
      electric.saw('windows', windows(), noon + 2 * minute);
      electric.saw('accessibility', accessibility('UNAVAILABLE', 'POWER_SAVING_MODE'), noon + 3 * minute);
      electric.saw('windows', windows(), noon + 4 * minute);
      electric.saw('accessibility', accessibility('AVAILABLE'), noon + 9 * minute);
      electric.saw('doors', doors(true), noon + hour);
      assert.equal(electric.mood(noon + hour), 'resting');
    });
  });

  describe('says when a read is due', () => {
    it('within ten seconds of the start', () => {
      for (let i = 0; i < 50; i += 1) {
        const profile = new PollingProfile({ id: `car ${i}` });
        const at = profile.dueAt({ read: 'doors', now: noon, since: noon, lastRead: null });
        assert.ok(at >= noon && at < noon + 10 * second);
      }
    });

    it('as often as the fixed schedule while nothing is known', () => {
      for (const read of ['doors', 'windows', 'engineRunning', 'fuelAmount', 'odometer'] as const) {
        const base = baseIntervals[pollGroupOf(read)];
        const at = due(profileAt(), read, noon);
        assert.ok(at > noon && at <= noon + base + second, read);
      }
    });

    it('seldom while the car rests, except for the doors', () => {
      const profile = parked();
      assert.equal(interval(profile, 'doors', noon), minute);
      assert.equal(interval(profile, 'windows', noon), 30 * minute);
      assert.ok(due(profile, 'doors', noon) <= noon + minute);
      assert.equal(due(profile, 'windows', noon), nextPoll('car', 30 * minute, noon));
    });

    it('at once for windows, engine and accessibility when the doors show a change, and not twice', () => {
      const profile = parked();
      const at = noon + 10 * minute;
      profile.saw('doors', doors(false), at);
      for (const read of ['windows', 'engineRunning', 'accessibility'] as const)
        assert.equal(due(profile, read, at, { lastRead: noon }), at, read);
      assert.ok(due(profile, 'odometer', at, { lastRead: at - minute }) > at);
      assert.ok(due(profile, 'windows', at, { lastRead: at }) > at);
    });

    it('at once too when only the time of the doors has changed: opened and closed again in between', () => {
      const profile = parked();
      const at = noon + 10 * minute;
      profile.saw('doors', doors(true, [], [], 'b'), at);
      assert.equal(due(profile, 'windows', at, { lastRead: noon }), at);
      assert.equal(profile.mood(at), 'stirring');
    });

    it('at once after a command, and the doors quickly for two minutes', () => {
      const profile = parked();
      profile.commanded(noon + minute);
      assert.equal(profile.mood(noon + minute), 'commanded');
      assert.equal(due(profile, 'windows', noon + minute, { lastRead: noon }), noon + minute);
      assert.ok(due(profile, 'doors', noon + minute) <= noon + minute + 16 * second);
      assert.equal(profile.mood(noon + 3 * minute), 'stirring');
    });

    it('by the reader’s own interval where it has one', () => {
      assert.equal(
        due(parked(), 'windows', noon, { baseMs: 10 * second, doorsMs: 10 * second }),
        nextPoll('car', 300 * second, noon),
      );
      assert.equal(due(parked(), 'odometer', noon, { baseMs: 24 * hour }), nextPoll('car', 24 * hour, noon));
    });

    it('at most six hours apart, or as far as the reader itself asked', () => {
      assert.equal(due(parked(), 'odometer', noon, { baseMs: 2 * hour }), nextPoll('car', 6 * hour, noon));
    });

    it('as much less often as the day’s quota calls for', () => {
      const stretch = { watch: 1.5, others: 6 };
      assert.equal(due(profileAt(), 'doors', noon, { stretch }), nextPoll('car', 90 * second, noon));
      assert.equal(due(profileAt(), 'odometer', noon, { stretch }), nextPoll('car', 6 * hour, noon));
      // Doors that are read so seldom still keep watch.
      assert.equal(
        due(parked(), 'windows', noon + 2.5 * minute, { stretch }),
        nextPoll('car', 45 * minute, noon + 2.5 * minute),
      );
    });

    it('at the reader’s own seconds for windows that are read more often than the doors', () => {
      assert.equal(due(parked(), 'windows', noon, { doorsMs: 10 * minute }), nextPoll('car', minute, noon));
      assert.equal(due(parked(), 'windows', noon, { doorsMs: null }), nextPoll('car', minute, noon));
      assert.equal(
        due(parked(), 'windows', noon, { doorsMs: 5 * minute, baseMs: 5 * minute }),
        nextPoll('car', 150 * minute, noon),
      );
    });
  });

  describe('bears failures', () => {
    it('by trying what failed at its plain pace, also while the car rests', () => {
      assert.equal(due(parked(), 'windows', noon, { lastFailure: transient }), nextPoll('car', minute, noon));
    });

    it('by waiting until the time that the failure names', () => {
      const retryAt = new Date(noon + 3 * hour);
      assert.equal(due(profileAt(), 'doors', noon, { lastFailure: { ...transient, retryAt } }), noon + 3 * hour);
    });

    it('by trying seldom what failed again and again and may never work, but never doors and windows', () => {
      assert.equal(
        due(profileAt(), 'accessibility', noon, { lastFailure: lasting }),
        nextPoll('car', 15 * minute, noon),
      );
      assert.equal(due(profileAt(), 'accessibility', noon, { lastFailure: lastingAgain }), nextPoll('car', hour, noon));
      for (const read of ['doors', 'windows'] as const)
        assert.equal(due(profileAt(), read, noon, { lastFailure: lastingAgain }), nextPoll('car', minute, noon), read);
    });

    for (const failure of [transient, lasting]) {
      it(`by reading the others at their own seconds while the doors cannot be read (${failure.retryable ? 'for now' : 'for good'})`, () => {
        const profile = parked();
        const later = noon + minute;
        profile.failed('doors', failure);
        assert.equal(due(profile, 'windows', later), nextPoll('car', minute, later));
        assert.equal(due(profile, 'engineRunning', later), nextPoll('car', 2 * minute, later));
        const again = noon + 2 * minute;
        profile.saw('doors', doors(true), again);
        assert.equal(
          due(profile, 'windows', again, { lastRead: later }),
          again,
          'nobody knows what happened meanwhile',
        );
        assert.equal(profile.mood(again), 'stirring');
      });
    }

    it('and of reads that say nothing of the car’s state', () => {
      const profile = parked();
      profile.failed('odometer', transient);
      profile.saw('carLocked', engine(false), noon);
      assert.equal(profile.mood(noon), 'resting');
    });
  });

  describe('through a day', () => {
    it('costs the fixed schedule 4,776 requests', () => {
      assert.equal(live(ordinaryDay, 'fixed', 'home').calls, 4_776);
    });

    it('asks at most half as often and notices nothing later, whatever the car’s place in the minute', () => {
      for (let i = 0; i < 20; i += 1) {
        const id = `home ${i}`;
        const fixed = live(ordinaryDay, 'fixed', id);
        const adaptive = live(ordinaryDay, 'adaptive', id);
        assert.ok(adaptive.calls <= fixed.calls / 2, `${adaptive.calls} of ${fixed.calls}`);
        assertPunctual(fixed.notices, adaptive.notices, id);
      }
    });

    it('notices no opened door, unlocked car or window opened after unlocking later on random days', () => {
      for (let seed = 1_000; seed < 1_060; seed += 1) {
        const day = randomDay(seed);
        assertPunctual(
          live(day, 'fixed', `car ${seed}`).notices,
          live(day, 'adaptive', `car ${seed}`).notices,
          `day ${seed}`,
        );
      }
    });

    it('notices none of that later while endpoints fail alone, messages ask beside the polls and the doors are read more seldom', () => {
      for (let seed = 2_000; seed < 2_120; seed += 1) {
        const day = troubledDay(seed);
        assertPunctual(
          live(day, 'fixed', `car ${seed}`).notices,
          live(day, 'adaptive', `car ${seed}`).notices,
          `day ${seed}`,
        );
      }
    });

    const assertPunctual = (
      fixed: ReturnType<typeof live>['notices'],
      adaptive: ReturnType<typeof live>['notices'],
      what: string,
    ): void => {
      fixed.forEach(({ kind, delay, happening }, i) => {
        if (kind === 'engine' || kind === 'closed') return;
        const other = adaptive[i]?.delay ?? Number.POSITIVE_INFINITY;
        assert.ok(
          other <= (delay ?? Number.POSITIVE_INFINITY),
          `${what}: ${happening.what} after ${other} ms, not ${delay} ms`,
        );
      });
    };
  });
});

describe('the moments of a poll', () => {
  it('come once in each interval, always at the same place', () => {
    let at = noon;
    const moments = Array.from({ length: 5 }, () => (at = nextPoll('node', minute, at)));
    for (const [i, moment] of moments.entries()) assert.equal(moment % minute, phaseOf('node', minute), `${i}`);
    assert.deepEqual(
      moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0)),
      [minute, minute, minute, minute],
    );
  });

  it('are spread over the interval for nodes that poll alike', () => {
    const used = new Map<number, number>();
    for (let i = 0; i < 6_000; i += 1) {
      const slot = Math.floor(phaseOf(`${(i * 7_919).toString(16)}.${i}`, minute) / second);
      used.set(slot, (used.get(slot) ?? 0) + 1);
    }
    assert.equal(used.size, 60);
    assert.ok(Math.max(...used.values()) < 200, `${Math.max(...used.values())} in one second`);
  });

  it('meet where one interval divides the other, so that the read is shared', () => {
    const often = new Set<number>();
    for (let at = noon; at < noon + hour;) often.add((at = nextPoll('same', minute, at)));
    for (let at = noon; at < noon + 55 * minute;) assert.ok(often.has((at = nextPoll('same', 5 * minute, at))));
  });

  it('do not come twice because a timer fired a little early', () => {
    const moment = nextPoll('node', minute, noon);
    assert.equal(nextPoll('node', minute, moment - 5), moment + minute);
  });
});

describe('the calls a day', () => {
  it('are those of the fixed schedule for the nodes of the fixed schedule', () => {
    const nodes = requests.map((read) => ({
      vehicle: 'home',
      reads: [read],
      poll: baseIntervals[pollGroupOf(read)] / second,
    }));
    const { fixed, adaptive } = callsPerDay(nodes);
    assert.equal(fixed, 4_776);
    assert.ok(adaptive > 1_900 && adaptive < 2_388, `${adaptive}`);
  });

  it('do not count what the pack keeps itself', () => {
    assert.deepEqual(callsOfRequests([{ vehicle: 'home', reads: ['windows', 'journal'], poll: 60 }]), [
      { read: 'windows', calls: 1_440 },
    ]);
  });

  it('count a request once however many nodes share it', () => {
    const node = { vehicle: 'home', reads: ['windows'] as const, poll: 60 };
    assert.equal(callsPerDay([node, node, { ...node, poll: 300 }]).fixed, 1_440);
    assert.equal(callsPerDay([node, { ...node, poll: 90 }]).fixed, 1_440 + 960);
    assert.equal(callsPerDay([node, { ...node, vehicle: 'work' }]).fixed, 2_880);
  });

  it('count one request for reads that one answer holds', () => {
    const nodes = [{ vehicle: 'home', reads: ['tripMeter1', 'tripMeter2', 'averageSpeed'] as const, poll: 3_600 }];
    assert.equal(callsPerDay(nodes).fixed, 72);
    assert.equal(callsPerDay(nodes, () => 'statistics').fixed, 24);
  });

  it('are none without a poll', () => {
    for (const poll of [0, -5, Number.NaN])
      assert.deepEqual(callsPerDay([{ vehicle: 'home', reads: ['windows'], poll }]), { fixed: 0, adaptive: 0 });
  });
});
