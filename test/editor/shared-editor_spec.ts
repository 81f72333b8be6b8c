import { strict as assert } from 'node:assert';
import { sharedEditor, type HeldNode } from '../support/editor-halves';

const car = { id: 'car', type: 'connected-vehicle', _def: { defaults: { service: {} } }, service: 'volvo-cars' };
const node = (type: string, properties: object = {}): HeldNode => ({
  id: `${type} ${JSON.stringify(properties)}`,
  type: `connected-vehicle-${type}`,
  name: type,
  vehicle: 'car',
  ...properties,
});

/** What the button "Check" sends to the runtime about the nodes of the flows. */
function checkedNodes(...held: HeldNode[]): unknown {
  const editor = sharedEditor([car, ...held]);
  editor.connectedVehicle.checkFindings('car', () => undefined);
  return (JSON.parse(editor.requests[0]?.data ?? '') as { nodes: unknown }).nodes;
}

describe('The functions that the forms share', () => {
  it('let a check know each read and each command of the nodes', () => {
    assert.deepEqual(
      checkedNodes(
        node('status', { read: 'doors' }),
        node('status', { read: 'several', reads: ['fuelAmount', 'odometer'] }),
        node('command', { command: 'lock' }),
        node('command-status', { verify: true }),
        node('command-status', { verify: false }),
        { id: 'other', type: 'connected-vehicle-status', vehicle: 'another', read: 'tyres' },
      ),
      [
        { label: 'status', reads: ['doors'], commands: [] },
        { label: 'status', reads: ['fuelAmount', 'odometer'], commands: [] },
        { label: 'command', reads: [], commands: ['lock'] },
        { label: 'command-status', reads: ['doors'], commands: [] },
        { label: 'command-status', reads: [], commands: [] },
      ],
    );
  });

  it('let a check know the reads of an event node, also of one that does not poll', () => {
    const events = ['arrived', 'warning-on'];
    const [polled, onMessage] = checkedNodes(
      node('event', { events, poll: 120 }),
      node('event', { events, poll: 0 }),
    ) as {
      reads: string[];
    }[];
    for (const found of [polled, onMessage])
      assert.deepEqual(found?.reads, ['location', 'warnings', 'tyres', 'brakes', 'engine', 'diagnostics']);
  });

  it('let a check know that a guard that asks whether the car is in use reads the availability', () => {
    assert.deepEqual(checkedNodes(node('guard'), node('guard', { onlyWhileNotInUse: true })), [
      { label: 'guard', reads: ['windows', 'doors'], commands: [] },
      { label: 'guard', reads: ['windows', 'doors', 'accessibility'], commands: [] },
    ]);
  });

  it('let a check know just what a guard watches', () => {
    const reads = (watch: readonly string[], more: object = {}): unknown =>
      (checkedNodes(node('guard', { watch, ...more })) as { reads: unknown }[])[0]?.reads;
    assert.deepEqual(reads(['window']), ['windows']);
    assert.deepEqual(reads(['frontLeftDoor', 'lock']), ['doors']);
    assert.deepEqual(reads(['sunroof', 'hood']), ['windows', 'doors']);
    assert.deepEqual(reads(['window'], { onlyWhileNotInUse: true }), ['windows', 'accessibility']);
  });

  it('take no property of a message for the name of a command or of a read', () => {
    assert.deepEqual(
      checkedNodes(
        node('command', { command: 'payload', commandType: 'msg' }),
        node('command', { command: 'lock', commandType: 'str' }),
        node('status', { read: 'doors', readType: 'flow' }),
      ),
      [
        { label: 'command', reads: [], commands: [] },
        { label: 'command', reads: [], commands: ['lock'] },
        { label: 'status', reads: [], commands: [] },
      ],
    );
  });

  it('let a check know that a result node reads what shows the effect of the commands of its car', () => {
    const reads = (...commands: object[]): unknown =>
      (
        checkedNodes(...commands.map((command) => node('command', command)), node('command-status')) as {
          reads: unknown;
        }[]
      ).at(-1)?.reads;
    assert.deepEqual(reads({ command: 'engine-start' }, { command: 'engine-stop' }), ['engine-status']);
    assert.deepEqual(reads({ command: 'unlock' }, { command: 'flash' }), ['doors']);
    assert.deepEqual(reads({ command: 'lock' }, { command: 'engine-start' }), ['doors', 'engine-status']);
    assert.deepEqual(reads({ command: 'climatization-start' }), []);
    assert.deepEqual(reads(), ['doors']);
    assert.deepEqual(reads({ command: 'payload', commandType: 'msg' }), ['doors'], 'it may be any command');
    assert.deepEqual(reads({ command: 'engine-start', vehicle: 'another' }), ['doors']);
    const ofMessage = node('command-status', { vehicle: '' });
    const found = checkedNodes(node('command', { command: 'engine-start' }), ofMessage) as { reads: unknown }[];
    assert.deepEqual(found[1]?.reads, ['engine-status'], 'as in the message');
    assert.deepEqual(checkedNodes(ofMessage), [], 'no command of this car');
  });

  it('say why a configuration cannot be checked that was deleted in the editor and not deployed', () => {
    const editor = sharedEditor([]);
    const shown: unknown[] = [];
    editor.connectedVehicle.checkFindings('car', (lines) => shown.push(...lines));
    assert.deepEqual(editor.requests, []);
    assert.equal(shown.length, 1);
    assert.match(String(shown[0]), /dialog\.check\.deleted/);
  });

  it('load the stored credentials of a configuration, but keep those that were typed meanwhile', () => {
    const [untouched, typed] = ['one', 'two'].map((id): HeldNode => ({ ...car, id }));
    assert.ok(untouched && typed);
    const editor = sharedEditor([untouched, typed]);
    editor.connectedVehicle.loadCredentials();
    const [first, second] = editor.requests;
    const entered = { apiKey: 'typed' };
    typed['credentials'] = entered;
    first?.answer({ has_apiKey: true });
    second?.answer({ has_apiKey: false });
    assert.equal(JSON.stringify(untouched['credentials']), '{"has_apiKey":true,"_":{"has_apiKey":true}}');
    assert.equal(typed['credentials'], entered);
    assert.deepEqual(entered, { apiKey: 'typed' });
  });

  it('drop an answer that comes after the form asked for something else', () => {
    const editor = sharedEditor([car]);
    editor.showValues.showAnswer({}, false, String, () => undefined);
    editor.showValues.clearAnswer();
    const before = editor.shown.length;
    editor.requests[0]?.answer({ payloads: { odometer: { value: 5 } } });
    assert.equal(editor.shown.length, before);
  });

  it('show each value of an answer under the path where a flow finds it', () => {
    const pathsOf = (isSeveral: boolean, payloads: object): string[] => {
      const editor = sharedEditor([car]);
      editor.showValues.showAnswer({}, isSeveral, String, () => undefined);
      editor.requests[0]?.answer({ payloads });
      return editor.shown.slice(1);
    };
    const odometer = { value: 5, unit: 'kilometers' };
    const inWords = '5 connected-vehicle-status.unit.kilometers {"count":2,"defaultValue":"kilometers"}';
    assert.deepEqual(pathsOf(false, { odometer }), ['msg.payload.value', inWords]);
    assert.deepEqual(pathsOf(true, { odometer }), ['msg.payload.odometer.value', inWords]);
    assert.deepEqual(
      pathsOf(true, { windows: { rearRight: { value: 'OPEN' } }, 'engine-status': { engineStatus: { value: null } } }),
      [
        'msg.payload.windows.rearRight.value',
        'OPEN',
        'msg.payload["engine-status"].engineStatus.value',
        'connected-vehicle.answer.unknown',
      ],
    );
    assert.deepEqual(pathsOf(false, { journal: [{ command: 'lock' }], location: { latitude: 57.7 } }), [
      'msg.payload[0].command',
      'lock',
      'msg.payload.latitude',
      '57.7',
    ]);
  });

  it('show times and numbers in the language of the editor', () => {
    const time = new Date(2026, 0, 30, 13, 5).toISOString();
    for (const [language, day] of [
      ['de', '30. Jan., '],
      ['en-US', '30 Jan, '],
    ] as const) {
      const editor = sharedEditor([car], language);
      editor.connectedVehicle.checkFindings('car', (lines) => {
        assert.ok(String(lines[0]?.[0]).includes(`${day}13:05`), String(lines[0]?.[0]));
      });
      editor.requests[0]?.answer({ findings: [{ about: 'token', result: 'good', code: null, until: time }] });
      editor.showValues.showAnswer({}, false, String, () => undefined);
      editor.requests[1]?.answer({ payloads: { odometer: { value: 5, timestamp: time } } });
      assert.ok(editor.shown.at(-1)?.startsWith(`5 (${day}13:05`), editor.shown.at(-1));
    }
  });
});
