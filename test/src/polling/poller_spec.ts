import { strict as assert } from 'node:assert';
import { isReadName, services, type AnyReadName, type Clock, type ReadName, type DuePoll } from '../../../src/index';
import { callsOfRequests } from '../../../src/polling/calls';
import { requestNameOf, type ApiName } from '../../../src/catalogue/reads';
import { Poller, type PollerOptions, type PollerUser, type ReadsQuota } from '../../../src/polling/poller';
import type { PolledFailure } from '../../../src/polling/profile';
import type { SentRequests } from '../../../src/polling/slowdown';
import { ManualClock } from '../../support/manual-clock';

const second = 1_000;
const minute = 60 * second;
const vin = 'YV4952NA4F120DEMO';

/** What the car looks like to each read, unless a test sets it. */
const parked: Partial<
  Record<ReadName, { payload: unknown; vehicle: { locked?: boolean; open?: string[]; unknown?: string[] } }>
> = {
  doors: { payload: { state: 'closed' }, vehicle: { locked: true, open: [], unknown: [] } },
  windows: { payload: { state: 'closed' }, vehicle: { open: [], unknown: [] } },
  engineRunning: { payload: { value: false }, vehicle: {} },
};

describe('the poller of an account', () => {
  let clock: ManualClock;
  let poller: Poller;
  /** Who was called back when, and with what. */
  let polls: { name: string; at: number; due: readonly AnyReadName[] }[];
  let car: typeof parked;

  beforeEach(() => {
    clock = new ManualClock('2026-06-01T12:00:00Z');
    polls = [];
    car = { ...parked };
    failing = {};
  });
  afterEach(() => {
    poller.close();
    assert.equal(clock.sleeping, 0);
  });

  /** Requests of the last day, spread over it. */
  const spread = (count: number): SentRequests =>
    Array.from({ length: 24 }, (_, i) => [(24 - i) * 60 * minute, count / 24]);
  const quota = (used: Partial<Record<ApiName, number>> = {}, perDay = 9_600): ReadsQuota => ({
    sent: (api) => spread(used[api] ?? 0),
    perDay,
    perMinute: 96,
  });
  const open = (changes: Partial<PollerOptions> = {}): void => {
    poller = new Poller({
      id: 'account',
      adaptive: false,
      availableInterfaces: services['volvo-cars'].availableInterfaces,
      quota: () => quota(),
      shareForMs: 5 * second,
      clock,
      ...changes,
    });
  };
  /** What fails, and how. */
  let failing: Partial<Record<ReadName, PolledFailure>>;
  const ask = (name: string, whose: string, { reads, failed }: DuePoll): void => {
    polls.push({ name, at: clock.now(), due: reads });
    for (const read of reads) {
      if (!isReadName(read)) continue;
      const failure = failing[read];
      if (failure === undefined) poller.observe(read, whose, car[read] ?? { payload: { value: 1 }, vehicle: {} });
      else failed(read, failure);
    }
  };
  /** A node that polls and is answered at once. */
  const node = (
    name: string,
    reads: readonly AnyReadName[],
    everyMs: number,
    whose = vin,
    more: Partial<PollerUser> = {},
  ): (() => void) => poller.start({ vin: whose, reads, everyMs, ...more }, (due) => ask(name, whose, due));
  const timesOf = (name: string): number[] => polls.filter((poll) => poll.name === name).map(({ at }) => at);
  const within = (name: string, from: number): number => timesOf(name).filter((at) => at >= from).length;

  it('calls back soon, and then at its interval', async () => {
    open();
    node('doors', ['doors'], minute);
    await clock.advance(10 * second);
    assert.equal(timesOf('doors').length, 1);
    await clock.advance(10 * minute);
    assert.equal(timesOf('doors').length, 11);
    const gaps = timesOf('doors')
      .slice(2)
      .map((at, i) => at - (timesOf('doors')[i + 1] ?? 0));
    assert.ok(
      gaps.every((gap) => gap === minute),
      gaps.join(),
    );
  });

  it('polls for all nodes of a car at the same moments, so that they share requests, and for other cars at others', async () => {
    open();
    node('doors', ['doors'], minute);
    // On a service without the extended interface, the doors' own group has it.
    node('hood', ['hoodOpen'], minute);
    node('every other time', ['doors'], 2 * minute);
    node('windows', ['windows'], minute);
    node('other car', ['doors'], minute, 'YV4952NA4F120TEST');
    await clock.advance(20 * minute);
    assert.deepEqual(timesOf('hood'), timesOf('doors'));
    assert.ok(
      timesOf('every other time')
        .slice(1)
        .every((at) => timesOf('doors').includes(at)),
    );
    assert.deepEqual(timesOf('windows'), timesOf('doors'));
    assert.ok(!timesOf('other car').some((at) => timesOf('doors').includes(at)));
  });

  for (const [what, nodes] of [
    [
      'lists that differ',
      [
        [['doors'], 300],
        [['doors', 'windows'], 300],
        [['doors', 'fuelAmount'], 600],
      ],
    ],
    [
      'a guard beside status nodes',
      [
        [['windows', 'doors', 'accessibility'], 120],
        [['windows'], 120],
        [['doors'], 60],
      ],
    ],
    [
      'two interfaces',
      [
        [['doors'], 300],
        [['doors'], 300, 'v1'],
      ],
    ],
    [
      'resources of one group',
      [
        [['tripMeter1', 'tripMeter2'], 600],
        [['averageSpeed'], 600],
        [['odometer'], 3_600],
      ],
    ],
  ] as const) {
    for (const adaptive of what === 'a guard beside status nodes' ? [false, true] : [false]) {
      it(`sends in a day what the sum says: ${what} (${adaptive ? 'adaptive, a car that is never parked' : 'fixed'})`, async () => {
        open({ adaptive });
        const sent = new Map<string, Set<number>>();
        const { availableInterfaces } = services['volvo-cars'];
        const nameOf = (read: AnyReadName, iface?: string): string =>
          (isReadName(read) ? requestNameOf(read, availableInterfaces) : read) + (iface === 'v1' ? ' v1' : '');
        for (const [reads, seconds, iface] of nodes as readonly (readonly [readonly ReadName[], number, 'v1'?])[]) {
          poller.start({ vin, reads, everyMs: seconds * second, interface: iface ?? 'auto' }, (due) => {
            for (const read of due.reads) {
              const name = nameOf(read, iface);
              sent.set(name, (sent.get(name) ?? new Set()).add(clock.now()));
              // Unlocked: a parked car costs less.
              if (isReadName(read))
                poller.observe(read, vin, {
                  payload: { value: null },
                  vehicle: { locked: false, open: [], unknown: [] },
                });
            }
          });
        }
        await clock.advance(60 * minute);
        for (const moments of sent.values()) moments.clear();
        await clock.advance(24 * 60 * minute);
        const sum = callsOfRequests(
          nodes.map(([reads, poll, iface]) => ({ vehicle: vin, reads, poll, interface: iface })),
          nameOf,
        );
        for (const { read, calls } of sum) {
          const { size } = sent.get(nameOf(read)) ?? new Set();
          if (what !== 'two interfaces') assert.ok(Math.abs(size - calls) <= 1, `${read}: ${size}, not ${calls}`);
        }
        const total = [...sent.values()].reduce((all, { size }) => all + size, 0);
        const told = sum.reduce((all, { calls }) => all + calls, 0);
        assert.ok(Math.abs(total - told) <= sum.length, `${total}, not ${told}`);
      });
    }
  }

  it('accepts no shared answer that is as old as the last poll', async () => {
    const ages: number[] = [];
    const poll = ({ maxAgeMs }: DuePoll): void => void ages.push(maxAgeMs);
    open({ shareForMs: 30 * second });
    poller.start({ vin, reads: ['doors'], everyMs: 10 * second }, poll);
    poller.start({ vin, reads: ['windows'], everyMs: 10 * minute }, poll);
    await clock.advance(10 * second);
    assert.deepEqual(
      ages.sort((a, b) => a - b),
      [2.5 * second, 30 * second],
    );
  });

  for (const adaptive of [false, true]) {
    it(`continues when the clock is set back (${adaptive ? 'adaptive' : 'fixed'})`, async () => {
      const machine = clock;
      let ahead = 3 * 60 * minute;
      const wrong: Clock = {
        now: () => machine.now() + ahead,
        monotonic: () => machine.monotonic(),
        uptime: () => machine.uptime(),
        after: (ms, callback) => machine.after(ms, callback),
        sleep: (ms, signal) => machine.sleep(ms, signal),
      };
      open({ adaptive, clock: wrong });
      node('doors', ['doors'], minute);
      node('windows', ['windows'], minute);
      await clock.advance(10 * minute + 30 * second);
      ahead = 0;
      const from = clock.now();
      await clock.advance(30 * minute);
      assert.ok(within('doors', from) >= 29, `${within('doors', from)}`);
      assert.ok(within('windows', from) >= 1);
    });
  }

  it('reads less often what keeps failing alone, at most every five minutes, but doors and windows at their interval', async () => {
    open();
    node('doors', ['doors'], minute);
    node('windows', ['windows'], minute);
    node('odometer', ['odometer'], minute);
    failing = { windows: { retryable: true, retryAt: null }, odometer: { retryable: true, retryAt: null } };
    await clock.advance(60 * minute);
    const polled = timesOf('odometer');
    const gaps = polled.slice(1).map((at, i) => Math.round((at - (polled[i] ?? 0)) / minute));
    assert.deepEqual(gaps, [...gaps].sort(), 'ever longer');
    assert.equal(gaps.at(-1), 5);
    assert.deepEqual(
      ['doors', 'windows', 'odometer'].map((name) => within(name, clock.now() - 30 * minute)),
      [30, 30, 6],
    );
    const recovery = clock.now();
    failing = {};
    await clock.advance(minute);
    assert.equal(within('odometer', recovery), 1, 'the windows are answered again');
  });

  describe('with the adaptive profile', () => {
    beforeEach(() => open({ adaptive: true }));

    it('asks a parked car for its doors as usual, and for the rest rarely', async () => {
      node('doors', ['doors'], minute);
      node('windows', ['windows'], minute);
      node('engine', ['engineRunning'], 2 * minute);
      await clock.advance(60 * minute);
      const from = clock.now();
      await clock.advance(60 * minute);
      assert.equal(within('doors', from), 60);
      assert.ok(within('windows', from) <= 3, `${within('windows', from)}`);
      assert.ok(within('engine', from) <= 7, `${within('engine', from)}`);
    });

    for (const [what, reads, flip, most] of [
      [
        'the windows',
        ['windows'],
        (i: number) => ({ payload: i, vehicle: { open: i % 2 === 0 ? ['rearLeft'] : [], unknown: [] } }),
        13,
      ],
      ['the engine', ['engineRunning'], (i: number) => ({ payload: { value: i % 2 === 0 }, vehicle: {} }), 13],
      ['the odometer', ['odometer'], (i: number) => ({ payload: { value: i }, vehicle: {} }), 13],
      [
        'windows and engine',
        ['windows', 'engineRunning'],
        (i: number) => ({
          payload: { value: i % 2 === 0 },
          vehicle: { open: i % 2 === 0 ? ['rearLeft'] : [], unknown: [] },
        }),
        2 * 60,
      ],
    ] as const) {
      it(`keeps to the interval of a node if each answer differs from the last one: ${what}`, async () => {
        let requests = 0;
        const poll = (due: DuePoll): void => {
          for (const read of due.reads) {
            const answer = flip((requests += 1));
            clock.after(200, () => isReadName(read) && poller.observe(read, vin, answer));
          }
        };
        for (const read of reads) poller.start({ vin, reads: [read], everyMs: 5 * minute }, poll);
        await clock.advance(60 * minute);
        poller.close();
        await clock.advance(second);
        assert.ok(requests >= 12 && requests <= most, `${requests} requests`);
      });
    }

    it('asks for the windows at once when the doors show a sign of life', async () => {
      node('doors', ['doors'], minute);
      node('windows', ['windows'], minute);
      node('engine', ['engineRunning'], 2 * minute);
      await clock.advance(60 * minute);
      car['doors'] = { payload: { state: 'open' }, vehicle: { locked: false, open: ['frontLeft'], unknown: [] } };
      await clock.advance(minute);
      const seen = timesOf('doors').at(-1) ?? 0;
      assert.equal(timesOf('windows').at(-1), seen);
      assert.equal(timesOf('engine').at(-1), seen);
      const order = polls.filter(({ at }) => at === seen).map(({ name }) => name);
      assert.equal(order[0], 'doors');
    });

    it('accepts after a command no shared answer that is as old as the last poll', async () => {
      const polled: { at: number; maxAgeMs: number }[] = [];
      poller.start({ vin, reads: ['doors'], everyMs: 10 * second }, (due) => {
        polled.push({ at: clock.now(), maxAgeMs: due.maxAgeMs });
        ask('doors', vin, due);
      });
      await clock.advance(10 * minute);
      poller.commandSent(vin);
      const from = polled.length;
      await clock.advance(minute);
      const gaps = polled
        .slice(from + 1)
        .map(({ at, maxAgeMs }, i) => ({ gap: at - (polled[from + i]?.at ?? 0), maxAgeMs }));
      assert.ok(Math.min(...gaps.map(({ gap }) => gap)) < 10 * second, 'more often than before the command');
      for (const { gap, maxAgeMs } of gaps) assert.ok(maxAgeMs < gap, `${maxAgeMs} ms of ${gap} ms`);
    });

    for (const [what, cars, perDay, longest] of [
      ['eight cars on 10,000 requests a day', 8, 9_600, 4 * minute],
      ['one car on 1,000', 1, 960, 4 * minute],
    ] as const) {
      it(`spreads what is left of the day: the doors of ${what} every minute`, async () => {
        poller.close();
        const sent: number[] = [];
        const day = 24 * 60 * minute;
        let over = 0;
        const used = (): number => {
          while ((sent[over] ?? clock.now()) <= clock.now() - day) over += 1;
          return sent.length - over;
        };
        let refused = 0;
        const sentSoFar = (): SentRequests => sent.slice(over).map((at) => [clock.now() - at, 1]);
        open({
          adaptive: true,
          quota: () => ({
            ...quota({}, perDay),
            sent: (api) => (api === 'connected' && used() > 0 ? sentSoFar() : []),
          }),
        });
        for (let i = 0; i < cars; i += 1) {
          const whose = `YV4952NA4F120${1000 + i}`;
          poller.start({ vin: whose, reads: ['doors'], everyMs: minute }, (due) => {
            if (used() >= perDay) return void (refused += 1);
            sent.push(clock.now());
            ask(whose, whose, due);
          });
        }
        await clock.advance(3 * day);
        const times = timesOf('YV4952NA4F1201000');
        const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
        assert.equal(refused, 0);
        assert.ok(Math.max(...gaps) <= longest, `${Math.max(...gaps) / minute} min`);
        assert.ok(polls.filter(({ at }) => at > clock.now() - day).length > perDay * 0.8);
      }).timeout(60_000);
    }

    /**
     * Polls the doors of one car and the charging of 40 cars.
     * @returns the begin of the hour that has passed last
     */
    const pollManyChargingCars = async (used: Parameters<typeof quota>[0]): Promise<number> => {
      poller.close();
      open({ adaptive: true, quota: () => quota(used) });
      node('doors', ['doors'], minute);
      for (let i = 0; i < 40; i += 1) node(`charging ${i}`, ['charging'], minute / 5, `YV4952NA4F120${1000 + i}`);
      await clock.advance(30 * minute);
      const from = clock.now();
      await clock.advance(60 * minute);
      return from;
    };

    it('slows the readings of charging, and no other read, if their own quota does not last', async () => {
      const from = await pollManyChargingCars({ energy: 9_000 });
      assert.equal(within('doors', from), 60);
      assert.ok(within('charging 0', from) < 60 / 2, `${within('charging 0', from)} readings`);
    });
  });
});
