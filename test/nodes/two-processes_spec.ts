import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { useClock } from '../../nodes/runtime';
import type { CommandRecord } from '../../src/index';
import { ownDirectory } from '../../src/state/directory-owner';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { closeAccounts, openTestAccount } from '../support/account';
import { customVehicle, demoCredentials, Flow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';

const child = resolve(__dirname, '../support/owning-process.js');

describe('two Node-RED processes on one user directory', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;
  let record: CommandRecord;
  let other: ChildProcess;

  beforeEach(async () => {
    clock = new ManualClock();
    useClock(clock);
    service = await startSimulator({ clock });
    flow = new Flow();
    record = await openTestAccount(service, { clock }).client.send('flash', {
      vin: service.car().vin,
      interface: 'v1',
    });
    other = fork(child, [directory(), JSON.stringify(record)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    assert.deepEqual(await once(other, 'message'), [{ isOwner: true }, undefined]);
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
  /** Every stored file with its text, but for the mark of the owner. */
  const stored = (): string[] =>
    readdirSync(join(directory(), 'state'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && !/grant|quota|car/.test(entry.parentPath))
      .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'utf8')}`)
      .sort();
  const load = async (warnings: unknown[]): Promise<void> => {
    await flow.load(
      { type: 'connected-vehicle-command-status', timeout: 3600 },
      customVehicle(service),
      demoCredentials,
      [
        {
          id: 'c',
          z: 'tab',
          type: 'connected-vehicle-command',
          vehicle: 'v',
          command: 'flash',
          interface: 'v1',
          wires: [['n']],
        },
      ],
    );
    flow.node('v').warn = (warning: unknown) => void warnings.push(warning);
  };
  const pass = async (look: () => boolean): Promise<void> => {
    while (!look()) {
      await clock.advance(500);
      await new Promise((wake) => setTimeout(wake, 1));
    }
  };

  it('leave the commands, watches and journals of the first alone; the second says so and works all the same', async function () {
    this.timeout(60_000);
    const before = stored();
    assert.equal(before.length, 2);
    assert.equal(await ownDirectory(directory(), { beatMs: 400 }), false);
    const warnings: unknown[] = [];
    await load(warnings);
    await pass(() => warnings.length > 0);
    assert.match(String(warnings[0]), /same user directory/);
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    await clock.advance(200_000);
    flow.node('c').receive({} as never);
    await pass(() => flow.outputs[0]?.length === 1);
    assert.notEqual((flow.outputs[0]?.[0]?.payload as CommandRecord | undefined)?.id, record.id);
    await flow.unload();
    assert.deepEqual(stored(), before);
  });

  it('are one after the other once the first was killed: the next one goes on with its watches', async function () {
    this.timeout(60_000);
    await kill();
    await load([]);
    await pass(() => flow.outputs[0]?.length === 1);
    assert.equal((flow.outputs[0]?.[0]?.payload as CommandRecord | undefined)?.id, record.id);
    assert.equal(flow.outputs[0]?.[0]?.['topic'], 'of the first');
  });

  it('are told apart from a process that ended where its number says nothing', async () => {
    await kill();
    const owner = join(directory(), 'state', 'owner');
    // As a process of another host left it.
    writeFileSync(owner, JSON.stringify(['another-host', 1, 'abcdef']));
    utimesSync(owner, new Date(), new Date());
    assert.equal(await ownDirectory(directory(), { beatMs: 10 }), true);
    assert.equal(await ownDirectory(directory(), { beatMs: 100 }), false);
  });
});
