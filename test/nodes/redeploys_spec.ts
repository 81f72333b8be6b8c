import { strict as assert } from 'node:assert';
import { queryObjects } from 'node:v8';
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
  const onNews = editors.onNews.bind(editors);
  let listening = 0;
  editors.onNews = (listener) => {
    const end = onNews(listener);
    listening += 1;
    return () => {
      listening -= 1;
      end();
    };
  };
  return () => listening;
}

const listenersOf = (counts: Counts, whose: string, emitter: NodeJS.EventEmitter): void => {
  for (const name of emitter.eventNames())
    add(counts, `listeners of ${whose}: ${String(name)}`, emitter.listenerCount(name));
};

/**
 * The nodes that are in the memory, by type: a closed one stays there as long as a listener, a loop
 * or a timer knows it.
 */
function countNodes(flow: Flow): Map<string, number> {
  flow.forgetCalls();
  // Of each type the prototype of the prototype is that of Node-RED's class `Node`.
  const { constructor: type } = Object.getPrototypeOf(Object.getPrototypeOf(flow.node('n'))) as NonNullable<unknown>;
  // It collects the garbage first. The declared type is that of the format `count`.
  const nodes = queryObjects(type as never, { format: 'summary' }) as unknown as string[];
  const counts = new Map<string, number>();
  for (const text of nodes) {
    const [, name] = /\btype: '(connected-vehicle[^']*)'/.exec(text) ?? [];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
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
      const deploy = async (times: number): Promise<void> => {
        for (let deploys = 0; deploys < times; deploys += 1) {
          // Reads, a command and its following are in progress while all is closed.
          await clock.advance(60_000);
          service.faults.add({ match: { path: '/odometer' }, latencyMs: 20_000, times: 1 });
          for (const id of ['n', 'command', 'condition']) flow.node(id).receive({ payload: 1 } as never);
          await new Promise(setImmediate);
          await flow.deploy(kind, demoCredentials);
        }
      };
      await deploy(few);
      const before = await lasting(listening);
      // Those of other specs in this process are among them.
      const inMemoryBefore = countNodes(flow);
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
      const inMemory = countNodes(flow);
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
