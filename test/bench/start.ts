import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { browserBytes, mostBytes } from '../support/browser-bytes';
import type { Cost, LoadInput } from './load-process';
import { measured, median, startService } from './processes';
import type { Row } from './table';

const nodes = resolve(__dirname, '../../nodes');

/** What the installed pack costs a Node-RED that has no vehicle, what its first vehicle costs, and what each editor loads. */
export async function start({ rounds = 9 } = {}): Promise<Row[]> {
  return [...(await empty(rounds)), ...(await first(rounds)), ...browser()];
}

async function empty(rounds: number): Promise<Row[]> {
  const runs: { bare: Cost; packed: Cost }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    runs.push({ bare: await measured<Cost>('start-process', { withPack: false }), packed: await measured<Cost>('start-process', { withPack: true }) });
  }
  const of = (pick: (run: (typeof runs)[number]) => number): number => median(runs.map(pick));
  return [
    { what: 'empty Node-RED: start', value: of(({ bare }) => bare.ms), unit: 'ms' },
    { what: 'empty Node-RED: with the pack, more', value: (of(({ packed }) => packed.ms) / of(({ bare }) => bare.ms) - 1) * 100, atMost: 5, unit: '%' },
    { what: 'empty Node-RED: memory', value: of(({ bare }) => bare.megabytes), unit: 'MB' },
    { what: 'empty Node-RED: with the pack, more', value: of(({ packed }) => packed.megabytes) - of(({ bare }) => bare.megabytes), atMost: 5, unit: 'MB' },
  ];
}

async function first(rounds: number): Promise<Row[]> {
  const service = await startService();
  const whats = ['packages', 'pack loaded', 'pack to its first answer', 'pack to its first answer, demo car'] as const satisfies readonly LoadInput['what'][];
  const costs = new Map<LoadInput['what'], Cost[]>(whats.map((what) => [what, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const what of whats) costs.get(what)?.push(await measured<Cost>('load-process', { what, url: service.url, vin: service.vin } satisfies LoadInput));
    }
  } finally {
    await service.stop();
  }
  const of = (what: LoadInput['what'], pick: keyof Cost): number => median((costs.get(what) ?? []).map((cost) => cost[pick]));
  return [
    ...whats.map((what): Row => ({ what: what === 'packages' ? "require('undici') and require('zod')" : what, value: `${of(what, 'ms').toFixed(0)} ms, ${of(what, 'megabytes').toFixed(1)} MB` })),
    ...whats.slice(1).flatMap((what): Row[] => {
      const share = (pick: keyof Cost): number => of(what, pick) / of('packages', pick);
      // The contract of the issue is the way to the first answer; loading alone and the demo car's own server are for comparison.
      const asked = what === 'pack to its first answer' ? { atMost: 0.45 } : {};
      return [
        { what: `${what}: share of the time`, value: share('ms'), ...asked },
        { what: `${what}: share of the memory`, value: share('megabytes'), ...asked },
      ];
    }),
  ];
}

/** What each editor loads in a language. One that is not English gets the English words as well, to fall back on: Node-RED asks for them. */
function browser(): Row[] {
  const kilobytes = (bytes: number): string => (bytes / 1024).toFixed(1);
  return readdirSync(join(nodes, 'locales')).map((language) => {
    const parts = Object.entries(browserBytes(language));
    const all = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
    return { what: `browser, ${language}: ${parts.map(([part, bytes]) => `${part} ${kilobytes(bytes)}`).join(', ')}`, value: all / 1024, atMost: mostBytes / 1024, unit: 'KB' };
  });
}
