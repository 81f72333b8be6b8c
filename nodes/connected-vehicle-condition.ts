import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle-condition`, which is implemented in condition/runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-condition');
