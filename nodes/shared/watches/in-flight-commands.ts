import type { Node, NodeAPI } from 'node-red';
import type { CommandRecord } from '../../../src/index';
import { KeptWatches } from './watch-persistence';
import type { Message } from '../input/message';
import { clock } from '../node-red/time';

/** The commands of a node that left and whose answer has not come. */
export interface Unanswered {
  /** Before the first byte leaves, and again where the answer comes too late to be told. */
  keep(record: CommandRecord, msg: Message): void;
  /** Its answer has been sent on, or thrown. */
  answered(id: string): void;
}

/**
 * Keeps them as watches that could not begin: one whose answer nobody was there for, because the node was closed or the process
 * ended, is told after the next start, when its wires lead somewhere, and can be followed then.
 * @param tell gets the record as undetermined, and the message that sent it
 */
export function keepUnanswered(
  RED: NodeAPI,
  node: Node,
  tell: (record: CommandRecord, msg: Message) => void,
): Unanswered {
  const kept = new KeptWatches(RED, node, 'commands');
  // Node-RED gives a message to the next node with setImmediate; this one comes after it, when that node has the record.
  const answered = (id: string): void => void setImmediate(() => kept.forget(id));
  const left = kept.open();
  const tellAll = (): void => {
    for (const { record, msg } of left) {
      tell(record, msg as Message);
      answered(record.id);
    }
  };
  if (left.length > 0) RED.events.once('flows:started', tellAll);

  node.on('close', (removed: boolean, done: () => void) => {
    RED.events.off('flows:started', tellAll);
    kept.close(removed, 0);
    done();
  });

  return {
    keep: (record, msg) => kept.keep({ record, startedAt: clock().now(), history: [], msg }),
    answered,
  };
}
