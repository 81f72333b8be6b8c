import { strict as assert } from 'node:assert';
import { createServer, request } from 'node:http';
import { electricCar, type Simulator } from '../support/simulator';
import { readText } from '../package/checkout';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { listen } from '../support/listening';

const type = 'connected-vehicle-condition';

interface Answered {
  condition: { result: boolean | null; conditions: Record<string, unknown>[] };
  text: string;
  error?: { code: string; text: string };
}

describe(type, () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [{ ...electricCar, charger: { connection: 'DISCONNECTED' }, location: { latitude: 57.7, longitude: 11.97 } }],
  });

  const row = (value: string, operator: string, operand: unknown, operandType = 'str') => ({
    value,
    operator,
    operand,
    operandType,
  });
  const load = (config: Record<string, unknown>, vehicle: Record<string, unknown> = {}): Promise<void> => {
    Object.assign(flow, { outputs: [[], [], []], caught: [], completed: [], badges: [] });
    return flow.load({ type, ...config }, customVehicle(service, vehicle), demoCredentials);
  };
  /** What comes out, and of which output. */
  async function check(msg: Record<string, unknown> = {}): Promise<{ port: number; msg: Received; vehicle: Answered }> {
    flow.outputs.forEach((output) => output.splice(0));
    flow.send(msg);
    const port = await flow.until(() => {
      const found = flow.outputs.findIndex((output) => output.length > 0);
      return found >= 0 && found + 1;
    });
    const out = flow.outputs[port - 1]?.[0] ?? assert.fail();
    return { port, msg: out, vehicle: out.vehicle as unknown as Answered };
  }
  const statusText = (): string => flow.badges.at(-1)?.text ?? '';
  const low = row('batteryChargeLevel', '<', 60);
  const unplugged = row('chargerConnectionStatus', 'is', 'DISCONNECTED');

  it('says yes when all conditions are met, with one request for the values of one', async () => {
    await load({ conditions: [low, unplugged] });
    const { port, msg, vehicle } = await check({ payload: { kept: true }, topic: 'evening', question: 1 });
    assert.equal(port, 1);
    assert.equal(service.requests.length, 1);
    const { vehicle: _vehicle, _msgid, ...others } = msg;
    assert.deepEqual(others, { payload: { kept: true }, topic: 'evening', question: 1 });
    const [, example = ''] = /```json\n(.+?)```/s.exec(readText('docs/nodes/condition.md')) ?? [];
    const measuredAt = vehicle.condition.conditions[0]?.['measuredAt'];
    assert.deepEqual({ vehicle }, JSON.parse(example.replaceAll('2026-11-21T17:40:00.000Z', String(measuredAt))));
    assert.ok(Date.parse(String(measuredAt)) <= clock.now());
    assert.match(statusText(), /^yes · \d\d:\d\d$/);
    assert.deepEqual(flow.caught, []);
  });

  it('says no with the deciding condition, and keeps what the message has about the car', async () => {
    await load({ conditions: [row('batteryChargeLevel', '<', 30), unplugged] });
    const { port, vehicle } = await check({ vehicle: { vin: 'kept' } });
    assert.equal(port, 2);
    assert.equal(vehicle.text, 'Battery level: 53 %');
    assert.equal((vehicle as unknown as Record<string, unknown>)['vin'], 'kept');
    assert.match(statusText(), /^no · \d\d:\d\d$/);
  });

  it('is unknown while the car does not report, and never becomes a yes', async () => {
    service.car().set({ windows: { rearRight: 'UNSPECIFIED' } });
    await load({ conditions: [row('windows.rearRight', 'is not', 'open'), low] });
    const { port, vehicle } = await check();
    assert.equal(port, 3);
    assert.equal(vehicle.condition.result, null);
    assert.equal(vehicle.error, undefined);
    assert.equal(vehicle.text, 'Cannot tell. Rear-right window: unknown');
    assert.match(statusText(), /^cannot tell · \d\d:\d\d$/);
  });

  it('is decided by one condition of any, even if others are unknown', async () => {
    service.faults.add({ match: { path: '/energy' }, error: 'not-supported' });
    await load({ match: 'any', conditions: [low, row('doors.locked', 'is', true)] });
    const { port, vehicle } = await check();
    assert.equal(port, 1);
    assert.equal(vehicle.text, 'Lock: locked');
    assert.equal(vehicle.error, undefined);
  });

  it('sends a failure that leaves the answer open to the third output, and to no Catch node', async () => {
    service.faults.add({ match: { path: '/energy' }, error: 'not-supported' });
    await load({ conditions: [low, row('doors.locked', 'is', true)] });
    const { port, vehicle } = await check({ payload: 1 });
    assert.equal(port, 3);
    assert.equal(vehicle.error?.code, 'NOT_SUPPORTED');
    assert.equal(vehicle.text, 'Cannot tell. Battery level: unknown');
    assert.deepEqual(
      vehicle.condition.conditions.map(({ result }) => result),
      [null, true],
    );
    assert.deepEqual(flow.caught, []);
    assert.equal(flow.badges.at(-1)?.fill, 'red');
  });

  it('answers with a failure if every read fails, and with no if one condition is known not to be met', async () => {
    service.faults.add({ match: { path: '/energy' }, error: 'not-supported' });
    await load({ conditions: [low, unplugged] });
    assert.equal((await check()).port, 3);
    await flow.unload();
    await load({ conditions: [low, row('doors.locked', 'is', false)] });
    const { port, vehicle } = await check();
    assert.deepEqual([port, vehicle.text, vehicle.error], [2, 'Lock: locked', undefined]);
  });

  it('knows the places, and names no coordinates in its texts', async () => {
    const home = { name: 'Home', latitude: '57,7', longitude: '11,97', radius: 200 };
    await load({ conditions: [row('location', 'within', home)] });
    const { port, vehicle } = await check();
    assert.deepEqual([port, vehicle.text], [1, 'Position: at Home']);
    assert.doesNotMatch(statusText(), /57|11,9/);
    await flow.unload();
    await load({ conditions: [row('location', 'within', { ...home, latitude: 58 })] });
    const away = await check();
    assert.deepEqual([away.port, away.vehicle.text], [2, 'Position: not at Home']);
  });

  it('takes what a value is compared with from the message', async () => {
    await load({ conditions: [row('batteryChargeLevel', '<', 'limit', 'msg')] });
    assert.equal((await check({ limit: 54 })).port, 1);
    await clock.advance(10_000);
    assert.equal((await check({ limit: '53' })).port, 2);
    for (const limit of [undefined, 'low']) {
      const caught = await flow.fail({ limit });
      assert.equal(caught.vehicle?.error?.['code'], 'INPUT_INVALID', String(limit));
    }
    assert.match(
      String(flow.caught[0]?.vehicle?.error?.['text']),
      /^msg\.limit for “Compared with” of this node has no/,
    );
  });

  it('reads each time, or takes a value that is known for as long as the node allows', async () => {
    for (const [maxAge, requests] of [
      [0, 2],
      [60, 1],
    ]) {
      const before = service.requests.length;
      await load({ conditions: [low], maxAge });
      await check();
      await clock.advance(59_000);
      await check();
      assert.equal(service.requests.length - before, requests, `maxAge ${maxAge}`);
      await flow.unload();
      await clock.advance(120_000);
    }
  });

  it('measures the age of a value', async () => {
    await load({ conditions: [row('odometer', 'older than', 60)] });
    assert.equal((await check()).port, 2);
    await clock.advance(90 * 60_000);
    const { port, vehicle } = await check();
    assert.deepEqual([port, vehicle.text], [1, 'Odometer: 90 min old']);
  });

  it('says whether a state has lasted, with the time of the car or of what was read, also after a redeploy', async () => {
    const lasting = { ...unplugged, forMinutes: 120 };
    const charger = (connection: 'CONNECTED' | 'DISCONNECTED') => service.car().set({ charger: { connection } });
    await load({ conditions: [lasting] });
    // The time of the car is that of its last report.
    const first = await check();
    assert.deepEqual(
      [first.port, first.vehicle.text],
      [3, 'Cannot tell. Charging cable: not plugged in, unknown for how long'],
    );
    await clock.advance(3 * 60 * 60_000);
    const { port, vehicle, msg } = await check();
    assert.deepEqual([port, vehicle.text], [1, 'Charging cable: not plugged in, for at least 3 h']);
    const { forMinutes, since, result } = vehicle.condition.conditions[0] ?? {};
    assert.deepEqual([forMinutes, typeof since, result], [120, 'string', true]);
    assert.equal(msg.payload, undefined);
    charger('CONNECTED');
    await clock.advance(60_000);
    const plugged = await check();
    assert.deepEqual([plugged.port, plugged.vehicle.text], [2, 'Charging cable: plugged in']);
    charger('DISCONNECTED');
    await clock.advance(60_000);
    await flow.unload();
    await load({ conditions: [lasting], payload: 'text' });
    const again = await check();
    assert.deepEqual([again.port, again.msg.payload], [2, 'Charging cable: not plugged in, for less than 2 h']);
    assert.equal(service.requests.length, 4);
  });

  for (const days of [1, -1])
    it(`takes no time from a clock of the service that is ${days} days off`, async () => {
      const wrong = createServer((asked, answer) => {
        const forwarded = request(
          new URL(asked.url ?? '', service.url),
          { headers: { ...asked.headers, host: new URL(service.url).host } },
          (given) => {
            const date = new Date(clock.now() + days * 24 * 60 * 60_000).toUTCString();
            answer.writeHead(given.statusCode ?? 502, { ...given.headers, date });
            given.pipe(answer);
          },
        );
        asked.pipe(forwarded);
      });
      const baseUrl = `http://127.0.0.1:${await listen(wrong)}`;
      const port = async (...conditions: object[]): Promise<number> => {
        await load({ conditions }, { baseUrl });
        const found = (await check()).port;
        await flow.unload();
        return found;
      };
      try {
        const lasting = { ...unplugged, forMinutes: 120 };
        assert.equal(await port(lasting), 3);
        const age = row('chargerConnectionStatus', 'older than', '60');
        assert.deepEqual([await port(age), await port({ ...age, operand: '4320' })], [days > 0 ? 3 : 2, 2]);
        // What was seen by the own clock counts.
        for (let minutes = 0; minutes < 180; minutes += 30) {
          await clock.advance(30 * 60_000);
          assert.equal(await port(lasting), minutes < 90 ? 3 : 1, String(minutes));
        }
      } finally {
        wrong.closeAllConnections();
        wrong.close();
      }
    });

  it('cannot tell how long a value has lasted that it reads for the first time, and needs no time for one that is not met', async () => {
    const over = { ...row('batteryChargeLevel', '>', 'limit', 'msg'), forMinutes: '30' };
    await load({ conditions: [over] });
    assert.equal((await check({ limit: 60 })).port, 2);
    const { port, vehicle } = await check({ limit: 50 });
    assert.deepEqual([port, vehicle.text], [3, 'Cannot tell. Battery level: 53 %, unknown for how long']);
    await flow.unload();
    await load({ conditions: [{ ...over, forMinutes: 20_000 }] });
    const caught = await flow.fail({ limit: 1 });
    assert.equal(caught.vehicle?.error?.['code'], 'CONFIG');
    assert.match(String(caught.vehicle?.error?.['message']), /forMinutes/);
  });

  it('takes 100 conditions, and names the first few in its sentence', async () => {
    const many = Array.from({ length: 100 }, (_, index) => row('batteryChargeLevel', '>', index - 100));
    const doors = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'hood', 'tailGate'];
    await load({ conditions: [...many, ...doors.map((name) => row(`doors.${name}`, 'is', 'closed'))] });
    const { port, vehicle } = await check();
    assert.equal(port, 1);
    assert.equal(service.requests.length, 2);
    assert.match(vehicle.text, /^Battery level: 53 %, Front-left door: closed, .* and 2 more$/);
  });

  const faulty: [title: string, config: Record<string, unknown>, says: RegExp][] = [
    ['no condition', {}, /no condition/],
    ['a value that does not exist', { conditions: [low, row('batteryLevel', '<', 1)] }, /Condition 2 .*“batteryLevel”/],
    ['an event', { conditions: [row('window-opened', 'is', true)] }, /no value/],
    ['an operand of another kind', { conditions: [row('batteryChargeLevel', '<', 'low')] }, /needs a number/],
    ['a place without coordinates', { conditions: [row('location', 'within', { name: 'Home' })] }, /latitude/],
    ['something that is no list', { conditions: 'all' }, /conditions/],
  ];
  for (const [title, config, says] of faulty)
    it(`fails with CONFIG for ${title}, before anything is sent`, async () => {
      await load(config);
      const { vehicle, payload } = await flow.fail({ payload: 'kept' });
      assert.equal(vehicle?.error?.['code'], 'CONFIG');
      assert.match(String(vehicle?.error?.['message']), says);
      assert.equal(payload, 'kept');
      assert.equal(service.requests.length, 0);
      assert.deepEqual(flow.outputs, [[], [], []]);
    });
});
