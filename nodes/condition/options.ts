import * as z from 'zod/mini';
import { nodeOptions, number, stringType, text } from '../node-red/options';

/**
 * `connected-vehicle-condition` (docs/internals/contract.md 5c). The library checks each condition.
 */
export const conditionOptions = nodeOptions(() => ({
  match: z._default(z.enum(['all', 'any']), 'all'),
  conditions: z._default(
    z.array(
      z.object({
        value: z._default(z.string(), ''),
        operator: z._default(z.string(), ''),
        operand: z._default(z.unknown(), ''),
        operandType: stringType,
        /**
         * The unit of the operand, in words. If it is empty, the operand has the unit of the value.
         */
        unit: text,
        /** How long it has to be met; 0: now is enough. */
        forMinutes: number(0, 0, 10_080),
      }),
    ),
    [],
  ),
  /** The payload of the output: as it came, or the sentence about the result. */
  payload: z._default(z.enum(['unchanged', 'text']), 'unchanged'),
  /** Seconds that a known value may be old; 0 = read. */
  maxAge: number(0, 0, 86_400),
}));
export type ConditionOptions = z.infer<typeof conditionOptions>;
