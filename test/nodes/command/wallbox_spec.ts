import { strict as assert } from 'node:assert';
import { electricCar, type Simulator } from '../../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../../support/flow';
import type { ManualClock } from '../../support/manual-clock';
import { requestProblems } from '../../support/openapi';

const id = electricCar.wallbox;
const hour = 60 * 60_000;

describe('a command of a wallbox', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), { cars: [electricCar], dialect: 'real' });
  afterEach(() => {
    for (const { method, path, body } of boxPosts()) assert.deepEqual(requestProblems(method, path, body), []);
  });

  const load = (config: Record<string, unknown> = {}, vehicle: Record<string, unknown> = {}): Promise<void> =>
    flow.load(
      { type: 'connected-vehicle-command', command: '', wires: [['watch', 'out1']], ...config },
      { ...customVehicle(service), wallbox: id, ...vehicle },
      demoCredentials,
      [{ id: 'watch', z: 'tab', type: 'connected-vehicle-command-status', vehicle: 'v', wires: [['out0'], []] }],
    );
  const boxPosts = () => service.requests.filter(({ method, path }) => method === 'POST' && path.includes('/wallbox/'));
  /** What the command node sent, or what its Catch node got. */
  const send = async (msg: Record<string, unknown>): Promise<Received> => {
    const [sent, caught] = [flow.outputs[1]?.length ?? 0, flow.caught.length];
    flow.send(msg);
    const next = (): Received | undefined => flow.outputs[1]?.[sent] ?? flow.caught[caught];
    await clock.advanceUntil(() => next() !== undefined);
    return next() ?? assert.fail();
  };
  const recordOf = async (msg: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await send(msg)).payload as Record<string, unknown>;
  const failureOf = async (msg: Record<string, unknown>): Promise<{ code: unknown; message: string }> => {
    const { code, message } = (await send(msg)).vehicle?.error ?? assert.fail('it was sent');
    return { code, message: String(message) };
  };
  const result = async (): Promise<Record<string, unknown>> => {
    await clock.advanceUntil(() => flow.outputs[0]?.length === 1);
    return flow.outputs[0]?.[0]?.payload as Record<string, unknown>;
  };

  it('is accepted by any success, and names its wallbox', async () => {
    await load();
    for (const msg of [
      { command: 'wallbox-pause' },
      { command: ' WALLBOX_START ' },
      { command: 'wallbox-limit', ampere: 10 },
      { command: 'wallbox-schedule', schedule: [{ from: '22:00', to: '06:00', ampere: 16 }] },
    ]) {
      const { outcome, requestStatus, wallbox, interface: iface, vin, message } = await recordOf(msg);
      assert.deepEqual(
        [outcome, requestStatus, wallbox, iface, vin],
        ['succeeded', 'ACCEPTED', id, 'energy-device-v1', electricCar.vin],
      );
      assert.match(String(message), /whether the wallbox acted/);
    }
    assert.deepEqual(
      boxPosts().map(({ path }) => path.split('/').at(-1)),
      ['pause', 'start', 'setChargingAmpLimit?limit=10', 'chargingSchedule'],
    );
  });

  it('changes the current of the car, also from a source of the node', async () => {
    await load({ command: 'wallbox-limit', ampere: 'payload', ampereType: 'msg' });
    await recordOf({ payload: 13 });
    assert.equal(service.car().state.battery.currentLimit, 13);
    assert.equal((await failureOf({ payload: '' })).code, 'INPUT_INVALID');
    await recordOf({ ampere: '6.5' });
    assert.equal(service.car().state.battery.currentLimit, 6.5);
  });

  it('is a schedule of the node, whose gaps pause', async () => {
    const from = new Date(clock.now() + hour).toISOString();
    const to = clock.now() + 2 * hour;
    await load({
      command: 'wallbox-schedule',
      schedule: JSON.stringify([
        { from: to + hour, to: to + 25 * hour + 1_000, watt: 6_900 },
        { from, to, ampere: 16 },
      ]),
    });
    await recordOf({});
    assert.deepEqual(JSON.parse(boxPosts()[0]?.body ?? ''), {
      start: from,
      periods: [
        { $type: 'AmperePeriod', ampere: 16, duration: '01:00:00' },
        { $type: 'AmperePeriod', ampere: 0, duration: '01:00:00' },
        { $type: 'WattPeriod', watt: 6_900, duration: '1.00:00:01' },
      ],
      scheduleId: null,
    });
  });

  it('keeps the beginning of a time of day that has begun', async () => {
    const today = new Date(clock.now());
    const at = (hours: number): number =>
      new Date(today.getFullYear(), today.getMonth(), today.getDate(), hours).getTime();
    await clock.advance(at(23) - clock.now());
    await load();
    await recordOf({ command: 'wallbox-schedule', schedule: [{ from: '22:00', to: '6:00', ampere: 16 }] });
    const { start } = JSON.parse(boxPosts()[0]?.body ?? '') as { start: string };
    assert.equal(Date.parse(start), at(22));
  });

  for (const [word, [error, outcome, words]] of Object.entries({
    WALLBOX_OFFLINE: ['wallbox-offline', 'failed', /offline.*try again when it is back/],
    WALLBOX_INCORRECT_STATUS: ['wallbox-status', 'failed', /current state.*plugged in, and try again/],
    WALLBOX_IN_COOLDOWN: ['wallbox-cooldown', 'failed', /pauses after a command\. Try again in a few minutes/],
    NOT_SUPPORTED_BY_WALLBOX: ['wallbox-unsupported', 'failed', /does not offer/],
    UNKNOWN_ERROR: ['wallbox-error', 'undetermined', /does not name\. Check the wallbox/],
  } as const))
    it(`is ${outcome} by ${word}, and sent once`, async () => {
      await load({ command: 'wallbox-pause' });
      service.faults.add({ match: { method: 'POST' }, times: 1, error });
      const record = await recordOf({});
      assert.deepEqual([record['outcome'], record['requestStatus']], [outcome, word]);
      assert.match(String(record['message']), words);
      const { outcome: last, verified, reason } = await result();
      assert.deepEqual([last, verified], [outcome, null]);
      assert.match(String(reason), words);
      await clock.advance(10 * 60_000);
      assert.equal(boxPosts().length, 1);
    });

  it('is undetermined after an unknown code, and after a refusal without one', async () => {
    await load({ command: 'wallbox-pause' });
    for (const [status, body, word] of [
      [409, { code: 'COMPLETED', message: 'x' }, 'COMPLETED'],
      [422, { code: 7 }, 'UNKNOWN_ERROR'],
      [409, { code: 'ACCEPTED' }, 'UNKNOWN_ERROR'],
      [422, { code: 'sent' }, 'UNKNOWN_ERROR'],
      [409, 'no JSON', 'UNKNOWN_ERROR'],
    ] as const) {
      service.faults.add({ match: { method: 'POST' }, times: 1, status, body });
      const { outcome, requestStatus } = await recordOf({});
      assert.deepEqual([outcome, requestStatus], ['undetermined', word]);
    }
  });

  it('with an answer that is no refusal of a wallbox says nothing of a car', async () => {
    await load({ command: 'wallbox-pause' });
    for (const [status, code] of [
      [400, 'COMMAND_REFUSED'],
      [404, 'VEHICLE_NOT_LINKED'],
      [403, 'SCOPE_MISSING'],
    ] as const) {
      service.faults.add({ match: { method: 'POST' }, times: 1, status, body: {} });
      const failure = await failureOf({});
      assert.equal(failure.code, code);
      assert.match(failure.message, /wallbox/);
      assert.doesNotMatch(failure.message, /\bcar\b/);
    }
    assert.equal(boxPosts().length, 3);
  });

  it('has words that make no command of a car successful', async () => {
    await load();
    for (const word of ['ACCEPTED', 'WALLBOX_OFFLINE']) {
      service.faults.add({ match: { method: 'POST' }, times: 1, status: 200, body: { data: { invokeStatus: word } } });
      assert.equal((await recordOf({ command: 'lock' }))['outcome'], 'undetermined');
    }
  });

  it('without an answer is undetermined and never sent again; it blocks the wallbox, and not the car', async () => {
    await load();
    service.faults.add({ match: { method: 'POST' }, times: 1, cut: 'before-headers' });
    const { outcome, message } = await recordOf({ command: 'wallbox-pause' });
    assert.equal(outcome, 'undetermined');
    assert.match(String(message), /may have reached the wallbox.*not sent again/);
    const { code, message: busy } = await failureOf({ command: 'wallbox-start' });
    assert.equal(code, 'VEHICLE_UNAVAILABLE');
    assert.match(busy, /to this wallbox may still be in progress \(wallbox pause, sent at/);
    assert.equal((await recordOf({ command: 'flash' }))['outcome'], 'succeeded');
    await clock.advance(150_000);
    assert.equal(boxPosts().length, 1);
    assert.equal((await recordOf({ command: 'wallbox-start' }))['outcome'], 'succeeded');
  });

  it('is undetermined after a gateway gave up, and is not sent again', async () => {
    service.car().wallbox.switch(false);
    await load({ command: 'wallbox-start' });
    service.faults.add({ match: { method: 'POST' }, times: 1, error: 'gateway-timeout' });
    assert.equal((await recordOf({}))['outcome'], 'undetermined');
    service.car().wallbox.switch(true);
    const { verified, reason } = await result();
    assert.equal(verified, true);
    assert.match(String(reason), /However, an open charging session/);
    assert.equal(boxPosts().length, 1);
  });

  it('is undetermined if Node-RED ended before the answer, and still blocks the wallbox', async () => {
    await load({ command: 'wallbox-pause' });
    service.faults.add({ match: { method: 'POST' }, times: 1, latencyMs: 50_000 });
    flow.send({ topic: 'mine' });
    while (boxPosts().length === 0) await clock.advance(0);
    const kill = flow.killedNow();
    await kill();
    await load();
    const { outcome, reason, verified } = await result();
    assert.deepEqual([outcome, verified], ['undetermined', null]);
    assert.match(String(reason), /wallbox/);
    assert.equal((await failureOf({ command: 'wallbox-start' })).code, 'VEHICLE_UNAVAILABLE');
    assert.equal(boxPosts().length, 1);
  });

  it('that starts is proved by an open session, also by one that opens later', async () => {
    service.car().wallbox.switch(false);
    await load({ command: 'wallbox-start' });
    service.faults.add({ match: { method: 'POST' }, times: 1, status: 200, body: { value: 'Charging' } });
    await recordOf({});
    await clock.advance(4_000);
    service.car().wallbox.switch(true);
    const { outcome, verified, reason } = await result();
    assert.deepEqual([outcome, verified], ['succeeded', true]);
    assert.match(String(reason), /open charging session shows/);
  });

  it('that starts without a session is reported as not verified', async () => {
    service.car().wallbox.switch(false);
    await load({ command: 'wallbox-start' });
    service.faults.add({ match: { method: 'POST' }, times: 1, status: 200, body: { value: 'Charging' } });
    await recordOf({});
    const { outcome, verified, reason } = await result();
    assert.deepEqual([outcome, verified], ['succeeded', null]);
    assert.match(String(reason), /No open charging session shows/);
  });

  for (const [what, sessions, words] of [
    ['a session that was open before', [{ start: -1 }], /may have begun before the command/],
    ['one that is stuck for days', [{ start: -4 * 24 * hour }], /may have begun before the command/],
    ['one without a time', [{ start: null }], /may have begun before the command/],
    ['one whose begin is still to come', [{ start: hour }], /may have begun before the command/],
    ['one that has ended', [{ start: 1, end: 2 }], /No open charging session shows/],
  ] as const)
    it(`that starts is not proved by ${what}`, async () => {
      await load({ command: 'wallbox-start' });
      const at = (ms: number | null): string | null => (ms === null ? null : new Date(clock.now() + ms).toISOString());
      service.faults.add({
        match: { path: 'chargingsessions' },
        status: 200,
        body: sessions.map(({ start, end }: { start: number | null; end?: number }) => ({
          wallboxId: id,
          transactionId: '1',
          start: at(start),
          end: at(end ?? null),
          chargedEnergy: 0,
          connectorId: 1,
        })),
      });
      await recordOf({});
      const { outcome, verified, reason } = await result();
      assert.deepEqual([outcome, verified], ['succeeded', null]);
      assert.match(String(reason), words);
      assert.equal(boxPosts().length, 1);
    });

  it('that starts is proved by a session of its own wallbox only', async () => {
    await load({ command: 'wallbox-start' });
    service.car().wallbox.switch(false);
    const record = await recordOf({});
    await result();
    service.clearRequests();
    const { ['wallbox']: _mine, ...nameless } = record;
    for (const other of [{ ...record, wallbox: 'WBVA1ABCD-WB24.01.2500009999' }, nameless]) {
      const before = flow.outputs[0]?.length ?? 0;
      flow.node('watch').receive({ payload: { ...other, id: `other ${before}` } } as never);
      await clock.advanceUntil(() => flow.outputs[0]?.length === before + 1);
      const { payload } = flow.outputs[0]?.at(-1) ?? assert.fail();
      const { verified, reason } = payload as Record<string, unknown>;
      assert.equal(verified, null);
      assert.match(String(reason), /does not name the wallbox of the vehicle configuration/);
    }
    assert.deepEqual(service.requests, []);
  });

  it('that no reading shows is reported as not verified, in every text', async () => {
    await load({ command: 'wallbox-limit', ampere: 16 });
    const { message } = await recordOf({});
    const { verified, reason, text } = await result();
    assert.equal(verified, null);
    for (const said of [message, reason, text]) assert.match(String(said), /Nothing shows whether the wallbox acted/);
    assert.equal(service.requests.filter(({ path }) => path.endsWith('chargingsessions')).length, 0);
  });

  it('asks no car whether it can take a command', async () => {
    service.car().set({ inUse: true });
    await load({ command: 'wallbox-pause', precheck: true, whenUnavailable: 'wait' });
    assert.equal((await recordOf({}))['outcome'], 'succeeded');
    assert.deepEqual(
      service.requests.map(({ method }) => method),
      ['POST'],
    );
  });

  it('is not sent without a wallbox, by a read-only configuration, or at a service without wallboxes', async () => {
    for (const [vehicle, code] of [
      [{ wallbox: '' }, 'CONFIG'],
      [{ wallbox: 'garage' }, 'CONFIG'],
      [{ readOnly: true }, 'READ_ONLY'],
      [{ interfaces: ['connected-v2'] }, 'NOT_SUPPORTED'],
    ] as const) {
      await load({ command: 'wallbox-pause', interface: 'v2' }, vehicle);
      assert.equal((await failureOf({})).code, code);
      await flow.unload();
    }
    assert.deepEqual(service.requests, []);
  });

  it('of another account is an error', async () => {
    service.car().set({ wallbox: null });
    await load({ command: 'wallbox-pause' });
    assert.equal((await failureOf({})).code, 'VEHICLE_NOT_LINKED');
  });

  it('says what is wrong with a limit, and sends nothing', async () => {
    await load({ command: 'wallbox-limit' });
    for (const [ampere, words] of [
      [5.9, /less than 6 ampere.*wallbox-pause/],
      [0, /less than 6 ampere/],
      ['33', /at most 32 ampere/],
      ['', /a number of ampere from 6 to 32/],
      [-1, /a number of ampere/],
      ['much', /a number of ampere/],
      [Number.NaN, /a number of ampere/],
      [[16], /a number of ampere/],
    ] as const) {
      const { code, message } = await failureOf({ ampere });
      assert.equal(code, 'INPUT_INVALID', String(ampere));
      assert.match(message, words);
    }
    assert.deepEqual(service.requests, []);
  });

  it('says what is wrong with a schedule, and sends nothing', async () => {
    await load({ command: 'wallbox-schedule' });
    const at = (hours: number): string => new Date(clock.now() + hours * hour).toISOString();
    const good = { from: at(1), to: at(2), ampere: 16 };
    for (const [schedule, words] of [
      ['', /must be a list of 1 to 96 periods/],
      [[], /must be a list/],
      [Array.from({ length: 97 }, () => good), /must be a list/],
      [{ ...good }, /must be a list/],
      [[good, { from: at(1.5), to: at(3), watt: 3_000 }], /overlap/],
      [[good, good], /overlap/],
      [[{ ...good, from: at(-2), to: at(-1) }], /Period 1 .*past/],
      [[good, { ...good, from: at(4), to: at(3) }], /Period 2 .*ends before it begins/],
      [[{ ...good, from: at(2) }], /ends before it begins/],
      [[{ ...good, from: '25:00' }], /Period 1 .*“from” and “to”/],
      [[{ ...good, to: '2026-11-28' }], /“from” and “to”/],
      [[{ ...good, to: '2026-13-28T22:00:00Z' }], /“from” and “to”/],
      [[{ ...good, from: null }], /“from” and “to”/],
      [[{ ...good, from: 0 }], /Period 1 .*began more than a day ago\..*milliseconds since 1970/],
      [[{ ...good, from: Math.round(clock.now() / 1000) }], /began more than a day ago/],
      [[{ ...good, from: at(-25) }], /began more than a day ago/],
      [[{ ...good, from: '1970-01-01T00:00:00Z', to: '1970-01-02T00:00:00Z' }], /Period 1 .*past/],
      [[good, { ...good, from: at(3), to: at(367 * 24) }], /Period 2 .*ends more than 366 days from now/],
      [[{ ...good, to: clock.now() * 1000 }], /ends more than 366 days from now/],
      [[{ ...good, to: '9999-12-31T23:59:59Z' }], /ends more than 366 days from now/],
      [[{ ...good, to: '2027-02-30T22:00:00Z' }], /Period 1 .*a day that is not in the calendar/],
      [[{ from: '2027-04-31T22:00:00+02:00', to: '2027-05-02T22:00:00Z', watt: 1 }], /not in the calendar/],
      [[{ ...good, from: Number.POSITIVE_INFINITY }], /“from” and “to”/],
      [[null], /“from” and “to”/],
      [[{ ...good, ampere: 5 }], /0 or 6 to 32, or “watt”, 0 to 22080/],
      [[{ ...good, ampere: 33 }], /either “ampere”/],
      [[{ ...good, ampere: '16' }], /either “ampere”/],
      [[{ ...good, watt: 3_000 }], /either “ampere”/],
      [[{ from: at(1), to: at(2), watt: -1 }], /either “ampere”/],
      [[{ from: at(1), to: at(2) }], /either “ampere”/],
    ] as const) {
      const { code, message } = await failureOf({ schedule });
      assert.equal(code, 'INPUT_INVALID', JSON.stringify(schedule));
      assert.match(message, words);
    }
    assert.deepEqual(service.requests, []);
  });
});
