import type { NodeMessage } from 'node-red';
import { benchVehicle, embed, endNode, headersOfNode, nodeAround, type BenchNode } from './embedded';
import { contestants, type CommandCosts, type CommandInput } from './command';
import { inputOf } from './processes';

const nodes: readonly BenchNode[] = [
  nodeAround(
    'five-lines-lock',
    `const ask = async (path, options) => (await request(msg.car + path, { ...options, headers: config.headers, dispatcher })).body.json();
    await ask('/commands/lock', { method: 'POST', body: '{}' });
    do msg.payload = (await ask('/doors')).data; while (msg.payload.carLocked.value !== 'LOCKED');`,
  ),
  endNode,
];

function flowsOf({ url }: CommandInput): object[] {
  const headers = { ...headersOfNode, 'content-type': 'application/json' };
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    benchVehicle(url),
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
    { id: 'the five lines', z: 'tab', type: 'five-lines-lock', headers, connections: 6, wires: [['end']] },
    { id: 'end', z: 'tab', type: 'bench-end', wires: [] },
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
    globalThis.benchArrived = () => {
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
