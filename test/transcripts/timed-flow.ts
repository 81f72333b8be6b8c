import { useClock } from '../../nodes/runtime';
import { startSimulator, type Simulator, type SimulatorOptions } from '../support/simulator';
import type { RecordedRequest } from '../../src/simulator/service/server';
import { customVehicle, demoCredentials, Flow, type NodeConfig } from '../support/flow';
import { QuietClock } from './quiet-clock';
import { textsOf } from './texts';
import { counted, Transcript, withoutRepetition, type Channel, type Heard } from './transcript';

/** A node, the result nodes behind it, and the vehicle of all of them. */
export interface FlowSetup {
  node: Record<string, unknown>;
  /** The properties of each result node. */
  results?: readonly Record<string, unknown>[];
  vehicle?: Record<string, unknown>;
  credentials?: Record<string, string>;
  service?: Omit<SimulatorOptions, 'clock'>;
  /** Of the runtime. Default: en-US. */
  language?: 'en-US' | 'de';
}

type Message = Record<string, unknown>;
interface Source {
  source: { id: string };
}

/**
 * The part of Node-RED's hooks that a transcript needs. A Complete node gets what `onComplete`
 * reports without an error.
 */
interface Hooks {
  add(hook: 'onReceive.transcript', listener: (event: { msg: Message; destination: { id: string } }) => void): void;
  add(
    hook: 'onComplete.transcript',
    listener: (event: { msg: Message; node: { id: string }; error?: unknown }) => void,
  ): void;
  remove(hook: string): void;
}
const { hooks } = require(process.env['NODE_RED_PATH'] ?? 'node-red') as { hooks: Hooks };

const { random } = Math;
const nameOf = (id: string): string => (id === 'n' ? 'node' : id);

/** A flow whose nodes and service take their time from one clock, and everything that it hears. */
export class TimedFlow {
  readonly clock: QuietClock;
  readonly service: Simulator;
  readonly flow = new Flow();
  readonly #setup: FlowSetup;
  readonly #transcript: Transcript;
  readonly #start: number;
  readonly #requests: RecordedRequest[] = [];
  #sent = 0;

  private constructor(setup: FlowSetup, clock: QuietClock, service: Simulator) {
    this.#setup = setup;
    this.clock = clock;
    this.service = service;
    this.#start = clock.now();
    const texts = textsOf(setup.language ?? 'en-US');
    this.flow.texts = texts;
    this.#transcript = new Transcript({ service: service.url, vin: service.car().vin, start: clock.now(), texts });
  }

  static async open(setup: FlowSetup): Promise<TimedFlow> {
    const clock = new QuietClock();
    useClock(clock);
    // The pauses between the tries of a request.
    Math.random = () => 0.5;
    const timedFlow = new TimedFlow(setup, clock, await startSimulator({ ...setup.service, clock }));
    hooks.add('onReceive.transcript', ({ msg, destination }) =>
      timedFlow.#transcript.came(nameOf(destination.id), msg),
    );
    hooks.add('onComplete.transcript', ({ msg, node, error }) => {
      if (error === undefined && timedFlow.flow.heard.includes(node.id)) timedFlow.#hear(node.id, 'complete', msg);
    });
    await timedFlow.start();
    return timedFlow;
  }

  #hear(id: string, channel: Channel, msg: Message): void {
    this.#transcript.hear(nameOf(id), channel, msg);
  }

  /** Starts the flow: at first, and after `stop`. */
  async start(): Promise<void> {
    const { node, results = [], vehicle, credentials = demoCredentials, language } = this.#setup;
    const names = results.map((_, index) => `result ${index + 1}`);
    this.flow.heard = ['n', ...names];
    await this.flow.load(
      { wires: [['out0', ...names], ['out1']], ...node },
      customVehicle(this.service, { ...vehicle, ...(language && { language }) }),
      credentials,
      names.flatMap((id, index): NodeConfig[] => [
        {
          id,
          z: 'tab',
          type: 'connected-vehicle-command-status',
          vehicle: 'v',
          wires: [[`${id} output 1`], [`${id} output 2`]],
          ...results[index],
        },
        { id: `${id} output 1`, z: 'tab', type: 'helper' },
        { id: `${id} output 2`, z: 'tab', type: 'helper' },
      ]),
    );
    const record = (recorder: string, channel: Channel, nodeOf: (msg: Message) => string): void =>
      void this.flow.node(recorder).on('input', (msg) => this.#hear(nodeOf(msg as Message), channel, msg as Message));
    for (const id of ['n', ...names]) {
      record(id === 'n' ? 'out0' : `${id} output 1`, 'output 1', () => id);
      record(id === 'n' ? 'out1' : `${id} output 2`, 'output 2', () => id);
    }
    record('caught', 'catch', ({ error }) => (error as Source).source.id);
    record('badges', 'status', ({ status }) => (status as Source).source.id);
    await this.clock.quiet();
  }

  /** Ends the flow as a deploy or the end of Node-RED does. */
  async stop(): Promise<void> {
    const stopped = this.flow.unload();
    await this.clock.quiet();
    await stopped;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /**
   * Sends a message into the node, or into a result node. A member that is undefined is left out.
   */
  async send(msg: Message = {}, into = 'n'): Promise<void> {
    this.#sent += 1;
    const sent: Message = { _msgid: `m${this.#sent}`, topic: 'garage', mine: { deep: [1] }, ...msg };
    for (const key of Object.keys(sent)) if (sent[key] === undefined) delete sent[key];
    this.flow.node(into).receive(sent as never);
    await this.clock.quiet();
  }

  async pass(seconds: number): Promise<void> {
    await this.clock.pass(seconds * 1000);
    // The service keeps the last 1,000.
    this.#requests.push(...this.service.requests);
    this.service.clearRequests();
  }

  /** What was heard until now is left out from now on. */
  forget(): void {
    this.#requests.length = 0;
    this.#transcript.clear();
  }

  heard(): Heard {
    return this.#transcript.all(this.#requests);
  }

  /**
   * The same of a long time: each status once, the number of completed messages, and the
   * requests by the hour.
   */
  heardInShort(): Heard {
    const { requests: _, ...nodes } = this.heard();
    const short = Object.entries(nodes).map(([node, { complete, status, ...others }]) => [
      node,
      {
        ...Object.fromEntries(Object.entries(others).map(([channel, heard]) => [channel, withoutRepetition(heard)])),
        completed: Array.isArray(complete) ? complete.length : 0,
        statuses: [...new Set(Array.isArray(status) ? status : [])],
      },
    ]);
    return { ...(Object.fromEntries(short) as Heard), 'requests in each hour': this.#byHour() };
  }

  /** The requests of each kind, counted by the hour since the beginning. */
  #byHour(): Record<string, string> {
    const hours: Record<string, number[]> = {};
    for (const request of this.#requests) {
      const [kind = ''] = Object.keys(counted([request]));
      const hour = Math.floor((request.at - this.#start) / 3_600_000);
      const counts = (hours[kind] ??= []);
      counts[hour] = (counts[hour] ?? 0) + 1;
    }
    const last = Math.ceil((this.clock.now() - this.#start) / 3_600_000);
    return Object.fromEntries(
      Object.entries(hours)
        .sort()
        .map(([kind, counts]) => [kind, Array.from({ length: last }, (_, hour) => counts[hour] ?? 0).join(' ')]),
    );
  }

  async end(): Promise<void> {
    hooks.remove('*.transcript');
    Math.random = random;
    await this.flow.end();
    await this.service.close();
    useClock(undefined);
    this.clock.close();
  }
}
