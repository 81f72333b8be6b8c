/**
 * Everything that costs time and memory to load, in one place: the library, the checks of the options and, when first
 * asked for, the simulated service. A Node-RED without a vehicle never loads it. The build folds it and what it needs of
 * its dependencies into one file (scripts/build.mjs), so nothing of the library may be loaded by another way in `nodes/`.
 */
export * from '../../src/index';
export * from './admin/bodies';
export * from './input/options';

/** Loaded when the first demo vehicle is asked. */
export const simulator = (): typeof import('../../src/simulator/index') =>
  require('../../src/simulator/index') as typeof import('../../src/simulator/index');
