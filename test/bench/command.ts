import { measured, median, startService } from './processes';
import type { Row } from './table';

export interface CommandInput {
  url: string;
  /** Each car is locked once: what a command of a moment ago leaves behind is not measured. */
  vins: readonly string[];
  rounds: number;
}

export const contestants = ['command', 'five lines'] as const;

/** Milliseconds of CPU of Node-RED for each command, by round. */
export type CommandCosts = Record<(typeof contestants)[number], number[]>;

/**
 * What it costs to lock a car and to see that it is locked, beside a POST and a read of the doors
 * without a record of anything.
 */
export async function command({ rounds = 3 } = {}): Promise<Row[]> {
  const service = await startService(40 * (rounds + 1));
  try {
    const { url, vins } = service;
    const costs = await measured<CommandCosts>('command-process', { url, vins, rounds } satisfies CommandInput);
    return [
      ...contestants.map((name): Row => ({
        what: `a lock until it is confirmed: ${name}`,
        value: `CPU ${median(costs[name]).toFixed(2)} ms`,
      })),
      {
        what: 'a lock until it is confirmed: times the CPU of the five lines',
        value: median(costs.command.map((cost, round) => cost / (costs['five lines'][round] ?? cost))),
        // 2.9 to 6.4 on one machine, by its disk. Version 1.0.0: 4.9 to 5.6.
        atMost: 9,
        aim: 5.3,
      },
    ];
  } finally {
    await service.stop();
  }
}
