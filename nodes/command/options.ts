import * as z from 'zod/mini';
import {
  flag,
  interfaceChoice,
  jsonType,
  nodeOptions,
  number,
  numberType,
  stringType,
  text,
} from '../node-red/options';

/** `connected-vehicle-command` (docs/internals/contract.md 4). */
export const commandOptions = nodeOptions(() => ({
  /** Empty: taken from `msg.command`. */
  command: text,
  commandType: stringType,
  interface: interfaceChoice,
  /** Seconds, 1 to 120; the v1 unlock only. Empty: the maximum. */
  unlockDuration: z._default(z.union([z.number(), z.string()]), ''),
  unlockDurationType: numberType,
  /** Minutes, 1 to 15; `engine-start` only. Empty: the maximum. */
  runtimeMinutes: z._default(z.union([z.number(), z.string()]), ''),
  /** Ampere, 6 to 32; `wallbox-limit` only. */
  ampere: z._default(z.union([z.number(), z.string()]), ''),
  ampereType: numberType,
  /** A list of periods; `wallbox-schedule` only. */
  schedule: z._default(z.unknown(), ''),
  scheduleType: jsonType,
  precheck: flag(false),
  /** While another command to the same car is in progress. */
  whenBusy: z._default(z.enum(['refuse', 'queue']), 'refuse'),
  /** While the car is not available. */
  whenUnavailable: z._default(z.enum(['fail', 'wait']), 'fail'),
  /** Seconds. */
  deadline: number(600, 1, 86_400),
  /** Also let an unlock or engine start wait. */
  waitUnlock: flag(false),
  /** Seconds that an arming message holds for an unlock or engine start; 0: neither needs one. */
  arming: number(0, 0, 3_600),
}));
export type CommandOptions = Omit<z.infer<typeof commandOptions>, 'schedule'> & { schedule: unknown };
