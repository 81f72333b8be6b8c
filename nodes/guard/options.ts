import * as z from 'zod/mini';
import { defaultWatch, type GuardSettings, type WatchName } from '../../src/index';
import { hours, nodeOptions, numberType, poll } from '../node-red/options';

/** `connected-vehicle-guard` (docs/internals/contract.md 5b). The library checks the rest. */
export const guardOptions = nodeOptions(() => ({
  /** Kinds of openings, or single ones. */
  watch: z._default(z.unknown(), [...defaultWatch]),
  /** Minutes that something may be open. */
  minutes: z._default(z.unknown(), 10),
  minutesType: numberType,
  /** Other minutes for some kinds. */
  minutesFor: z._default(z.unknown(), {}),
  /** Minutes; 0 = reported once. */
  repeat: z._default(z.unknown(), 0),
  ...hours(),
  onlyWhileNotInUse: z._default(z.unknown(), false),
  /** Seconds; 0 = only what messages bring. */
  poll: poll(120),
}));
export type GuardOptions = Omit<z.infer<typeof guardOptions>, keyof GuardSettings> &
  Required<Omit<GuardSettings, 'watch'>> & { watch: WatchName[] };
