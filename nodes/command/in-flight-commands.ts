import type { Node, NodeAPI } from 'node-red';
import type { CommandRecord } from '../../src/index';
import type { Message } from '../node-red/message';
import { deploysOf } from '../node-red/deploys';
import { clock } from '../node-red/time';
import { isTakenOver, WatchPersistence } from '../result/watch-persistence';

/** The commands of a node that were sent and are not answered yet. */
export interface InFlightCommands {
  /** Before the first byte leaves, and again where the answer comes too late to be sent on. */
  keep(record: CommandRecord, msg: Message): Promise<void>;
  /** Sends the record on, and forgets the command when the result node that got it has stored it. False where the node was closed first. */
  handOver(record: CommandRecord, send: () => void, signal: AbortSignal): Promise<boolean>;
  /** The command was refused, or not sent after all. */
  forget(id: string): Promise<void>;
}

/**
 * Keeps the commands that are in flight, in the form of watches. If the node is closed or the process ends before the answer, the
 * record is sent on after the next start, when the wires lead somewhere, and can be followed then.
 * @param sendRecord gets the record as undetermined, and the message that sent the command
 */
export function persistInFlightCommands(
  RED: NodeAPI,
  node: Node,
  sendRecord: (record: CommandRecord, msg: Message) => void,
): InFlightCommands {
  const watches = new WatchPersistence(RED, node, 'commands');
  const deploys = deploysOf(RED);
  const closing = new AbortController();

  const handOver = async (record: CommandRecord, send: () => void, signal: AbortSignal): Promise<boolean> => {
    const isDelivered = (): Promise<boolean> => isTakenOver(record.id);
    const isSent = await deploys.send(send, { clock: clock(), signal, isDelivered });
    if (!isSent) return false;
    // A result node that got the record is still writing it: a kill in between must leave one of the two on disk.
    await isDelivered();
    await watches.forget(record.id);
    return true;
  };

  const resume = async (): Promise<void> => {
    for (const { record, msg } of await watches.open()) {
      await handOver(record, () => sendRecord(record, msg as Message), closing.signal);
      if (closing.signal.aborted) return;
    }
  };
  const resuming = resume();

  node.on('close', (removed: boolean, done: () => void) => {
    closing.abort();
    void resuming.then(() => watches.close(removed, 0)).then(done);
  });

  return {
    keep: (record, msg) => watches.keep({ record, startedAt: clock().now(), history: [], msg }),
    handOver,
    forget: (id) => watches.forget(id),
  };
}
