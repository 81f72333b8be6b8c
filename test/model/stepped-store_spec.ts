import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCar, startSimulator, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials } from '../support/flow';
import { describeLong } from '../support/long';
import { OwnClock, whyNoOwnClock as why } from '../support/own-clock';
import { fewNodes, forkNodeRed, linkCheckout } from '../support/real-node-red';
import { describeOnRedis, RedisServer } from '../support/redis-server';
import { removeFolder } from '../support/remove-folder';
import { StoreLine } from '../support/store-line';

const second = 1_000;
/** So long the car acts on the command that the other one must not meet. */
const actingMs = 40 * second;
/** A test gives up after it. */
const longest = 240 * second;
const slots = 'connected-vehicle:turn';

type Said = { node: 'one' | 'other'; outcome?: string; code?: string };

/** The scenes that are played at once: each waits most of the time. */
const atOnce = 5;

/**
 * Two real Node-REDs share a real Redis that forgets, or whose wall clock is set, while the car
 * acts on a command of the first one. The second one asks for another command, which may not reach
 * the car before the first one is over. The service counts.
 */
class Scene {
  readonly clock = new OwnClock();
  server!: RedisServer;
  #line!: StoreLine;
  #service!: Simulator;
  readonly #said: Said[] = [];
  readonly #ends: (() => Promise<unknown>)[] = [() => this.clock.end()];

  /** @param group the same for both; null: each has its own flows */
  constructor(
    readonly group: string | null,
    readonly iface: 'v1' | 'v2',
  ) {}

  async play(happens: (scene: Scene) => unknown): Promise<void> {
    try {
      await this.#play(happens);
    } finally {
      for (const end of this.#ends.reverse()) await end();
    }
  }

  async #play(happens: (scene: Scene) => unknown): Promise<void> {
    this.server = await RedisServer.startWithClock(this.clock);
    this.#line = await StoreLine.open(this.server.port);
    const service = (this.#service = await startSimulator({ cars: [{ vin: demoCar.vin }] }));
    this.#ends.push(
      () => this.server.end(),
      () => this.#line.close(),
      () => service.close(),
    );
    const [one, other] = [await this.#start('one'), await this.#start('other')];
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    one('honk');
    await this.#until('the first result', () => this.#said.length === 1);
    const steps = [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs: actingMs, status: 'COMPLETED' },
    ];
    service.car().set({ commandPlan: { steps, answerAfterMs: this.iface === 'v1' ? 0 : actingMs } });
    one('lock');
    await this.#until('the command is sent', () => service.car().invocations.length === 2);
    await happens(this);
    other('flash');
    await this.#until('all results', () => {
      // While the store is away, no command is sent: the user asks again.
      const refused = this.#said.findIndex(({ node, code }) => node === 'other' && code === 'STORE_UNAVAILABLE');
      if (refused >= 0) {
        this.#said.splice(refused, 1);
        other('flash');
      }
      return this.#said.length === 3;
    });
    const sent = service.car().invocations;
    assert.deepEqual(
      sent.map(({ command }) => command),
      ['honk', 'lock', 'flash'],
    );
    const [, lock, flash] = sent;
    const early = (lock?.timeline.at(-1)?.at ?? Infinity) - (flash?.receivedAt ?? 0);
    assert.ok(early <= 0, `sent ${early} ms too early`);
    assert.deepEqual(
      this.#said.map(({ node, outcome }) => `${node} ${outcome}`),
      ['one succeeded', 'one succeeded', 'other succeeded'],
    );
  }

  /** Another server takes the place of the first one, and has nothing. */
  async failOver(): Promise<void> {
    const empty = await RedisServer.start();
    this.#ends.push(() => empty.end());
    this.#line.lead(empty.port);
  }

  /** @returns asks the command node for a command */
  async #start(name: Said['node']): Promise<(command: string) => void> {
    const userDir = mkdtempSync(join(tmpdir(), 'stepped-store-'));
    await linkCheckout(userDir);
    await writeFile(join(userDir, 'flows.json'), JSON.stringify(this.#flowsOf(name)));
    await writeFile(join(userDir, 'flows_cred.json'), JSON.stringify({ v: demoCredentials }));
    const store = `redis://127.0.0.1:${this.#line.port}`;
    const connectedVehicle = { store, ...(this.group !== null && { group: this.group }) };
    const child = forkNodeRed(userDir, { ...fewNodes, connectedVehicle, disableEditor: true });
    const died = once(child, 'exit');
    this.#ends.push(async () => {
      child.kill('SIGKILL');
      await died;
      await removeFolder(userDir);
    });
    await once(child, 'message');
    child.on('message', (entry: Said | { deployed: string }) => {
      if ('node' in entry) this.#said.push(entry);
    });
    return (command) => void child.send({ node: 'c', msg: { command } });
  }

  #flowsOf(name: Said['node']): object[] {
    const say = (id: string, value: string): object => ({
      id,
      z: 'tab',
      type: 'function',
      func: `global.get('report')({ node: '${name}', ${value} });`,
      wires: [],
    });
    const car = { z: 'tab', vehicle: 'v' };
    const limits = { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 };
    const type = 'connected-vehicle-command';
    return [
      { id: 'tab', type: 'tab', label: 'car' },
      { id: 'v', type: 'connected-vehicle', ...customVehicle(this.#service), ...limits },
      { ...car, id: 'c', type, command: '', interface: this.iface, whenBusy: 'queue', wires: [['r']] },
      { ...car, id: 'r', type: `${type}-status`, interval: 1, verify: false, wires: [['result'], []] },
      say('result', 'outcome: msg.payload.outcome'),
      { id: 'caught', z: 'tab', type: 'catch', scope: null, uncaught: false, wires: [['failed']] },
      say('failed', 'code: msg.vehicle?.error?.code ?? String(msg.error?.message)'),
    ];
  }

  async #until(what: string, look: () => boolean): Promise<void> {
    const from = performance.now();
    while (!look()) {
      const failed = this.#said.find(({ code }) => code !== undefined);
      if (failed !== undefined) assert.fail(`${failed.node}: ${failed.code}`);
      if (performance.now() - from > longest) assert.fail(`not within ${longest} ms: ${what}`);
      await sleep(20);
    }
  }
}

const scenes: [title: string, group: string | null, iface: 'v1' | 'v2', happens: (scene: Scene) => unknown][] = [
  ['its clock is set back by an hour', 'flows', 'v2', ({ clock }) => clock.setAhead(-3_600)],
  ['its clock is set forward by 30 seconds', 'flows', 'v1', ({ clock }) => clock.setAhead(30)],
  ['its clock is set forward by 5 minutes', 'flows', 'v2', ({ clock }) => clock.setAhead(300)],
  ['its clock is set forward by an hour', 'flows', 'v1', ({ clock }) => clock.setAhead(3_600)],
  ['all of its values are lost, in a group', 'flows', 'v2', ({ server }) => server.send('FLUSHALL')],
  ['all of its values are lost, without a group', null, 'v1', ({ server }) => server.send('FLUSHALL')],
  ['the slots of the cars are lost, in a group', 'flows', 'v1', ({ server }) => server.send('DEL', slots)],
  ['the slots of the cars are lost, without a group', null, 'v2', ({ server }) => server.send('DEL', slots)],
  ['a server that has nothing takes its place', 'flows', 'v2', (scene) => scene.failOver()],
  [
    'it is restarted with a clock that is an hour ahead',
    'flows',
    'v2',
    async ({ clock, server }) => {
      await server.stop();
      clock.setAhead(3_600);
      await server.restart();
    },
  ],
];

describeLong('Two real Node-REDs on one Redis', function () {
  this.timeout(2 * longest);

  describeOnRedis(`give the car one command at a time${why === null ? '' : ` (pending: ${why})`}`, () => {
    const played: Promise<void>[] = [];

    before(function () {
      if (why !== null) this.skip();
      for (const [index, [, group, iface, happens]] of scenes.entries()) {
        const turn = played[index - atOnce]?.catch(() => undefined) ?? Promise.resolve();
        const scene = turn.then(() => new Scene(group, iface).play(happens));
        scene.catch(() => undefined);
        played.push(scene);
      }
    });

    for (const [index, [title]] of scenes.entries()) it(`if ${title}`, () => played[index]);
  });
});
