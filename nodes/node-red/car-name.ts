import type { NodeAPI } from 'node-red';
import { memberOf, normalVin, shortVin, vinPattern, type Signal } from '../../src/index';
import type { Words } from './i18n';
import { nonBlank } from './message';
import { perNodeRed } from '../per-node-red';
import { redactor } from './redaction';
import type { VehicleNode } from './vehicle-node';

/** The vehicle configurations that run in a Node-RED. A deleted or disabled one does not. */
class Vehicles {
  readonly running = new Set<VehicleNode>();
}

/** Counts a configuration among those that run, until the signal is aborted. */
export function runVehicle(RED: NodeAPI, vehicle: VehicleNode, signal: Signal): void {
  const { running } = perNodeRed(RED, Vehicles);
  running.add(vehicle);
  signal.addEventListener('abort', () => running.delete(vehicle));
}

/** Whether a text must name its car: the flows have more than one vehicle configuration. */
export const hasSeveralCars = (RED: NodeAPI): boolean => perNodeRed(RED, Vehicles).running.size > 1;

/**
 * The name of a car for people: that of its configuration, or the service and the short VIN, as
 * in the editor. A car that a node or a message names by its VIN has the name of the configuration
 * for that VIN, if there is one.
 * @param id of the configuration that the car is read with
 * @param vin empty: the car of the configuration
 */
export function carName(RED: NodeAPI, id: string, vin: unknown, words: Words): string {
  const running = [...perNodeRed(RED, Vehicles).running];
  const own = running.find((vehicle) => vehicle.id === id);
  if (own === undefined) return '';
  const wanted = normalVin(vin);
  const ofOwn = normalVin(own.chooseVin());
  if (wanted === '' || ofOwn === '' || ofOwn === wanted) return titleOf(own, words);
  const other = running.find((vehicle) => normalVin(vehicle.chooseVin()) === wanted);
  return other === undefined ? unnamed(own, wanted, words) : titleOf(other, words);
}

/** As the editor calls the configuration. A person can have typed a VIN as its name. */
const titleOf = (vehicle: VehicleNode, words: Words): string =>
  redactor.text(
    String(nonBlank(vehicle.name) ?? unnamed(vehicle, normalVin(memberOf(vehicle.config, 'vin')), words)).trim(),
  );

function unnamed(vehicle: VehicleNode, vin: string, { say }: Words): string {
  const service = say(`service.${String(memberOf(vehicle.config, 'service') ?? 'demo')}`);
  return vinPattern.test(vin) ? `${service} ${shortVin(vin)}` : service;
}
