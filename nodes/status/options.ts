import * as z from 'zod/mini';
import { interfaceChoice, nodeOptions, poll, stringType } from '../node-red/options';

/** `connected-vehicle-status` (docs/internals/contract.md 3). */
export const statusOptions = nodeOptions(() => ({
  /** One read name, or `several`. */
  read: z._default(z.string(), 'windows'),
  readType: stringType,
  /** The read names if `read` is `several`. */
  reads: z._default(z.array(z.string()), []),
  interface: interfaceChoice,
  /** Seconds; 0 = only on a message. */
  poll: poll(0),
  /**
   * `value`: without units and times; `list`: a list of single values with all that describes them.
   */
  payload: z._default(z.enum(['object', 'value', 'list']), 'object'),
  emit: z._default(z.enum(['always', 'changes']), 'always'),
}));
export type StatusOptions = z.infer<typeof statusOptions>;
