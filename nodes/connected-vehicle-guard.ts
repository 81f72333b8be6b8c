import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle-guard`, which is implemented in guard/runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-guard');
