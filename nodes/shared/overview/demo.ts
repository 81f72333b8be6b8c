import type { Simulator, SimulatedCarView } from '../../../src/simulator/index';
import { runtime } from '../load';
import { demoService } from '../vehicle/demo-car';
import { changed } from './signal';

/** The demo car as it really is, to look at and to click; without what the browser must not get of any car. */
export type DemoView = Omit<SimulatedCarView, 'vin' | 'latitude' | 'longitude'>;

let followed: Simulator | undefined;
let endNext = (): void => undefined;

/** Null where there is no demo car of this VIN. */
export async function demoViewOf(vin: string): Promise<DemoView | null> {
  const service = await demoService();
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) return null;
  follow(service);
  const { vin: _vin, latitude: _latitude, longitude: _longitude, ...view } = runtime().simulator().viewOf(car);
  return view;
}

/** Does to the demo car what a click asks for. @throws VehicleError INPUT_INVALID */
export async function clickDemoCar(vin: string, click: unknown): Promise<void> {
  const { clickCar, parseClick } = runtime().simulator();
  const car = (await demoService())?.cars.get(vin);
  if (car === undefined)
    throw new (runtime().VehicleError)('INPUT_INVALID', 'Only a demo car can be changed here. Choose one in the list.');
  clickCar(car, parseClick(click));
}

/** The address of the demo car's own page. */
export const demoPage = async (): Promise<string | null> => (await demoService())?.url ?? null;

/** Signals each change of a demo car, whoever made it, and the next one that the car makes by itself. */
function follow(service: Simulator): void {
  if (followed !== service) {
    followed = service;
    for (const car of service.cars.values()) car.onChange(changed);
  }
  endNext();
  const next = Math.min(...[...service.cars.values()].map((car) => car.nextEventAt ?? Infinity));
  if (next === Infinity) return;
  const timer = setTimeout(changed, Math.min(Math.max(0, next - Date.now()), 3_600_000)).unref();
  endNext = () => clearTimeout(timer);
}
