import type { NodeMessage } from 'node-red';

/** A message as flows send it, with any properties. */
export type Message = NodeMessage & Record<string, unknown>;

/**
 * The value of a property of a message; undefined if it is missing or empty, so that the setting of
 * the node applies.
 */
export const nonBlank = (value: unknown): unknown => (isBlank(value) ? undefined : value);

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
