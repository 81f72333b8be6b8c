import type { DemoFault, Simulator, SimulatedCarView } from '../../../src/simulator/index';
import { clock } from '../../node-red/time';
import { demoService, simulator } from '../../vehicle/demo-car';
import { notifyEditors } from './notify-editors';
import { VehicleError } from '../../../src/index';

/** The demo car as it really is, to look at and to click; without what the browser must not get of any car. */
export interface DemoView extends Omit<SimulatedCarView, 'vin' | 'latitude' | 'longitude'> {
  /** The faults that wait for a request to the service. */
  faults: DemoFault[];
}

let followed: Simulator | undefined;
let endNext = (): void => undefined;

/** Null where there is no demo car of this VIN. */
export async function demoViewOf(vin: string): Promise<DemoView | null> {
  const service = await demoService();
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) return null;
  follow(service);
  const { demoFaultOf, viewOf } = simulator();
  const { vin: _vin, latitude: _latitude, longitude: _longitude, ...view } = viewOf(car);
  const faults = service.faults.list.map(demoFaultOf).filter((name) => name !== undefined);
  return { ...view, faults };
}

export const noDemoCar = (): VehicleError =>
  new VehicleError('INPUT_INVALID', 'Only a demo car can be changed here. Choose one in the list.');

/** Does to the demo car what a click asks for. @throws VehicleError INPUT_INVALID */
export async function clickDemoCar(vin: string, click: unknown): Promise<void> {
  const { clickCar, parseClick } = simulator();
  const service = await demoService();
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) throw noDemoCar();
  clickCar(car, service.faults, parseClick(click));
}

/** The address of the demo car's own page. */
export const demoPage = async (): Promise<string | null> => (await demoService())?.url ?? null;

/** Signals each change of a demo car and of the faults, whoever made it, and the next one that the car makes by itself. */
function follow(service: Simulator): void {
  if (followed !== service) {
    followed = service;
    for (const source of [...service.cars.values(), service.faults]) source.onChange(notifyEditors);
  }
  endNext();
  const next = Math.min(...[...service.cars.values()].map((car) => car.nextEventAt ?? Infinity));
  if (next === Infinity) return;
  const timer = setTimeout(notifyEditors, Math.min(Math.max(0, next - clock().now()), 3_600_000)).unref();
  endNext = () => clearTimeout(timer);
}
