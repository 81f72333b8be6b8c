import { strict as assert } from 'node:assert';
import type { VehicleNode } from '../../nodes/node-red/vehicle-node';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Catch, Complete and an open web request outlive a node that a deploy replaces. */
describe('a node that is closed while it works on a message', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const closeDuring = async (config: Record<string, unknown>, method: string): Promise<void> => {
    await flow.load(config, customVehicle(service), demoCredentials);
    service.faults.add({ match: { method }, latencyMs: 1e9 });
    flow.send({ payload: 'mine' });
    while (!service.requests.some((request) => request.method === method)) {
      assert.deepEqual(flow.caught, []);
      await turn();
    }
    await (flow.node('n') as unknown as { close(removed: boolean): Promise<void> }).close(false);
  };

  for (const [type, config, method] of [
    ['connected-vehicle-status', { read: 'doors' }, 'GET'],
    ['connected-vehicle-command', { command: 'lock', precheck: true }, 'GET'],
  ] as const) {
    it(`fails with that message: ${type}`, async () => {
      await closeDuring({ type, ...config }, method);
      const failed = await flow.until(() => flow.caught[0]);
      assert.equal(failed.vehicle?.error?.['code'], 'CANCELLED');
      assert.equal(failed.payload, 'mine');
    });
  }

  it('sends no last known value: another node may have sent a newer one', async () => {
    const read = { type: 'connected-vehicle-status', read: 'doors', poll: 60, emit: 'always' };
    await flow.load(read, customVehicle(service), demoCredentials);
    const sent = flow.outputs[0] ?? assert.fail();
    const reads = (): number => service.requests.filter(({ path }) => path.endsWith('/doors')).length;
    await clock.advanceUntil(() => sent.length === 1);
    service.faults.add({ latencyMs: 1e9 });
    await clock.advanceUntil(() => reads() === 2);
    await (flow.node('n') as unknown as { close(removed: boolean): Promise<void> }).close(false);
    const failed = await flow.until(() => flow.caught[0]);
    assert.equal(failed.vehicle?.error?.['code'], 'CANCELLED');
    for (let i = 0; i < 50; i += 1) await turn();
    assert.equal(sent.length, 1);
  });

  it('is done with the message of a command that was sent', async () => {
    await closeDuring({ type: 'connected-vehicle-command', command: 'lock', interface: 'v2' }, 'POST');
    const done = await flow.until(() => flow.completed[0] ?? flow.caught[0]);
    assert.deepEqual([done.payload, flow.caught.length], ['mine', 0]);
  });
});

/** A deploy can replace a node while the vehicle stays. */
describe('a node that is closed while it is still opening', () => {
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ service, flow } = setUp));

  for (const [type, config] of [
    ['connected-vehicle-event', { events: ['locked'] }],
    ['connected-vehicle-guard', {}],
    ['connected-vehicle-status', { read: '"windows"', readType: 'jsonata', vin: '', vinType: 'str' }],
  ] as const) {
    for (const turns of [0, 1, 2, 4, 8]) {
      it(`leaves no polling behind: ${type}, ${turns} turns after its start`, async () => {
        await flow.load({ type, poll: 60, ...config }, customVehicle(service), demoCredentials);
        const { poller } = await (flow.node('v') as VehicleNode).account();
        const polling = new Set<object>();
        const start = poller.start.bind(poller);
        poller.start = (user, poll) => {
          polling.add(user);
          const end = start(user, poll);
          return () => {
            polling.delete(user);
            end();
          };
        };
        for (let i = 0; i < turns; i += 1) await turn();
        const node = flow.node('n') as unknown as { close(removed: boolean): Promise<void> };
        await node.close(false);
        for (let i = 0; i < 50; i += 1) await turn();
        assert.equal(polling.size, 0);
      });
    }
  }
});
