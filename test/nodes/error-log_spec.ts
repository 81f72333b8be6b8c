import { strict as assert } from 'node:assert';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type NodeConfig } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const readOnly =
  'The vehicle configuration is read-only, so no command is sent. Untick “Read-only” there to allow commands.';

describe('The log of Node-RED, which its debug sidebar shows', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;
  /** What nodes logged as errors. */
  let logged: unknown[];
  /** The log of Node-RED is the same in each load of a test. */
  let isHeard = false;

  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    logged = [];
    isHeard = false;
  });
  const handler = {
    emit: (_event: string, { level, msg }: { level: number; msg: unknown }) => void (level === 20 && logged.push(msg)),
  };
  // The types of Node-RED lack both functions.
  const logOf = ({ RED }: Flow) => RED.log as unknown as Record<'addHandler' | 'removeHandler', (one: object) => void>;
  afterEach(() => logOf(flow).removeHandler(handler));

  async function load(nodes: NodeConfig[], vehicle: object = {}, heard: string[] = []): Promise<void> {
    flow.heard = heard;
    const [{ id: _id, ...first } = { type: '' }, ...more] = nodes;
    await flow.load(first, customVehicle(service, { ...vehicle }), demoCredentials, more);
    if (!isHeard) logOf(flow).addHandler(handler);
    isHeard = true;
  }
  const ofType = (type: string, more: object = {}): NodeConfig => ({
    id: type,
    z: 'tab',
    type: `connected-vehicle-${type}`,
    vehicle: 'v',
    wires: [],
    ...more,
  });
  const lock = ofType('command', { command: 'lock' });
  const polling = [
    ofType('status', { read: 'windows', poll: 60 }),
    ofType('guard', { watch: ['window'], poll: 60 }),
    ofType('event', { events: ['window-opened'], poll: 60 }),
  ];

  it('gets the whole sentence as text, in the language of the configuration', async () => {
    await load([lock], { readOnly: true });
    flow.send();
    await clock.advanceUntil(() => logged.length === 1);
    assert.equal(logged[0], readOnly);
    await flow.unload();
    await load([lock], { readOnly: true, language: 'de' });
    flow.send();
    await clock.advanceUntil(() => logged.length === 2);
    assert.match(String(logged[1]), /Befehl.*erlauben/);
  });

  it('gets nothing of what a Catch node gets: the sentence, and the code beside it', async () => {
    await load([lock], { readOnly: true }, ['n']);
    const { error } = await flow.fail();
    const { message, code, source } = error as { message: string; code: string; source: { id: string } };
    assert.deepEqual([message, code, source.id], [readOnly, 'READ_ONLY', 'n']);
    assert.deepEqual(logged, []);
  });

  it('gets once what several nodes find on their own, also over a deploy, and again when it comes back', async () => {
    const outage = { match: { method: 'GET' }, error: 'internal-error' } as const;
    const minutes = (count: number): Promise<void> => clock.advanceInSteps(count * 60_000, 10_000);
    service.faults.add(outage);
    await load(polling, {}, ['n', 'guard', 'event']);
    await minutes(5);
    const failed = new Set(flow.caught.map(({ error }) => (error as { source: { id: string } }).source.id));
    assert.deepEqual([...failed].sort(), ['event', 'guard', 'n'], 'each node fails');
    assert.deepEqual(logged, []);
    await flow.endProcess();
    for (const round of ['first', 'after a deploy']) {
      await load(polling);
      await minutes(5);
      assert.deepEqual(logged, ['The service has an internal error. Try again later.'], round);
      await flow.unload();
    }
    service.faults.clear();
    await load(polling);
    await minutes(30);
    service.faults.add(outage);
    await minutes(5);
    assert.equal(logged.length, 2, logged.join(' | '));
  });
});
