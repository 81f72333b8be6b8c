import { createHash } from 'node:crypto';
import type { Node, NodeAPI } from 'node-red';

/**
 * The file name that belongs to a node. Ids come with imported flows and can be anything, so only one that is made of letters, digits,
 * `-` and `_` stands for itself; any other is replaced by its hash, and never becomes a path.
 */
export const fileNameOf = (id: string): string =>
  /^[\w-]{1,100}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 32);

/**
 * Whether a closing node is deleted, so that nothing of it is wanted any more. Node-RED says `removed` of one that is only
 * disabled, too, and does not say it of one that goes with the instance of its subflow: what tells is whether it still stands in
 * the flows. A node in a subflow stands there under its alias, and its id begins with those of the instances around it.
 */
export function isDeleted(RED: NodeAPI, { id, _alias }: Node, removed: boolean): boolean {
  const all: { id: string; type: string }[] = [];
  RED.nodes.eachNode((node) => all.push(node));
  if (!_alias || !id.endsWith(`-${_alias}`)) return removed && !all.some((node) => node.id === id);
  const instances = all.filter(({ type }) => type.startsWith('subflow:'));
  return !all.some((node) => node.id === _alias) || !instances.some((node) => id.startsWith(`${node.id}-`));
}
