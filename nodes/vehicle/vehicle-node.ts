import type { Node, NodeAPI } from 'node-red';
import { VehicleError, type Account } from '../../src/index';
import { deploysOf } from '../node-red/deploys';
import type { NodeStatus } from '../node-red/node-status';

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
  const node = findVehicle(RED, id);
  if (node !== null) return node;
  throw new VehicleError(
    'CONFIG',
    'No vehicle is chosen, or its configuration is missing or disabled. Open the node, choose a vehicle and deploy.',
    { status: { word: 'NO_VEHICLE' } },
  );
}

/**
 * Shows from the deploy on that a node has no vehicle. A node that reads by itself says so with its first read. When a later deploy adds
 * the vehicle, Node-RED does not start the node again, so the status is removed here.
 */
export function showMissingVehicle(RED: NodeAPI, node: Node, nodeStatus: NodeStatus, id: string = ''): void {
  if (findVehicle(RED, id) !== null) return;
  nodeStatus.show('failed', 'failed.NO_VEHICLE');
  const stop = deploysOf(RED).onEnd(() => {
    if (findVehicle(RED, id) === null) return;
    nodeStatus.clear('failed.NO_VEHICLE');
    stop();
  });
  node.on('close', stop);
}

function findVehicle(RED: NodeAPI, id: string): VehicleNode | null {
  // Null for a config node that is deleted or disabled, though the types say otherwise.
  const node = RED.nodes.getNode(id) as Node | null;
  return node !== null && 'account' in node ? (node as VehicleNode) : null;
}
