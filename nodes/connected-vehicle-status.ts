import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './shared/on-demand';

/** Registers `connected-vehicle-status`, which is implemented in connected-vehicle-status.runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-status');
