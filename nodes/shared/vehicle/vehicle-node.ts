import type { Node, NodeAPI } from 'node-red';
import type { Account } from '../../../src/index';
import { runtime } from '../load';

/** The config node as the other nodes see it. */
export interface VehicleNode extends Node {
  /** As deployed, with what Node-RED took from the environment. */
  config: unknown;
  /**
   * Opens the account at the first call.
   * @throws VehicleError CONFIG where the configuration cannot work
   */
  account(): Promise<Account>;
  /** The first VIN that is given: of the message, of the node, of the configuration, of the demo car. */
  chooseVin(...given: unknown[]): unknown;
}

/**
 * The config node that a property names.
 * @throws VehicleError CONFIG where it is missing, deleted or disabled
 */
export function vehicleOf(RED: NodeAPI, id: string): VehicleNode {
  // Null for a config node that is deleted or disabled, though the types say otherwise.
  const node = RED.nodes.getNode(id) as Node | null;
  if (node === null || !('account' in node)) {
    throw new (runtime().VehicleError)(
      'CONFIG',
      'No vehicle is chosen, or its configuration is missing or disabled. Open the node, choose a vehicle and deploy.',
    );
  }
  return node as VehicleNode;
}
