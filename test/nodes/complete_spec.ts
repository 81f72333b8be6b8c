import { strict as assert } from 'node:assert';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import { closeAccounts, openTestAccount } from '../support/account';
import type { ManualClock } from '../support/manual-clock';

describe('A Complete node', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  afterEach(closeAccounts);
  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const load = (config: Record<string, unknown>): Promise<void> =>
    flow.load(config, customVehicle(service), demoCredentials);
  /**
   * What the Complete node got of the message with this mark, without the
   * source that Node-RED adds.
   */
  const completed = async (mark: number): Promise<Received> => {
    const found = (): Received | undefined => flow.completed.find(({ mine }) => mine === mark);
    await clock.advanceUntil(() => found() !== undefined);
    const { complete, ...msg } = found() as Received;
    assert.ok(complete);
    return msg;
  };

  it('gets the reading that a status node sent', async () => {
    await load({ type: 'connected-vehicle-status', read: 'windows' });
    const sent = await flow.ask({ mine: 1 });
    assert.equal((sent.payload as Record<string, { value: string }>)['rearRight']?.value, 'OPEN');
    assert.deepEqual(await completed(1), sent);
  });

  it('gets no location that came with the message if the car has none', async () => {
    service.faults.add({ match: { path: '/location' }, error: 'not-supported' });
    await load({ type: 'connected-vehicle-status', read: 'several', reads: ['location', 'odometer'] });
    const sent = await flow.ask({ mine: 1, location: { lat: 1, lon: 2 } });
    assert.ok(!('location' in sent));
    assert.deepEqual(await completed(1), sent);
  });

  it('gets the message as it came in if a status node sent nothing', async () => {
    await load({ type: 'connected-vehicle-status', read: 'odometer', emit: 'changes' });
    await flow.ask({ mine: 1, payload: 'first' });
    flow.send({ mine: 2, payload: 'second' });
    assert.equal((await completed(2)).payload, 'second');
  });

  it('gets a frozen message as it came in', async () => {
    await load({ type: 'connected-vehicle-status', read: 'odometer' });
    flow.send(Object.freeze({ mine: 1, payload: 'mine' }));
    assert.equal((await completed(1)).payload, 'mine');
    assert.equal(flow.outputs[0]?.length, 1);
  });

  it('gets the record that a command node sent', async () => {
    await load({ type: 'connected-vehicle-command', command: 'lock' });
    flow.send({ mine: 1 });
    const got = await completed(1);
    assert.equal((got.payload as { command: string }).command, 'lock');
    assert.deepEqual(got, flow.outputs[0]?.[0]);
  });

  it('gets the result that a result node sent', async () => {
    service.car().set({
      commandPlan: {
        steps: ['RUNNING', 'WAITING', 'COMPLETED'].map((status, step) => ({ afterMs: step * 60_000, status })),
      },
    });
    await load({ type: 'connected-vehicle-command-status' });
    const payload = await openTestAccount(service, { clock }).client.send('lock', {
      vin: service.car().vin,
      interface: 'v1',
    });
    flow.send({ payload, mine: 1 });
    const got = await completed(1);
    assert.equal(flow.outputs[1]?.length, 1);
    assert.equal((got.payload as { outcome: string }).outcome, 'succeeded');
    assert.deepEqual(got, flow.outputs[0]?.[0]);
  });

  it('gets the alert that a guard sent', async () => {
    await load({ type: 'connected-vehicle-guard', timeZone: 'UTC', poll: 0 });
    flow.send({ ask: true, mine: 1 });
    assert.deepEqual(await completed(1), flow.outputs[0]?.[0]);
    assert.equal(((await completed(1)).payload as { type: string }).type, 'alert');
  });

  it('gets the event that an event node sent', async () => {
    await load({ type: 'connected-vehicle-event', events: ['unlocked'], poll: 0 });
    flow.send({ mine: 1 });
    await completed(1);
    await clock.advance(60_000);
    service.car().set({ lock: 'UNLOCKED' });
    flow.send({ mine: 2 });
    assert.deepEqual(await completed(2), flow.outputs[0]?.[0]);
    assert.equal((await completed(2))['topic'], 'unlocked');
  });
});
