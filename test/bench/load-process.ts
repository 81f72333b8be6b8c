import { resolve } from 'node:path';
import { inputOf } from './processes';

/** The child of `start`: what a thing costs in a process that has loaded what every Node-RED has, and nothing else of ours. */
export interface LoadInput {
  what: 'packages' | 'pack loaded' | 'pack to its first answer' | 'pack to its first answer, demo car';
  url: string;
  vin: string;
}

export interface Cost {
  ms: number;
  megabytes: number;
}

type Runtime = typeof import('../../nodes/shared/runtime');

const load = (name: string): unknown => require(name) as unknown;

async function spend({ what, url, vin }: LoadInput): Promise<void> {
  if (what === 'packages') {
    ['undici', 'zod'].forEach(load);
    return;
  }
  const runtime = require(resolve(__dirname, '../../nodes/shared/runtime.js')) as Runtime;
  if (what === 'pack loaded') return;
  const { openAccount, pastedToken, resolveService } = runtime;
  const demo = what.endsWith('demo car') ? await runtime.simulator().startSimulator({ open: true }) : null;
  const account = openAccount({
    service: resolveService('custom', { baseUrl: demo?.url ?? url }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    limits: { requestsPerDay: 10_000, requestsPerMinute: 100, commandsPerMinute: 10 },
  });
  await account.client.windows({ vin: demo?.car().vin ?? vin });
}

async function main(): Promise<void> {
  const input = inputOf<LoadInput>();
  load('node-red');
  const before = process.memoryUsage().rss;
  const began = performance.now();
  await spend(input);
  const ms = performance.now() - began;
  process.send?.({ ms, megabytes: (process.memoryUsage().rss - before) / 2 ** 20 } satisfies Cost);
}

void main();
