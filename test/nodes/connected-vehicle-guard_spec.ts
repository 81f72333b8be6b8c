import { strict as assert } from 'node:assert';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper = require('node-red-node-test-helper');
import type { Clock } from '../../src/index';
import { startSimulator, type Simulator } from '../support/simulator';
import { askEditor } from '../support/editor-client';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { removeFolder } from '../support/remove-folder';

const type = 'connected-vehicle-guard';
const second = 1_000;
const minute = 60 * second;

const timersOf = (clock: ManualClock): Omit<Clock, 'now'> => ({
  monotonic: () => clock.monotonic(),
  uptime: () => clock.uptime(),
  after: (ms, callback) => clock.after(ms, callback),
  sleep: (ms, signal) => clock.sleep(ms, signal),
});

describe(type, () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    service.car().set({ windows: { rearRight: 'CLOSED' } });
  });
  // A test replaces the service that was set up.
  afterEach(() => service.close());

  const load = async (config: Record<string, unknown> = {}): Promise<void> => {
    Object.assign(flow, { outputs: [[], []], caught: [], completed: [] });
    await flow.load({ type, timeZone: 'UTC', ...config }, customVehicle(service), demoCredentials);
    // A reading without a value: a node that takes it has started.
    flow.send({ payload: {}, vehicle: { vin: config['vin'] ?? service.car().vin, read: 'accessibility' } });
    await flow.until(() => flow.completed.length > 0 || flow.caught.length > 0);
  };
  const pass = (minutes: number): Promise<void> => clock.advanceInSteps(minutes * minute, minute / 4);
  const until = (look: () => boolean): Promise<void> => clock.advanceUntil(look, 5 * second);
  const said = (output: 0 | 1): Record<string, unknown>[] =>
    (flow.outputs[output] ?? []).map(({ payload }) => payload as Record<string, unknown>);
  /** The files of stored guards. */
  const storedGuards = (): string[] => {
    const folder = join(flow.userDir, 'connected-vehicle', 'state', 'guard');
    return existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith('.json'))
          .map((name) => join(folder, name))
      : [];
  };
  const names = (payload: unknown, of = 'openings'): string[] =>
    (payload as Record<string, { kind: string; name: string }[]>)[of]?.map(({ kind, name }) => `${kind} ${name}`) ?? [];

  it('says once that a window stayed open, and that all is closed again', async () => {
    await load();
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => said(0).length === 1);
    const [alert] = said(0);
    assert.equal(alert?.['type'], 'alert');
    assert.equal(alert?.['reason'], 'open-too-long');
    assert.deepEqual(names(alert), ['window frontLeft']);
    assert.equal(typeof alert?.['text'], 'string');
    assert.equal(Date.parse(String(alert?.['at'])) - Date.parse('2026-06-01T08:00:00Z'), 10 * minute);
    assert.deepEqual(flow.outputs[0]?.[0]?.vehicle, { vin: service.car().vin });
    assert.equal(flow.outputs[0]?.[0]?.['topic'], 'alert');
    await pass(30);
    assert.equal(said(0).length, 1);
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await until(() => said(1).length === 1);
    assert.equal(said(1)[0]?.['type'], 'clear');
    assert.equal(said(0).length, 1);
  });

  it('sends the all-clear also if the flow changes what is inside the alert', async () => {
    await load();
    flow.node('out0').on('input', (msg) => {
      (msg.payload as { openings: unknown[] }).openings.push(msg);
    });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => said(0).length === 1);
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await until(() => said(1).length === 1);
    await pass(30);
    assert.deepEqual([said(0).length, said(1).length, flow.caught.length], [1, 1, 0]);
  });

  it('sends an alert on request, marked as a test, one for two at the same time, and continues as before', async () => {
    await load({ minutes: 5, watch: ['window'], poll: 0, quietHours: '00:00-23:59' });
    const test = () => askEditor('test', {}, { id: 'n' });
    const text = 'Test: Front-left window open for 5 minutes';
    const [sent, refused] = await Promise.all([test(), test()]);
    assert.deepEqual(sent, { text });
    assert.match(String(refused?.error?.message), /^The last test was less than a second ago/);
    await clock.advance(1_000);
    assert.deepEqual(await test(), { text });
    const opening = { kind: 'window', name: 'frontLeft', since: '2026-06-01T07:55:00.000Z' };
    const later = { ...opening, since: '2026-06-01T07:55:01.000Z', minutes: 5, confirmed: true };
    const payload = {
      text,
      car: `Custom …${service.car().vin.slice(-6)}`,
      type: 'alert',
      at: '2026-06-01T08:00:00.000Z',
      reason: 'open-too-long',
      openings: [{ ...opening, minutes: 5, confirmed: true }],
      unknown: [],
      test: true,
    };
    assert.deepEqual(said(0), [payload, { ...payload, at: '2026-06-01T08:00:01.000Z', openings: [later] }]);
    assert.equal(flow.outputs[0]?.[0]?.['topic'], 'alert');
    assert.deepEqual(said(1), []);
    assert.notEqual(flow.badges.at(-1)?.code, 'alerted');
  });

  it('says that a node cannot be tested that is not deployed, is not a guard, or has no car', async () => {
    await load({ watch: ['window'], poll: 0 });
    for (const id of ['new', 'out0', 'v'])
      assert.match(
        String((await askEditor('test', {}, { id })).error?.message),
        /^This node is not running\. Deploy/,
        id,
      );
    await flow.unload();
    await flow.load({ type, vehicle: 'gone' });
    assert.match(String((await askEditor('test', {}, { id: 'n' })).error?.message), /^No vehicle is chosen/);
  });

  it('sends an alert again, unchanged, when Node-RED was killed while it was sent', async () => {
    await load({ minutes: 5 });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    // The state on disk at the moment when the next node gets the message.
    let kill = (): Promise<void> => assert.fail();
    flow.node('out0').on('input', () => void (kill = flow.killedNow()));
    await until(() => said(0).length === 1);
    const [sent] = said(0);
    await kill();
    await load({ minutes: 5 });
    await until(() => said(0).length === 1);
    await pass(5);
    assert.deepEqual(said(0), [sent]);
    await flow.unload();
    await load({ minutes: 5 });
    await pass(5);
    assert.deepEqual(said(0), []);
  });

  it('says again after the set time, not in quiet hours, and not while snoozed', async () => {
    await load({ minutes: 5, repeat: 5, quietHours: '08:20-09:00' });
    service.car().set({ doors: { tailGate: 'OPEN' } });
    await until(() => said(0).length === 3);
    assert.deepEqual(
      said(0).map(({ reason }) => reason),
      ['open-too-long', 'repeat', 'repeat'],
    );
    await clock.advanceInSteps(Date.parse('2026-06-01T08:58:00Z') - clock.now(), minute / 4);
    assert.equal(said(0).length, 3);
    await until(() => said(0).length === 4);
    assert.equal(said(0)[3]?.['at'], '2026-06-01T09:00:00.000Z');
    flow.send({ snooze: 60 });
    await pass(55);
    assert.equal(said(0).length, 4);
    await until(() => said(0).length >= 5);
  });

  it('reports an unlocked car, with a time of its own', async () => {
    await load({ minutes: 60, minutesFor: { lock: '3' } });
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => said(0).length === 1);
    assert.deepEqual(names(said(0)[0]), ['lock carLocked']);
    assert.ok(clock.now() < Date.parse('2026-06-01T08:06:00Z'));
  });

  it('counts only while the car is not in use, if that is chosen', async () => {
    service
      .car()
      .set({ windows: { frontLeft: 'OPEN' } })
      .set({ inUse: true });
    await load({ onlyWhileNotInUse: true });
    await pass(30);
    assert.equal(said(0).length, 0);
    service.car().set({ inUse: false });
    await pass(9);
    assert.equal(said(0).length, 0);
    await until(() => said(0).length === 1);
    assert.ok(service.requests.some(({ path }) => path.endsWith('/command-accessibility')));
  });

  it('does not ask whether the car is in use if that does not matter', async () => {
    await load();
    await pass(10);
    assert.ok(service.requests.length > 0);
    assert.ok(service.requests.every(({ path }) => /\/(windows|doors)$/.test(path)));
  });

  for (const question of [{ ask: true }, { topic: 'ask' }]) {
    it(`answers ${JSON.stringify(question)} at once, keeping the message`, async () => {
      await load({ poll: 0, quietHours: '00:00-23:59' });
      service
        .car()
        .set({ windows: { frontLeft: 'OPEN' } })
        .set({ doors: { hood: 'OPEN' } });
      flow.send({ ...question, keep: 1 });
      const { payload, keep } = await flow.until(() => flow.outputs[0]?.[0]);
      assert.equal(keep, 1);
      assert.equal((payload as Record<string, unknown>)['reason'], 'asked');
      assert.deepEqual(names(payload), ['window frontLeft', 'hood hood']);
      flow.send({ ...question, only: 'door' });
      const clear = await flow.until(() => flow.outputs[1]?.[0]);
      assert.deepEqual(names(clear.payload).length, 4);
    });
  }

  it('says that it cannot tell, once, and never that all is closed', async () => {
    await load({ minutes: 4, poll: 60 });
    await pass(3);
    service.faults.add({ match: { path: '/windows' }, error: 'not-supported' });
    await until(() => said(0).length === 1);
    assert.equal(said(0)[0]?.['type'], 'cannot-tell');
    assert.equal(names(said(0)[0]).length, 5 - 1);
    await pass(30);
    assert.equal(said(0).length, 1);
    assert.deepEqual(said(1), []);
    flow.send({ ask: true, only: ['window'] });
    const answer = await flow.until(() => flow.outputs[0]?.[1]);
    assert.equal((answer.payload as Record<string, unknown>)['type'], 'cannot-tell');
  });

  it('reports each read that fails while another works once to a Catch node, until it works again', async () => {
    await load({ minutes: 4, poll: 60, onlyWhileNotInUse: true });
    const codes = (): unknown[] => flow.caught.map(({ vehicle }) => vehicle?.error?.['code']);
    const doors = service.faults.add({ match: { path: '/doors' }, error: 'not-supported' });
    await until(() => codes().length === 1);
    service.faults.add({
      match: { path: '/command-accessibility' },
      status: 403,
      body: { error: { message: 'FORBIDDEN', description: 'Access Denied' } },
    });
    await until(() => codes().length === 2);
    await pass(10);
    assert.equal(codes()[0], 'NOT_SUPPORTED');
    assert.equal(codes().length, 2, String(codes()));
    assert.equal(flow.badges.at(-1)?.fill, 'red');
    flow.send({ ask: true, only: 'door' });
    await flow.until(() => flow.caught[2]);
    assert.equal(said(0).at(-1)?.['type'], 'cannot-tell', 'whoever asks gets the answer, and the reason');
    service.faults.remove(doors.id);
    await pass(3);
    service.faults.add({ match: { path: '/doors' }, error: 'not-supported' });
    await until(() => codes().length === 4);
  });

  it('shows what is open rather than that something else could not be read', async () => {
    service.faults.add({ match: { path: '/doors' }, error: 'not-supported' });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await load({ poll: 60 });
    await until(() => flow.caught.length === 1 && flow.badges.some(({ shape }) => shape === 'dot'));
    await pass(2);
    assert.equal(flow.badges.at(-1)?.fill, 'yellow');
    assert.ok(flow.badges.every(({ fill }) => fill !== 'red'));
  });

  it('reports to a Catch node why nothing could be read at all', async () => {
    await load();
    service.faults.add({ error: 'not-supported' });
    await until(() => flow.caught.length > 0);
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'NOT_SUPPORTED');
    assert.deepEqual(said(1), []);
    await pass(30);
    assert.equal(flow.caught.length, 1, 'once, until it works again');
    assert.equal(flow.badges.at(-1)?.fill, 'red');
  });

  it('needs only the messages of a status node', async () => {
    await load({ poll: 0, watch: ['window', 'lock'] });
    const { vin } = service.car();
    const windows = (value: string, source = 'live'): Received => {
      const member = { value, timestamp: new Date(clock.now()).toISOString() };
      return {
        payload: { frontLeft: member, frontRight: member, rearLeft: member, rearRight: member },
        vehicle: { vin, read: 'windows', source },
      };
    };
    flow.send(windows('OPEN'));
    await until(() => said(0).length === 1);
    flow.send({ ...windows('CLOSED'), vehicle: { vin: vin.toLowerCase(), read: 'windows', source: 'live' } });
    flow.send({
      payload: { doors: { carLocked: { value: 'LOCKED', timestamp: null } } },
      vehicle: { vin, source: 'live', reads: { doors: { source: 'live' } }, errors: [] },
    });
    await flow.until(() => flow.outputs[1]?.[0]);
    flow.send(windows('CLOSED', 'kept'));
    flow.send({ payload: {}, vehicle: { vin, reads: {}, errors: [{ read: 'doors' }] } });
    await until(() => said(0).length === 2);
    assert.deepEqual(names(said(0)[1]).length, 5);
    assert.equal(service.requests.length, 0);
  });

  it('refuses a snooze that is none and a reading of another vehicle with INPUT_INVALID, and keeps working', async () => {
    await load({ poll: 0 });
    for (const msg of [{ snooze: 'long' }, { payload: {}, vehicle: { vin: 'YV1CT9551B1570982', read: 'windows' } }])
      assert.equal((await flow.fail(msg)).vehicle?.error?.['code'], 'INPUT_INVALID');
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    assert.ok((await flow.ask({ ask: true })).payload);
  });

  it('answers with CONFIG while a setting is wrong', async () => {
    await load({ poll: 0, watch: [] });
    assert.equal((await flow.fail({ ask: true })).vehicle?.error?.['code'], 'CONFIG');
  });

  it('continues after a redeploy: counts on, and does not repeat an alert', async () => {
    await load({ minutes: 10 });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await pass(4);
    await flow.unload();
    assert.equal(clock.sleeping, 0);
    const [file = assert.fail()] = storedGuards();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await clock.advance(3 * minute);
    // Nothing more is read: it answers from what it knew before.
    service.faults.add({ error: 'not-supported' });
    await load({ minutes: 10, poll: 0 });
    await until(() => said(0).length === 1);
    assert.equal(said(0)[0]?.['at'], '2026-06-01T08:10:00.000Z');
    await flow.unload();
    await load({ minutes: 10, poll: 0 });
    await pass(30);
    assert.deepEqual(said(0), []);
  });

  it('looks after a restart before it says anything', async () => {
    await load({ poll: 120 });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await pass(4);
    await flow.unload();
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await clock.advance(2 * 1440 * minute);
    const before = service.requests.length;
    await load({ poll: 120 });
    assert.equal(service.requests.length, before + 2, 'at once');
    await pass(30);
    assert.deepEqual(said(0), []);
  });

  it('says after a restart what it knew, unconfirmed, and why, if the look takes too long', async () => {
    await load({ poll: 120 });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await pass(4);
    await flow.unload();
    await clock.advance(60 * minute);
    service.faults.add({ latencyMs: 5 * minute });
    const started = clock.now();
    Object.assign(flow, { outputs: [[], []], caught: [], completed: [] });
    await flow.load({ type, timeZone: 'UTC', poll: 120 }, customVehicle(service), demoCredentials);
    await until(() => said(0).length === 1 && flow.caught.length === 1);
    assert.ok(clock.now() - started < 5 * minute, 'before the answer');
    assert.deepEqual(
      (said(0)[0] as { openings: { confirmed: boolean }[] } | undefined)?.openings.map(({ confirmed }) => confirmed),
      [false],
    );
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'TIMEOUT');
  });

  it('warns once that it cannot keep what it knows, until it can', async () => {
    const folder = join(flow.userDir, 'connected-vehicle');
    writeFileSync(folder, 'in the way');
    await load({ minutes: 1, poll: 60 });
    const warnings: unknown[] = [];
    flow.node('n').warn = (warning: unknown) => void warnings.push(warning);
    // Each is news to keep.
    const live = async (minutes: number): Promise<void> => {
      for (let i = 0; i < minutes; i += 1) {
        service.car().report();
        await pass(1);
      }
    };
    await live(1);
    await until(() => warnings.length > 0);
    await live(10);
    assert.equal(warnings.length, 1);
    rmSync(folder);
    await live(3);
    await until(() => storedGuards().length > 0);
    assert.equal(storedGuards().length, 1);
    await removeFolder(folder);
    writeFileSync(folder, 'in the way again');
    await live(3);
    await until(() => warnings.length > 1);
    assert.equal(warnings.length, 2);
  });

  it('counts from when a window was opened though the clock of the machine started three days behind', async () => {
    const started = clock.now();
    clock.setTime(started - 3 * 1440 * minute);
    await service.close();
    // The service has the right time.
    service = await startSimulator({ clock: { ...timersOf(clock), now: () => clock.monotonic() } });
    await load({ minutes: 10, poll: 60 });
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await pass(3);
    clock.setTime(clock.monotonic());
    await pass(5);
    assert.deepEqual(said(0), []);
    await until(() => said(0).length === 1);
    const [opening] = (said(0)[0]?.['openings'] as { minutes: number }[] | undefined) ?? [];
    assert.equal(opening?.minutes, 10);
  });

  it('says that it is checking until the car was read', async () => {
    service.faults.add({ latencyMs: 5 * second });
    flow.badges = [];
    await flow.load({ type }, customVehicle(service), demoCredentials);
    await until(() => flow.badges.some(({ text }) => text !== undefined && text !== 'checking…'));
    assert.equal(flow.badges[0]?.text, 'checking…');
    assert.ok(flow.badges.every(({ text }) => text !== 'cannot tell'));
  });

  it('forgets what it knew of another car', async () => {
    await load();
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await pass(4);
    await flow.unload();
    await load({ vin: 'YV1CT9551B1570982', poll: 0 });
    await pass(30);
    assert.deepEqual(said(0), []);
  });

  for (const [what, left, kept] of [
    ['keeps nothing once it is deleted', [], false],
    ['keeps what it knows while it is disabled', [{ id: 'n', type, z: 'tab', d: true, wires: [] }], true],
  ] as const) {
    it(what, async () => {
      await load();
      await until(() => storedGuards().length === 1);
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'test' }, ...left] as never, 'nodes');
      assert.equal(storedGuards().length, kept ? 1 : 0);
    });
  }

  it('shows what is open since when, else that all is closed', async () => {
    await load();
    await until(() => flow.badges.some(({ fill }) => fill === 'green'));
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => flow.badges.at(-1)?.fill === 'yellow');
    assert.match(String(flow.badges.at(-1)?.text), /^front-left window open since \d\d:\d\d$/);
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => String(flow.badges.at(-1)?.text).startsWith('unlocked'));
    assert.match(String(flow.badges.at(-1)?.text), /^unlocked since \d\d:\d\d$/);
  });

  it('shows when it has given the last alert, until all is closed', async () => {
    await load();
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => said(0).length === 1);
    await until(() =>
      /^front-left window open since \d\d:\d\d, alert sent \d\d:\d\d$/.test(flow.badges.at(-1)?.text ?? ''),
    );
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await until(() => flow.badges.at(-1)?.fill === 'green');
    assert.doesNotMatch(flow.badges.at(-1)?.text ?? '', /alerted/);
  });

  it('shows until when it is silent', async () => {
    await load();
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => flow.badges.at(-1)?.fill === 'yellow');
    flow.send({ snooze: 60 });
    await until(() =>
      /^front-left window open since \d\d:\d\d, silent until \d\d:\d\d$/.test(flow.badges.at(-1)?.text ?? ''),
    );
    flow.send({ snooze: 'until-closed' });
    await until(() => flow.badges.at(-1)?.text?.endsWith(', silent until closed') === true);
    flow.send({ snooze: 0 });
    await until(() => flow.badges.at(-1)?.text?.includes('silent') === false);
  });

  it('calls no more closed on its badge than what it watches', async () => {
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await load({ watch: ['lock'] });
    await until(() => flow.badges.some(({ fill }) => fill === 'green'));
    assert.match(flow.badges.at(-1)?.text ?? '', /^Car locked · \d\d:\d\d$/);
  });
});
