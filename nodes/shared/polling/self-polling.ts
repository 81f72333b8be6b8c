import type { Node, NodeAPI } from 'node-red';
import type { DuePoll, StateStore } from '../../../src/index';
import type { Message } from '../input/message';
import { isDeleted } from '../node-red/flows';
import { beginWithRetries } from './begin-with-retries';

/** The runner of a node and its polling, from the first message until the node closes. */
interface Opened {
  runner: { end(): Promise<void> };
  endPolling(): void;
}

/** The reads of a message that a node sends to itself; `duePoll` where the poller asked for them. */
interface OwnPoll<Read> {
  reads: readonly Read[];
  duePoll: DuePoll | undefined;
}

export interface SelfPolling<Read, Running> {
  /** Resolves with the runner, which is opened again if opening it has failed. */
  running(): Promise<Running>;
  /** Makes the node send a message to itself. */
  wake(reads: readonly Read[], duePoll?: DuePoll): void;
  /** Undefined for a message that came from a flow. */
  ownPoll(msg: Message): OwnPoll<Read> | undefined;
}

/**
 * Opens what the node runs for its car, and lets the node poll by messages to itself, because its input handler sends and reports. The
 * first such message has no read: what the node knew before a restart continues. While opening fails, it is tried again, and such a
 * message reports each new reason.
 * @param state what the node stores; removed with the node
 * @param open its signal is aborted when the node closes
 */
export function startSelfPolling<Read, Running extends Opened>(
  RED: NodeAPI,
  node: Node,
  state: { store: StateStore; key: string },
  open: (signal: AbortSignal) => Promise<Running>,
): SelfPolling<Read, Running> {
  const ownPolls = new WeakMap<Message, OwnPoll<Read>>();
  let opened: Promise<Running> | undefined;

  const wake = (reads: readonly Read[], duePoll?: DuePoll): void => {
    const msg: Message = { _msgid: RED.util.generateId() };
    ownPolls.set(msg, { reads, duePoll });
    node.receive(msg);
  };
  const closing = new AbortController();
  const running = (): Promise<Running> => {
    opened ??= open(closing.signal).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const begin = async (): Promise<void> => {
    await running();
    if (!closing.signal.aborted) wake([]);
  };
  const endRetries = beginWithRetries(begin, () => wake([]));

  node.on('close', (removed: boolean, done: () => void) => {
    closing.abort();
    endRetries();
    const close = async (): Promise<void> => {
      // A node that is closed while it opens begins to poll all the same.
      const found = await opened?.catch(() => undefined);
      found?.endPolling();
      await found?.runner.end();
      if (isDeleted(RED, node, removed)) await state.store.remove(state.key);
    };
    void close()
      .catch(() => undefined)
      .then(done);
  });

  return {
    running,
    wake,
    ownPoll: (msg) => ownPolls.get(msg),
  };
}
