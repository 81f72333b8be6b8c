import type { NodeMessage } from 'node-red';
import { benchVehicle, embed, endNode, headersOfNode, nodeAround, type BenchNode } from './embedded';
import { inputOf, median } from './processes';
import {
  contestants,
  type Asked,
  type Contestant,
  type Pace,
  type Throughput,
  type ThroughputInput,
} from './throughput';

const nodes: readonly BenchNode[] = [
  nodeAround(
    'five-lines',
    `const { body } = await request(msg.url, { headers: config.headers, dispatcher });
    msg.payload = await body.json();`,
  ),
  endNode,
];

/** The status node reads the car and the values that it names, the others its address. */
interface BenchMessage extends NodeMessage, Asked {
  sentAt: number;
}

/** No id may be the value of a property: Node-RED takes that for a reference. */
const idOf = (name: Contestant): string => `the ${name}`;

function flowsOf({ url }: ThroughputInput): object[] {
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    benchVehicle(url, { shareFor: 0 }),
    {
      id: idOf('status'),
      z: 'tab',
      type: 'connected-vehicle-status',
      vehicle: 'car',
      interface: 'v2',
      emit: 'always',
      poll: 0,
      wires: [['end']],
    },
    {
      id: idOf('http request'),
      z: 'tab',
      type: 'http request',
      method: 'GET',
      ret: 'obj',
      url: '',
      headers: Object.entries(headersOfNode).map(([keyValue, valueValue]) => ({
        keyType: 'other',
        keyValue,
        valueType: 'other',
        valueValue,
      })),
      wires: [['end']],
    },
    ...(['five lines', 'five lines, six connections'] as const).map((name) => ({
      id: idOf(name),
      z: 'tab',
      type: 'five-lines',
      headers: headersOfNode,
      connections: name === 'five lines' ? null : 6,
      wires: [['end']],
    })),
    { id: 'end', z: 'tab', type: 'bench-end', wires: [] },
  ];
}

/** The child of `throughput`: deployed in one Node-RED, in turns. */
async function main(input: ThroughputInput): Promise<void> {
  const { node } = await embed(flowsOf(input), nodes);
  const results: Throughput = { status: [], 'http request': [], 'five lines': [], 'five lines, six connections': [] };
  for (let round = -1; round < input.rounds; round += 1) {
    for (const name of contestants) {
      const pace = await run((msg) => node(idOf(name)).receive(msg), input.asked, input.msPerRound);
      // The first round warms up.
      if (round >= 0) results[name].push(pace);
    }
  }
  process.send?.(results);
}

/** Keeps all of them in flight for so long. */
function run(send: (msg: BenchMessage) => void, asked: readonly Asked[], ms: number): Promise<Pace> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const cpu = process.cpuUsage();
    const latencies: number[] = [];
    let left = asked.length;
    const next = ({ vin, read, url }: Asked): void => send({ payload: '', sentAt: performance.now(), vin, read, url });
    globalThis.benchArrived = (arrived) => {
      const msg = arrived as BenchMessage; // As `next` has sent it.
      if (typeof msg.payload !== 'object') return reject(new Error('This is no reading'));
      latencies.push(performance.now() - msg.sentAt);
      const over = performance.now() - began;
      if (over < ms) return next(msg);
      left -= 1;
      if (left > 0) return;
      const { user, system } = process.cpuUsage(cpu);
      resolve({
        perSecond: (latencies.length / over) * 1000,
        latency: median(latencies),
        cpuPerRead: (user + system) / 1000 / latencies.length,
      });
    };
    for (const one of asked) next(one);
  });
}

void main(inputOf<ThroughputInput>());
