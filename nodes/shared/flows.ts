import type { NodeAPI } from 'node-red';

/** Whether a node is still part of the flows, if disabled: what it keeps on disk is then still wanted. */
export function standsInFlows(RED: NodeAPI, id: string): boolean {
  let stands = false;
  RED.nodes.eachNode((node) => {
    stands ||= node.id === id;
  });
  return stands;
}
