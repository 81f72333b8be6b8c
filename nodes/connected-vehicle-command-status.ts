import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle-command-status`, which is implemented in result/runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-command-status');
