import { strict as assert } from 'node:assert';
import { startSimulator, electricCar, type Simulator } from '../../support/simulator';
import { ManualClock } from '../../support/manual-clock';
import { answerProblems, requestProblems } from '../../support/openapi';
import { clickCar, parseClick, viewOf } from '../../../src/simulator';

const id = electricCar.wallbox;
const now = Date.parse('2026-11-23T08:00:00Z');
const hour = 60 * 60_000;

interface Session {
  start: string;
  end: string | null;
  chargedEnergy: number;
}

describe('The simulated wallbox', () => {
  let simulator: Simulator;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock(now);
    simulator = await startSimulator({ clock, dialect: 'real', open: true, cars: [electricCar] });
  });
  afterEach(() => simulator.close());

  /** A request that follows the OpenAPI document of the vendor, and its answer, which also does. */
  const ask = async (method: string, path: string, body = ''): Promise<{ status: number; body: unknown }> => {
    const address = `/energy-device/v1/wallbox/${id}/${path}`;
    assert.deepEqual(requestProblems(method, address, body), []);
    const response = await fetch(simulator.url + address, {
      method,
      headers: {
        authorization: 'Bearer demo-token',
        'vendor-api-key': 'demo-key',
        accept: 'application/json',
        'content-type': 'application/json',
      },
      ...(body !== '' && { body }),
    });
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    assert.deepEqual(answerProblems(method, address.split('?')[0] ?? '', response.status, answer), []);
    return { status: response.status, body: answer };
  };
  const sessions = async (): Promise<Session[]> => {
    const [start, end] = [now - 31 * 24 * hour, now + 24 * hour].map((at) => new Date(at).toISOString());
    return (await ask('GET', `chargingsessions?start=${start}&end=${end}`)).body as Session[];
  };
  const post = (path: string, body?: string): Promise<{ status: number; body: unknown }> => ask('POST', path, body);

  it('has an open session while its car charges, with the energy that the battery got', async () => {
    const before = await sessions();
    assert.deepEqual(
      before.map(({ end }) => end === null),
      [false, false, true],
    );
    await clock.advance(hour);
    const [, , open] = await sessions();
    // 11 kW in whole percents of 78 kWh.
    assert.ok(open !== undefined && open.chargedEnergy > 10 && open.chargedEnergy <= 11, String(open?.chargedEnergy));
  });

  it('ends the session when it pauses and begins another one when it starts', async () => {
    await clock.advance(hour);
    assert.deepEqual(await post('pause'), { status: 200, body: { value: 'Paused' } });
    assert.equal((await sessions()).at(-1)?.end, new Date(now + hour).toISOString());
    assert.equal(viewOf(simulator.car()).wallbox, false);
    await clock.advance(hour);
    assert.deepEqual(await post('start'), { status: 200, body: { value: 'Charging' } });
    const all = await sessions();
    assert.deepEqual(
      [all.length, all.at(-1)?.start, all.at(-1)?.end],
      [4, new Date(now + 2 * hour).toISOString(), null],
    );
  });

  it('limits the car, and follows a schedule', async () => {
    assert.equal((await post('setChargingAmpLimit?limit=6')).status, 202);
    assert.equal(simulator.car().state.battery.currentLimit, 6);
    const schedule = {
      start: new Date(now + hour).toISOString(),
      periods: [
        { $type: 'AmperePeriod', ampere: 0, duration: '01:00:00' },
        { $type: 'WattPeriod', watt: 6_900, duration: '1.00:00:00' },
      ],
      scheduleId: null,
    };
    assert.equal((await post('chargingSchedule', JSON.stringify(schedule))).status, 202);
    await clock.advance(hour);
    assert.equal(simulator.car().state.charger.hasPower, false);
    await clock.advance(hour);
    assert.deepEqual([simulator.car().state.charger.hasPower, simulator.car().state.battery.currentLimit], [true, 10]);
  });

  it('can do nothing without a car at its plug', async () => {
    simulator.car().set({ charger: { connection: 'DISCONNECTED' } });
    for (const command of ['start', 'pause']) {
      const { status, body } = await post(command);
      assert.deepEqual([status, (body as { code: string }).code], [409, 'WALLBOX_INCORRECT_STATUS']);
    }
  });

  it('is clicked, and gives each of the five errors once', async () => {
    clickCar(simulator.car(), simulator.demoFaults, parseClick({ part: 'wallbox', to: false }));
    assert.equal((await sessions()).at(-1)?.end, new Date(now).toISOString());
    for (const [name, code] of [
      ['wallboxOffline', 'WALLBOX_OFFLINE'],
      ['wallboxStatus', 'WALLBOX_INCORRECT_STATUS'],
      ['wallboxCooldown', 'WALLBOX_IN_COOLDOWN'],
      ['wallboxUnsupported', 'NOT_SUPPORTED_BY_WALLBOX'],
      ['wallboxError', 'UNKNOWN_ERROR'],
    ] as const) {
      clickCar(simulator.car(), simulator.demoFaults, parseClick({ part: 'fault', name }));
      assert.equal(((await post('start')).body as { code: string }).code, code);
    }
    assert.equal((await post('start')).status, 200);
  });

  it('belongs to one car: another id is not found', async () => {
    simulator.car().set({ wallbox: null });
    assert.equal((await post('start')).status, 404);
  });
});
