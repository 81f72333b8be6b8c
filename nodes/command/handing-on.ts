import type { CommandRecord, LoggedCommand } from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { leadsTo } from '../node-red/flows';
import type { Message } from '../node-red/message';
import { clock } from '../node-red/time';

/** @returns false where the node was closed before the record was sent on: it is sent on after the next start */
type HandOn = (record: CommandRecord, send: () => void, signal: AbortSignal) => Promise<boolean>;

/**
 * Sends the records of commands on, once each. What a node of the same id did not send on, because it was closed or the process ended, is
 * sent on after the start, when the wires lead somewhere: undetermined where no answer came, and it can be followed then. So is what was
 * on its way through other nodes to a result node.
 * @param sendRecord gets a record of the former node, and the message that sent the command
 */
export function handsOnCommands(own: FlowNode, sendRecord: (record: CommandRecord, msg: Message) => void): HandOn {
  const { node, deploys, closing } = own;
  const { log } = own.pack;
  const warn = (key: string): void => own.warn(`commands.${key}`);
  const handOn: HandOn = async ({ id }, send, signal) => {
    // A result node that got the record is still storing that it follows it: a kill in between must leave one of the two on disk.
    const isDelivered = (): Promise<boolean> => log.isTakenOver(id);
    if (!(await deploys.send(send, { clock: clock(), signal, isDelivered }))) return false;
    if (await isDelivered()) return true;
    const mayBeFollowed = leadsTo(own, 'connected-vehicle-command-status');
    await log.handedOn(id, mayBeFollowed ? clock().now() : null).catch(() => warn('notKept'));
    return true;
  };

  let resuming: Promise<unknown> = Promise.resolve();
  // A message has no property that it must have.
  const resume = async ({ record, origin }: LoggedCommand): Promise<unknown> =>
    closing.aborted || handOn(record, () => sendRecord(record, { ...origin?.msg } as Message), closing);
  const begin = async (isStart = true): Promise<void> => {
    const commands = await log.notTakenOver(node.id, clock().now(), isStart);
    resuming = commands.reduce((before, command) => before.then(() => resume(command)), resuming);
  };
  own.beginWithRetries(begin, () => warn('notRead'));
  own.pack.membership?.onGone(() => void begin(false).catch(() => warn('notRead')), closing);

  own.onClose(async (isDeleted) => {
    await resuming;
    if (isDeleted) await log.forgetNode(node.id).catch(() => warn('notKept'));
  });
  return handOn;
}
