import type { NodeAPI } from 'node-red';
import type { CommandRecord } from '../../src/index';
import type { NodeStatus, StatusStyle } from './node-status';

/** The style of each outcome of a command; only success is green. */
const styles = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<CommandRecord['outcome'], StatusStyle>;

/** Shows what became of a command, with the time of day. */
export function showOutcome(
  nodeStatus: NodeStatus,
  RED: NodeAPI,
  { command, outcome }: Pick<CommandRecord, 'command' | 'outcome'>,
): void {
  nodeStatus.showWithTime(styles[outcome], `outcome.${outcome}`, {
    command: RED._(`@connected-vehicle/node-red/connected-vehicle:command.${command}`, { defaultValue: command }),
  });
}
