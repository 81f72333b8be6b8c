import { browserBytes, carsTabBytes } from '../support/browser-bytes';
import { languages } from '../support/editor-halves';
import type { Cost, LoadInput } from './load-process';
import { measured, median, startService, type ServiceProcess } from './processes';
import type { Row } from './table';

/**
 * What the installed pack costs a Node-RED that has no vehicle, what its first vehicle costs, and
 * what each editor loads.
 */
export async function start({ rounds = 11 } = {}): Promise<Row[]> {
  return [...(await empty(rounds)), ...(await first(rounds)), ...browser()];
}

export interface EmptyCost extends Cost {
  /** Megabytes of the heap after a collection. */
  used: number;
}

async function empty(rounds: number): Promise<Row[]> {
  const runs: { bare: EmptyCost; packed: EmptyCost }[] = [];
  const run = (withPack: boolean): Promise<EmptyCost> =>
    measured<EmptyCost>('start-process', { withPack }, ['--expose-gc']);
  for (let round = 0; round < rounds; round += 1) {
    // In turns, so that neither always comes first.
    if (round % 2 === 0) runs.push({ bare: await run(false), packed: await run(true) });
    else runs.push({ packed: await run(true), bare: await run(false) });
  }
  const bare = (pick: keyof EmptyCost): number => median(runs.map((pair) => pair.bare[pick]));
  const more = (pick: keyof EmptyCost): number => median(runs.map((pair) => pair.packed[pick])) - bare(pick);
  return [
    { what: 'empty Node-RED: start', value: bare('ms'), unit: 'ms' },
    // The start of a Node-RED varies by a fifth on a busy machine.
    {
      what: 'empty Node-RED: with the pack, more',
      value: (more('ms') / bare('ms')) * 100,
      atMost: 40,
      aim: 5,
      unit: '%',
    },
    { what: 'empty Node-RED: memory', value: bare('megabytes'), unit: 'MB' },
    // The heap of V8 grows in steps of several MB, which a start with the pack can reach earlier.
    { what: 'empty Node-RED: with the pack, more', value: more('megabytes'), atMost: 8, unit: 'MB' },
    { what: 'empty Node-RED: with the pack, more that is in use', value: more('used'), atMost: 1, unit: 'MB' },
  ];
}

const whats = [
  'packages',
  'packages and a request',
  'pack loaded',
  'pack to its first answer',
  'pack to its first answer, not bundled',
  'pack to its first answer, demo car',
] as const satisfies readonly LoadInput['what'][];
type What = (typeof whats)[number];

async function first(rounds: number): Promise<Row[]> {
  const service = await startService();
  try {
    return [...(await firstIn(service, true, rounds)), ...(await firstIn(service, false, rounds))];
  } finally {
    await service.stop();
  }
}

/** The other shares are for comparison. */
function limitsOf(what: What, base: What, pick: keyof Cost): Pick<Row, 'atMost' | 'aim'> {
  if (what !== 'pack to its first answer') return {};
  // The bundle has to earn its place.
  if (base.endsWith('not bundled')) return { atMost: 0.9, aim: 0.75 };
  if (base !== 'packages and a request') return {};
  return pick === 'ms' ? { atMost: 0.75, aim: 0.6 } : { atMost: 0.85, aim: 0.75 };
}

/**
 * Time and resident memory, in a process that has loaded Node-RED and in one that has loaded
 * nothing: there, parts of Node itself come in too.
 */
async function firstIn({ url, vin }: ServiceProcess, inNodeRed: boolean, rounds: number): Promise<Row[]> {
  const costs: Record<What, Cost>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const pairs: [What, Cost][] = [];
    for (const what of round % 2 === 0 ? whats : whats.toReversed())
      pairs.push([what, await measured<Cost>('load-process', { what, inNodeRed, url, vin } satisfies LoadInput)]);
    costs.push(Object.fromEntries(pairs) as Record<What, Cost>);
  }
  const frame = inNodeRed ? 'in Node-RED' : 'alone';
  const of = (what: What, pick: keyof Cost): number => median(costs.map((cost) => cost[what][pick]));
  const share = (what: What, base: What): Row[] =>
    (['ms', 'megabytes'] as const).map((pick) => ({
      what: `${frame}: ${what}, share of the ${pick === 'ms' ? 'time' : 'memory'} of the ${base}`,
      value: of(what, pick) / of(base, pick),
      ...(inNodeRed && limitsOf(what, base, pick)),
    }));
  return [
    ...whats.map((what): Row => ({
      what: `${frame}: ${what === 'packages' ? "packages (require('undici') and require('zod'))" : what}`,
      value: `${of(what, 'ms').toFixed(0)} ms, ${of(what, 'megabytes').toFixed(1)} MB`,
    })),
    ...share('pack loaded', 'packages'),
    ...share('pack to its first answer', 'packages'),
    ...share('pack to its first answer', 'packages and a request'),
    ...share('pack to its first answer', 'pack to its first answer, not bundled'),
  ];
}

/**
 * The bytes that each editor loads in a language. One that is not English gets the English words as
 * well, to fall back on: Node-RED asks for them.
 */
function browser(): Row[] {
  const kilobytes = (bytes: number): string => (bytes / 1024).toFixed(1);
  const atStart = languages.map((language): Row => {
    const parts = Object.entries(browserBytes(language));
    const all = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
    return {
      what: `browser, ${language}: ${parts.map(([part, bytes]) => `${part} ${kilobytes(bytes)}`).join(', ')}`,
      value: all / 1024,
      // Two bytes of a language with accents are one letter, so the others get a little more, as
      // the spec of the definitions holds.
      atMost: language === 'en-US' ? 130 : 140,
      unit: 'KB',
    };
  });
  return [
    ...atStart,
    { what: 'browser: the tab "Cars", when it is first shown', value: carsTabBytes() / 1024, unit: 'KB' },
  ];
}
