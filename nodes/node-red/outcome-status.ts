import { causeOf, type CommandRecord } from '../../src/index';
import type { NodeStatus, StatusStyle } from './node-status';

/** The style of each outcome of a command; only success is green. */
const styles = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<CommandRecord['outcome'], StatusStyle>;

/** Shows what became of a command and why, with the time of day. */
export function showOutcome(
  nodeStatus: NodeStatus,
  { command, outcome, requestStatus }: Pick<CommandRecord, 'command' | 'outcome' | 'requestStatus'>,
): void {
  const cause = outcome === 'failed' ? causeOf(requestStatus) : undefined;
  nodeStatus.showWithTime(styles[outcome], `${cause ?? 'outcome'}.${outcome}`, {
    command: nodeStatus.command(command),
  });
}
