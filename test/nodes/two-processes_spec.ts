import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { useClock } from '../../nodes/runtime';
import type { CommandRecord } from '../../src/index';
import { startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount } from '../support/account';
import { customVehicle, demoCredentials, Flow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';

const child = resolve(__dirname, '../support/owning-process.js');
const nodes = ['c', 'n', 's', 'g', 'e'];

describe('two Node-RED processes on one user directory', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;
  let record: CommandRecord;
  let other: ChildProcess;
  let warnings: unknown[];

  beforeEach(async () => {
    clock = new ManualClock();
    useClock(clock);
    service = await startSimulator({ clock });
    flow = new Flow();
    flow.heard = nodes;
    record = await openTestAccount(service, { clock }).client.send('flash', {
      vin: service.car().vin,
      interface: 'v1',
    });
    other = fork(child, [directory(), JSON.stringify(record)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    assert.deepEqual((await once(other, 'message'))[0], 'active');
    await load();
  });
  afterEach(async () => {
    await kill();
    await closeAccounts();
    await flow.end();
    await service.close();
    useClock(undefined);
  });

  const directory = (): string => join(flow.userDir, 'connected-vehicle');
  const kill = async (): Promise<void> => {
    if (other.exitCode !== null || other.signalCode !== null) return;
    other.kill('SIGKILL');
    await once(other, 'exit');
  };
  /** Every stored file with its text. */
  const stored = (): string[] =>
    readdirSync(join(directory(), 'state'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'utf8')}`)
      .sort();
  const load = async (): Promise<void> => {
    warnings = [];
    const more = (id: string, type: string, properties: Record<string, unknown>) => ({
      id,
      z: 'tab',
      type: `connected-vehicle-${type}`,
      vehicle: 'v',
      ...properties,
    });
    await flow.load(
      { type: 'connected-vehicle-command-status', timeout: 3600 },
      customVehicle(service),
      demoCredentials,
      [
        more('c', 'command', { command: 'flash', interface: 'v1', wires: [['n']] }),
        more('s', 'status', { read: 'odometer', poll: 60, emit: 'always', wires: [['out1']] }),
        more('g', 'guard', { poll: 60, wires: [['out1'], []] }),
        more('e', 'event', { poll: 60, events: ['unlocked'], wires: [['out1']] }),
      ],
    );
    flow.node('v').warn = (warning: unknown) => void warnings.push(warning);
  };
  const pass = (look: () => boolean): Promise<void> => clock.advanceUntil(look);
  const shown = (): string[] => flow.badges.map(({ code }) => code ?? '');
  const inUse = 'in-use';
  /** The last status of a node is not that another Node-RED uses the folder. */
  const isFree = (id: string): boolean => flow.badges.findLast(({ source }) => source?.id === id)?.code !== inUse;

  it('are one that works and one whose nodes do nothing and show why', async function () {
    await pass(() => shown().filter((text) => text === inUse).length === nodes.length && warnings.length > 0);
    const before = stored();
    const requests = service.requests.length;
    assert.equal(warnings.length, 1);
    assert.match(String(warnings[0]), /same user directory/);
    for (const id of nodes) flow.node(id).receive({ payload: record } as never);
    await pass(() => flow.caught.length === nodes.length);
    for (const { vehicle } of flow.caught) {
      assert.equal(vehicle?.error?.['code'], 'CONFIG');
      assert.match(String(vehicle?.error?.['message']), /Another Node-RED uses the folder/);
    }
    await clock.advanceInSteps(600_000, 5_000);
    await flow.unload();
    assert.ok(shown().every((text) => text === inUse || text === ''));
    assert.equal(service.requests.length, requests);
    assert.deepEqual(stored(), before);
  });

  for (const [how, end] of [
    ['was killed', () => kill()],
    ['has ended', () => Promise.all([once(other, 'exit'), other.send('end')])],
  ] as const)
    it(`are one after the other: when the first ${how}, the second begins within a second, with what the first one began`, async function () {
      await pass(() => shown().filter((text) => text === inUse).length === nodes.length);
      await end();
      // No time passes meanwhile: the second process learns the end of the first
      // one from the system.
      await flow.until(() => nodes.every(isFree));
      await pass(() => flow.outputs[0]?.length === 1);
      assert.equal((flow.outputs[0]?.[0]?.payload as CommandRecord | undefined)?.id, record.id);
      assert.equal(flow.outputs[0]?.[0]?.['topic'], 'of the first');
      await pass(() => (flow.outputs[1]?.length ?? 0) > 0);
      await clock.advance(200_000);
      service.car().set({ commandPlan: { answerAfterMs: 0 } });
      flow.node('c').receive({} as never);
      await pass(() => flow.outputs[0]?.length === 2);
    });
});
