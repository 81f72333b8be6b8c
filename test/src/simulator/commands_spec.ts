import { strict as assert } from 'node:assert';
import { classicCar, demoCar, type CarChanges } from '../../../src/simulator';
import { Bench, type Reply } from './support';

const detailType = 'application/vnd.vendor.api.connected-vehicle.requestdetailresponse.v1+json';

/**
 * What keeps a car from carrying out a command, and the word for it (docs/internals/service.md 3).
 */
const reasons: [string, CarChanges, string][] = [
  ['asleep', { asleep: true }, 'VEHICLE_IN_SLEEP'],
  ['in power saving mode', { powerSaving: true }, 'VEHICLE_IN_SLEEP'],
  ['without internet', { reachable: false }, 'CONNECTION_FAILURE'],
  ['in use', { inUse: true }, 'REJECTED'],
];

describe('a v1 command to the simulated car', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ cars: [demoCar, classicCar] }));
  afterEach(() => bench.simulator.close());

  const linkOf = (reply: Reply): string => String((reply.body['data'] ?? reply.body)['async']?.['href']);
  const follow = async (link: string): Promise<string> =>
    String((await bench.get(link, { accept: detailType })).body['data']?.['invokeStatus']);

  it('is accepted with a link that moves on to COMPLETED', async () => {
    for (const name of ['lock', 'unlock', 'flash', 'honk', 'honk-flash']) {
      const reply = await bench.postV1(name, name === 'unlock' ? { unlockDuration: 120 } : undefined);
      assert.equal(reply.status, 202);
      assert.equal(
        reply.headers.get('content-type'),
        'application/vnd.vendor.api.connected-vehicle.commandinvokeresponse.v1+json',
      );
      const invocation = bench.simulator.car().invocations.at(-1) ?? assert.fail(name);
      const href = `${bench.simulator.url}/connected-vehicle/v1/vehicles/${bench.vin}/requests/${invocation.id}`;
      const expires = new Date(Date.UTC(2027, 5, 1, 8) + bench.clock.now() - Date.UTC(2026, 5, 1, 8)).toISOString();
      const link = { status: 'RUNNING', id: invocation.id, href, expires };
      assert.deepEqual(reply.body, { data: { status: 202, operationId: invocation.operationId, async: link } });
      const before = bench.simulator.car().performed.length;
      const seen = [await follow(href)];
      await bench.clock.advance(2000);
      seen.push(await follow(href));
      assert.equal(bench.simulator.car().performed.length, before);
      await bench.clock.advance(2000);
      seen.push(await follow(href));
      assert.deepEqual([...seen, bench.simulator.car().performed.at(-1)], ['RUNNING', 'WAITING', 'COMPLETED', name]);
    }
  });

  it('answers the status of a request as docs/internals/vendor-api.md shows', async () => {
    const link = linkOf(await bench.postV1('honk-flash'));
    await bench.clock.advance(4500);
    const reply = await bench.get(link, { accept: detailType });
    assert.equal(reply.headers.get('content-type'), detailType);
    assert.deepEqual(reply.body, {
      data: {
        created: '2026-06-01T08:00:00.000Z',
        updated: '2026-06-01T08:00:04.000Z',
        command: 'HONK_FLASH',
        requestId: link.split('/').at(-1),
        invokeStatus: 'COMPLETED',
        href: link,
      },
    });
    assert.equal((await bench.get(link)).status, 200, 'plain JSON is fine too');
    assert.equal((await bench.get(`${link}0`)).status, 404);
    assert.equal((await bench.get(link.replace(bench.vin, classicCar.vin))).status, 404, 'another car’s request');
  });

  it('ends in the word for what keeps the car from it, and nothing happens', async () => {
    const doors = (['frontLeft', 'rearRight', 'tailGate', 'hood'] as const).flatMap((door) =>
      ['OPEN', 'AJAR'].map((word) => [door, { doors: { [door]: word } }, 'UNABLE_TO_LOCK_DOOR_OPEN'] as const),
    );
    for (const [title, state, word] of [...reasons, ...doors]) {
      await bench.simulator.close();
      await bench.start();
      const car = bench.simulator.car().set({ lock: 'UNLOCKED', ...state });
      const link = linkOf(await bench.postV1('lock'));
      await bench.clock.advance(4000);
      assert.deepEqual([await follow(link), car.state.lock, car.performed.length], [word, 'UNLOCKED', 0], title);
    }
  });

  describe('unlock', () => {
    const unlock = async (unlockDuration: unknown) => bench.postV1('unlock', { unlockDuration });

    it('releases the tailgate only; opening it in time unlocks the other doors', async () => {
      const car = bench.simulator.car();
      assert.equal(car.openTailgate(), false, 'a locked tailgate does not open');
      const link = linkOf(await unlock(30));
      await bench.clock.advance(4000);
      assert.equal(await follow(link), 'COMPLETED');
      assert.equal(car.state.lock, 'LOCKED');
      await bench.clock.advance(29_999);
      assert.equal(car.openTailgate(), true);
      assert.equal(car.state.lock, 'UNLOCKED');
      await bench.clock.advance(60_000);
      assert.equal(await follow(link), 'COMPLETED');
      const { data } = (await bench.getV1('/connected-vehicle/v1/vehicles/{vin}/doors')).body;
      assert.deepEqual([data?.['carLocked']?.['value'], data?.['tailGate']?.['value']], ['UNLOCKED', 'OPEN']);
    });

    it('ends in UNLOCK_TIME_FRAME_PASSED if nobody opens the tailgate in time', async () => {
      const car = bench.simulator.car();
      const link = linkOf(await unlock(30));
      await bench.clock.advance(33_999);
      assert.equal(await follow(link), 'COMPLETED');
      await bench.clock.advance(1);
      assert.equal(await follow(link), 'UNLOCK_TIME_FRAME_PASSED');
      assert.equal((await bench.get(link)).body['data']?.['updated'], '2026-06-01T08:00:34.000Z');
      assert.equal(car.openTailgate(), false);
      assert.equal(car.state.lock, 'LOCKED');
    });

    it('takes whole seconds from 0 to 120 and nothing else', async () => {
      for (const good of [0, 1, 120]) assert.equal((await unlock(good)).status, 202, String(good));
      for (const bad of [-1, 121, 1.5, '60', null, undefined])
        assert.equal((await unlock(bad)).status, 422, String(bad));
      assert.equal((await bench.postV1('unlock')).status, 400);
      assert.equal((await bench.postV1('unlock', '{')).status, 400);
      assert.equal((await bench.postV1('unlock', [])).status, 422);
      assert.equal(bench.simulator.car().invocations.length, 3);
    });
  });
});

describe('a v2 command to the simulated car', () => {
  const bench = new Bench();
  const start = (dialect: 'plain' | 'real') => bench.start({ dialect, cars: [demoCar, classicCar] });
  afterEach(() => bench.simulator.close());

  for (const dialect of ['plain', 'real'] as const) {
    it(`ends in the word for what keeps the car from it (${dialect})`, async () => {
      for (const [title, state, word] of reasons) {
        await start(dialect);
        bench.simulator.car().set({ lock: 'UNLOCKED', ...state });
        const reply = await bench.postV2('lock');
        if (dialect === 'real' && word === 'REJECTED') {
          assert.equal(reply.status, 503);
          assert.deepEqual(reply.body, {
            error: { message: 'SERVICE_UNAVAILABLE', description: 'Not allowed, car is in use or asleep' },
          });
        } else assert.equal(reply.body['data']?.['invokeStatus'], word, title);
        assert.equal(bench.simulator.car().state.lock, 'UNLOCKED', title);
        await bench.simulator.close();
      }
      await start(dialect);
    });
  }
});
