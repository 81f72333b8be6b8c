import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, mkdirSync, readdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const minute = 60_000;

interface Outcome {
  outcome: string;
}

describe('A node whose stored state cannot be read when it starts', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    service.car().set({ windows: { rearRight: 'CLOSED' } });
  });

  const load = async (config: Record<string, unknown>): Promise<void> => {
    Object.assign(flow, { outputs: [[], []], caught: [] });
    await flow.load({ poll: 60, ...config }, customVehicle(service), demoCredentials);
  };
  const until = (look: () => boolean): Promise<void> => clock.advanceUntil(look, 1_000);
  const sent = (output: 0 | 1): unknown[] => (flow.outputs[output] ?? []).map(({ topic }) => topic);
  const fileOf = (collection: string): string => {
    const folder = join(flow.userDir, 'connected-vehicle', 'state', collection);
    return join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? assert.fail());
  };
  /** Makes the file unreadable also for root, until the returned function is called. */
  const block = (file: string): (() => void) => {
    renameSync(file, `${file}.kept`);
    mkdirSync(file);
    return () => {
      rmdirSync(file);
      renameSync(`${file}.kept`, file);
    };
  };

  it('keeps the alert of a guard, and gives the all clear when the state can be read again', async () => {
    const config = { type: 'connected-vehicle-guard', minutes: 5 };
    await load(config);
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    await until(() => sent(0).length === 1);
    await flow.endProcess();
    const unblock = block(fileOf('guard'));
    await load(config);
    await flow.until(() => flow.caught.length > 0);
    assert.equal(flow.caught[0]?.vehicle?.error?.['code'], 'CONFIG');
    service.car().set({ windows: { frontLeft: 'CLOSED' } });
    await clock.advanceInSteps(3 * minute, minute / 4);
    unblock();
    await until(() => sent(1).length === 1);
    assert.deepEqual(sent(1), ['clear']);
    assert.equal(flow.caught.length, 1);
  });

  it('keeps what an event node knew, and reports the change over the restart when the state can be read again', async () => {
    const config = { type: 'connected-vehicle-event', events: ['unlocked'] };
    await load(config);
    await until(() => service.requests.length > 0 && flow.badges.some(({ fill }) => fill === 'green'));
    await flow.endProcess();
    const unblock = block(fileOf('event'));
    await load(config);
    await flow.until(() => flow.caught.length > 0);
    service.car().set({ lock: 'UNLOCKED' });
    await clock.advanceInSteps(3 * minute, minute / 4);
    unblock();
    await until(() => sent(0).length === 1);
    assert.deepEqual(sent(0), ['unlocked']);
  });

  it('follows a command to its result when the state can be read again', async () => {
    const steps = [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs: minute, status: 'COMPLETED' },
    ];
    service.car().set({ commandPlan: { steps } });
    const result = { id: 'result', z: 'tab', type: 'connected-vehicle-command-status', vehicle: 'v', verify: false };
    const loadCommand = async (): Promise<void> => {
      const command = { type: 'connected-vehicle-command', command: 'flash', interface: 'v1', wires: [['result']] };
      Object.assign(flow, { outputs: [[], []] });
      await flow.load(command, customVehicle(service), demoCredentials, [{ ...result, wires: [['out0']] }]);
    };
    await loadCommand();
    flow.send();
    const folder = join(flow.userDir, 'connected-vehicle', 'state', 'command');
    const files = (): string[] =>
      existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
    await until(() => files().some((name) => readFileSync(join(folder, name), 'utf8').includes('"startedAt"')));
    await clock.advance(5_000);
    await flow.endProcess();
    const unblock = block(fileOf('command'));
    await loadCommand();
    await clock.advanceInSteps(3 * minute, minute / 4);
    const outcomes = (): unknown[] => (flow.outputs[0] ?? []).map(({ payload }) => (payload as Outcome).outcome);
    assert.deepEqual(outcomes(), []);
    unblock();
    await until(() => outcomes().length === 1);
    assert.deepEqual(outcomes(), ['succeeded']);
  });

  it('begins without what it knew if the file is damaged', async () => {
    const config = { type: 'connected-vehicle-event', events: ['unlocked'] };
    await load(config);
    await until(() => service.requests.length > 0 && flow.badges.some(({ fill }) => fill === 'green'));
    await flow.endProcess();
    writeFileSync(fileOf('event'), 'damaged');
    flow.badges = [];
    await load(config);
    await until(() => flow.badges.some(({ fill }) => fill === 'green'));
    service.car().set({ lock: 'UNLOCKED' });
    await until(() => sent(0).length === 1);
    assert.deepEqual(flow.caught, []);
  });
});
