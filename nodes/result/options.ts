import * as z from 'zod/mini';
import { flag, number, text } from '../node-red/options';

/** `connected-vehicle-command-status` (docs/internals/contract.md 5). */
export const commandStatusOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    /** Seconds. */
    timeout: number(180, 1),
    /** Seconds. */
    interval: number(5, 1),
    verify: flag(true),
  }),
);
export type CommandStatusOptions = z.infer<typeof commandStatusOptions>;
