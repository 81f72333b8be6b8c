import type * as Runtime from './runtime';

/** The library, loaded when the first vehicle node starts and not with Node-RED. */
export const runtime = (): typeof Runtime => require('./runtime') as typeof Runtime;

/** The simulated service, loaded when the first demo vehicle is asked. */
export const simulator = (): typeof import('../../src/simulator/index') => require('../../src/simulator/index') as typeof import('../../src/simulator/index');
