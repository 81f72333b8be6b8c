import type { NodeAPI } from 'node-red';
import { hourMs, normalVin, pastedToken, resolveService, VehicleError, type AccountOptions } from '../../src/index';
import type { DemoFault, Simulator, SimulatedCarView } from '../../src/simulator/index';
import { settingsOf } from './account-options';
import type { VehicleOptions } from './options';
import { clock } from '../node-red/time';
import { editorsOf } from '../node-red/editors';
import { perNodeRed } from '../per-node-red';

/** The build keeps this code in its own file, which only demo vehicles load. */
export const simulator = (): typeof import('../../src/simulator/index') =>
  require('../../src/simulator/index') as typeof import('../../src/simulator/index');

/**
 * The simulated service of the demo cars. It starts when the first demo vehicle is opened and runs
 * until Node-RED ends: a deploy changes neither its address nor the state of its cars.
 */
class DemoService {
  /** Null before the first demo vehicle was opened. */
  running: Promise<Simulator> | null = null;
  /** When it was started, in milliseconds since 1970. */
  since = 0;
  readonly #notify: () => void;
  /** The service whose changes are signaled. */
  #followed: Simulator | undefined;
  /** Ends the wait for the next change that needs no request. */
  #endNext = (): void => undefined;

  constructor(RED: NodeAPI) {
    this.#notify = editorsOf(RED).notify;
  }

  /** Both cars are there: the VIN decides which of them a request is about. */
  start(): Promise<Simulator> {
    if (this.running !== null) return this.running;
    this.running = simulator().startDemo({ clock: clock(), keepsProcessAlive: false });
    this.since = clock().now();
    // The next vehicle tries again.
    this.running.catch(() => (this.running = null));
    return this.running;
  }

  /** Signals each change of a demo car or a fault, and the next one that needs no request. */
  follow(service: Simulator): void {
    if (this.#followed !== service) {
      this.#followed = service;
      for (const source of [...service.cars.values(), service.faults]) source.onChange(this.#notify);
    }
    this.#endNext();
    const next = Math.min(...[...service.cars.values()].map((car) => car.nextEventAt ?? Infinity));
    if (next === Infinity) return;
    const timer = setTimeout(this.#notify, Math.min(Math.max(0, next - clock().now()), hourMs)).unref();
    this.#endNext = () => clearTimeout(timer);
  }

  async end(): Promise<void> {
    this.#endNext();
    const ending = this.running;
    this.running = null;
    await (await ending)?.close();
  }
}

/** Nobody pays for requests to the simulated service. */
const noQuota = {
  requestsPerDay: Number.MAX_SAFE_INTEGER,
  requestsPerMinute: Number.MAX_SAFE_INTEGER,
  commandsPerMinute: Number.MAX_SAFE_INTEGER,
};

/**
 * The options of an account of a demo car, and the VIN of the car that the configuration chooses.
 */
export async function demoAccountOptions(
  RED: NodeAPI,
  options: VehicleOptions,
): Promise<AccountOptions & { vin: string }> {
  const demo = perNodeRed(RED, DemoService);
  const { url: baseUrl } = await demo.start();
  const { demoCars } = simulator();
  const { vin } = demoCars[options.demoCar];
  const car = Object.values(demoCars).find((one) => one.vin === normalVin(options.vin || vin));
  return {
    vin,
    wallbox: car?.wallbox ?? '',
    service: { ...resolveService('demo', { baseUrl }), since: demo.since },
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    tokenOwner: 'demo',
    ...settingsOf(RED, options),
    limits: noQuota,
    // A click on the demo car shows with the next read.
    shareForMs: 0,
  };
}

/**
 * The simulated service, to show and to change its cars. Null if no demo vehicle was opened yet.
 */
export const demoService = (RED: NodeAPI): Promise<Simulator | null> =>
  perNodeRed(RED, DemoService).running ?? Promise.resolve(null);

/** The simulated state of a demo car, without its VIN, which the browser gets of no car. */
export interface DemoView extends Omit<SimulatedCarView, 'vin'> {
  faults: DemoFault[];
}

/**
 * The state of a demo car for the editors. From then on, they hear of each change of it.
 * @returns null if no demo car has this VIN
 */
export async function followDemoCar(RED: NodeAPI, vin: string): Promise<DemoView | null> {
  const service = await demoService(RED);
  const car = service?.cars.get(vin);
  if (service === null || car === undefined) return null;
  perNodeRed(RED, DemoService).follow(service);
  const { demoFaultOf, viewOf } = simulator();
  const { vin: _vin, ...view } = viewOf(car);
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

export const demoPage = async (RED: NodeAPI): Promise<string | null> => (await demoService(RED))?.url ?? null;
