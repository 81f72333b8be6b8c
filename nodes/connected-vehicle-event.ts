import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './shared/on-demand';

/** Registers `connected-vehicle-event`, which is implemented in connected-vehicle-event.runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-event');
