import type { CarOptions } from '../../../src/simulator/index';

/** The VIN of one of many cars. */
export const vinOf = (index: number): string => `YV1WORLD${String(index).padStart(9, '0')}`;

/**
 * Unlocked cars, one for each case: a command whose end is unknown blocks its car for a while.
 * A v2 command is answered after 0.2 s, when the car has acted; a v1 command ends after 0.2 s.
 */
export const manyCars = (count: number): CarOptions[] =>
  Array.from({ length: count }, (_, index) => ({
    vin: vinOf(index),
    lock: 'UNLOCKED',
    resources: { odometer: 51_234 },
    commandPlan: {
      steps: [
        { afterMs: 0, status: 'RUNNING' },
        { afterMs: 200, status: 'COMPLETED' },
      ],
      answerAfterMs: 200,
    },
  }));
