import { strict as assert } from 'node:assert';
import { electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const status = 'connected-vehicle-status';

describe('All in order', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [{ ...electricCar, resources: { bulbFailure: null } }],
  });

  const load = (config: Record<string, unknown>): Promise<void> => {
    Object.assign(flow, { outputs: [[], [], []], caught: [], completed: [], badges: [] });
    return flow.load(config as never, customVehicle(service), demoCredentials);
  };
  async function ask(msg: Record<string, unknown> = {}): Promise<Received & { port: number }> {
    await clock.advance(10_000);
    flow.outputs.forEach((output) => output.splice(0));
    flow.send(msg);
    const port = await flow.until(() => {
      const found = flow.outputs.findIndex((output) => output.length > 0);
      return found >= 0 && found + 1;
    });
    return { ...(flow.outputs[port - 1]?.[0] ?? assert.fail()), port };
  }
  const said = ({ payload, vehicle }: Received): unknown[] => [
    (payload as { value: unknown }).value,
    vehicle?.['text'],
    (payload as { reasons: { reason: string; names: string[] }[] }).reasons.map(({ names }) => names.join(' ')),
  ];

  it('costs the seven requests of its parts, and is in order if nothing is wrong', async () => {
    await load({ type: status, read: 'inOrder' });
    const found = await ask();
    assert.deepEqual(said(found), [true, 'in order', []]);
    assert.equal(service.requests.length, 7);
    const { read, interface: iface, measuredAt } = found.vehicle ?? {};
    assert.deepEqual([found['topic'], read, iface, typeof measuredAt], ['inOrder', 'inOrder', null, 'string']);
    assert.match(flow.badges.at(-1)?.text ?? '', /^in order · /);
    assert.equal(flow.badges.at(-1)?.fill, 'green');
  });

  it('costs them at each poll', async () => {
    await load({ type: status, read: 'inOrder', poll: 60 });
    const sent = (): number => flow.outputs[0]?.length ?? 0;
    await clock.advanceUntil(() => sent() >= 4, 5_000);
    assert.equal(service.requests.length, 7 * sent());
    assert.deepEqual(flow.caught, []);
  });

  it('names what is open, unlocked and warned of in one sentence', async () => {
    service.car().set({
      windows: { rearRight: 'OPEN' },
      doors: { hood: 'AJAR' },
      lock: 'UNLOCKED',
      resources: { bulbFailure: 'FOG_REAR_ANY' },
    });
    await load({ type: status, read: 'doors', payload: 'value' });
    const found = await ask({ read: 'INORDER' });
    assert.equal(found.payload, false);
    assert.equal(
      found.vehicle?.['text'],
      'not in order: rear-right window, hood open, unlocked, 1 warning (rear fog light)',
    );
    assert.equal(flow.badges.at(-1)?.fill, 'yellow');
  });

  it('is never in order while a part is unknown, whatever the others are', async () => {
    await load({ type: status, read: 'inOrder' });
    service.car().set({ windows: { rearRight: 'UNSPECIFIED' } });
    assert.deepEqual(said(await ask()), [
      null,
      'not known to be in order: doors and windows unknown',
      ['windows.rearRight'],
    ]);
    service.faults.add({ match: { path: '/tyres' }, error: 'not-supported' });
    const both = await ask();
    assert.equal((both.payload as { value: unknown }).value, null);
    service.car().set({ windows: { rearRight: 'OPEN' } });
    const open = await ask();
    assert.deepEqual(said(open).slice(0, 2), [false, 'not in order: rear-right window open, warnings unknown']);
  });

  it('is unknown for a car that has sent nothing for three days', async () => {
    await load({ type: status, read: 'several', reads: ['inOrder', 'odometer'] });
    assert.equal(((await ask()).payload as { inOrder: { value: unknown } }).inOrder.value, true);
    await clock.advance(3 * 86_400_000);
    const { payload, vehicle } = await ask();
    const { inOrder } = payload as { inOrder: { value: unknown; reasons: object[] } };
    assert.deepEqual(inOrder.reasons, [{ reason: 'age', state: 'unknown', names: ['age'] }]);
    const reads = vehicle?.['reads'] as Record<string, { text?: string }>;
    assert.equal(reads['inOrder']?.text, 'not known to be in order: the car has sent nothing for 3 days');
    assert.equal(inOrder.value, null);
  });

  it('is a value of a condition, with its reasons', async () => {
    const row = { value: 'inOrder', operator: 'is', operand: 'in order', operandType: 'str' };
    await load({ type: 'connected-vehicle-condition', conditions: [row] });
    const yes = await ask();
    assert.deepEqual([yes.port, yes.vehicle?.['text']], [1, 'In order']);
    service.car().set({ windows: { rearRight: 'OPEN' } });
    const no = await ask();
    assert.deepEqual([no.port, no.vehicle?.['text']], [2, 'Not in order: rear-right window open']);
    const { conditions } = (no.vehicle ?? assert.fail())['condition'] as { conditions: Record<string, unknown>[] };
    assert.deepEqual(conditions[0]?.['reasons'], [{ reason: 'openings', state: 'no', names: ['windows.rearRight'] }]);
    service.car().set({ windows: { rearRight: null } });
    const unclear = await ask();
    assert.deepEqual(
      [unclear.port, unclear.vehicle?.['text']],
      [3, 'Cannot tell. Not known to be in order: doors and windows unknown'],
    );
  });
});
