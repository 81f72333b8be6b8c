import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import type { CommandRecord, OpenWatch } from '../../src/index';
import { isInFlows } from './flows';
import { runtime } from './load';
import { clock } from './time';
import type { Message } from './messages';

/** The commands of a node that left and whose answer has not come. */
export interface Unanswered {
  /** Before the first byte leaves. */
  keep(record: CommandRecord, msg: Message): void;
  answered(id: string): void;
}

/**
 * Keeps them in the user directory: one whose answer nobody was there for, because the node was closed or the process
 * ended, is told after the next start, when its wires lead somewhere, and can be followed then.
 * @param tell gets the record as undetermined, and the message that sent it
 */
export function keepUnanswered(RED: NodeAPI, node: Node, tell: (record: CommandRecord, msg: Message) => void): Unanswered {
  const { WatchStore } = runtime();
  const { userDir } = RED.settings;
  const store = new WatchStore(userDir ? join(userDir, 'connected-vehicle', 'commands', node.id) : null);
  const open: OpenWatch[] = store.open((file) => node.warn(RED._(`${node.type}.damaged`, { file })));

  let deleted = false;

  /** A disk that is full or locked must not stop a command. */
  const tryStore = (change: () => void): void => {
    try {
      if (!deleted) change();
    } catch {
      node.warn(RED._(`${node.type}.notKept`));
    }
  };
  const tellAll = (): void => {
    for (const { record, msg } of open) {
      tell(record, msg as Message);
      tryStore(() => store.remove(record.id));
    }
  };
  if (open.length > 0) RED.events.once('flows:started', tellAll);

  node.on('close', (removed: boolean, done: () => void) => {
    RED.events.off('flows:started', tellAll);
    if (removed && !isInFlows(RED, node)) {
      tryStore(() => store.clear());
      deleted = true;
    }
    done();
  });

  return {
    keep: (record, msg) => tryStore(() => store.put({ record, startedAt: clock().now(), history: [], msg })),
    answered: (id) => tryStore(() => store.remove(id)),
  };
}
