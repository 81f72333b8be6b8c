import type { Node, NodeAPI } from 'node-red';
import { VehicleError } from '../../src/index';

export interface NodeOfFlow {
  readonly RED: NodeAPI;
  readonly node: Node;
}

/** A node as Node-RED stores it. A node “link out” has the links. */
interface StoredNode extends Record<string, unknown> {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
  links?: string[];
}

/**
 * All nodes of the deployed flows, config nodes and disabled ones among them.
 * @throws VehicleError CONFIG while Node-RED, whose editor can be open by then, has not
 * loaded the flows yet
 */
export function storedNodes(RED: NodeAPI): StoredNode[] {
  const nodes: StoredNode[] = [];
  try {
    // Node-RED passes each node as the flow file has it; its type is less exact.
    RED.nodes.eachNode((node) => nodes.push(node as unknown as StoredNode));
  } catch {
    throw new VehicleError('CONFIG', 'Node-RED is still starting. Try again in a few seconds.');
  }
  return nodes;
}

/**
 * Whether a message may come from a node to one of a type, by wires and links. What enters a
 * subflow may reach all nodes of it, and what a node of a subflow sends may leave it.
 */
export function leadsTo({ RED, node: { id, _alias } }: NodeOfFlow, type: string): boolean {
  const nodes = new Map(storedNodes(RED).map((node) => [node.id, node]));
  const reached = new Set([_alias ?? id]);
  for (const one of reached) {
    const node = nodes.get(one);
    if (node?.type === type) return true;
    for (const next of [...(node?.wires ?? []).flat(), ...(node?.links ?? [])]) reached.add(next);
    const [around, inside] = [`subflow:${node?.z}`, node?.type.replace('subflow:', '')];
    for (const next of nodes.values()) if (next.type === around || next.z === inside) reached.add(next.id);
  }
  return false;
}

/**
 * Whether a closing node is deleted, so that nothing of it is wanted anymore. Node-RED passes
 * `removed` also for a disabled node, and does not pass it for a node that disappears with its
 * subflow instance. Therefore this looks whether the node is still in the flows; a node of a
 * subflow is listed there under `_alias`, and its id begins with those of the instances around it.
 */
export function isDeleted({ RED, node: { id, _alias } }: NodeOfFlow, removed: boolean): boolean {
  const all = storedNodes(RED);
  if (!_alias || !id.endsWith(`-${_alias}`)) return removed && !all.some((node) => node.id === id);
  const instances = all.filter(({ type }) => type.startsWith('subflow:'));
  return !all.some((node) => node.id === _alias) || !instances.some((node) => id.startsWith(`${node.id}-`));
}
