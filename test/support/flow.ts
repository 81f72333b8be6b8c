import { once } from 'node:events';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import helper = require('node-red-node-test-helper');
import { endNodeRed, useClock } from '../../nodes/runtime';
import { startSimulator, type Simulator, type SimulatorOptions } from './simulator';
import { ManualClock } from './manual-clock';
import { removeFolder } from './remove-folder';

export type Received = Record<string, unknown> & {
  payload?: unknown;
  vehicle?: Record<string, unknown> & { error?: Record<string, unknown> };
};

const types = ['', '-status', '-command', '-command-status', '-guard', '-event', '-condition'];
/** The files that Node-RED loads. */
const nodeTypes = types.map((type) => require(`../../nodes/connected-vehicle${type}`) as (RED: NodeAPI) => void);

/** The properties of a node in a flow, its id and type among them. */
export type NodeConfig = { id: string; type: string } & Record<string, unknown>;

/**
 * A flow in a real runtime: one vehicle node (`v`), one node under test (`n`), everything it sends
 * recorded by output, and what a Catch, a Status and a Complete node see of it.
 */
export class Flow {
  readonly userDir = mkdtempSync(join(tmpdir(), 'connected-vehicle-'));
  /** Whose failures, badges and completions are recorded. */
  heard: string[] = ['n'];
  /** Of other configurations than `v`, by their ids. */
  moreCredentials: Record<string, Record<string, string>> = {};
  /** More of settings.js. */
  settings: object = {};
  /** The texts of the message catalogues; by default each text is its own key. */
  texts: ((key: string, values?: Record<string, string>) => string) | undefined;
  #waiting: (() => void)[] = [];
  #flow: NodeConfig[] = [];
  #deploys = 0;
  #RED: NodeAPI | undefined;
  outputs: Received[][] = [[], [], []];
  caught: Received[] = [];
  badges: { fill?: string; shape?: string; text?: string; code?: string; source?: { id: string } }[] = [];
  completed: Received[] = [];

  /** @param more further nodes of the flow */
  async load(
    config: Record<string, unknown>,
    vehicleConfig: Record<string, unknown> = {},
    credentials: Record<string, string> = {},
    more: NodeConfig[] = [],
  ): Promise<void> {
    helper.init(process.env['NODE_RED_PATH'] ?? require.resolve('node-red'), {
      userDir: this.userDir,
      ...this.settings,
    } as never);
    const flow: NodeConfig[] = [
      { id: 'tab', type: 'tab', label: 'test' },
      { id: 'v', type: 'connected-vehicle', service: 'demo', ...vehicleConfig },
      { id: 'n', z: 'tab', vehicle: 'v', wires: [['out0'], ['out1'], ['out2']], ...config } as unknown as NodeConfig,
      { id: 'out0', z: 'tab', type: 'helper' },
      { id: 'out1', z: 'tab', type: 'helper' },
      { id: 'out2', z: 'tab', type: 'helper' },
      { id: 'the-catch', z: 'tab', type: 'catch', scope: this.heard, wires: [['caught']] },
      { id: 'caught', z: 'tab', type: 'helper' },
      { id: 'the-status', z: 'tab', type: 'status', scope: this.heard, wires: [['badges']] },
      { id: 'badges', z: 'tab', type: 'helper' },
      { id: 'the-complete', z: 'tab', type: 'complete', scope: this.heard, wires: [['completed']] },
      { id: 'completed', z: 'tab', type: 'helper' },
      ...more,
    ];
    this.#flow = flow;
    const setTexts = (RED: NodeAPI): void => {
      this.#RED = RED;
      Object.assign(RED, this.texts && { _: this.texts });
    };
    await helper.load(
      [setTexts, ...nodeTypes] as never,
      flow as never,
      { ...this.moreCredentials, [String(vehicleConfig['id'] ?? 'v')]: credentials } as never,
    );
    this.#record('out0', (msg) => this.outputs[0]?.push(msg));
    this.#record('out1', (msg) => this.outputs[1]?.push(msg));
    this.#record('out2', (msg) => this.outputs[2]?.push(msg));
    this.#record('caught', (msg) => this.caught.push(msg));
    this.#record('badges', (msg) => this.badges.push(msg['status'] as object));
    this.#record('completed', (msg) => this.completed.push(msg));
  }

  #record(id: string, keep: (msg: Received) => void): void {
    this.node(id).on('input', (msg) => {
      keep(msg as Received);
      this.#waiting.splice(0).forEach((wake) => wake());
    });
  }

  /** Of the last load. */
  get RED(): NodeAPI {
    if (this.#RED === undefined) throw new Error('No flow was loaded.');
    return this.#RED;
  }

  node(id: string): Node {
    return helper.getNode(id) as Node;
  }

  /** Sends a message into the node under test. */
  send(msg: Record<string, unknown> = {}): void {
    this.node('n').receive(msg as never);
  }

  /** Waits for an event, not for a time: until what was received satisfies the condition. */
  async until<Value>(look: () => Value | undefined | false): Promise<Value> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The answer to one message: what came out first, or what a Catch node saw. */
  async ask(msg: Record<string, unknown> = {}): Promise<Received> {
    const before = this.outputs[0]?.length ?? 0;
    const caughtBefore = this.caught.length;
    this.send(msg);
    return this.until(() => this.outputs[0]?.[before] ?? this.caught[caughtBefore]);
  }

  /** The same, for a message that must fail: the code at the Catch node. */
  async fail(msg: Record<string, unknown> = {}): Promise<Received> {
    const caughtBefore = this.caught.length;
    this.send(msg);
    return this.until(() => this.caught[caughtBefore]);
  }

  /** A deploy of one more node, which starts no other one again. */
  async add(node: NodeConfig): Promise<void> {
    this.#flow = [...this.#flow, node];
    await helper.setFlows(this.#flow as never, 'nodes');
  }

  /**
   * A deploy of everything, or of all nodes that are not configurations: these are kept,
   * with their accounts.
   */
  async deploy(kind: 'full' | 'nodes', credentials: Record<string, string>): Promise<void> {
    this.#deploys += 1;
    const note = { info: `deploy ${this.#deploys}` };
    this.#flow = this.#flow.map((node) => ('z' in node ? { ...node, ...note } : node));
    const started = once(this.RED.events, 'flows:started');
    // The helper gives up after 300 ms.
    const isLate = (error: Error): boolean => error.message === 'timeout waiting event';
    await helper.setFlows(this.#flow as never, kind, { v: credentials } as never).catch((error: Error) => {
      if (!isLate(error)) throw error;
    });
    await started;
  }

  /**
   * The helper records each call of a method of a node, with the node: closed nodes stay in the
   * memory until this is called.
   */
  forgetCalls(): void {
    // The types leave it out.
    (helper as unknown as { _sandbox: { resetHistory(): void } })._sandbox.resetHistory();
  }

  /** Begins a deploy that replaces only `out1`; it lasts until the returned function is called. */
  async beginDeploy(): Promise<() => Promise<void>> {
    const closing = new Promise<() => void>((began) => {
      this.node('out1').on('close', (done: () => void) => began(done));
    });
    const flow = this.#flow.map((node) => (node.id === 'out1' ? { ...node, name: 'changed' } : node));
    const deployed = helper.setFlows(flow as never, 'nodes');
    const close = await closing;
    return async () => {
      close();
      await deployed;
    };
  }

  /** A redeploy of everything. */
  async unload(): Promise<void> {
    await helper.unload();
  }

  /** As when Node-RED ends: what is loaded next is the next process. */
  async endProcess(): Promise<void> {
    await helper.unload();
    if (this.#RED !== undefined) await endNodeRed(this.#RED);
  }

  /**
   * Keeps what is on disk now. The returned function ends the process, with that on disk, as if it
   * had been killed at this moment.
   */
  killedNow(): () => Promise<void> {
    const state = join(this.userDir, 'connected-vehicle');
    const killed = `${state}-killed`;
    cpSync(state, killed, { recursive: true, filter: (path) => !basename(path).startsWith('owner-') });
    return async () => {
      await this.endProcess();
      await removeFolder(state);
      cpSync(killed, state, { recursive: true });
    };
  }

  async end(): Promise<void> {
    await this.endProcess();
    await removeFolder(this.userDir);
  }
}

/**
 * What a test of a node works with: both the flow and the service take their time from the clock.
 */
interface FlowSetUp {
  clock: ManualClock;
  service: Simulator;
  flow: Flow;
}

/** Sets everything up for each test of a suite, and ends it after the test. */
export function setUpFlow(begin: (setUp: FlowSetUp) => void, options: Omit<SimulatorOptions, 'clock'> = {}): void {
  let setUp: FlowSetUp;
  beforeEach(async () => {
    const clock = new ManualClock();
    useClock(clock);
    setUp = { clock, service: await startSimulator({ ...options, clock }), flow: new Flow() };
    const { flow } = setUp;
    clock.happened = () => ({ sent: flow.outputs, caught: flow.caught, badges: flow.badges.slice(-5) });
    begin(setUp);
  });
  afterEach(async () => {
    await setUp.flow.end();
    await setUp.service.close();
    useClock(undefined);
  });
}

/** The same in real time; a test may use a clock of its own. */
export function setUpRealTimeFlow(
  begin: (setUp: Omit<FlowSetUp, 'clock'>) => void,
  options: SimulatorOptions = {},
): void {
  let setUp: Omit<FlowSetUp, 'clock'>;
  beforeEach(async () => {
    setUp = { service: await startSimulator(options), flow: new Flow() };
    begin(setUp);
  });
  afterEach(async () => {
    useClock(undefined);
    await setUp.flow.end();
    await setUp.service.close();
  });
}

/** A vehicle configuration that points to a simulated service. */
export const customVehicle = (service: Simulator, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  service: 'custom',
  baseUrl: service.url,
  vin: service.car().vin,
  ...changes,
});

export const demoCredentials = { apiKey: 'demo-key', accessToken: 'demo-token' };
