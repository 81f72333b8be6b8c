import { strict as assert } from 'node:assert';
import { existsSync, promises as disk, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import helper = require('node-red-node-test-helper');
import type { Simulator } from '../../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../../support/flow';
import type { ManualClock } from '../../support/manual-clock';

describe('a command whose answer came when no process ran', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    service.car().set({ lock: 'UNLOCKED', commandPlan: { answerAfterMs: 60_000 } });
  });

  const load = (config: Record<string, unknown> = {}): Promise<void> =>
    flow.load(
      { type: 'connected-vehicle-command', command: 'lock', interface: 'v2', wires: [['watch', 'out1']], ...config },
      customVehicle(service),
      demoCredentials,
      [{ id: 'watch', z: 'tab', type: 'connected-vehicle-command-status', vehicle: 'v', wires: [['out0'], []] }],
    );
  const posts = (): number => service.requests.filter(({ method }) => method === 'POST').length;
  const directory = (): string => join(flow.userDir, 'connected-vehicle', 'state', 'command');
  /** The commands on disk that the node has to send on. */
  const kept = (): string[] => {
    const names = existsSync(directory()) ? readdirSync(directory()).filter((name) => name.endsWith('.json')) : [];
    const texts = names.map((name) => readFileSync(join(directory(), name), 'utf8'));
    return texts.filter((text) => /"forwardedAt":null\}/.test(text) && !/"results":\{"/.test(text));
  };
  const pass = (look: () => boolean): Promise<void> => clock.advanceUntil(look);
  const underWay = async (): Promise<void> => {
    flow.send({ topic: 'mine' });
    while (posts() === 0) await clock.advance(0);
  };

  it('is forgotten with its answer, also with a refusal', async () => {
    await load();
    await underWay();
    await pass(() => flow.outputs[1]?.length === 1);
    await pass(() => kept().length === 0);
    service.faults.add({ match: { method: 'POST' }, times: 1, error: 'not-supported' });
    flow.send();
    await pass(() => flow.caught.length === 1);
    await pass(() => kept().length === 0);
  });

  it('is kept until the result node has stored it, however slow the disk is', async () => {
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    await load();
    const kinds: string[] = [];
    flow.node('watch').on('input', () => kinds.push(`handed over, ${kept().length} kept`));
    const { rename } = disk;
    let store = (): void => undefined;
    const isStored = new Promise<void>((resolve) => (store = resolve));
    const isStoring = new Promise<void>((began) => {
      disk.rename = async (from, to) => {
        if (
          String(to).includes(join('state', 'command')) &&
          readFileSync(String(from), 'utf8').includes('"startedAt"')
        ) {
          began();
          await isStored;
        }
        await rename(from, to);
      };
    });
    try {
      flow.send();
      const storing = isStoring.then(() => true);
      while (!(await Promise.race([storing, clock.advance(0)])));
      // Whatever the command node does now takes fewer steps of the disk than these.
      for (let step = 0; step < 50; step += 1) await disk.readdir(directory());
      assert.deepEqual([...kinds, kept().length], ['handed over, 1 kept', 1]);
      store();
      await pass(() => kept().length === 0);
      assert.equal(flow.outputs[1]?.length, 1);
    } finally {
      store();
      disk.rename = rename;
    }
  });

  it('is followed after a kill if its record had left its subflow and did not reach the result node', async () => {
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    const command = {
      z: 'sub',
      x: 1,
      y: 1,
      type: 'connected-vehicle-command',
      command: 'lock',
      interface: 'v2',
      wires: [[]],
    };
    const start = async (forward: (msg: object) => void): Promise<void> => {
      await flow.load(command, customVehicle(service), demoCredentials, [
        {
          id: 'sub',
          type: 'subflow',
          name: 'sub',
          in: [{ x: 0, y: 0, wires: [{ id: 'n' }] }],
          out: [{ x: 0, y: 0, wires: [{ id: 'n', port: 0 }] }],
        },
        { id: 'begin', z: 'tab', type: 'helper', wires: [['instance']] },
        { id: 'instance', z: 'tab', x: 1, y: 1, type: 'subflow:sub', wires: [['slow']] },
        { id: 'slow', z: 'tab', type: 'helper', wires: [['watch']] },
        { id: 'watch', z: 'tab', type: 'connected-vehicle-command-status', vehicle: 'v', wires: [['out0'], []] },
      ]);
      flow.node('slow').on('input', forward);
    };
    let inBetween = false;
    await start(() => (inBetween = true));
    flow.node('begin').send({ topic: 'mine' } as never);
    await pass(() => inBetween);
    await pass(() => kept().length === 0);
    await flow.killedNow()();
    await start((msg) => flow.node('slow').send(msg as never));
    await pass(() => flow.outputs[0]?.length === 1);
    assert.deepEqual([flow.outputs[0]?.[0]?.['topic'], posts()], ['mine', 1]);
  });

  for (const [what, left, there] of [
    ['goes with its node', [], false],
    [
      'stays with a node that is only disabled',
      [{ id: 'n', z: 'tab', type: 'connected-vehicle-command', d: true, wires: [] }],
      true,
    ],
  ] as const) {
    it(what, async () => {
      await load();
      await underWay();
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'test' }, ...left] as never, 'nodes');
      assert.equal(kept().length > 0, there);
    });
  }

  /** A deploy that replaces only the watch node. */
  const replaceWatch = (timeout: number, more: object[] = []): Promise<void> =>
    helper.setFlows(
      [
        { id: 'tab', type: 'tab', label: 'test' },
        { id: 'v', type: 'connected-vehicle', ...customVehicle(service) },
        {
          id: 'n',
          z: 'tab',
          vehicle: 'v',
          type: 'connected-vehicle-command',
          command: 'lock',
          interface: 'v2',
          wires: [['watch', 'out1']],
        },
        { id: 'out0', z: 'tab', type: 'helper' },
        { id: 'out1', z: 'tab', type: 'helper' },
        {
          id: 'watch',
          z: 'tab',
          type: 'connected-vehicle-command-status',
          vehicle: 'v',
          timeout,
          wires: [['out0'], []],
        },
        ...more,
      ] as never,
      'nodes',
      { v: demoCredentials } as never,
    ) as unknown as Promise<void>;

  it('is followed if its answer comes while a deploy replaces the watch node', async () => {
    service.car().set({ commandPlan: { answerAfterMs: 2_000 } });
    await load();
    await underWay();
    let close = (): void => undefined;
    const closing = new Promise<void>((began) => {
      flow.node('watch').on('close', (done: () => void) => {
        close = done;
        began();
      });
    });
    const deploy = replaceWatch(200);
    await closing;
    await clock.advanceUntil(() => service.requests.some(({ method, status }) => method === 'POST' && status !== 0));
    // Long enough for a record that is not held back: each step waits for what is on
    // the wire and on disk.
    await clock.advanceInSteps(1_000, 100);
    assert.equal(flow.outputs[1]?.length, 0);
    close();
    await deploy;
    await pass(() => flow.outputs[0]?.length === 1);
    assert.equal(flow.outputs[1]?.length, 1);
    await pass(() => kept().length === 0);
  });

  it('is not held back by a deploy that Node-RED gives up', async () => {
    await load();
    await underWay();
    // The helper waits for the end of the deploy, which never comes.
    replaceWatch(200, [{ id: 'odd', z: 'tab', type: 'a type that is not installed', wires: [] }]).catch(
      () => undefined,
    );
    await pass(() => flow.outputs[1]?.length === 1);
    assert.equal(posts(), 1);
  });

  it('is followed if a deploy replaces the watch node at the moment when the record is handed over', async () => {
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    await load();
    const command = flow.node('n') as unknown as { send(...messages: unknown[]): void };
    const send = command.send.bind(command);
    let deploy: Promise<void> | undefined;
    for (const [round, ticks] of [0, 0, 1, 2, 3, 5, 8].entries()) {
      command.send = (...messages) => {
        send(...messages);
        const start = async (): Promise<void> => {
          for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
          await replaceWatch(300 + round);
        };
        deploy = start();
      };
      flow.send();
      await pass(() => flow.outputs[0]?.length === round + 1);
      await deploy;
    }
    assert.equal(posts(), 7);
  });
});
