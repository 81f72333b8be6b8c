import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { demoCar, electricCar, startSimulator, type Simulator } from '../support/simulator';
import { listen } from '../support/listening';
import { itLong } from '../support/long';
import { fewNodesAnd, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { examples, type FlowNode } from './checkout';
import { DebugSidebar } from './debug-sidebar';
import { buttonOf, deployExample, pressButton, untilAsked } from './example-flow';

/** The examples where something goes wrong, in a real Node-RED. */
describe('The examples in trouble', function () {
  let nodeRed: RealNodeRed;
  let service: Simulator;
  let sidebar: DebugSidebar;
  let nodes: FlowNode[];

  before(async () => {
    nodeRed = await startNodeRed([], undefined, fewNodesAnd('80-template.js', '21-httprequest.js'));
    sidebar = await DebugSidebar.open(nodeRed.url);
  });
  after(async () => {
    sidebar?.close();
    await nodeRed?.stop();
  });
  beforeEach(async () => {
    service = await startSimulator();
    sidebar.clear();
  });
  afterEach(() => service.close());

  const press = (name: string): Promise<void> => pressButton(nodeRed, buttonOf(nodes, name));
  /**
   * Of the debug nodes of the deployed example: those of others have the same names, and their
   * messages may come late.
   */
  const all = (name: string): unknown[] => sidebar.all(name, ...nodes.map(({ id }) => id));
  const next = (name: string): Promise<unknown> => sidebar.next(name, ...nodes.map(({ id }) => id));

  describe('Lock when everybody left', () => {
    beforeEach(async () => {
      nodes = await deployExample(nodeRed, service, 'Lock when everybody left');
    });

    it('raises the alarm when the command succeeded and the doors say otherwise', async () => {
      service.car().set({
        lock: 'UNLOCKED',
        commandPlan: { answerAfterMs: 0, steps: [{ afterMs: 0, status: 'COMPLETED', acts: false }] },
      });
      const reporting = setInterval(() => service.car().report(), 250);
      try {
        await press('Everybody left');
        assert.match(String(await next('Alarm')), /^The car may not be locked\. /);
        assert.deepEqual(all('Notify'), []);
      } finally {
        clearInterval(reporting);
      }
    });

    itLong('says that nothing confirms a command that the car took, and raises no alarm', async () => {
      // The doors keep what they reported before the command.
      service
        .car()
        .set({ commandPlan: { answerAfterMs: 0, steps: [{ afterMs: 0, status: 'COMPLETED', acts: false }] } });
      nodes = await deployExample(nodeRed, service, 'Lock when everybody left', (node) =>
        node.type === 'connected-vehicle-command-status' ? { ...node, timeout: 2 } : node,
      );
      await press('Everybody left');
      assert.match(
        String(await next('Notify')),
        /^The service reports that the car locked, but its doors do not confirm it/,
      );
      assert.deepEqual(all('Alarm'), []);
    });

    it('cancels a lock that still waits when somebody comes home, without an alarm', async () => {
      service.car().set({ asleep: true });
      await press('Everybody left');
      await untilAsked(service, 1);
      await press('Somebody is home');
      assert.match(String(await next('Notify')), /canceled.*not sent/);
      assert.deepEqual(all('Alarm'), []);
      assert.ok(service.requests.every(({ method }) => method === 'GET'));
    });
  });

  it('Lock in HomeKit: shows an unlocked car as one that can be locked, and obeys only the Home app', async () => {
    service.car().set({ lock: 'UNLOCKED' });
    nodes = await deployExample(nodeRed, service, 'Lock in HomeKit', (node) =>
      // As the HomeKit service puts out what the flow itself has set.
      node['name'] === 'Home app: lock' ? { ...node, props: [{ p: 'payload' }] } : node,
    );
    assert.deepEqual(await next('HomeKit lock'), { LockTargetState: 0, LockCurrentState: 0 });
    await press('Home app: lock');
    await press('Home app: unlock');
    assert.deepEqual(await next('HomeKit lock, outcome'), { LockTargetState: 1 });
    assert.ok(service.requests.every(({ method }) => method === 'GET'));
  });

  itLong('Lock in HomeKit: calls a lock unknown that nothing confirms', async () => {
    service.car().set({ commandPlan: { answerAfterMs: 0, steps: [{ afterMs: 0, status: 'COMPLETED', acts: false }] } });
    nodes = await deployExample(nodeRed, service, 'Lock in HomeKit', (node) =>
      node.type === 'connected-vehicle-command-status' ? { ...node, timeout: 2 } : node,
    );
    await press('Home app: lock');
    assert.deepEqual(await next('HomeKit lock, outcome'), { LockTargetState: 1, LockCurrentState: 3 });
  });

  describe('Lock it when I forgot', () => {
    const deploy = async (): Promise<void> => {
      nodes = await deployExample(nodeRed, service, 'Lock it when I forgot', (node) =>
        node.type === 'connected-vehicle-guard' ? { ...node, minutes: 0, poll: 1 } : node,
      );
    };
    const locks = (): number => service.requests.filter(({ path }) => path.endsWith('commands/lock')).length;

    it('locks a car that stays unlocked, once, and reports it', async () => {
      service.car().set({ lock: 'UNLOCKED' });
      await deploy();
      assert.equal(await next('Notify'), 'The car was unlocked, and is locked now.');
      assert.match(String(await next('Locked again')), /locked/i);
      assert.equal(service.car().state.lock, 'LOCKED');
      assert.equal(locks(), 1);
    });

    it('says why it could not be locked, and does not try again', async () => {
      service
        .car()
        .set({ doors: { rearLeft: 'OPEN' } })
        .set({ lock: 'UNLOCKED', commandPlan: { answerAfterMs: 0 } });
      await deploy();
      assert.match(String(await next('Alarm')), /^The car may not be locked\. .*door is open/);
      await untilAsked(service, service.requests.length + 6);
      assert.equal(locks(), 1);
    });

    it('sends nothing while it is not known whether the car is locked', async () => {
      await deploy();
      await untilAsked(service, 4);
      service.car().set({ lock: null });
      assert.match(String(await next('Not known')), /whether the car is locked/);
      assert.equal(locks(), 0);
    });
  });

  describe('Push to the phone with ntfy', () => {
    let server: Server;
    let port: number;
    let pushes: { path: string; title: unknown; text: string }[];
    let status = 200;

    beforeEach(async () => {
      pushes = [];
      server = createServer((request, response) => {
        void text(request).then((said) => {
          pushes.push({ path: String(request.url), title: request.headers['title'], text: said });
          response.writeHead(status).end('{"error":"too many"}');
        });
      });
      port = await listen(server);
    });
    afterEach(() => server.close());

    const deploy = async (topic: string): Promise<void> => {
      nodes = await deployExample(nodeRed, service, 'Push to the phone with ntfy', (node) => {
        if (node.type === 'connected-vehicle-event') return { ...node, poll: 1 };
        if (node.type === 'http request')
          return { ...node, url: String(node['url']).replace('https://ntfy.sh', `http://127.0.0.1:${port}`) };
        return node.type.startsWith('subflow:')
          ? { ...node, env: [{ name: 'topic', type: 'str', value: topic }] }
          : node;
      });
    };

    it('posts the sentence of an event to the topic', async () => {
      await deploy('my-car-4711');
      await untilAsked(service, 4);
      service.car().set({ windows: { rearLeft: 'OPEN' } });
      await next('Sent');
      assert.deepEqual(pushes, [{ path: '/my-car-4711', title: 'Car', text: 'Rear-left window is open' }]);
    });

    it('reports that ntfy did not accept a message', async () => {
      status = 429;
      await deploy('my-car-4711');
      await press('Try it');
      assert.equal(await next('Not accepted'), '{"error":"too many"}');
      assert.deepEqual(pushes, [{ path: '/my-car-4711', title: 'Car', text: 'A test from Node-RED' }]);
      assert.deepEqual(all('Sent'), []);
    });

    it('sends nothing as long as no topic is entered', async () => {
      await deploy('');
      await press('Try it');
      assert.equal(await next('Not sent: no topic'), 'A test from Node-RED');
      assert.deepEqual(pushes, []);
    });
  });

  it('A page with Dashboard 2: shows the failure of a command as its outcome', async () => {
    nodes = await deployExample(nodeRed, service, 'A page with Dashboard 2');
    await next('Page');
    await press('Button: flash');
    assert.equal(await next('Last command'), 'Flash: succeeded');
    service.faults.add({ match: { method: 'POST', path: 'lock' }, error: 'not-supported' });
    sidebar.clear();
    await press('Button: lock');
    const outcome = String(await next('Last command'));
    assert.match(outcome, /^Lock: .{20}/);
    assert.doesNotMatch(outcome, /succeeded/);
    // The page of the first command may come only now.
    while (!all('Page').some((page) => (page as { outcome: unknown }).outcome === outcome)) await sidebar.more();
    await next('Why');
    assert.equal(all('Why').length, 1);
  });

  it('Two cars side by side: uses the token of each car’s own account, also to see whether it is locked', async () => {
    await service.close();
    service = await startSimulator({ cars: [demoCar, electricCar] });
    for (const car of service.cars.values()) car.set({ lock: 'UNLOCKED' });
    const electric =
      examples.flatMap(({ nodes: all }) => all).find(({ name }) => name === 'Electric demo car')?.id ?? '';
    const token = service.issueToken();
    nodes = await deployExample(
      nodeRed,
      service,
      'Two cars side by side',
      (node) => (node.id === electric ? { ...node, vin: electricCar.vin } : node),
      { [electric]: { apiKey: 'demo-key', accessToken: token } },
    );
    await press('Lock both');
    while (all('Outcome').length < 2) await sidebar.more();
    assert.deepEqual(all('Outcome'), ['succeeded', 'succeeded']);
    const tokens = (vin: string): string[] => [
      ...new Set(
        service.requests.flatMap(({ path, headers }) => (path.includes(vin) ? [String(headers.authorization)] : [])),
      ),
    ];
    assert.deepEqual(tokens(demoCar.vin), ['Bearer demo-token']);
    assert.deepEqual(tokens(electricCar.vin), [`Bearer ${token}`]);
    assert.ok([...service.cars.values()].every((car) => car.state.lock === 'LOCKED'));
  });

  it('Climate on a cold morning: calls assumed what cannot be read back', async () => {
    nodes = await deployExample(nodeRed, service, 'Climate on a cold morning');
    await press('At 7:10, with -2 °C');
    assert.match(String(await next('Notify')), /^The climate control is assumed to be on until about \d\d:\d\d$/);
  });

  it('Morning report in one sentence: says what could not be read', async () => {
    // Pressed when the service has its faults, and not automatically at each deploy.
    nodes = await deployExample(nodeRed, service, 'Morning report in one sentence', (node) =>
      node.type === 'inject' ? { ...node, once: false } : node,
    );
    service.car().set({ resources: { washerFluidLevel: 'NORMAL' } });
    for (const path of ['/statistics', '/diagnostics']) service.faults.add({ match: { path }, error: 'not-supported' });
    await press('At 7:00');
    const sentence = String(await next('Notify'));
    assert.match(sentence, /; not known: range, service, washer fluid\.$/);
    assert.doesNotMatch(sentence, / km|service is/);
    service.faults.clear();
    sidebar.clear();
    await press('At 7:00');
    assert.doesNotMatch(String(await next('Notify')), /not known/);
  });
});
