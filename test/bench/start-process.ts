import { embed } from './embedded';
import { inputOf } from './processes';

/** The child of `start`: an empty Node-RED, with or without the installed pack. */
async function main(): Promise<void> {
  const { withPack } = inputOf<{ withPack: boolean }>();
  await embed([], [], withPack);
  const ms = performance.now();
  process.send?.({ ms, megabytes: process.memoryUsage().rss / 2 ** 20 });
}

void main();
