import type { NodeMessage } from 'node-red';

/** A message as flows send it: anything may stand in it. */
export type Message = NodeMessage & Record<string, unknown>;
