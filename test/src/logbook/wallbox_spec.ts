import { strict as assert } from 'node:assert';
import { MemoryStateStore } from '../../../src/index';
import { Logbook } from '../../../src/logbook/logbook';
import type { LogRecord } from '../../../src/logbook/record';
import { parseTariff } from '../../../src/logbook/tariff';
import { ManualClock } from '../../support/manual-clock';

const vin = 'YV1WALLBOXLOG0001';
const start = Date.UTC(2026, 10, 26, 12);
const iso = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
const session = (from: number, to: number | null, kWh: number | null) => ({
  id: 's',
  start: iso(from),
  end: to === null ? null : iso(to),
  open: to === null,
  kWh,
  connector: 1,
  token: null as string | null,
});
type Sessions = readonly ReturnType<typeof session>[];

describe('A charge at a wallbox', () => {
  /** A car of 80 kWh charges from 50 to 60 percent, 8 kWh, from minute 10 to 60. */
  async function chargesOf(
    sessions: Sessions,
    again = false,
    capacity: number | null = 80,
    /** The level that is read after the end; null: that of the end. */
    after: number | null = null,
  ): Promise<LogRecord[]> {
    const store = new MemoryStateStore();
    const clock = new ManualClock(start);
    const logbook = new Logbook({ store, clock });
    const tariff = parseTariff({ perKWh: 0.5, currency: 'EUR' });
    const read = (
      minute: number,
      name: 'details' | 'charging' | 'chargingStatus' | 'wallboxSessions',
      payload: unknown,
    ): void => {
      clock.setTime(start + minute * 60_000);
      const vehicle = {
        vin,
        read: name,
        interface: null,
        receivedAt: iso(minute),
        measuredAt: null,
        source: 'live',
      } as const;
      logbook.observe(name, vin, { payload, vehicle }, { skewMs: 0, tariff: () => Promise.resolve(tariff) });
    };
    const battery = (minute: number, level: number, status: string): void =>
      read(minute, 'charging', {
        chargingStatus: { value: status },
        batteryChargeLevel: { value: level, unit: 'percent' },
      });
    read(0, 'details', { batteryCapacityKWH: capacity });
    battery(8, 50, 'IDLE');
    battery(10, 50, 'CHARGING');
    if (after === null) battery(60, 60, 'IDLE');
    else {
      battery(59, 60, 'CHARGING');
      read(60, 'chargingStatus', { value: 'IDLE' });
      read(61, 'wallboxSessions', sessions);
      battery(70, after, 'IDLE');
      return (await logbook.records(vin)).charges;
    }
    if (again)
      for (const [minute, level, status] of [
        [70, 60, 'CHARGING'],
        [90, 65, 'IDLE'],
      ] as const)
        battery(minute, level, status);
    read(100, 'wallboxSessions', sessions);
    await logbook.flush();
    assert.deepEqual(await new Logbook({ store, clock }).records(vin), await logbook.records(vin));
    return (await logbook.records(vin)).charges;
  }

  const measured = async (sessions: Sessions, again = false): Promise<unknown[]> =>
    (await chargesOf(sessions, again)).map(({ kWh, cost, sources }) => [kWh, cost?.amount, sources['kWh']]);
  const ofLevel = [8, 4, 'level-gross'];

  it('has the energy that the wallbox has measured, and its cost', async () =>
    assert.deepEqual(await measured([session(9, 61, 9.1), session(-500, -400, 30)]), [[9.1, 4.55, 'wallbox']]));

  const others: [what: string, sessions: Sessions][] = [
    ['is open', [session(9, null, 9.1)]],
    ['is at another time', [session(61, 90, 9.1)]],
    ['gives too much for the rise of the level: another car', [session(9, 61, 15)]],
    ['gives too little: another car', [session(9, 61, 4)]],
    ['has no energy', [session(9, 61, null)]],
    ['is one of two at the same time', [session(9, 30, 4.5), session(31, 61, 4.6)]],
  ];
  for (const [what, sessions] of others)
    it(`keeps its own energy if the session ${what}`, async () =>
      assert.deepEqual(await measured(sessions), [ofLevel]));

  it('has the energy of its session although an earlier one never ended', async () =>
    assert.deepEqual(await measured([session(9, 61, 9.1), session(-6_000, null, 3)]), [[9.1, 4.55, 'wallbox']]));

  it('has the energy of its own session, and not that of another driver before, at the same time or after', async () => {
    const of = (token: string, ...[from, to, kWh]: Parameters<typeof session>) => ({
      ...session(from, to, kWh),
      token,
    });
    const mine = of('mine', 9, 61, 9.1);
    const others = [of('other', -60, 5, 8), of('other', 61, 99, 8)];
    assert.deepEqual(await measured([mine, ...others]), [[9.1, 4.55, 'wallbox']]);
    assert.deepEqual(await measured(others), [ofLevel]);
    // No source documents which token belongs to the car.
    assert.deepEqual(await measured([mine, { ...of('other', 20, 50, 8), connector: 2 }]), [ofLevel]);
  });

  it('keeps its own energy if the session that never ended can be that of another connector, or of its first part', async () => {
    const stuck = session(-6_000, null, 3);
    assert.deepEqual(await measured([session(9, 61, 9.1), { ...stuck, connector: 2 }]), [ofLevel]);
    assert.deepEqual(await measured([session(30, 61, 9.1), stuck]), [ofLevel]);
  });

  it('keeps its own energy if a session is that of two charges', async () =>
    assert.deepEqual((await measured([session(9, 95, 9.1)], true)).at(-1), ofLevel));

  it('keeps it when the level of the end is read later, as long as it fits', async () => {
    const kWhAfter = async (level: number): Promise<unknown[]> => {
      const [charge] = await chargesOf([session(9, 61, 9.1)], false, 80, level);
      return [charge?.batteryTo, charge?.kWh, charge?.cost?.amount, charge?.sources['kWh']];
    };
    assert.deepEqual(await kWhAfter(61), [61, 9.1, 4.55, 'wallbox']);
    assert.deepEqual(await kWhAfter(75), [75, 20, 10, 'level-gross']);
  });

  it('is not guessed if the capacity is not known', async () => {
    const [charge] = await chargesOf([session(9, 61, 9.1)], false, null);
    assert.deepEqual([charge?.kWh, charge?.reasons['kWh']], [null, 'NO_CAPACITY']);
  });
});
