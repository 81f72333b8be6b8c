import type { NodeAPI } from 'node-red';
import type { Outcome } from '../../../src/index';
import type { Badge, Look } from './node-status';

/** What the outcome of a command looks like; only success is green. */
const looks = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<Outcome, Look>;

/** Shows what became of a command, with the time of day. */
export function showOutcome(
  badge: Badge,
  RED: NodeAPI,
  { command, outcome }: { command: string; outcome: Outcome },
): void {
  badge.stamp(looks[outcome], `outcome.${outcome}`, {
    command: RED._(`@connected-vehicle/node-red/connected-vehicle:command.${command}`, { defaultValue: command }),
  });
}
