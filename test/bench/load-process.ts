import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inputOf } from './processes';

/**
 * The child of `start`: what a thing costs in a process that has loaded what every Node-RED
 * has, or nothing yet.
 */
export interface LoadInput {
  what:
    | 'packages'
    | 'packages and a request'
    | 'pack loaded'
    | 'pack to its first answer'
    | 'pack to its first answer, not bundled'
    | 'pack to its first answer, demo car';
  inNodeRed: boolean;
  url: string;
  vin: string;
}

export interface Cost {
  ms: number;
  megabytes: number;
}

type Library = Pick<typeof import('../../nodes/runtime'), 'openAccount' | 'pastedToken' | 'resolveService'>;
type SimulatorModule = typeof import('../../src/simulator/index');

const load = (name: string): unknown => require(name) as unknown;

async function spend({ what, url, vin }: LoadInput): Promise<void> {
  if (what === 'packages' || what === 'packages and a request') {
    const [undici] = ['undici', 'zod'].map(load) as [typeof import('undici')];
    if (what === 'packages') return;
    const headers = { accept: 'application/json', authorization: 'Bearer demo-token', 'vendor-api-key': 'demo-key' };
    const { body } = await undici.request(`${url}/connected-vehicle/v2/vehicles/${vin}/windows`, { headers });
    await body.json();
    return;
  }
  // dist/src is the same library as compiled, which loads undici and zod from node_modules.
  const file = what.endsWith('not bundled') ? '../../src/index.js' : '../../nodes/runtime.js';
  const { openAccount, pastedToken, resolveService } = load(resolve(__dirname, file)) as Library;
  if (what === 'pack loaded') return;
  const simulator = (): SimulatorModule => load(resolve(__dirname, '../../nodes/simulator.js')) as SimulatorModule;
  const demo = what.endsWith('demo car') ? await simulator().startSimulator({ open: true }) : null;
  const account = openAccount({
    service: resolveService('custom', { baseUrl: demo?.url ?? url }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    limits: { requestsPerDay: 10_000, requestsPerMinute: 100, commandsPerMinute: 10 },
  });
  await account.client.read('windows', { vin: demo?.cars.keys().next().value ?? vin });
}

async function main(): Promise<void> {
  const input = inputOf<LoadInput>();
  if (input.inNodeRed) load('node-red');
  // What was loaded so far has come to rest, as in a Node-RED that runs.
  await sleep(100);
  const before = process.memoryUsage().rss;
  const began = performance.now();
  await spend(input);
  const ms = performance.now() - began;
  process.send?.({ ms, megabytes: (process.memoryUsage().rss - before) / 2 ** 20 } satisfies Cost);
}

void main();
