import type { Outcome } from '../../src/index';
import type { Look } from './badge';

/** What the outcome of a command looks like; only success is green. */
export const outcomeLooks = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<Outcome, Look>;
