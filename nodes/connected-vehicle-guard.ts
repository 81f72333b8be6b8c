import type { NodeAPI } from 'node-red';
import { registerOnDemand } from './shared/on-demand';

/** Registers `connected-vehicle-guard`, which is implemented in connected-vehicle-guard.runtime.ts. */
export = (RED: NodeAPI): void => registerOnDemand(RED, 'connected-vehicle-guard');
