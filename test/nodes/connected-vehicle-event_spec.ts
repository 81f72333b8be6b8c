import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { electricCar, type Simulator } from '../support/simulator';
import { askEditor } from '../support/editor-client';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const type = 'connected-vehicle-event';
const second = 1_000;
const minute = 60 * second;

describe(type, () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [{ ...electricCar, charger: { connection: 'DISCONNECTED' } }],
  });

  const load = async (config: Record<string, unknown> = {}): Promise<void> => {
    Object.assign(flow, { outputs: [[], []], caught: [], completed: [], badges: [] });
    await flow.load({ type, poll: 60, ...config }, customVehicle(service), demoCredentials);
  };
  const pass = (minutes: number): Promise<void> => clock.advanceInSteps(minutes * minute, minute / 4);
  const until = (condition: () => boolean): Promise<void> => clock.advanceUntil(condition, second);
  const payloads = (): Record<string, unknown>[] =>
    (flow.outputs[0] ?? []).map(({ payload }) => payload as Record<string, unknown>);
  const texts = (): unknown[] => payloads().map(({ text }) => text);
  const isListening = (): boolean => flow.badges.some(({ text }) => text === 'waiting for events');

  /** Each event with the text of its test. */
  const tests = {
    locked: 'Car is locked',
    unlocked: 'Car is unlocked',
    'door-opened': 'Front-left door is open',
    'door-closed': 'Front-left door is closed',
    'window-opened': 'Front-left window is open',
    'window-closed': 'Front-left window is closed',
    'tailgate-opened': 'Tailgate is open',
    'tailgate-closed': 'Tailgate is closed',
    'hood-opened': 'Hood is open',
    'hood-closed': 'Hood is closed',
    'engine-started': 'Engine is running',
    'engine-stopped': 'Engine is off',
    'trip-ended': 'Trip has ended after 12 km',
    'charger-connected': 'Charging cable is plugged in',
    'charger-disconnected': 'Charging cable is not plugged in',
    'charging-started': 'Charging has started',
    'charging-stopped': 'Charging has stopped',
    'charging-done': 'Charging is done',
    'charger-fault': 'Charging has a fault',
    'charging-session-ended': 'The wallbox has ended a session: 7.25 kWh',
    'battery-below': 'Battery is at 29 %',
    'battery-above': 'Battery is at 30 %',
    arrived: 'Car is at Equator',
    left: 'Car is no longer at Equator',
    'service-due': 'Service is due',
    'warning-on': 'Warning: left brake light',
    'warning-off': 'Warning has ended: left brake light',
    available: 'Car available',
    unavailable: 'Car unavailable',
    'sign-in-ending': 'The sign-in ends on 15 June: sign in again in the configuration of the car',
    'sign-in-required':
      'The car can no longer be read: sign in again or check the API key in the configuration of the car',
  };

  it('sends on request what each chosen event would send, marked as a test, at any hour and without an event', async () => {
    const places = [{ name: 'Equator', latitude: 0, longitude: 0, radius: 1_000_000 }];
    await load({ events: Object.keys(tests), level: 30, places, poll: 0, hours: 'only', quietHours: '01:00-01:01' });
    for (const [event, text] of Object.entries(tests)) {
      const answer = await askEditor('test', { event }, { id: 'n' });
      assert.deepEqual(answer, { text: answer['text'] }, event);
      assert.equal(String(answer['text']).replace('June 15', '15 June'), `Test: ${text}`);
      const msg = flow.outputs[0]?.at(-1);
      const { test, text: sent, ...payload } = payloads().at(-1) ?? {};
      assert.deepEqual([msg?.['topic'], test, sent], [event, true, answer['text']]);
      const names = ['event', 'from', 'to', 'name', 'place', 'between', 'vin', 'car'];
      const hasRecord = ['trip-ended', 'charging-stopped', 'charging-done'].includes(event);
      const more = hasRecord ? ['record'] : [];
      const members = event === 'charging-session-ended' ? names.toSpliced(6, 0, 'session') : [...names, ...more];
      assert.deepEqual(Object.keys(payload), members, event);
      assert.deepEqual(msg?.vehicle, { vin: service.car().vin });
      await clock.advance(1_000);
    }
    assert.equal(payloads().length, Object.keys(tests).length, 'one message each');
  });

  it('refuses a test of an event that the deployed node does not report', async () => {
    await load({ events: ['locked'], poll: 0 });
    for (const event of ['unlocked', '', undefined]) {
      const { error } = await askEditor('test', { event }, { id: 'n' });
      assert.match(String(error?.message), /does not report this event\. Press Done, deploy/);
      await clock.advance(1_000);
    }
    assert.deepEqual(payloads(), []);
  });

  it('sends one message for a change, with a sentence and the time that is known', async () => {
    await load({ events: ['window-opened', 'window-closed'] });
    await until(isListening);
    const before = clock.now();
    await pass(3);
    assert.deepEqual(payloads(), []);
    service.car().set({ windows: { rearRight: 'OPEN' } });
    const openedAt = clock.now();
    await until(() => payloads().length === 1);
    await pass(3);
    const [msg, ...others] = flow.outputs[0] ?? [];
    assert.deepEqual(others, []);
    assert.equal(msg?.['topic'], 'window-opened');
    const { between, ...payload } = payloads()[0] as { between: { since: string; until: string } };
    assert.deepEqual(payload, {
      event: 'window-opened',
      vin: service.car().vin,
      car: `Custom …${service.car().vin.slice(-6)}`,
      from: 'CLOSED',
      to: 'OPEN',
      name: 'rearRight',
      place: null,
      text: 'Rear-right window is open',
    });
    assert.ok(Date.parse(between.since) <= before && Date.parse(between.until) === openedAt, JSON.stringify(between));
    service.car().set({ windows: { rearRight: 'CLOSED' } });
    await until(() => payloads().length === 2);
    assert.equal(texts()[1], 'Rear-right window is closed');
  });

  it('sends the next event, and none twice, if the flow changes what is inside a message', async () => {
    await load({ events: ['window-opened', 'window-closed'] });
    flow.node('out0').on('input', (msg) => {
      const { between } = msg.payload as { between: Record<string, unknown> };
      Object.assign(between, { since: 'changed', msg });
    });
    await until(isListening);
    for (const [index, state] of (['OPEN', 'CLOSED', 'OPEN'] as const).entries()) {
      service.car().set({ windows: { rearRight: state } });
      await until(() => payloads().length > index);
    }
    await pass(3);
    assert.deepEqual(flow.caught, []);
    await flow.endProcess();
    await load({ events: ['window-opened', 'window-closed'] });
    await until(isListening);
    await pass(3);
    assert.deepEqual(payloads(), []);
  });

  it('reports after a restart what changed meanwhile, and nothing twice', async () => {
    await load({ events: ['unlocked', 'locked'] });
    await until(isListening);
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => payloads().length === 1);
    await flow.unload();
    await clock.advance(3 * 60 * minute);
    service.car().set({ lock: 'LOCKED' });
    const lockedAt = clock.now();
    await clock.advance(60 * minute);
    const restartedAt = clock.now();
    await load({ events: ['unlocked', 'locked'] });
    await until(() => payloads().length === 1);
    await pass(5);
    assert.deepEqual(texts(), ['Car is locked']);
    const { between } = (payloads()[0] ?? assert.fail()) as { between: { since: string; until: string } };
    const { since, until: known } = between;
    assert.ok(Date.parse(since) < restartedAt && Date.parse(known) === lockedAt, `${since} ${known}`);
    await flow.unload();
    await load({ events: ['unlocked', 'locked'] });
    await until(isListening);
    await pass(5);
    assert.deepEqual(payloads(), []);
  });

  it('holds an event back until a deploy is over, because the next node may be closed', async () => {
    await load({ events: ['unlocked'] });
    await until(isListening);
    const endDeploy = await flow.beginDeploy();
    service.car().set({ lock: 'UNLOCKED' });
    const folder = join(flow.userDir, 'connected-vehicle', 'state', 'event');
    await until(() =>
      readdirSync(folder).some((file) => readFileSync(join(folder, file), 'utf8').includes('"event":"unlocked"')),
    );
    assert.deepEqual(payloads(), []);
    await endDeploy();
    await until(() => payloads().length === 1);
  });

  it('follows a trip and a charge', async () => {
    const home = { name: 'home', latitude: 57.7, longitude: 11.97, radius: 200 };
    const car = service
      .car()
      .set({ location: { latitude: 57.7, longitude: 11.97 }, battery: { level: 52, timeLapse: 30 } });
    await load({
      events: [
        'left',
        'arrived',
        'trip-ended',
        'charger-connected',
        'charging-started',
        'charging-done',
        'battery-above',
        'engine-stopped',
      ],
      places: [home],
      level: 60,
    });
    await until(isListening);
    car.drive({ km: 12, minutes: 15, latitude: 57.8, longitude: 12.2 });
    await clock.advanceUntil(() => payloads().length >= 3, 5 * second);
    assert.deepEqual(texts().sort(), ['Car is no longer at home', 'Engine is off', 'Trip has ended after 12 km']);
    car.set({ charger: { connection: 'CONNECTED' } });
    await clock.advanceUntil(() => payloads().length >= 7, 5 * second);
    // The battery charges quickly, so that a poll finds it at or above 60 %.
    const after = texts()
      .slice(3)
      .map((text) => String(text).replace(/([6-9]\d|100) %/, '60 %'));
    assert.deepEqual(after.sort(), [
      'Battery is at 60 %',
      'Charging cable is plugged in',
      'Charging has started',
      'Charging is done',
    ]);
  }).timeout(60_000);

  it('reads only what its events need', async () => {
    await load({ events: ['charging-done'] });
    await until(isListening);
    await pass(5);
    assert.ok(service.requests.length > 0);
    assert.deepEqual(new Set(service.requests.map(({ path }) => path.split('/').at(-1))), new Set(['state']));
  });

  it('reports an outage once to a Catch node, and the change behind it', async () => {
    await load({ events: ['unlocked'] });
    await until(isListening);
    service.faults.add({ error: 'not-supported' });
    await pass(5);
    assert.equal(flow.caught.length, 1);
    service.car().set({ lock: 'UNLOCKED' });
    service.faults.clear();
    await until(() => payloads().length === 1);
    assert.deepEqual(texts(), ['Car is unlocked']);
  });

  it('shows the last event until an outage, and waits for events after it', async () => {
    const lastBadge = (): string => String(flow.badges.at(-1)?.text);
    await load({ events: ['unlocked'] });
    await until(isListening);
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => lastBadge().startsWith('Car is unlocked'));
    service.faults.add({ error: 'not-supported' });
    await until(() => flow.badges.at(-1)?.fill === 'red');
    service.faults.clear();
    await until(() => lastBadge() === 'waiting for events');
  });

  it('reads at once on a message', async () => {
    await load({ events: ['unlocked'], poll: 0 });
    await pass(1);
    assert.equal(service.requests.length, 0);
    flow.send({});
    await flow.until(() => flow.completed.length > 1);
    service.car().set({ lock: 'UNLOCKED' });
    await clock.advance(10 * second);
    flow.send({ question: 'kept' });
    await flow.until(() => payloads().length > 0);
    assert.equal(flow.outputs[0]?.[0]?.['question'], 'kept');
  });

  it('fails with CONFIG for settings that are wrong, before anything is sent', async () => {
    await load({ events: ['arrived'], places: [{ name: 'home' }] });
    const { vehicle } = await flow.until(() => flow.caught[0]);
    assert.match(`${String(vehicle?.error?.['code'])} ${String(vehicle?.error?.['message'])}`, /^CONFIG .*latitude/);
    assert.equal(service.requests.length, 0);
  });
});
