import { strict as assert } from 'node:assert';
import { promises as disk, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper = require('node-red-node-test-helper');
import {
  asSentence,
  FileStateStore,
  FollowedCommands,
  MemoryStateStore,
  type Account,
  type CommandRecord,
} from '../../src/index';
import { CommandLog } from '../../src/commands/log';
import { demoCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { closeAccounts, openTestAccount } from '../support/account';

const type = 'connected-vehicle-command-status';
/** A file name as the store makes them. */
const damaged = `${'0'.repeat(32)}.json`;

describe(type, () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  afterEach(closeAccounts);
  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const load = (config: Record<string, unknown> = {}): Promise<void> =>
    flow.load({ type, timeout: 3600, ...config }, customVehicle(service), demoCredentials);
  /** From another Node-RED, which knows of no command that may still be in progress. */
  const send = (command = 'lock'): Promise<CommandRecord> =>
    openTestAccount(service, { clock, store: new MemoryStateStore() }).client.send(command, {
      vin: service.car().vin,
      interface: 'v1',
    });
  /**
   * Lets time pass until it is so. The watch has an hour, so that no slow machine makes it run out.
   */
  const pass = (look: () => boolean): Promise<void> => clock.advanceUntil(look);
  const verdicts = (): Record<string, unknown>[] =>
    (flow.outputs[0] ?? []).map(({ payload }) => payload as Record<string, unknown>);
  const folderOf = (collection: string): string => join(flow.userDir, 'connected-vehicle', 'state', collection);
  const filesOf = (collection: string): string[] => {
    try {
      return readdirSync(folderOf(collection)).filter((name) => !name.endsWith('.new'));
    } catch {
      return [];
    }
  };
  /** The nodes that follow a command, as the disk has them. */
  const kept = (): string[] =>
    commandFiles().flatMap((text) => {
      const { value } = JSON.parse(text) as { value: { followers: object } };
      return Object.entries(value.followers).flatMap(([node, follower]) => (follower === null ? [] : node));
    });
  /** As the next process opens it. */
  const stored = (): FollowedCommands => {
    const store = new FileStateStore({ directory: join(flow.userDir, 'connected-vehicle') });
    return new FollowedCommands({ log: new CommandLog({ store }), node: 'n', clock, onFault: assert.fail });
  };
  const commandFiles = (): string[] =>
    filesOf('command')
      .filter((name) => name.endsWith('.json') && statSync(join(folderOf('command'), name)).isFile())
      .map((name) => readFileSync(join(folderOf('command'), name), 'utf8'));

  it('follows a command with the vehicle that sent it if none is chosen', async () => {
    const command = {
      id: 'c',
      type: 'connected-vehicle-command',
      z: 'tab',
      vehicle: 'v',
      command: 'lock',
      wires: [['n']],
    };
    const demo = { id: 'second', type: 'connected-vehicle', service: 'demo' };
    await flow.load({ type, vehicle: '' }, customVehicle(service), demoCredentials, [demo, command]);
    assert.deepEqual(flow.badges, []);
    flow.node('c').receive({} as never);
    await pass(() => verdicts().length === 1);
    assert.deepEqual([verdicts()[0]?.['outcome'], verdicts()[0]?.['verified']], ['succeeded', true]);
    assert.equal(flow.outputs[0]?.[0]?.['topic'], 'lock');
  });

  it('asks for a vehicle if none is chosen and the command was sent elsewhere', async () => {
    await load({ vehicle: '' });
    flow.send({ payload: await send() });
    await flow.until(() => flow.caught.length === 1);
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'CONFIG');
    assert.match(String(flow.caught[0]?.vehicle?.error?.['message']), /choose a vehicle/);
    assert.equal(flow.badges.at(-1)?.code, 'no-vehicle');
  });

  /** As it is left by a process that was killed while it sent the result. */
  const killedWhileTelling = async (tries: number): Promise<CommandRecord> => {
    const record = await send('flash');
    const history = [{ requestStatus: 'COMPLETED', at: record.sentAt }];
    const report = {
      ...record,
      requestStatus: 'COMPLETED',
      outcome: 'succeeded' as const,
      reason: 'Found before the kill.',
      verified: null,
      elapsedMs: 5,
      history,
    };
    const commands = stored();
    const begun = await commands.begin(record, { topic: 'mine' }, 'v');
    await commands.settle(begun ?? assert.fail(), { report, reason: asSentence(report.reason) });
    // Each start begins to send it.
    for (let more = 1; more < tries; more += 1) {
      const next = stored();
      for (const open of await next.open(assert.fail))
        await next.settle(open, { report, reason: asSentence(report.reason) });
    }
    service.clearRequests();
    return record;
  };

  it('sends a result that comes while it is closed after the next start, and once', async () => {
    await load();
    const node = flow.node('n') as unknown as { close(removed: boolean): Promise<void> };
    let closed: Promise<void> | undefined;
    const { rename } = disk;
    disk.rename = async (from, to) => {
      await rename(from, to);
      if (commandFiles().join().includes('"tries"')) closed ??= node.close(false);
    };
    flow.send({ payload: await send('flash'), topic: 'mine' });
    await pass(() => closed !== undefined);
    disk.rename = rename;
    await closed;
    assert.deepEqual(verdicts(), []);
    await flow.unload();
    await load();
    await pass(() => verdicts().length === 1);
    assert.deepEqual([verdicts()[0]?.['outcome'], flow.outputs[0]?.[0]?.['topic']], ['succeeded', 'mine']);
    await pass(() => kept().length === 0);
    assert.equal(verdicts().length, 1);
  });

  it('holds its result back until a deploy is over, because the next node may be closed', async () => {
    await load();
    const endDeploy = await flow.beginDeploy();
    flow.send({ payload: await send('flash') });
    await pass(() => commandFiles().some((text) => text.includes('"tries"')));
    assert.deepEqual(verdicts(), []);
    await endDeploy();
    await pass(() => verdicts().length === 1);
    await pass(() => kept().length === 0);
  });

  it('stops sending a result that ends the process each time', async () => {
    await killedWhileTelling(3);
    await load();
    await pass(() => kept().length === 0);
    assert.deepEqual(verdicts(), []);
  });

  it('leaves nothing behind once it is deleted, with messages that come in meanwhile', async () => {
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'RUNNING' }] } });
    await load();
    const [first, second] = [await send('honk'), await send('honk')];
    flow.send({ payload: first });
    await pass(() => kept().length === 1);
    const node = flow.node('n');
    node.on('close', () => void node.receive({ payload: second } as never));
    await helper.setFlows([{ id: 'tab', type: 'tab', label: 'test' }] as never, 'nodes');
    // Also waits for the files.
    await clock.advanceInSteps(5_000);
    assert.deepEqual(kept(), []);
  });

  for (const command of ['lock', 'flash']) {
    it(`says that the demo car was restarted if it was, and never fails because of it (${command})`, async () => {
      await flow.load({ type, timeout: 3600 });
      const { dispatcher } = await (flow.node('v') as unknown as { account(): Promise<Account> }).account();
      await clock.advance(1);
      const payload = await dispatcher.send(command, { vin: demoCar.vin, interface: 'v1' });
      flow.send({ payload });
      await pass(() => kept().length === 1);
      await flow.endProcess();
      await clock.advance(1_000);
      await flow.load({ type, timeout: 3600 });
      await pass(() => verdicts().length === 1);
      assert.deepEqual([verdicts()[0]?.['outcome'], verdicts()[0]?.['verified']], ['undetermined', null]);
      assert.match(String(verdicts()[0]?.['reason']), /demo car was restarted/);
      assert.deepEqual(flow.caught, []);
      await pass(() => kept().length === 0);
    });
  }

  it('gives its verdict if the disk does not store that it was sent', async () => {
    service.car().set({
      commandPlan: {
        steps: [
          { afterMs: 0, status: 'RUNNING' },
          { afterMs: 20_000, status: 'COMPLETED' },
        ],
      },
    });
    await load();
    flow.send({ payload: await send('flash') });
    await pass(() => kept().length === 1);
    const [file = ''] = filesOf('command');
    const path = join(folderOf('command'), file);
    rmSync(path);
    mkdirSync(join(path, 'in the way'), { recursive: true });
    await pass(() => verdicts().length === 1);
    assert.equal(verdicts()[0]?.['outcome'], 'succeeded');
  });

  it('continues if a stored command cannot be read at all', async () => {
    mkdirSync(join(folderOf('command'), damaged), { recursive: true });
    await load();
    flow.send({ payload: await send('flash') });
    await pass(() => verdicts().length === 1);
    await pass(() => kept().length === 0);
  });

  it('sends no result again because it could not be stored', async () => {
    mkdirSync(folderOf(''), { recursive: true });
    writeFileSync(folderOf('command'), 'a file in the way');
    await load();
    flow.send({ payload: await send('flash') });
    await pass(() => verdicts().length === 1);
    await pass(() => kept().length === 0);
    await flow.unload();
    await load();
    await clock.advance(60_000);
    assert.equal(verdicts().length, 1);
  });

  it('stores that a result was sent, though the disk once refuses to', async () => {
    await load();
    const payload = await send('flash');
    let refused = 0;
    const { rename } = disk;
    disk.rename = async (from, to) => {
      if (verdicts().length === 1 && refused++ === 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await rename(from, to);
    };
    try {
      flow.send({ payload });
      await pass(() => refused > 0 && flow.completed.length === 1);
    } finally {
      disk.rename = rename;
    }
    assert.ok(await stored().hasSent(payload.id));
  });

  it('keeps a watch on disk before it waits for anything', async () => {
    await load();
    const payload = await send('flash');
    service.clearRequests();
    service.faults.add({ match: { method: 'GET' }, latencyMs: 60_000 });
    flow.send({ payload });
    while (kept().length === 0) await clock.advance(0);
    assert.equal(service.requests.length, 0);
  });

  it('forgets its commands with the instance of the subflow that contains it', async () => {
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'RUNNING' }] } });
    const subflow = [
      { id: 'sf', type: 'subflow', name: 'follow', in: [{ wires: [{ id: 'inner' }] }], out: [] },
      { id: 'inner', z: 'sf', x: 1, y: 1, type, vehicle: 'v', wires: [[], []] },
    ];
    const instance = { id: 'instance', z: 'tab', x: 1, y: 1, type: 'subflow:sf', wires: [] };
    await flow.load(
      { type: 'connected-vehicle-command', command: 'flash', interface: 'v1', wires: [['instance']] },
      customVehicle(service),
      demoCredentials,
      [...subflow, instance],
    );
    flow.send();
    await pass(() => kept().length === 1);
    const deploy = async (left: object[]): Promise<void> => {
      await helper.setFlows(
        [
          { id: 'tab', type: 'tab', label: 'test' },
          { id: 'v', type: 'connected-vehicle', ...customVehicle(service) },
          ...subflow,
          ...left,
        ] as never,
        'nodes',
      );
    };
    await deploy([{ ...instance, d: true }]);
    assert.equal(kept().length, 1);
    await deploy([instance]);
    await deploy([]);
    assert.deepEqual(kept(), []);
  });

  it('puts a stored command aside that cannot be read, and follows none that does not say for whom', async () => {
    await stored().begin(await send('honk'), {}, 'v');
    const [odd = ''] = filesOf('command');
    writeFileSync(join(folderOf('command'), damaged), '{"format":1,"key":');
    const text = readFileSync(join(folderOf('command'), odd), 'utf8');
    writeFileSync(join(folderOf('command'), odd), text.replace('"startedAt":', '"startedAt":"soon","was":'));
    await load();
    flow.send({ payload: await send('flash') });
    await pass(() => verdicts().length === 1);
    await clock.advance(300_000);
    assert.equal(verdicts().length, 1);
    assert.match(filesOf('command').join(), new RegExp(`${damaged}\\.unreadable-\\w+`));
  });

  it('stops following one command or all when asked to', async () => {
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'RUNNING' }] } });
    await load();
    const [first, second, third] = [await send('honk'), await send('honk'), await send('honk')];
    for (const payload of [first, second, third]) flow.send({ payload });
    await pass(() => kept().length === 3);
    flow.send({ cancel: true, payload: { id: second.id } });
    await pass(() => flow.caught.length === 1);
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'CANCELLED');
    assert.equal(kept().length, 2);
    const odd = ['no such id', { id: 'neither' }, ['x'], { id: 42 }, { id: false }, { id: '' }];
    for (const payload of odd) flow.send({ cancel: true, payload });
    for (const cancel of ['true', 1, null]) flow.send({ cancel, payload: first });
    await pass(() => flow.caught.length === 1 + odd.length + 3);
    assert.deepEqual(
      new Set(flow.caught.slice(1).map(({ vehicle }) => vehicle?.error?.['code'])),
      new Set(['INPUT_INVALID']),
    );
    const messages = flow.caught.map(({ vehicle }) => String(vehicle?.error?.['message']));
    assert.ok(messages.some((message) => /This node is not following a command with that id/.test(message)));
    assert.equal(kept().length, 2);
    flow.send({ cancel: true, payload: { id: null } });
    await pass(() => flow.caught.length === 1 + odd.length + 3 + 2);
    assert.deepEqual(kept(), []);
    assert.deepEqual(verdicts(), []);
  });

  it('ends with a link to another host, which it never follows', async () => {
    await load();
    const record = await send();
    service.clearRequests();
    flow.send({ payload: { ...record, async: { ...record.async, href: 'https://evil.example/' } } });
    await pass(() => flow.caught.length === 1);
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'UNTRUSTED_LINK');
    assert.deepEqual([service.requests, kept()], [[], []]);
  });
});
