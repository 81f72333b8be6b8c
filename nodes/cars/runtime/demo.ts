import type { NodeAPI } from 'node-red';
import type { DemoFault, Simulator, SimulatedCarView } from '../../../src/simulator/index';
import { clock } from '../../node-red/time';
import { demoService, simulator } from '../../vehicle/demo-car';
import { partOf } from '../../pack';
import { notifyEditors } from './notify-editors';
import { VehicleError } from '../../../src/index';

/** The simulated state of a demo car, without VIN and position, which the browser gets of no car. */
export interface DemoView extends Omit<SimulatedCarView, 'vin' | 'latitude' | 'longitude'> {
  /** The faults that the next requests to the service get. */
  faults: DemoFault[];
}

/** Returns null if no demo car has this VIN. */
export async function demoViewOf(RED: NodeAPI, vin: string): Promise<DemoView | null> {
  const service = await demoService(RED);
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) return null;
  partOf(RED, DemoSignals).follow(service);
  const { demoFaultOf, viewOf } = simulator();
  const { vin: _vin, latitude: _latitude, longitude: _longitude, ...view } = viewOf(car);
  const faults = service.faults.list.map(demoFaultOf).filter((name) => name !== undefined);
  return { ...view, faults };
}

export const noDemoCar = (): VehicleError =>
  new VehicleError('INPUT_INVALID', 'Only a demo car can be changed here. Choose one in the list.');

/** Applies a click to a demo car. @throws VehicleError INPUT_INVALID */
export async function clickDemoCar(RED: NodeAPI, vin: string, click: unknown): Promise<void> {
  const { clickCar, parseClick } = simulator();
  const service = await demoService(RED);
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) throw noDemoCar();
  clickCar(car, service.faults, parseClick(click));
}

/** The address of the demo car's own page. */
export const demoPage = async (RED: NodeAPI): Promise<string | null> => (await demoService(RED))?.url ?? null;

/** Signals each change of a demo car and of the faults, whoever made it, and the next one that the car makes by itself. */
class DemoSignals {
  readonly #notify: () => void;
  #followed: Simulator | undefined;
  #endNext = (): void => undefined;

  constructor(RED: NodeAPI) {
    this.#notify = () => notifyEditors(RED);
  }

  follow(service: Simulator): void {
    if (this.#followed !== service) {
      this.#followed = service;
      for (const source of [...service.cars.values(), service.faults]) source.onChange(this.#notify);
    }
    this.#endNext();
    const next = Math.min(...[...service.cars.values()].map((car) => car.nextEventAt ?? Infinity));
    if (next === Infinity) return;
    const timer = setTimeout(this.#notify, Math.min(Math.max(0, next - clock().now()), 3_600_000)).unref();
    this.#endNext = () => clearTimeout(timer);
  }

  end(): void {
    this.#endNext();
  }
}
