import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './shared/on-demand';

/** Registers `connected-vehicle-command-status`, which is implemented in connected-vehicle-command-status.runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-command-status');
