import { strict as assert } from 'node:assert';
import { commandNames } from '../../src/index';
import { startSimulator, type Simulator } from '../support/simulator';
import { askEditor, formOf } from '../support/editor-client';
import { useClock } from '../../nodes/runtime';
import { ManualClock } from '../support/manual-clock';
import { customVehicle, demoCredentials, Flow, type NodeConfig, setUpRealTimeFlow } from '../support/flow';

/** A record as a command node would have passed it on. */
const record = (service: Simulator): object => ({
  id: 'record',
  command: 'lock',
  vin: service.car().vin,
  interface: 'connected-v1',
  sentAt: new Date().toISOString(),
  operationId: null,
  requestStatus: 'COMPLETED',
  outcome: 'succeeded',
  message: '',
  async: {
    status: 'RUNNING',
    id: 'x',
    href: `${service.url}/connected-vehicle/v1/vehicles/${service.car().vin}/requests/x`,
    expires: null,
  },
});

describe('A read-only vehicle', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp));
  afterEach(() => flow.end());

  const vehicle = (): Record<string, unknown> => customVehicle(service, { readOnly: true });
  const load = (config: Record<string, unknown>, more: NodeConfig[] = []): Promise<void> =>
    flow.load(config, vehicle(), demoCredentials, more);
  const posts = (): string[] => service.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path);

  const ways: Record<string, unknown>[] = [
    {},
    { precheck: true },
    { interface: 'v1' },
    { interface: 'v2' },
    { whenUnavailable: 'wait', deadline: 60 },
    { arming: 30 },
  ];
  for (const way of ways) {
    it(`sends no command from a command node: ${JSON.stringify(way)}`, async () => {
      await load({ type: 'connected-vehicle-command', ...way });
      for (const command of [...commandNames, 'climatization-start', 'UNLOCK', ' lock ']) {
        if ('arming' in way) {
          const before = flow.completed.length;
          flow.send({ arm: true });
          await flow.until(() => flow.completed.length > before);
        }
        for (const msg of [{ command }, { command, interface: 'v1' }]) await flow.fail({ ...msg });
      }
      assert.deepEqual(posts(), []);
    });
  }

  it('sends no command, and nothing to another host, whatever a message says', async () => {
    const elsewhere = await startSimulator();
    try {
      const { url: baseUrl } = elsewhere;
      const own = { readOnly: false, service: 'custom', baseUrl, arm: undefined };
      const msg = { ...own, config: own, vehicle: { ...own, config: own }, url: baseUrl, href: baseUrl };
      await load({ type: 'connected-vehicle-command' });
      for (const command of ['unlock', 'lock'])
        assert.equal((await flow.ask({ ...msg, command })).vehicle?.error?.['code'], 'READ_ONLY');
      await flow.end();
      flow = new Flow();
      await load({ type: 'connected-vehicle-status' });
      await flow.ask({ ...msg, read: 'doors' });
      assert.deepEqual([posts(), elsewhere.requests], [[], []]);
      assert.equal(service.requests.length, 1);
    } finally {
      await elsewhere.close();
    }
  });

  it('says in the words of the contract that it is read-only', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock' });
    assert.equal((await flow.fail()).vehicle?.error?.['code'], 'READ_ONLY');
  });

  it('sends no command from a watch, whatever its record says', async () => {
    const clock = new ManualClock(Date.now());
    useClock(clock);
    await load({ type: 'connected-vehicle-command-status', timeout: 2, interval: 1, verify: true });
    flow.send({ payload: record(service) });
    await clock.advanceUntil(() => (flow.outputs[0]?.length ?? 0) + flow.caught.length > 0, 1_000);
    assert.deepEqual(posts(), []);
  });

  it('sends no command from a guard, with any message', async () => {
    service.car().set({ windows: { rearRight: 'OPEN' } });
    await load({ type: 'connected-vehicle-guard', minutes: 0, poll: 1 });
    flow.send({ payload: {}, vehicle: { vin: service.car().vin, read: 'accessibility' } });
    flow.send({ payload: { command: 'lock' }, command: 'lock' });
    await flow.until(() => flow.completed.length + flow.caught.length >= 2);
    assert.deepEqual(posts(), []);
  });

  it('sends no command from a status node', async () => {
    await load({ type: 'connected-vehicle-status' });
    await flow.ask({ read: ['commands', 'accessibility', 'doors'], command: 'lock' });
    assert.deepEqual(posts(), []);
  });

  it('sends no command from a dialog, not even one whose form is not read-only', async () => {
    await load({ type: 'connected-vehicle-status' });
    const form = formOf(
      { ...vehicle(), readOnly: false },
      {},
      {
        nodes: [{ label: 'x', reads: [], commands: [...commandNames] }],
        callback: 'http://localhost/connected-vehicle/callback',
      },
    );
    for (const action of ['vehicles', 'check', 'sign-in', 'sign-in-finish', 'state', 'commands', 'diagnostics'])
      await askEditor(action, form);
    assert.deepEqual(posts(), []);
  });
});
