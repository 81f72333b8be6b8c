import { live } from '../support/day';
import { ordinaryDay } from '../support/days';
import type { GrowthInput, Idle } from './growth-process';
import { measured, startService } from './processes';
import type { Row } from './table';

const counts = [1_000, 10_000] as const;

/**
 * Ten nodes on each of many vehicles, and many watches of one node: what each costs
 * while nothing happens.
 */
export async function growth(): Promise<Row[]> {
  const service = await startService(1_000);
  try {
    const idle = (what: GrowthInput['what'], count: number): Promise<Idle> =>
      measured<Idle>('growth-process', { what, count, url: service.url } satisfies GrowthInput, ['--expose-gc']);
    const rows: Row[] = [];
    for (const what of ['nodes', 'watches'] as const) {
      const none = await idle(what, 0);
      const each: number[] = [];
      for (const count of counts) {
        const { megabytes, cpuPerSecond } = await idle(what, count);
        const kilobytes = ((megabytes - none.megabytes) * 1024) / count;
        each.push(kilobytes);
        const isMost = count === counts[1];
        rows.push(
          {
            what: `${count} ${what}: memory of each`,
            value: kilobytes,
            ...(isMost && { atMost: what === 'nodes' ? 7.6 : 10.9 }),
            unit: 'KB',
          },
          {
            what: `${count} ${what}: CPU of an idle second (${none.cpuPerSecond.toFixed(1)} ms without)`,
            value: cpuPerSecond,
            ...(isMost && what === 'nodes' && { atMost: 5 }),
            unit: 'ms',
          },
        );
      }
      rows.push({
        what: `${what}: memory of each, at ${counts[1]} of that at ${counts[0]}`,
        value: (each[1] ?? 0) / (each[0] ?? 1),
        atMost: 1.25,
      });
    }
    return [...rows, ...(await aDay(idle))];
  } finally {
    await service.stop();
  }
}

const readsPerSecond = 10;
/** A core of a Raspberry Pi 3 beside one of the machines that run this. */
const timesSlower = 8;

/** What one car that is polled adaptively adds to a Node-RED at rest. */
async function aDay(idle: (what: 'reads', count: number) => Promise<Idle>): Promise<Row[]> {
  const readsPerDay = live(ordinaryDay, 'adaptive', 'home').calls;
  const none = await idle('reads', 0);
  const some = await idle('reads', readsPerSecond);
  const perRead = Math.max(0, some.cpuPerSecond - none.cpuPerSecond) / readsPerSecond;
  const secondsPerDay = (perRead * readsPerDay) / 1000;
  return [
    {
      what: `one car at rest, ${readsPerDay} reads a day`,
      value: `${perRead.toFixed(2)} ms CPU a read, ${secondsPerDay.toFixed(1)} s a day; ${(secondsPerDay * timesSlower).toFixed(0)} s on a core that is ${timesSlower} times slower, such as a Raspberry Pi 3`,
    },
    { what: 'one car at rest: CPU of an idle second', value: none.cpuPerSecond, unit: 'ms' },
  ];
}
