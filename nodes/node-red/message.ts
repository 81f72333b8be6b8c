import type { NodeMessage } from 'node-red';

/** A message as flows send it: anything may stand in it. */
export type Message = NodeMessage & Record<string, unknown>;

/** An empty property of a message stands for the setting of the node: its value, or undefined where it is missing or blank. */
export const given = (value: unknown): unknown => (isBlank(value) ? undefined : value);

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
