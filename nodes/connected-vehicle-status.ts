import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle-status`, which is implemented in status/runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-status');
