import type { CarOptions } from '../../../src/simulator/index';

/** The VIN of one of many cars. */
export const vinOf = (index: number): string => `YV1WORLD${String(index).padStart(9, '0')}`;

/**
 * The course of a command that the car carries out after this time: then v2 answers, and
 * the v1 link shows it.
 */
export const planOf = (ms: number): CarOptions['commandPlan'] => ({
  steps: [
    { afterMs: 0, status: 'RUNNING' },
    { afterMs: ms, status: 'COMPLETED' },
  ],
  answerAfterMs: ms,
});

/**
 * Unlocked cars that need 0.2 s for a command, one for each case: a command whose end is unknown
 * blocks its car for a while.
 */
export const manyCars = (count: number): CarOptions[] =>
  Array.from({ length: count }, (_, index) => ({
    vin: vinOf(index),
    lock: 'UNLOCKED',
    resources: { odometer: 51_234 },
    commandPlan: planOf(200),
  }));
