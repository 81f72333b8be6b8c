import type { NodeOfFlow } from './flows';
import type { Message } from './message';

/** The contents of messages that a node sends to itself: its input handler does the work, so that Complete and Catch nodes see it. */
interface SelfMessages<Content> {
  send(this: void, content: Content, msg?: Message): void;
  /** Undefined for a message that came from a flow. */
  contentOf(msg: Message): Content | undefined;
}

export function selfMessages<Content>({ RED, node }: NodeOfFlow): SelfMessages<Content> {
  const contents = new WeakMap<Message, Content>();
  return {
    send(content, msg = { _msgid: RED.util.generateId() }) {
      contents.set(msg, content);
      node.receive(msg);
    },
    contentOf: (msg) => contents.get(msg),
  };
}
