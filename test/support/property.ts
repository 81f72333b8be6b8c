import type { Parameters } from 'fast-check';

/** How often a property is tried: `runs` in `npm test`, always with the same seed; `npm run properties` multiplies the runs and chooses the seed. */
export const tried = (runs: number): Parameters<unknown> => ({
  numRuns: runs * Number(process.env['PROPERTY_FACTOR'] ?? 1),
  seed: Number(process.env['PROPERTY_SEED'] ?? 24),
});
