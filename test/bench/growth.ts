import type { GrowthInput, Idle } from './growth-process';
import { measured, startService } from './processes';
import type { Row } from './table';

const counts = [1_000, 10_000] as const;

/** Ten nodes on each of many vehicles, and many watches of one node: what each costs while nothing happens. */
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
        rows.push({
          what: `${count} ${what}`,
          value: `${kilobytes.toFixed(1)} KB each, ${cpuPerSecond.toFixed(1)} ms CPU per idle second (${none.cpuPerSecond.toFixed(1)} without)`,
        });
      }
      rows.push({
        what: `${what}: memory of each, at ${counts[1]} of that at ${counts[0]}`,
        value: (each[1] ?? 0) / (each[0] ?? 1),
        atMost: 1.25,
      });
    }
    return rows;
  } finally {
    await service.stop();
  }
}
