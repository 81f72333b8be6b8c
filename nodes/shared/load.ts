import type * as Runtime from './runtime';

let loaded: typeof Runtime | undefined;

/** The library, loaded when the first vehicle node starts and not with Node-RED. */
export const runtime = (): typeof Runtime => (loaded ??= require('./runtime') as typeof Runtime);
