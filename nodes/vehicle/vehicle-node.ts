import type { Node } from 'node-red';
import type { Account } from '../../src/index';

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
