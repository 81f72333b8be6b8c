import type { Node, NodeAPI } from 'node-red';

/**
 * Whether a closing node is still part of the flows: Node-RED calls one that is only disabled removed, too, and what that one
 * keeps on disk is still wanted. A node in a subflow stands there under its alias.
 */
export function isInFlows(RED: NodeAPI, { id, _alias }: Node): boolean {
  let found = false;
  RED.nodes.eachNode((node) => (found ||= node.id === (_alias ?? id)));
  return found;
}
