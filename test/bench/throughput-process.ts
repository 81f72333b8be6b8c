import type { NodeMessage } from 'node-red';
import { embed, type BenchNode } from './embedded';
import { inputOf, median } from './processes';
import {
  contestants,
  type Asked,
  type Contestant,
  type Pace,
  type Throughput,
  type ThroughputInput,
} from './throughput';

/** The child of `throughput`: deployed in one Node-RED, in turns. */
const undici = JSON.stringify(require.resolve('undici'));
const nodes: readonly BenchNode[] = [
  {
    type: 'five-lines',
    code: `const { Agent, request } = require(${undici});
module.exports = (RED) => RED.nodes.registerType('five-lines', function (config) {
  RED.nodes.createNode(this, config);
  const dispatcher = new Agent({ connections: config.connections });
  this.on('input', async (msg, send, done) => {
    const { body } = await request(msg.url, { headers: config.headers, dispatcher });
    msg.payload = await body.json();
    send(msg);
    done();
  });
});`,
  },
  {
    type: 'bench-end',
    code: `module.exports = (RED) => RED.nodes.registerType('bench-end', function (config) {
  RED.nodes.createNode(this, config);
  this.on('input', (msg, send, done) => {
    done();
    globalThis.benchArrived(msg);
  });
});`,
  },
];

/** The status node reads the car and the values that it names, the others its address. */
interface BenchMessage extends NodeMessage, Asked {
  sentAt: number;
}

declare global {
  var benchArrived: (msg: BenchMessage) => void;
}

/** No id may be the value of a property: Node-RED takes that for a reference. */
const idOf = (name: Contestant): string => `the ${name}`;

function flowsOf({ url }: ThroughputInput): object[] {
  const headers = { accept: 'application/json', authorization: 'Bearer demo-token', 'vendor-api-key': 'demo-key' };
  const unlimited = { requestsPerDay: 1e9, requestsPerMinute: 1e9, commandsPerMinute: 10 };
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    {
      id: 'car',
      type: 'connected-vehicle',
      service: 'custom',
      baseUrl: url,
      shareFor: 0,
      ...unlimited,
      credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
    },
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
      headers: Object.entries(headers).map(([keyValue, valueValue]) => ({
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
      headers,
      connections: name === 'five lines' ? null : 6,
      wires: [['end']],
    })),
    { id: 'end', z: 'tab', type: 'bench-end', wires: [] },
  ];
}

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
    globalThis.benchArrived = (msg) => {
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
