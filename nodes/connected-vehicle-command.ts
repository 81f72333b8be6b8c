import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle-command`, which is implemented in command/runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-command');
