import { embed } from './embedded';
import { inputOf } from './processes';
import type { EmptyCost } from './start';

/** The child of `start`: an empty Node-RED, with or without the installed pack. */
async function main(): Promise<void> {
  const { withPack } = inputOf<{ withPack: boolean }>();
  await embed([], [], withPack);
  const ms = performance.now();
  const megabytes = process.memoryUsage().rss / 2 ** 20;
  globalThis.gc?.();
  process.send?.({ ms, megabytes, used: process.memoryUsage().heapUsed / 2 ** 20 } satisfies EmptyCost);
}

void main();
