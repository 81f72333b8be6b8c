import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulator, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials } from '../support/flow';
import { planOf, vinOf } from './support/cars';
import { startNodeRedProgram, type NodeRedProgram, type Recorded } from './support/node-red';
import { endWithLogs } from './support/program';
import { printTable } from './support/table';

/** Milliseconds from the commands and the change of the car to the signal. */
const moments = [0, 15, 40, 100, 200, 400, 800, 1300];
/** What a service manager sends, and what a lost power supply or a lack of memory is like. */
const ends = ['SIGTERM', 'SIGKILL'] as const;

/** The commands of one round, each to its own car: what the car takes until it has acted. */
const kinds = [
  { interface: 'v2', ms: 200 },
  { interface: 'v2', ms: 1500 },
  { interface: 'v1', ms: 200 },
  { interface: 'v1', ms: 1500 },
] as const;

/** The watched car, one for each command of each round, and two more. */
const carCount = 1 + moments.length * ends.length * kinds.length + 2;

/** The car whose window is opened and closed. */
const watched = vinOf(0);

const record = (kind: string): string =>
  `global.get('record')({ kind: '${kind}', ...msg.payload${kind === 'caught' ? ', code: msg.error.code, vin: msg.vin' : ''} });`;

const flowOf = (service: Simulator): object[] => [
  { id: 'tab', type: 'tab', label: 'car' },
  {
    id: 'v',
    type: 'connected-vehicle',
    ...customVehicle(service, { vin: watched, requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 }),
  },
  ...[
    { id: 'in', type: 'http in', url: '/send', method: 'post', wires: [['each']] },
    {
      id: 'each',
      type: 'function',
      func: 'return [msg.payload.messages, msg];',
      outputs: 2,
      wires: [['command'], ['ok']],
    },
    { id: 'ok', type: 'http response' },
    { id: 'command', type: 'connected-vehicle-command', vehicle: 'v', wires: [['result']] },
    {
      id: 'result',
      type: 'connected-vehicle-command-status',
      vehicle: 'v',
      interval: 1,
      timeout: 60,
      wires: [['r'], []],
    },
    { id: 'r', type: 'function', func: record('result'), wires: [[]] },
    { id: 'catch', type: 'catch', scope: ['command', 'result', 'event'], wires: [['c']] },
    { id: 'c', type: 'function', func: record('caught'), wires: [[]] },
    {
      id: 'event',
      type: 'connected-vehicle-event',
      vehicle: 'v',
      events: ['window-opened', 'window-closed'],
      poll: 1,
      wires: [['e']],
    },
    { id: 'e', type: 'function', func: record('event'), wires: [[]] },
    { id: 'in2', type: 'http in', url: '/journal', method: 'post', wires: [['journal']] },
    { id: 'journal', type: 'connected-vehicle-status', vehicle: 'v', read: 'journal', wires: [['ok']] },
    // Node-RED takes a node without a place on the canvas for a configuration.
  ].map((node) => ({ z: 'tab', x: 100, y: 100, ...node })),
];

/** A node whose end takes a while, so that a deploy does. */
const slowClose = {
  'slow-close.js': `module.exports = (RED) => RED.nodes.registerType('slow-close', function (config) {
    RED.nodes.createNode(this, config);
    this.on('close', (done) => setTimeout(done, 14000));
  });`,
  'slow-close.html': `<script type="text/javascript">
    RED.nodes.registerType('slow-close', { category: 'function', defaults: { name: { value: '' } }, inputs: 0, outputs: 0 });
  </script>`,
};

describe('Node-RED as a service manager runs it, with the packed tarball', function () {
  this.timeout(480_000);
  let service: Simulator;
  let nodeRed: NodeRedProgram;

  before(async () => {
    service = await startSimulator({
      cars: [
        { vin: watched, windows: { frontLeft: 'CLOSED' }, commandPlan: planOf(1000) },
        ...Array.from({ length: carCount - 1 }, (_, index) => {
          const { ms } = kinds[index % kinds.length]!;
          return { vin: vinOf(index + 1), lock: 'UNLOCKED', commandPlan: planOf(ms) };
        }),
      ],
    });
    nodeRed = await startNodeRedProgram({ nodes: slowClose });
    await nodeRed.deploy(flowOf(service), { v: demoCredentials });
  });

  after(() => service?.close());

  endWithLogs();

  /**
   * How often a command to this car arrived. Only the last 1000 requests are kept,
   * so this is asked soon.
   */
  const arrivedAt = (vin: string): number =>
    service.requests.filter(({ method, path }) => method === 'POST' && path.includes(vin)).length;
  const resultsOf = (recorded: Recorded[], vin: string): Recorded[] =>
    recorded.filter((entry) => entry['kind'] === 'result' && entry['vin'] === vin);
  const eventsIn = (recorded: Recorded[]): Recorded[] => recorded.filter(({ kind }) => kind === 'event');
  /** Without what was sent again after a crash. */
  const once = (recorded: Recorded[]): Recorded[] => [
    ...new Map(recorded.map((entry) => [JSON.stringify(entry), entry])).values(),
  ];

  const isOpen = (): boolean => service.car(watched).state.windows.frontLeft === 'OPEN';
  const changeCar = (): unknown => service.car(watched).set({ windows: { frontLeft: isOpen() ? 'CLOSED' : 'OPEN' } });
  const showsWindow = (recorded: Recorded[]): boolean =>
    eventsIn(recorded).at(-1)?.['event'] === (isOpen() ? 'window-opened' : 'window-closed');

  it('sends each command once, and loses no result and no event, over 16 ends at different moments', async () => {
    const rows: string[][] = [];
    const arrivedOnce: string[] = [];
    let car = 1;
    let changes = 0;
    for (const moment of moments) {
      for (const end of ends) {
        service.clearRequests();
        // The event node knows the car as it is now.
        while (!service.requests.some(({ path }) => path.includes(watched))) await sleep(20);
        const before = await nodeRed.recorded();
        const vins = kinds.map((_, index) => vinOf(car + index));
        car += kinds.length;
        changeCar();
        changes += 1;
        await nodeRed.send('send', {
          messages: kinds.map((kind, index) => ({ command: 'lock', vin: vins[index], interface: kind.interface })),
        });
        await sleep(moment);
        await nodeRed.stop(end);
        await nodeRed.start();
        const sent = vins.filter((vin) => arrivedAt(vin) > 0);
        const recorded = await nodeRed.until(
          `the results and the event after ${end} at ${moment} ms`,
          (all) => sent.every((vin) => resultsOf(all, vin).length > 0) && showsWindow(all),
        );
        const row = [`${moment} ms`, end];
        for (const vin of vins) {
          const results = resultsOf(recorded, vin);
          const [outcome] = new Set(results.map((entry) => entry['outcome']));
          const acted = service.car(vin).performed.length > 0;
          const where = `${end} after ${moment} ms: ${JSON.stringify(results)}`;
          assert.ok(arrivedAt(vin) <= 1, where);
          assert.equal(once(results).length <= 1, true, where);
          if (outcome === 'succeeded') assert.ok(acted, where);
          if (outcome === 'failed') assert.ok(!acted, where);
          if (end === 'SIGTERM') assert.ok(results.length <= 1, where);
          if (arrivedAt(vin) === 1) arrivedOnce.push(vin);
          row.push(
            `${String(outcome ?? 'none')}, ${arrivedAt(vin)}${results.length > 1 ? `, ${results.length} times` : ''}`,
          );
        }
        const events = eventsIn(recorded).length - eventsIn(before).length;
        if (end === 'SIGTERM') assert.equal(events, 1);
        rows.push([...row, String(events)]);
      }
    }
    printTable(
      ['after', 'end', ...kinds.map((kind) => `${kind.interface}, ${kind.ms} ms: result, POSTs`), 'events'],
      rows,
    );
    const events = once(eventsIn(await nodeRed.recorded()));
    assert.deepEqual(
      events.map(({ event }) => event),
      Array.from({ length: changes }, (_, index) => (index % 2 === 0 ? 'window-opened' : 'window-closed')),
    );
    assert.ok(arrivedOnce.length > car / 2, 'most commands were sent');
    type Entry = { vin: string; outcome: string; settledAt: string | null };
    const unsettled = ({ outcome, settledAt }: Entry): boolean => outcome === 'pending' || settledAt === null;
    let journal: Entry[] = [];
    // A command that never arrived gets its result when the doors have been read several times;
    // each start begins that again.
    for (const since = Date.now(); Date.now() - since < 90_000; await sleep(500)) {
      journal = (await nodeRed.send('journal', {})) as Entry[];
      if (!journal.some(unsettled)) break;
    }
    assert.deepEqual(journal.filter(unsettled), []);
    for (const vin of arrivedOnce) assert.equal(journal.filter((entry) => entry.vin === vin).length, 1);
  });

  it('sends what a deploy held back when it was killed in the deploy', async () => {
    const slow = { id: 'slow', type: 'slow-close', z: 'tab', x: 100, y: 100, name: 'before' };
    await nodeRed.deploy([...flowOf(service), slow], undefined, 'nodes');
    const before = await nodeRed.recorded();
    service.clearRequests();
    const requests = (method: string, path: string, vin: string): number =>
      service.requests.filter((sent) => sent.method === method && sent.path.includes(vin) && sent.path.includes(path))
        .length;
    const send = (vin: string): Promise<unknown> =>
      nodeRed.send('send', { messages: [{ command: 'flash', vin, interface: 'v1' }] });
    const [followed, unfollowed] = [vinOf(carCount - 2), vinOf(carCount - 1)];
    for (const vin of [followed, unfollowed]) service.car(vin).set({ commandPlan: planOf(1500) });
    await send(followed);
    while (requests('GET', '/requests/', followed) === 0) await sleep(20);
    const killed = nodeRed.deploy([...flowOf(service), { ...slow, name: 'after' }], undefined, 'nodes').then(
      () => false,
      () => true,
    );
    // In the deploy, the result node gets the result of the first command, the event node sees the
    // window, and the command node gets the answer to the second command.
    await sleep(1_000);
    changeCar();
    await send(unfollowed);
    const windows = requests('GET', '/windows', watched);
    while (requests('GET', '/windows', watched) < windows + 2) await sleep(20);
    while (requests('POST', '', unfollowed) === 0 || service.car(followed).performed.length === 0) await sleep(20);
    // The result node asks each second, and stores what it got.
    await sleep(2000);
    assert.deepEqual(await nodeRed.recorded(), before);
    await nodeRed.stop('SIGKILL');
    assert.ok(await killed, 'the deploy was under way');
    await nodeRed.start();
    const isSent = (all: Recorded[]): boolean => showsWindow(all) && all.length >= before.length + 3;
    await nodeRed.until('the results and the event', isSent);
    // Later polls report nothing again.
    const polls = requests('GET', '/windows', watched);
    while (requests('GET', '/windows', watched) < polls + 3) await sleep(20);
    const after = (await nodeRed.recorded()).slice(before.length);
    const [unfollowedResult, ...others] = [
      ...resultsOf(after, unfollowed),
      ...resultsOf(after, followed),
      ...eventsIn(after),
    ];
    assert.equal(after.length, 3);
    // Its answer had come, but no result node followed it yet.
    assert.match(String(unfollowedResult?.['outcome']), /^(succeeded|undetermined)$/);
    assert.deepEqual(
      others.map(({ vin, event, outcome }) => [vin, event ?? outcome]),
      [
        [followed, 'succeeded'],
        [watched, isOpen() ? 'window-opened' : 'window-closed'],
      ],
    );
    for (const vin of [followed, unfollowed]) assert.equal(requests('POST', '', vin), 1);
  });
});
