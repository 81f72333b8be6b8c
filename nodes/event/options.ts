import * as z from 'zod/mini';
import type { HoursSettings } from '../../src/index';
import { hours, nodeOptions, numberType, poll } from '../node-red/options';

/** `connected-vehicle-event` (docs/internals/contract.md 5a). The library checks the rest. */
export const eventOptions = nodeOptions(() => ({
  events: z._default(z.unknown(), []),
  /** Percent, for the two battery events. */
  level: z._default(z.unknown(), 20),
  levelType: numberType,
  /** Percent, for the event while charging. */
  step: z._default(z.unknown(), 10),
  places: z._default(z.unknown(), []),
  ...hours(),
  /** Seconds; 0 = only on a message. */
  poll: poll(120),
}));
export type EventOptions = Omit<z.infer<typeof eventOptions>, 'events' | 'places' | keyof HoursSettings> &
  Required<HoursSettings> & { events: string[]; places: unknown[] };
