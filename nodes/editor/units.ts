import { unitSystems, type UnitSystem } from '../../src/index';
import { nodeField, textOf } from './forms';

/** The units of the vehicle configuration that the open form has chosen. */
export function unitsOfVehicle(): UnitSystem {
  const { units } = RED.nodes.node(textOf(nodeField('vehicle'))) ?? {};
  return unitSystems.find((known) => known === units) ?? 'car';
}
