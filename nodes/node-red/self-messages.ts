import type { FlowNode } from './flow-node';
import type { Message } from './message';

/**
 * The contents that nodes send to themselves, by message. All nodes share one map, because a map
 * for each node takes memory.
 */
const contents = new WeakMap<Message, { by: FlowNode; content: unknown }>();

/**
 * The messages that a node sends to itself: its input handler does the work, so that Complete and
 * Catch nodes see it. All of a node have contents of one type.
 */
export class SelfMessages<Content> {
  readonly #own: FlowNode;

  constructor(own: FlowNode) {
    this.#own = own;
  }

  send(content: Content, msg: Message = { _msgid: this.#own.RED.util.generateId() }): void {
    contents.set(msg, { by: this.#own, content });
    this.#own.node.receive(msg);
  }

  /** Undefined for a message that came from a flow. */
  contentOf(msg: Message): Content | undefined {
    return isFromItself(this.#own, msg) ? (contents.get(msg)?.content as Content) : undefined; // Only `send` sets it.
  }
}

/** Whether the node sent a message to itself. */
export const isFromItself = (own: FlowNode, msg: Message): boolean => contents.get(msg)?.by === own;
