import { strict as assert } from 'node:assert';
import type { VehicleNode } from '../../nodes/node-red/vehicle-node';
import { type Simulator } from '../support/simulator';
import type { Flow } from '../support/flow';
import { customVehicle, demoCredentials, setUpRealTimeFlow } from '../support/flow';

const status = { type: 'connected-vehicle-status' };
const command = { type: 'connected-vehicle-command', command: 'lock' };
const events = (...names: string[]) => ({ type: 'connected-vehicle-event', events: names, places: [] });
const noCondition = { type: 'connected-vehicle-condition', conditions: [] };
const signIn = { authorizeUrl: 'https://id.example/authorize', tokenUrl: 'https://id.example/token' };
const noCar = { vin: '' };
const keyOnly = { apiKey: 'demo-key' };
const client = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };

describe('The status of a node that cannot work', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp));

  const badge = async (code: string) => flow.until(() => flow.badges.find((shown) => shown.code === code));

  const ofEvents = async (code: string) =>
    flow.until(() => flow.badges.find((shown) => shown.code === code && shown.source?.id === 'n'));

  for (const [what, config, vehicle, credentials, code, text] of [
    ['the API key is missing', status, {}, {}, 'api-key-missing', 'API key missing'],
    ['nobody has signed in, although no car was found yet', status, noCar, keyOnly, 'not-signed-in', 'not signed in'],
    [
      'nobody has signed in with this client',
      status,
      { ...signIn, ...noCar },
      client,
      'not-signed-in',
      'not signed in',
    ],
    ['nobody has signed in for a command', command, noCar, keyOnly, 'not-signed-in', 'not signed in'],
    ['no car was found yet', status, noCar, demoCredentials, 'no-car', 'no car found yet'],
    ['no car was found yet for a command', command, noCar, demoCredentials, 'no-car', 'no car found yet'],
    ['an event of a place has no place', events('arrived'), {}, demoCredentials, 'add-place', 'add a place'],
    ['an event node has no event', events(), {}, demoCredentials, 'choose-event', 'choose an event'],
    ['a condition node has no condition', noCondition, {}, demoCredentials, 'add-condition', 'add a condition'],
    ['an event node has nobody signed in', events('unlocked'), noCar, keyOnly, 'not-signed-in', 'not signed in'],
  ] as const) {
    it(`names the cause: ${what}`, async () => {
      await flow.load(config, customVehicle(service, vehicle), credentials);
      await flow.fail();
      const { fill, shape, text: shown } = await badge(code);
      assert.deepEqual([fill, shape, shown], ['red', 'ring', text]);
    });
  }

  for (const config of [status, command])
    for (const [credentials, vehicle, code] of [
      [{}, {}, 'api-key-missing'],
      [{ apiKey: 'demo-key' }, {}, 'not-signed-in'],
      [client, signIn, 'not-signed-in'],
    ] as const)
      it(`names it from the deploy on, without a message: ${config.type}, ${code}`, async () => {
        await flow.load(config, customVehicle(service, vehicle), credentials);
        const { fill, shape } = await badge(code);
        assert.deepEqual([fill, shape], ['red', 'ring']);
        assert.deepEqual([service.requests.length, flow.caught.length], [0, 0]);
      });

  it('looks for the cause once for all nodes that ask at the same time', async () => {
    await flow.load(status, customVehicle(service), { apiKey: 'demo-key' });
    await badge('not-signed-in');
    const vehicle = flow.node('v') as VehicleNode;
    let looks = 0;
    const account = await vehicle.account();
    const obstacle = account.obstacle.bind(account);
    Object.assign(account, { obstacle: () => ((looks += 1), obstacle()) });
    const ask = (): Promise<(string | null)[]> => Promise.all([1, 2, 3].map(() => vehicle.obstacle()));
    assert.deepEqual([await ask(), looks], [['NOT_SIGNED_IN', 'NOT_SIGNED_IN', 'NOT_SIGNED_IN'], 1]);
    await ask();
    assert.equal(looks, 2);
  });

  it('names the command that is in progress', async () => {
    service.faults.add({ match: { path: '/commands/lock' }, latencyMs: 2000, times: 1 });
    await flow.load(command, customVehicle(service), demoCredentials);
    flow.send();
    await badge('sending');
    await flow.fail();
    assert.equal((await badge('busy')).text, 'busy with Lock');
  });

  it('says why a command failed', async () => {
    service.faults.add({
      match: { path: '/commands/lock' },
      status: 200,
      body: { data: { invokeStatus: 'UNABLE_TO_LOCK_DOOR_OPEN' } },
      times: 1,
    });
    await flow.load(command, customVehicle(service), demoCredentials);
    flow.send();
    assert.match((await badge('failed')).text ?? '', /^Lock: failed, a door is open/);
  });

  it('says until when the quota is used up', async () => {
    service.faults.add({ error: 'quota', times: 1 });
    await flow.load(status, customVehicle(service), demoCredentials);
    await flow.fail();
    assert.match((await badge('quota-spent')).text ?? '', /^quota used up until (\d+ [A-Z][a-z]+, )?\d\d:\d\d$/);
    flow.send();
    assert.match((await badge('waits-for-quota')).text ?? '', /^waits for the quota, \d+ s$/);
  });

  for (const [blocked, path] of [
    ['charging', '/energy/'],
    ['doors', '/connected-vehicle/'],
  ] as const)
    it(`says of the reads that the service has stopped that they wait, and not of the others: ${blocked}`, async () => {
      service.faults.add({ match: { path }, error: 'quota', times: 1 });
      await flow.load({ ...status, read: 'odometer' }, customVehicle(service, { shareFor: 0 }), demoCredentials);
      await flow.fail({ read: blocked });
      for (const [read, code] of [
        ['charging', blocked === 'charging' ? 'waits-for-quota' : 'reading'],
        ['doors', blocked === 'doors' ? 'waits-for-quota' : 'reading'],
        [['doors', 'charging'], 'waits-for-quota'],
        ['journal', 'reading'],
      ] as const) {
        flow.badges = [];
        await flow.ask({ read });
        assert.equal(flow.badges[0]?.code, code, String(read));
      }
    });

  it('shows events of the sign-in only: the refused key at once, the event, and then that it waits again', async () => {
    service.faults.add({ match: { path: '/connected-vehicle/' }, error: 'key-refused' });
    flow.heard = ['n', 'other'];
    const other = { ...status, id: 'other', z: 'tab', vehicle: 'v', read: 'doors' };
    const watching = { ...events('sign-in-ending', 'sign-in-required'), poll: 0 };
    await flow.load(watching, customVehicle(service), demoCredentials, [other]);
    await badge('listening');
    flow.node('other').receive({} as never);
    await ofEvents('api-key-refused');
    const { payload } = await flow.until(() => flow.outputs[0]?.[0]);
    assert.equal((payload as { event?: string }).event, 'sign-in-required');
    service.faults.clear();
    flow.badges = [];
    flow.node('other').receive({} as never);
    await ofEvents('listening');
    assert.equal(flow.outputs[0]?.length, 1);
  });

  it('shows events of the sign-in only: that nobody is signed in', async () => {
    const watching = { ...events('sign-in-required'), poll: 0 };
    await flow.load(watching, customVehicle(service, signIn), client);
    assert.equal((await ofEvents('not-signed-in')).text, 'not signed in');
    assert.equal(flow.outputs[0]?.length, 0);
  });
});
