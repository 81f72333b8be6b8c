import type * as Runtime from './runtime';

/** The library, loaded when the first vehicle node starts and not with Node-RED. */
export const runtime = (): typeof Runtime => require('./runtime') as typeof Runtime;
