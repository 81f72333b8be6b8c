import { strict as assert } from 'node:assert';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Node } from 'node-red';
import { editorsOf } from '../../nodes/runtime';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type NodeConfig } from '../support/flow';
import { isLong } from '../support/long';
import type { ManualClock } from '../support/manual-clock';
import { describeOnRedis, RedisServer } from '../support/redis-server';

/** How many deploys there are until the first count, and until the second one. */
const [few, many] = [2, isLong ? 60 : 14];

const node = (type: string, more: object = {}): NodeConfig => ({
  id: type,
  type: `connected-vehicle-${type}`,
  z: 'tab',
  vehicle: 'v',
  wires: [],
  ...more,
});

/** The status node `n`, and one of each other type: three poll, and a command is followed. */
const status = { type: 'connected-vehicle-status', read: 'doors', poll: 60 };
const others = [
  node('command', { command: 'lock', interface: 'v1', whenBusy: 'queue', wires: [['command-status']] }),
  node('command-status'),
  node('guard', { poll: 60 }),
  node('event', { poll: 60, events: ['locked', 'unlocked', 'doorOpened'] }),
  node('condition', { conditions: [{ value: 'odometer', operator: '>', operand: 5 }] }),
];

/** What there is now, by name. */
type Counts = Record<string, number>;

const add = (counts: Counts, name: string, count = 1): void => void (counts[name] = (counts[name] ?? 0) + count);

/** Counts from now on what is called back and has not been ended. */
function countListeners(editors: ReturnType<typeof editorsOf>): () => number {
  const { onNews } = editors;
  let listening = 0;
  const counted: typeof onNews = (listener) => {
    const end = onNews(listener);
    listening += 1;
    return () => {
      listening -= 1;
      end();
    };
  };
  Object.assign(editors, { onNews: counted });
  return () => listening;
}

const listenersOf = (counts: Counts, whose: string, emitter: NodeJS.EventEmitter): void => {
  for (const name of emitter.eventNames())
    add(counts, `listeners of ${whose}: ${String(name)}`, emitter.listenerCount(name));
};

// A context that is made after this has the function.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * The nodes of each deploy that are in the memory: a closed one stays there as long as a listener,
 * a loop or a timer knows it.
 */
class NodesInMemory {
  readonly #nodes: WeakRef<Node>[] = [];

  constructor(private readonly flow: Flow) {}

  /** After a deploy. */
  add(): void {
    for (const id of ['v', 'n', ...others.map((other) => other.id)]) {
      const node = this.flow.node(id);
      if (!this.#nodes.some((known) => known.deref() === node)) this.#nodes.push(new WeakRef(node));
    }
  }

  /** By type. */
  async count(): Promise<Map<string, number>> {
    this.flow.forgetCalls();
    // What was asked of a WeakRef in this turn stays until the next one.
    await new Promise(setImmediate);
    collectGarbage();
    const counts = new Map<string, number>();
    for (const { type } of this.#nodes.flatMap((node) => node.deref() ?? []))
      counts.set(type, (counts.get(type) ?? 0) + 1);
    return counts;
  }
}

/** Declares the tests of a flow that is deployed again and again. */
function declare(kinds: readonly ('full' | 'nodes')[], prepare: (flow: Flow) => void = () => undefined): void {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => {
    ({ clock, service, flow } = setUp);
    prepare(flow);
  });

  /** What exists at all times: reads and commands in progress come and go. */
  const lasting = async (listening: () => number): Promise<Counts> => {
    const least: Counts = {};
    for (let seconds = 0; seconds < 40; seconds += 2) {
      await clock.advanceInSteps(2_000, 2_000);
      const counts: Counts = {};
      add(counts, 'listeners to news', listening());
      add(counts, 'timers of the pack', clock.sleeping);
      listenersOf(counts, 'Node-RED', flow.RED.events as NodeJS.EventEmitter);
      listenersOf(counts, 'the process', process);
      for (const kind of process.getActiveResourcesInfo()) add(counts, `open: ${kind}`);
      for (const name of Object.keys({ ...least, ...counts }))
        least[name] = Math.min(counts[name] ?? 0, least[name] ?? (seconds === 0 ? Infinity : 0));
    }
    return least;
  };

  for (const kind of kinds)
    it(`leaves nothing behind of the nodes of ${many} deploys${kind === 'full' ? '' : ' that keep the vehicle'}`, async () => {
      await flow.load(status, customVehicle(service), demoCredentials, others);
      const listening = countListeners(editorsOf(flow.RED));
      const nodesInMemory = new NodesInMemory(flow);
      nodesInMemory.add();
      const deploy = async (times: number): Promise<void> => {
        for (let deploys = 0; deploys < times; deploys += 1) {
          // Reads, a command and its following are in progress while all is closed.
          await clock.advance(60_000);
          service.faults.add({ match: { path: '/odometer' }, latencyMs: 20_000, times: 1 });
          for (const id of ['n', 'command', 'condition']) flow.node(id).receive({ payload: 1 } as never);
          await new Promise(setImmediate);
          await flow.deploy(kind, demoCredentials);
          nodesInMemory.add();
        }
      };
      await deploy(few);
      const before = await lasting(listening);
      const inMemoryBefore = await nodesInMemory.count();
      await deploy(many - few);
      const after = await lasting(listening);
      const isMore = (name: string): boolean => {
        const more = (after[name] ?? 0) - (before[name] ?? 0);
        // How many sockets are kept for the next reads varies.
        return more > (name.startsWith('open: ') ? (many - few) / 2 : 0);
      };
      const left = Object.keys(after)
        .filter(isMore)
        .map((name) => `${name}: ${before[name] ?? 0} after ${few} deploys, ${after[name]} after ${many}`);
      const inMemory = await nodesInMemory.count();
      assert.equal(inMemory.size, others.length + 2, 'each type has a node');
      // A socket that is kept holds its last read, with its node.
      for (const [type, count] of inMemory) {
        const known = inMemoryBefore.get(type) ?? 0;
        if (count - known > (many - few) / 2)
          left.push(`nodes in the memory: ${known} ${type} after ${few} deploys, ${count} after ${many}`);
      }
      assert.deepEqual(left, []);
    });
}

describe('A Node-RED', () => declare(['full', 'nodes']));

describeOnRedis('A Node-RED of a group', () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  declare(['nodes'], (flow) => {
    const connectedVehicle = { store: server.url, group: 'home' };
    flow.settings = { credentialSecret: 'a secret of the tests', connectedVehicle };
  });
});
