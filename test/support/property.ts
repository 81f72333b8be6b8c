import type { Parameters } from 'fast-check';
import { firstSeed, times } from './random';

/** How often a property is tried: `runs` in `npm test`, FACTOR times as often in `npm run model`. */
export const tried = (runs: number): Parameters<unknown> => ({ numRuns: times(runs), seed: firstSeed });
