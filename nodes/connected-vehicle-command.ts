import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './shared/on-demand';

/** Registers `connected-vehicle-command`, which is implemented in connected-vehicle-command.runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-command');
