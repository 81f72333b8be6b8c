import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { NodeAPI } from 'node-red';
import { chooseSharedStore } from '../../nodes/runtime';
import { RedisPresence, FollowedCommands, systemClock } from '../../src/index';
import { CommandLog } from '../../src/commands/log';
import type { Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount } from '../support/account';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { describeOnRedis, openRedis, RedisServer } from '../support/redis-server';
import { withEnvironment } from '../support/environment';

const credentialSecret = 'a secret of the tests';

describeOnRedis('A Node-RED with a shared store', () => {
  let server: RedisServer;
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    flow.settings = { credentialSecret, connectedVehicle: { store: server.url } };
    service.car().set({ windows: { rearRight: 'CLOSED' } });
  });
  afterEach(closeAccounts);
  afterEach(() => server.send('FLUSHALL'));

  const load = (config: Record<string, unknown>, changes: object = {}): Promise<void> =>
    flow.load(config, customVehicle(service, { ...changes }), demoCredentials);
  const failure = ({ vehicle }: Received): string =>
    `${String(vehicle?.error?.['code'])} ${String(vehicle?.error?.['message'])}`;

  it('keeps everything there, also the state of a guard over a restart, and nothing in its user directory', async () => {
    const config = { type: 'connected-vehicle-guard', minutes: 5, poll: 60 };
    await load(config);
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await clock.advanceUntil(() => flow.outputs[0]?.length === 1, 1_000);
    await flow.endProcess();
    assert.ok(!existsSync(join(flow.userDir, 'connected-vehicle')));
    const keys = (await server.send('KEYS', '*')) as string[];
    assert.ok(
      keys.some((key) => key.endsWith(':guard')),
      String(keys),
    );
    assert.ok(!keys.includes('connected-vehicle:process'), 'the record is removed when Node-RED stops');
    flow.outputs = [[], []];
    await load(config);
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await clock.advanceUntil(() => flow.outputs[1]?.length === 1, 1_000);
    assert.deepEqual(flow.outputs[0], []);
  });

  it('says in a group that the store is unavailable, and not that another copy reads the car', async () => {
    flow.settings = { credentialSecret, connectedVehicle: { store: 'redis://127.0.0.1:1', group: 'copies' } };
    await load({ type: 'connected-vehicle-status', read: 'odometer', poll: 60 });
    await clock.advanceUntil(() => flow.badges.at(-1)?.code === 'store-unavailable', 1_000);
    await flow.endProcess();
  });

  for (const [config, badge] of [
    [{ type: 'connected-vehicle-status', read: 'odometer' }, 'value'],
    [{ type: 'connected-vehicle-guard', minutes: 5 }, 'value'],
    [{ type: 'connected-vehicle-event', events: ['window-opened'] }, 'listening'],
  ] as const)
    it(`says in a group that another copy reads the car, and reads it when that copy has ended: ${config.type}`, async () => {
      const store = openRedis(server.url, { scope: 'copies', secret: () => credentialSecret, clock });
      const presence = new RedisPresence({ store, group: 'copies', clock });
      await new Promise<void>((resolve) => {
        presence.onLeading((isLeading) => (isLeading ? resolve() : undefined));
      });
      flow.settings = { credentialSecret, connectedVehicle: { store: server.url, group: 'copies' } };
      await load({ ...config, poll: 60 });
      await flow.until(() => flow.badges.at(-1)?.code === 'standby');
      await clock.advanceInSteps(5_000, 1_000);
      assert.equal(flow.badges.at(-1)?.code, 'standby');
      assert.equal(service.requests.length, 0);
      await store.remove(`process/${presence.id}`);
      await clock.advanceUntil(() => flow.badges.at(-1)?.code === badge, 1_000);
      assert.ok(service.requests.length > 0);
      await flow.endProcess();
      await store.close();
    });

  for (const group of ['copies', null])
    it(`sends what a killed ${group === null ? 'run' : 'copy'} has stored and not sent, within 25 seconds`, async () => {
      const config = { type: 'connected-vehicle-guard', minutes: 5 };
      flow.settings = { credentialSecret, connectedVehicle: { store: server.url, ...(group !== null && { group }) } };
      const scope = group ?? `${hostname()}\n${resolve(flow.userDir)}`;
      const store = openRedis(server.url, { scope, secret: () => credentialSecret, clock });
      const key = `guard/n${group === null ? '' : `/${service.car().vin}`}`;
      await load({ ...config, poll: 60 });
      service.car().set({ windows: { frontLeft: 'OPEN' } });
      await clock.advanceUntil(() => flow.outputs[0]?.length === 1, 1_000);
      const alert = (): Record<string, unknown> => ({ ...(flow.outputs[0]?.[0]?.payload as object) });
      const { text, car: _name, ...message } = alert();
      await flow.endProcess();
      flow.outputs = [[], []];
      // As if it had been killed before it sent the alert.
      const state = (await store.read(key))?.value as object;
      await store.write(key, { ...state, unsent: [{ tries: 1, sender: 'killed', message }] });
      await store.write('process/killed', { name: 'killed' });
      await load({ ...config, poll: 600 });
      await clock.advanceInSteps(25_000, 1_000);
      await flow.until(() => flow.outputs[0]?.length === 1);
      assert.equal(alert()['text'], text);
      await flow.endProcess();
      await store.close();
    });

  it('takes no part in the store after a deploy has removed its nodes', async () => {
    flow.settings = { credentialSecret, connectedVehicle: { store: server.url, group: 'copies' } };
    await load({ type: 'connected-vehicle-status', read: 'odometer', poll: 60 });
    await clock.advanceUntil(() => flow.badges.at(-1)?.code === 'value', 1_000);
    const store = openRedis(server.url, { scope: 'copies', secret: () => credentialSecret, clock });
    assert.equal((await store.entries('process/')).length, 1);
    await flow.unload();
    await clock.advanceInSteps(10_000, 1_000);
    assert.deepEqual(await store.entries('process/'), []);
    await store.close();
  });

  it('sends no command while the store is a replica, reports that, and sends it once when the store is a primary again', async function () {
    const own = await RedisServer.start();
    let other: RedisServer | undefined;
    try {
      flow.settings = { credentialSecret, connectedVehicle: { store: own.url } };
      await load({ type: 'connected-vehicle-command', command: 'flash', interface: 'v1' });
      const sent = (): number => service.requests.filter(({ method }) => method === 'POST').length;
      const command = async (): Promise<Received[]> => {
        const ended = (): number => (flow.outputs[0]?.length ?? 0) + flow.caught.length;
        const [before, failures] = [ended(), flow.caught.length];
        flow.send();
        await clock.advanceUntil(() => ended() > before, 1_000);
        assert.deepEqual(flow.caught.slice(failures).map(failure), []);
        return flow.outputs[0] ?? [];
      };
      await command();
      assert.equal(sent(), 1);
      other = await own.startReplica();
      await own.failOver(other);
      assert.match(failure(await flow.fail()), /^STORE_UNAVAILABLE .*read-only replica.*primary server/);
      assert.equal(sent(), 1);
      // Without a replica: on a busy machine, one confirms too late what is written.
      await own.send('REPLICAOF', 'NO', 'ONE');
      const begun = clock.monotonic();
      await clock.advanceInSteps(5_000, 1_000);
      await command();
      assert.equal(sent(), 2);
      assert.ok(clock.monotonic() - begun >= 15_000, String(clock.monotonic() - begun));
      await flow.endProcess();
    } finally {
      await own.end();
      await other?.end();
    }
  });

  it('says that the record of a command waits for a store that is unavailable', async () => {
    const own = await RedisServer.start();
    try {
      flow.settings = { credentialSecret, connectedVehicle: { store: own.url, group: 'copies' } };
      await load({ type: 'connected-vehicle-command', command: 'flash', interface: 'v1' });
      // Meanwhile it waits to be sent, for 30 seconds at most.
      const endDeploy = await flow.beginDeploy();
      flow.send();
      await clock.advanceUntil(() => service.requests.length > 0, 1_000);
      await clock.advanceInSteps(5_000, 1_000);
      await own.end();
      await clock.advanceInSteps(12_000, 1_000);
      await endDeploy();
      await clock.advanceUntil(() => flow.badges.at(-1)?.code === 'store-unavailable', 1_000);
      assert.deepEqual(flow.outputs[0], []);
      await flow.endProcess();
    } finally {
      await own.end();
    }
  });

  for (const what of ['record', 'result'] as const)
    it(`leaves the ${what} of a command to the copy of the flow that took it over while this one stood still`, async () => {
      flow.settings = { credentialSecret, connectedVehicle: { store: server.url, group: 'copies' } };
      const type = what === 'record' ? 'connected-vehicle-command' : 'connected-vehicle-command-status';
      await load({ type, command: 'flash', interface: 'v1', interval: 1, verify: false });
      const store = openRedis(server.url, { scope: 'copies', secret: () => credentialSecret, clock });
      const presence = new RedisPresence({ store, group: 'copies', clock });
      const record =
        what === 'result' &&
        (await openTestAccount(service, { clock }).client.send('flash', { vin: service.car().vin, interface: 'v1' }));
      // Meanwhile it waits to be sent, for 30 seconds at most.
      const endDeploy = await flow.beginDeploy();
      flow.send(record ? { payload: record } : {});
      await clock.advanceUntil(() => service.requests.length > 1 || (!record && service.requests.length > 0), 1_000);
      await clock.advanceInSteps(5_000, 1_000);
      for (const { key } of await store.entries('process/')) await store.remove(key);
      clock.skip(40_000);
      await presence.renew();
      const log = new CommandLog({ store, presence });
      const node = `n/${service.car().vin}`;
      const left =
        what === 'record'
          ? await log.openFor(node, clock.now())
          : await new FollowedCommands({ log, node, clock, onFault: assert.fail }).open(assert.fail);
      assert.equal(left.length, 1);
      await endDeploy();
      await clock.advanceInSteps(10_000, 1_000);
      assert.deepEqual(flow.outputs[0], []);
      await flow.endProcess();
      await store.remove(`process/${presence.id}`);
      await store.close();
    });

  it('knows its user directory in every form in which settings.js names it', () => {
    const scopeOf = (userDir: string): string | undefined => {
      const settings = { credentialSecret, userDir, connectedVehicle: { store: 'REDIS://127.0.0.1:1' } };
      // It reads nothing else of Node-RED.
      return chooseSharedStore({ settings } as unknown as NodeAPI, systemClock)?.scope;
    };
    assert.equal(scopeOf('/data/'), scopeOf('/data'));
    assert.equal(scopeOf('data'), scopeOf(resolve('data')));
  });

  it('makes one group of the copies of an instance of FlowFuse, and none of its devices', async () => {
    const settings = { credentialSecret, userDir: '/data', connectedVehicle: { store: 'redis://127.0.0.1:1' } };
    const groupOf = (env: Record<string, string>): Promise<string | null | undefined> =>
      // It reads nothing else of Node-RED.
      withEnvironment(env, () => chooseSharedStore({ settings } as unknown as NodeAPI, systemClock)?.group);
    assert.equal(await groupOf({ FF_INSTANCE_ID: 'one' }), 'one');
    assert.equal(await groupOf({ FF_INSTANCE_ID: 'one', FF_DEVICE_ID: 'two' }), null);
    assert.equal(
      await groupOf({ FF_INSTANCE_ID: 'one', FF_DEVICE_ID: 'two', CONNECTED_VEHICLE_GROUP: 'three' }),
      'three',
    );
  });

  it('has demo cars that need no store', async () => {
    flow.settings = { credentialSecret, connectedVehicle: { store: 'redis://127.0.0.1:1' } };
    await flow.load({ type: 'connected-vehicle-status', read: 'doors' });
    assert.equal((await flow.ask()).vehicle?.['error'], undefined);
    await flow.endProcess();
    await flow.load({ type: 'connected-vehicle-command', command: 'flash' });
    assert.equal((await flow.ask()).vehicle?.['error'], undefined);
  });

  for (const [what, settings, words] of [
    [
      'an address that is none',
      { credentialSecret, connectedVehicle: { store: 'localhost:6379' } },
      /not valid.*redis:\/\//,
    ],
    [
      'a password that is not percent-encoded',
      { credentialSecret, connectedVehicle: { store: 'redis://:50%off@localhost' } },
      /not valid.*redis:\/\//,
    ],
    ['settings that are none', { credentialSecret, connectedVehicle: 5 }, /not valid.*redis:\/\//],
    [
      'a value of the settings',
      { credentialSecret, connectedVehicle: { commands: 'both' } },
      /connectedVehicle\.commands \(settings\.js\)/,
    ],
    [
      'a misspelt setting that chooses the store',
      { credentialSecret, connectedVehicle: { Store: 'redis://127.0.0.1:1' } },
      /no setting “Store”, only store, group, prefix/,
    ],
    [
      'a misspelt setting beside the store',
      { credentialSecret, connectedVehicle: { store: 'redis://127.0.0.1:1', grup: 'copies' } },
      /no setting “grup”/,
    ],
    [
      'a password with a number sign',
      { credentialSecret, connectedVehicle: { store: 'redis://user:12#34@localhost:6379' } },
      /not valid/,
    ],
    [
      'a database that is no number',
      { credentialSecret, connectedVehicle: { store: 'redis://localhost/cars' } },
      /not valid/,
    ],
    ['no host', { credentialSecret, connectedVehicle: { store: 'redis:localhost:6379' } }, /not valid/],
    [
      'options of TLS for an address without it',
      { credentialSecret, connectedVehicle: { store: 'redis://127.0.0.1:1', tls: {} } },
      /not valid.*rediss:\/\/ for TLS/,
    ],
    ['no credentialSecret', { connectedVehicle: { store: 'redis://127.0.0.1:1' } }, /needs a credentialSecret/],
  ] as const)
    it(`says what is wrong with ${what}, and keeps nothing in files instead`, async () => {
      flow.settings = what === 'no credentialSecret' ? { connectedVehicle: { store: server.url } } : settings;
      await load({ type: 'connected-vehicle-command', command: 'flash', interface: 'v1' });
      assert.match(failure(await flow.fail()), words);
      assert.match(failure(await flow.fail()), /^STORE_UNAVAILABLE/);
      assert.equal(service.requests.filter(({ method }) => method === 'POST').length, 0);
      assert.ok(!existsSync(join(flow.userDir, 'connected-vehicle')));
    });

  it('says what is wrong with a value of the environment, and keeps nothing in files instead', async () => {
    await withEnvironment({ CONNECTED_VEHICLE_COMMANDS: ' both ' }, async () => {
      flow.settings = { credentialSecret, connectedVehicle: { store: server.url, commands: 'each' } };
      await load({ type: 'connected-vehicle-command', command: 'flash', interface: 'v1' });
      assert.match(
        failure(await flow.fail()),
        /^STORE_UNAVAILABLE The value of CONNECTED_VEHICLE_COMMANDS is not valid/,
      );
      assert.ok(!existsSync(join(flow.userDir, 'connected-vehicle')));
    });
  });
});
