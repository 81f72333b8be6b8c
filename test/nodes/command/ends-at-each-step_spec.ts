import { strict as assert } from 'node:assert';
import { promises as disk } from 'node:fs';
import type { CommandRecord } from '../../../src/index';
import type { FollowReport } from '../../../src/commands/follow';
import { startSimulator, type CarChanges, type Simulator } from '../../support/simulator';
import { useClock } from '../../../nodes/runtime';
import { customVehicle, demoCredentials, Flow } from '../../support/flow';
import { QuietClock } from '../../transcripts/quiet-clock';

type Plan = NonNullable<CarChanges['commandPlan']>;
interface Way {
  version: string;
  plan: Plan;
  /** Whether another node keeps the record for 10 seconds on its way to the result node. */
  isDelayed: boolean;
  /** The number of steps. */
  expected: number;
}
/** What happens at a step of a command: a file is written or removed, or a node gets a message. */
type Listener = (step: string) => void;

const states = /[\\/]state[\\/](command|follow)[\\/]/;
const { rename, unlink } = disk;

/** Calls back before each change of a file of commands, which fails if the listener throws. */
function onFiles(listener: Listener): void {
  const before = <Path>(what: string, path: Path): void => {
    const [, collection] = states.exec(String(path)) ?? [];
    if (collection !== undefined && !String(path).endsWith('.new')) listener(`${what} ${collection}`);
  };
  disk.rename = async (from, to) => {
    before('write', to);
    await rename(from, to);
  };
  disk.unlink = async (path) => {
    before('remove', path);
    await unlink(path);
  };
}

/** A command node and a result node behind it, from the message to the result. */
class Run {
  readonly clock: QuietClock;
  readonly flow = new Flow();
  readonly #service: Simulator;
  readonly #version: string;
  readonly #isDelayed: boolean;
  /** Called at each step. */
  onStep: Listener = () => undefined;

  private constructor(clock: QuietClock, service: Simulator, { version, isDelayed }: Way) {
    this.clock = clock;
    this.#service = service;
    this.#version = version;
    this.#isDelayed = isDelayed;
  }

  static async begin(way: Way): Promise<Run> {
    const clock = new QuietClock();
    useClock(clock);
    const service = await startSimulator({ clock });
    service.car().set({ commandPlan: way.plan });
    const run = new Run(clock, service, way);
    await run.load();
    onFiles((step) => run.onStep(step));
    return run;
  }

  async load(): Promise<void> {
    await this.flow.load(
      {
        type: 'connected-vehicle-command',
        command: 'lock',
        interface: this.#version,
        wires: [[this.#isDelayed ? 'slow' : 'result', 'out1']],
      },
      customVehicle(this.#service),
      demoCredentials,
      [
        {
          id: 'result',
          z: 'tab',
          type: 'connected-vehicle-command-status',
          vehicle: 'v',
          verify: false,
          wires: [['out0'], []],
        },
        { id: 'slow', z: 'tab', type: 'helper', wires: [['result']] },
      ],
    );
    const slow = this.flow.node('slow');
    slow.on('input', (msg) =>
      slow.on(
        'close',
        this.clock.after(10_000, () => slow.send(msg)),
      ),
    );
    for (const id of ['result', 'out0', 'out1']) this.flow.node(id).on('input', () => this.onStep(`message to ${id}`));
  }

  get posts(): number {
    return this.#service.requests.filter(({ method }) => method === 'POST').length;
  }

  get results(): FollowReport[] {
    return (this.flow.outputs[0] ?? []).map(({ payload }) => payload as FollowReport);
  }

  get records(): CommandRecord[] {
    return (this.flow.outputs[1] ?? []).map(({ payload }) => payload as CommandRecord);
  }

  /** So long that nothing more can come. */
  pass = (): Promise<void> => this.clock.pass(300_000);

  async end(): Promise<void> {
    Object.assign(disk, { rename, unlink });
    await this.flow.end();
    await this.#service.close();
    this.clock.close();
    useClock(undefined);
  }
}

const v2: Plan = { steps: [{ afterMs: 0, status: 'COMPLETED' }], answerAfterMs: 3_000 };
const v1: Plan = {
  steps: [
    { afterMs: 0, status: 'RUNNING' },
    { afterMs: 5_000, status: 'COMPLETED' },
  ],
};

for (const way of [
  { version: 'v2', plan: v2, isDelayed: false, expected: 8 },
  { version: 'v2', plan: v2, isDelayed: true, expected: 9 },
  { version: 'v1', plan: v1, isDelayed: false, expected: 8 },
] satisfies Way[]) {
  const { version, isDelayed, expected } = way;
  describe(`A ${version} command with a result node${isDelayed ? ' behind a slow node' : ''}`, function () {
    let run: Run | undefined;
    afterEach(() => run?.end());

    /** The steps of a run that nothing disturbs. */
    const stepsOf = async (): Promise<string[]> => {
      const steps: string[] = [];
      run = await Run.begin(way);
      run.onStep = (step) => steps.push(step);
      run.flow.send({ topic: 'mine' });
      await run.pass();
      assert.deepEqual([run.posts, run.results.map(({ outcome }) => outcome)], [1, ['succeeded']]);
      await run.end();
      return steps;
    };

    it('is sent once and has one result, wherever its process is killed', async () => {
      const steps = await stepsOf();
      assert.equal(steps.length, expected, steps.join(', '));
      for (const [index, step] of steps.entries()) {
        const where = `killed at step ${index}: ${step}`;
        run = await Run.begin(way);
        const { flow } = run;
        let left = index;
        let killed: { end: () => Promise<void>; posts: number; results: FollowReport[] } | undefined;
        run.onStep = () => {
          if (left === 0) killed = { end: flow.killedNow(), posts: run?.posts ?? 0, results: run?.results ?? [] };
          left -= 1;
        };
        flow.send({ topic: 'mine' });
        await run.clock.passUntil(() => killed !== undefined);
        assert.ok(killed);
        await killed.end();
        // Whatever the process did after it was killed has not happened.
        const posts = run.posts;
        flow.outputs = [[], []];
        run.onStep = () => undefined;
        await run.load();
        await run.pass();
        assert.equal(run.posts, posts, `${where}: nothing is sent again`);
        const told = [...killed.results, ...run.results];
        if (killed.posts === 0) assert.deepEqual(told, [], `${where}: it was not sent`);
        // It was sent, and no process knows that.
        else if (index >= steps.indexOf('message to out0'))
          assert.deepEqual(told, [told[0], told[0]], `${where}: the same again`);
        else assert.equal(told.length, 1, where);
        await run.end();
      }
    });

    it('is sent once and has one result, also after a restart, whichever change of a file fails', async () => {
      const changes = (await stepsOf()).filter((step) => !step.startsWith('message'));
      for (const [index, change] of changes.entries()) {
        const where = `failed at change ${index}: ${change}`;
        run = await Run.begin(way);
        let left = index;
        run.onStep = (step) => {
          if (step.startsWith('message')) return;
          left -= 1;
          if (left === -1) throw Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' });
        };
        run.flow.send({ topic: 'mine' });
        await run.pass();
        assert.ok(left < 0, where);
        assert.deepEqual([run.posts, run.results.length], [1, 1], where);
        await run.flow.endProcess();
        await run.load();
        await run.pass();
        assert.deepEqual([run.posts, run.results.length, run.records.length], [1, 1, 1], `${where}, after a restart`);
        await run.end();
      }
    });
  });
}
