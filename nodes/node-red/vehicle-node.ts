import type { Node, NodeAPI } from 'node-red';
import type { Account, Place } from '../../src/index';

/** The config node as the other nodes see it. */
export interface VehicleNode extends Node {
  /** As deployed, with what Node-RED took from the environment. */
  config: unknown;
  /**
   * Opens the account at the first call.
   * @throws VehicleError CONFIG if the configuration cannot work
   */
  account(): Promise<Account>;
  /**
   * Why the vehicle cannot work until a person acts, a key below `status.failed` in `runtime.json`;
   * null while all is well. It sends no request of its own to the service.
   */
  obstacle(): Promise<string | null>;
  /**
   * The first VIN that is given: of the message, of the node, of the
   * configuration, of the demo car.
   */
  chooseVin(...given: unknown[]): unknown;
  /** @throws VehicleError CONFIG */
  places(): readonly Place[];
}

/** The config node of this id; null if it is missing, deleted or disabled. */
export function findVehicle(RED: NodeAPI, id: string): VehicleNode | null {
  // Null for a config node that is deleted or disabled, although the types exclude null.
  const found = RED.nodes.getNode(id) as Node | null;
  return found !== null && 'account' in found ? (found as VehicleNode) : null;
}
