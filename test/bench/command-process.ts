import type { NodeMessage } from 'node-red';
import { embed, type BenchNode } from './embedded';
import { contestants, type CommandCosts, type CommandInput } from './command';
import { inputOf } from './processes';

const undici = JSON.stringify(require.resolve('undici'));
const nodes: readonly BenchNode[] = [
  {
    type: 'five-lines-lock',
    code: `const { Agent, request } = require(${undici});
module.exports = (RED) => RED.nodes.registerType('five-lines-lock', function (config) {
  RED.nodes.createNode(this, config);
  const dispatcher = new Agent({ connections: 6 });
  const ask = async (method, path) => (await request(path, { method, headers: config.headers, body: method === 'POST' ? '{}' : null, dispatcher })).body.json();
  this.on('input', async (msg, send, done) => {
    await ask('POST', msg.car + '/commands/lock');
    let doors;
    do doors = (await ask('GET', msg.car + '/doors')).data; while (doors.carLocked.value !== 'LOCKED');
    send(Object.assign(msg, { payload: doors }));
    done();
  });
});`,
  },
  {
    type: 'bench-result',
    code: `module.exports = (RED) => RED.nodes.registerType('bench-result', function (config) {
  RED.nodes.createNode(this, config);
  this.on('input', (msg, send, done) => {
    done();
    globalThis.benchLocked(msg);
  });
});`,
  },
];

declare global {
  var benchLocked: (msg: NodeMessage) => void;
}

function flowsOf({ url }: CommandInput): object[] {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: 'Bearer demo-token',
    'vendor-api-key': 'demo-key',
  };
  const unlimited = { requestsPerDay: 1e9, requestsPerMinute: 1e9, commandsPerMinute: 1e9 };
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    {
      id: 'car',
      type: 'connected-vehicle',
      service: 'custom',
      baseUrl: url,
      ...unlimited,
      credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
    },
    {
      id: 'the command',
      z: 'tab',
      type: 'connected-vehicle-command',
      vehicle: 'car',
      interface: 'v2',
      command: 'lock',
      wires: [['result']],
    },
    { id: 'result', z: 'tab', type: 'connected-vehicle-command-status', vehicle: 'car', wires: [['end'], ['end']] },
    { id: 'the five lines', z: 'tab', type: 'five-lines-lock', headers, wires: [['end']] },
    { id: 'end', z: 'tab', type: 'bench-result', wires: [] },
  ];
}

/**
 * The child of `command`: locks cars through a command node with a result node, and through
 * five lines, in turns.
 */
async function main(input: CommandInput): Promise<void> {
  const { node } = await embed(flowsOf(input), nodes);
  const costs: CommandCosts = { command: [], 'five lines': [] };
  const { vins, rounds } = input;
  const perRound = Math.floor(vins.length / (2 * (rounds + 1)));
  for (let round = 0; round <= rounds; round += 1)
    for (const [turn, name] of contestants.entries()) {
      const from = (2 * round + turn) * perRound;
      const cost = await lockAll(vins.slice(from, from + perRound), input.url, (msg) =>
        node(`the ${name}`).receive(msg),
      );
      // The first round warms up.
      if (round > 0) costs[name].push(cost);
    }
  process.send?.(costs);
}

/** Milliseconds of CPU of this process for each command. */
async function lockAll(vins: readonly string[], url: string, send: (msg: NodeMessage) => void): Promise<number> {
  const cpu = process.cpuUsage();
  await new Promise<void>((resolve) => {
    let left = vins.length;
    globalThis.benchLocked = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (const vin of vins)
      send({ payload: '', vin, car: `${url}/connected-vehicle/v2/vehicles/${vin}` } as NodeMessage);
  });
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / vins.length;
}

void main(inputOf<CommandInput>());
