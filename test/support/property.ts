import type { Parameters } from 'fast-check';
import { firstSeed, times } from './random';

/**
 * How often a property is tried: `runs` times in `npm test`, FACTOR times as often in
 * `npm run test:slow`.
 */
export const tried = (runs: number): Parameters<unknown> => ({ numRuns: times(runs), seed: firstSeed });
