import type { Node, NodeAPI } from 'node-red';

/**
 * Whether a closing node is deleted, so that nothing of it is wanted any more. Node-RED passes `removed` also for a disabled node, and
 * does not pass it for a node that disappears with its subflow instance. Therefore this looks whether the node is still in the flows;
 * a node of a subflow is listed there under `_alias`, and its id begins with those of the instances around it.
 */
export function isDeleted(RED: NodeAPI, { id, _alias }: Node, removed: boolean): boolean {
  const all: { id: string; type: string }[] = [];
  RED.nodes.eachNode((node) => all.push(node));
  if (!_alias || !id.endsWith(`-${_alias}`)) return removed && !all.some((node) => node.id === id);
  const instances = all.filter(({ type }) => type.startsWith('subflow:'));
  return !all.some((node) => node.id === _alias) || !instances.some((node) => id.startsWith(`${node.id}-`));
}
